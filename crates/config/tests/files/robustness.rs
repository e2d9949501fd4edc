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
