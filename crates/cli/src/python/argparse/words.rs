//! What each word of a command line is.

use super::parser::{Opt, Parser};

/// A word of the command line.
pub(super) enum Word<'a> {
    /// An option of the parser's, as it was written, and what was attached to it (`--x=V`, `-xV`).
    Option { option: &'static Opt, written: String, attached: Option<&'a str> },
    /// Looks like an option, but is none of the parser's.
    Unknown,
    /// A value or a positional argument.
    Argument,
}

/// The word could be several options.
pub(super) struct Ambiguous(pub(super) String);

pub(super) fn classify<'a>(parser: &Parser, word: &'a str) -> Result<Word<'a>, Ambiguous> {
    if !word.starts_with('-') || word.len() == 1 {
        return Ok(Word::Argument);
    }
    if let Some(option) = parser.option(word) {
        return Ok(Word::Option { option, written: word.to_owned(), attached: None });
    }
    if let Some((name, value)) = word.split_once('=')
        && let Some(option) = parser.option(name)
    {
        return Ok(Word::Option { option, written: name.to_owned(), attached: Some(value) });
    }
    let mut found = if word.starts_with("--") { abbreviated(parser, word) } else { bundled(parser, word) };
    if found.len() > 1 {
        let names: Vec<&str> = found.iter().map(|(_, name, _)| *name).collect();
        let word = word.split_once('=').map_or(word, |(name, _)| name);
        return Err(Ambiguous(format!("ambiguous option: {word} could match {}", names.join(", "))));
    }
    if let Some((option, name, attached)) = found.pop() {
        return Ok(Word::Option { option, written: name.to_owned(), attached });
    }
    let number = word[1..].parse::<f64>().is_ok() && word[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if number || word.contains(' ') {
        return Ok(Word::Argument);
    }
    Ok(Word::Unknown)
}

type Candidate<'a> = (&'static Opt, &'static str, Option<&'a str>);

/// The long options that the word is a beginning of.
fn abbreviated<'a>(parser: &Parser, word: &'a str) -> Vec<Candidate<'a>> {
    let (prefix, attached) = match word.split_once('=') {
        Some((prefix, value)) => (prefix, Some(value)),
        None => (word, None),
    };
    parser
        .names()
        .filter(|(_, name)| name.starts_with("--") && name.starts_with(prefix))
        .map(|(option, name)| (option, name, attached))
        .collect()
}

/// The short option that the word begins with; what follows is its value, or further short options.
fn bundled<'a>(parser: &Parser, word: &'a str) -> Vec<Candidate<'a>> {
    let end = word.char_indices().nth(2).map_or(word.len(), |(at, _)| at);
    let (short, rest) = word.split_at(end);
    parser.names().filter(|(_, name)| *name == short).map(|(option, name)| (option, name, Some(rest))).collect()
}
