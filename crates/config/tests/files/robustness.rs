//! No text is too strange to be read.

use super::reading::read_as;
use proptest::prelude::*;

/// Pieces of the language, so that texts made of them get far.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "listener",
        "router",
        "address",
        "vhost",
        "policy",
        "sslProfile",
        " { ",
        " }",
        "{",
        "}",
        "[",
        "]",
        ": ",
        ":",
        ",",
        "\n",
        " ",
        "#",
        " # ",
        "\"",
        "\\",
        "port",
        "prefix: a",
        "pattern: #",
        "groups: {",
        "openProperties: {",
        "\"key\": ",
        "users: a, b",
        "$default",
        "1",
        "-1",
        "true",
        "null",
        "\u{feff}",
        "ü",
        "\u{1f600}",
        "\r\n",
        "\t",
        "id: x",
        "role: edge",
        "maxMessageSize: ",
        "99999999999999999999",
        "file:",
        "hostname: *",
        "\0",
    ])
}

proptest! {
    #[test]
    fn arbitrary_text_is_read_or_refused(text in ".*", json in any::<bool>()) {
        let _ = read_as(if json { "a.json" } else { "a.conf" }, &text);
    }

    #[test]
    fn arbitrary_pieces_of_the_language_are_read_or_refused(pieces in prop::collection::vec(piece(), 0..60), json in any::<bool>()) {
        let text: String = pieces.concat();
        if let Err(errors) = read_as(if json { "a.json" } else { "a.conf" }, &text) {
            prop_assert!(text.is_empty() || !errors.problems.is_empty());
            prop_assert!(!errors.to_string().is_empty() && !errors.start_up_message().is_empty());
        }
    }

    #[test]
    fn values_are_read_back_as_they_were_written(value in "[a-zA-Z0-9_./:#,;=@]*[a-zA-Z0-9]") {
        prop_assume!(!value.starts_with('#'));
        let config = read_as("a.conf", &format!("router {{\n    metadata: {value}\n}}\n")).expect("the file should be valid");
        prop_assert_eq!(config.router.metadata, Some(value));
    }
}

#[test]
fn endless_nesting_is_refused() {
    for open in ["{", "[", "{a:{", "[["] {
        let text = format!("vhost {{\n hostname: h\n groups: {}", open.repeat(50_000));
        assert!(read_as("a.conf", &text).is_err());
        assert!(read_as("a.json", &open.repeat(50_000)).is_err());
    }
}

#[test]
fn mistakes_without_end_are_told_up_to_a_number() {
    let errors = read_as("a.conf", &"listener {\n x: y\n}\n".repeat(500)).unwrap_err();
    assert_eq!((errors.problems.len(), errors.more), (100, true));
    let errors = read_as("a.conf", &"= =\n".repeat(50_000)).unwrap_err();
    assert!(errors.to_string().ends_with("a.conf: 100 errors, and more that are not shown\n"));
}

#[test]
fn of_a_long_line_the_part_around_the_mistake_is_shown() {
    let line = format!("listener {{ cost: {}\n}}", "x".repeat(100_000));
    let errors = read_as("a.conf", &line).unwrap_err();
    assert!(errors.problems[0].line.len() <= 160 && errors.problems[0].width <= 160);
}

#[test]
fn entries_without_end_are_refused() {
    let members: String = (0..12_000).map(|n| format!("\"k{n}\": 1,\n")).collect();
    assert!(read_as("a.conf", &format!("listener {{\n openProperties: {{\n{members} }}\n}}")).is_err());
    assert!(read_as("a.json", &format!("[[\"listener\", {{{members}}}]]")).is_err());
    let lines: String = (0..12_000).map(|n| format!("k{n}: 1\n")).collect();
    assert!(read_as("a.conf", &format!("listener {{\n{lines}}}")).is_err());
}

#[test]
fn ten_thousand_addresses_are_read() {
    let text: String =
        (0..10_000).map(|n| format!("address {{\n prefix: a.{n}\n distribution: closest\n}}\n")).collect();
    assert_eq!(read_as("a.conf", &text).map(|config| config.addresses().count()), Ok(10_000));
}
