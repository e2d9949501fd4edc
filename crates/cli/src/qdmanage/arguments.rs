//! The command line.

use super::Request;
use crate::old_tools::{CONNECTION_OPTIONS, VERSION};
use crate::python;
use crate::python::argparse::{Opt, Parsed, Parser, Stop, Takes};

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

const PARSER: Parser = Parser {
    program: "qdmanage <operation>",
    usage: include_str!("usage.txt"),
    help: include_str!("help.txt"),
    version: VERSION,
    options: &[OPTIONS, CONNECTION_OPTIONS],
};

/// Reads the command line: what is wanted, and the options about the connection.
pub(super) fn parse(words: &[String]) -> Result<(Request, Parsed), Stop> {
    let mut parsed = PARSER.parse(words)?;
    if parsed.unknown.iter().any(|word| attribute(word).is_none()) {
        return Err(PARSER.unrecognized(&parsed.unknown));
    }
    let (attributes, mut words): (Vec<_>, Vec<_>) =
        std::mem::take(&mut parsed.words).into_iter().partition(|word| attribute(word).is_some());
    if let Some(mark) = words.iter().position(|word| word == "--") {
        words.remove(mark);
    }
    if words.is_empty() {
        return Err(PARSER.wrong("No operation specified"));
    }
    let text = |option| parsed.get(option).map(str::to_owned);
    let indent = parsed.get("--indent").and_then(|text| python::int(text).ok()).unwrap_or(2);
    let operation = words.remove(0);
    let options: Vec<String> = attributes.iter().filter_map(|word| attribute(word)).map(str::to_owned).collect();
    let (more_words, conditions) = match operation.to_uppercase().as_str() {
        "QUERY" | "READ" => (Vec::new(), options),
        "CREATE" | "UPDATE" => (options, Vec::new()),
        _ if attributes.is_empty() => Default::default(),
        _ => return Err(PARSER.unrecognized(&attributes)),
    };
    words.extend(more_words);
    let request = Request {
        operation,
        words,
        conditions,
        entity_type: text("--type"),
        name: text("--name"),
        identity: text("--identity"),
        stdin: parsed.has("--stdin"),
        body: text("--body"),
        properties: text("--properties"),
        // Python takes any other negative number like 0.
        // The old tool has no such option.
        force: false,
        indent: (indent != -1).then(|| usize::try_from(indent).unwrap_or(0)),
    };
    let most = request.most_words();
    if request.words.len() > most {
        return Err(PARSER.wrong(&format!("Unexpected arguments: {}", request.words[most..].join(" "))));
    }
    Ok((request, parsed))
}

/// The attribute that an option gives which is none of the tool's own, as in `--host=0.0.0.0`. The old router's manual writes
/// attributes so; its tool took them for part of the name.
fn attribute(word: &str) -> Option<&str> {
    word.strip_prefix("--").filter(|attribute| attribute.starts_with(|first: char| first.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Request, Stop> {
        parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).map(|(request, _)| request)
    }

    fn error(words: &[&str]) -> String {
        match read(words) {
            Err(Stop::Usage(text)) => text.lines().last().unwrap_or_default().to_owned(),
            other => panic!("not an error: {other:?}"),
        }
    }

    #[test]
    fn the_first_word_is_the_operation_wherever_it_stands() {
        let request = read(&["--type", "listener", "query", "--indent", "-1", "name"]).expect("valid");
        assert_eq!(
            (request.operation.as_str(), request.words, request.indent),
            ("query", vec!["name".to_owned()], None)
        );
        assert_eq!(request.entity_type.as_deref(), Some("listener"));
    }

    #[test]
    fn attributes_may_be_written_as_options() {
        let request = read(&["create", "--type=listener", "--port=1", "host=h", "--cost"]).expect("valid");
        assert_eq!(request.words, ["host=h", "port=1", "cost"]);
        let request = read(&["query", "prefix", "--type=address", "--waypoint=yes"]).expect("valid");
        assert_eq!((request.words, request.conditions), (vec!["prefix".to_owned()], vec!["waypoint=yes".to_owned()]));
    }

    #[test]
    fn operations_without_attributes_take_no_unknown_options() {
        assert_eq!(error(&["delete", "--x=1"]), "qdmanage <operation>: error: unrecognized arguments: --x=1");
        assert_eq!(error(&["query", "-x"]), "qdmanage <operation>: error: unrecognized arguments: -x");
    }

    #[test]
    fn identity_can_be_shortened() {
        assert_eq!(read(&["read", "--id", "x"]).expect("valid").identity.as_deref(), Some("x"));
    }

    #[test]
    fn an_operation_is_needed_and_surplus_words_are_named() {
        assert_eq!(error(&[]), "qdmanage <operation>: error: No operation specified");
        assert_eq!(error(&["Delete", "x", "y"]), "qdmanage <operation>: error: Unexpected arguments: x y");
        assert_eq!(error(&["get-types", "x", "y"]), "qdmanage <operation>: error: Unexpected arguments: y");
    }

    #[test]
    fn every_negative_indent_but_one_counts_as_zero() {
        assert_eq!(read(&["x", "--indent=-5"]).expect("valid").indent, Some(0));
        assert_eq!(read(&["x"]).expect("valid").indent, Some(2));
    }
}
