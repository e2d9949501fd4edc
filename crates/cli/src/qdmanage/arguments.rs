//! The command line.

use amqp::Value;

use crate::client::ClientError;
use crate::old_tools::{CONNECTION_OPTIONS, VERSION};
use crate::python::argparse::{Opt, Parsed, Parser, Stop, Takes};
use crate::python::{self, from_json};

const fn text(names: &'static [&'static str]) -> Opt {
    Opt { names, takes: Takes::Text, group: 0 }
}

const OPTIONS: &[Opt] = &[
    Opt { names: &["-h", "--help"], takes: Takes::Help, group: 0 },
    Opt { names: &["--version"], takes: Takes::Version, group: 0 },
    Opt { names: &["-v", "--verbose"], takes: Takes::Nothing, group: 0 },
    text(&["-r", "--router"]),
    text(&["-d", "--edge-router"]),
    text(&["--type"]),
    text(&["--name"]),
    text(&["--identity"]),
    Opt { names: &["--indent"], takes: Takes::Int, group: 0 },
    Opt { names: &["--stdin"], takes: Takes::Nothing, group: 0 },
    text(&["--body"]),
    text(&["--properties"]),
];

pub(super) const PARSER: Parser = Parser {
    program: "qdmanage <operation>",
    usage: include_str!("usage.txt"),
    help: include_str!("help.txt"),
    version: VERSION,
    options: &[OPTIONS, CONNECTION_OPTIONS],
};

/// What is wanted.
#[derive(Clone, Debug)]
pub(super) struct Arguments {
    /// As it was typed.
    pub(super) operation: String,
    /// The words after it.
    pub(super) words: Vec<String>,
    /// Blanks by which JSON is indented; `None`: on one line.
    pub(super) indent: Option<usize>,
    /// All options.
    pub(super) parsed: Parsed,
}

impl Arguments {
    /// Reads the command line.
    pub(super) fn parse(words: &[String]) -> Result<Self, Stop> {
        let mut parsed = PARSER.parse(words)?;
        if !parsed.unknown.is_empty() {
            return Err(PARSER.unrecognized(&parsed.unknown));
        }
        let mut words = std::mem::take(&mut parsed.words);
        if let Some(mark) = words.iter().position(|word| word == "--") {
            words.remove(mark);
        }
        if words.is_empty() {
            return Err(PARSER.wrong("No operation specified"));
        }
        let operation = words.remove(0);
        let indent = parsed.get("--indent").and_then(|text| python::int(text).ok()).unwrap_or(2);
        // Python takes any other negative number like 0.
        let indent = (indent != -1).then(|| usize::try_from(indent).unwrap_or(0));
        Ok(Self { operation, words, indent, parsed })
    }

    /// Nothing but options may follow the operation.
    pub(super) fn no_words(&self) -> Result<(), Stop> {
        if self.words.is_empty() { Ok(()) } else { Err(unexpected(&self.words)) }
    }

    /// At most one word may follow the operation.
    pub(super) fn one_word(&self) -> Result<Option<&str>, Stop> {
        if self.words.len() > 1 { Err(unexpected(&self.words[1..])) } else { Ok(self.words.first().map(String::as_str)) }
    }

    /// An option whose value is JSON, or plain text that needs no quotes.
    pub(super) fn json(&self, option: &str) -> Result<Option<Value>, ClientError> {
        let Some(text) = self.parsed.get(option) else { return Ok(None) };
        match serde_json::from_str(text) {
            Ok(json) => Ok(Some(from_json(&json))),
            Err(_) if !text.contains(['"', '{', '}', '[', ']']) => Ok(Some(Value::from(text))),
            Err(error) => Err(ClientError::Value(format!("Invalid JSON {}: {error}", python::repr(&text.into())))),
        }
    }
}

fn unexpected(words: &[String]) -> Stop {
    PARSER.wrong(&format!("Unexpected arguments: {}", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Arguments, Stop> {
        Arguments::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    fn error(stop: Stop) -> String {
        match stop {
            Stop::Usage(text) => text.lines().last().unwrap_or_default().to_owned(),
            Stop::Answer(text) => panic!("not an error: {text}"),
        }
    }

    #[test]
    fn the_first_word_is_the_operation_wherever_it_stands() {
        let arguments = parse(&["--type", "listener", "query", "--indent", "-1", "name"]).expect("valid");
        assert_eq!((arguments.operation.as_str(), arguments.words, arguments.indent), ("query", vec!["name".to_owned()], None));
        assert_eq!(arguments.parsed.get("--type"), Some("listener"));
    }

    #[test]
    fn identity_can_be_shortened() {
        assert_eq!(parse(&["read", "--id", "x"]).expect("valid").parsed.get("--identity"), Some("x"));
    }

    #[test]
    fn an_operation_is_needed_and_surplus_words_are_named() {
        assert_eq!(error(parse(&[]).unwrap_err()), "qdmanage <operation>: error: No operation specified");
        let surplus = parse(&["delete", "x", "y"]).expect("valid").no_words().unwrap_err();
        assert_eq!(error(surplus), "qdmanage <operation>: error: Unexpected arguments: x y");
    }

    #[test]
    fn json_may_be_plain_text_unless_it_looks_like_json() {
        let json = |text| parse(&["x", "--body", text]).expect("valid").json("--body");
        assert_eq!(json("plain").expect("text"), Some("plain".into()));
        assert_eq!(json("17").expect("a number"), Some(Value::Long(17)));
        let error = json("{bad").unwrap_err();
        assert!(error.to_string().starts_with("Invalid JSON '{bad': "), "{error}");
    }

    #[test]
    fn every_negative_indent_but_one_counts_as_zero() {
        assert_eq!(parse(&["x", "--indent=-5"]).expect("valid").indent, Some(0));
        assert_eq!(parse(&["x"]).expect("valid").indent, Some(2));
    }
}
