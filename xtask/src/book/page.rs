//! What a page has to be run.

use anyhow::{Result, bail};

/// A page.
pub(super) struct Page {
    pub(super) name: String,
    pub(super) blocks: Vec<Block>,
    /// Blocks of commands that are not run.
    pub(super) by_hand: usize,
}

/// A block with something to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Its first line in the page, from 1 on.
    pub(super) line: usize,
    pub(super) act: Act,
    pub(super) text: String,
}

/// What is done with a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Run it to the end.
    Run { fails: bool },
    /// Start each command and go on.
    Background { port: Option<u16> },
    /// End what was started last.
    Stop,
    /// Its lines were shown.
    Shown,
    /// Write it to a file.
    File(String),
    /// Have it checked, and perhaps write it to a file.
    Configuration(Option<String>),
}

/// Reads a page.
///
/// # Errors
/// If a block says something that means nothing.
pub(super) fn read(name: &str, text: &str) -> Result<Page> {
    let mut page = Page { name: name.to_owned(), blocks: Vec::new(), by_hand: 0 };
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let (words, end) = if let Some(info) = line.strip_prefix("```") {
            (info.to_owned(), "```")
        } else if let Some(what) = line.strip_prefix("<!-- test: ") {
            (what.to_owned(), "-->")
        } else {
            continue;
        };
        let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != end);
        let text: String = inside.flat_map(|line| [line, "\n"]).collect();
        let words: Vec<&str> = words.split_whitespace().collect();
        match act(&words) {
            Ok(Some(act)) => page.blocks.push(Block { line: index + 1, act, text }),
            Ok(None) => page.by_hand += usize::from(words.first() == Some(&"sh")),
            Err(word) => bail!("docs/{name}:{}: '{word}' means nothing to `cargo xtask book`", index + 1),
        }
    }
    Ok(page)
}

/// What the words of a block ask for; the word that means nothing.
fn act<'w>(words: &[&'w str]) -> Result<Option<Act>, &'w str> {
    let [language, rest @ ..] = words else { return Ok(None) };
    let value = |word: &'w str, name: &str| word.strip_prefix(name).and_then(|rest| rest.strip_prefix('='));
    let act = match (*language, rest) {
        ("stop", []) => Act::Stop,
        (_, []) if *language != "conf" => return Ok(None),
        ("sh", ["by-hand"]) => return Ok(None),
        ("sh", ["run"]) => Act::Run { fails: false },
        ("sh", ["run", "fails"]) => Act::Run { fails: true },
        ("sh", ["background"]) => Act::Background { port: None },
        ("sh", ["background", word]) => {
            let port = value(word, "port").and_then(|port| port.parse().ok()).ok_or(*word)?;
            Act::Background { port: Some(port) }
        }
        ("text", ["shown"]) => Act::Shown,
        ("conf", ["part"]) => return Ok(None),
        ("conf", ["part", word]) => Act::File(value(word, "file").ok_or(*word)?.to_owned()),
        ("conf", []) => Act::Configuration(None),
        ("conf", [word]) => Act::Configuration(Some(value(word, "file").ok_or(*word)?.to_owned())),
        (_, [word]) => Act::File(value(word, "file").ok_or(*word)?.to_owned()),
        (_, [.., last]) => return Err(last),
        (language, []) => return Err(language),
    };
    Ok(Some(act))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_hidden_steps_are_found_in_their_order() {
        let text = "# T\n```conf file=a.conf\nrouter {\n}\n```\n<!-- test: sh background port=1\nx\n-->\n```sh run fails\ny\n```\n";
        let acts: Vec<_> = read("p", text).unwrap().blocks.into_iter().map(|block| (block.line, block.act)).collect();
        let expected = [
            (2, Act::Configuration(Some("a.conf".to_owned()))),
            (6, Act::Background { port: Some(1) }),
            (9, Act::Run { fails: true }),
        ];
        assert_eq!(acts, expected);
    }

    #[test]
    fn commands_that_are_not_run_are_counted() {
        let page = read("p", "```sh\na\n```\n```sh by-hand\nb\n```\n```\nc\n```\n").unwrap();
        assert_eq!((page.blocks.len(), page.by_hand), (0, 2));
    }

    #[test]
    fn a_word_that_means_nothing_is_named_with_its_place() {
        let error = read("p", "\n```sh rnu\n```\n").err().unwrap().to_string();
        assert!(error.contains("docs/p:2: 'rnu'"), "{error}");
    }
}
