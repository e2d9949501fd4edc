//! The line-oriented form.

use super::reading::{listener, mistakes, read};
use amqp::Value;
use config::AddressMatch;

fn patterns(text: &str) -> Vec<String> {
    let config = read(text).expect("the file should be valid");
    config.addresses().map(|(_, address)| address.matches.as_str().to_owned()).collect()
}

#[test]
fn sections_hold_attributes() {
    let listener = listener("listener {\n    host: 127.0.0.1\n    port: 5672\n    role: route-container\n}\n");
    assert_eq!((listener.host.as_str(), listener.port.as_str()), ("127.0.0.1", "5672"));
    assert_eq!(listener.connection.role.as_str(), "route-container");
}

#[test]
fn braces_may_stand_on_any_line() {
    let texts = [
        "listener { port: 1 }",
        "listener\n{\nport: 1\n}",
        "listener {\n port: 1 }",
        "listener\n\n  # a comment between\n {  port: 1\n  } # end",
    ];
    for text in texts {
        assert_eq!(listener(text).port, "1", "{text}");
    }
}

#[test]
fn two_sections_may_stand_on_one_line() {
    assert_eq!(patterns("address { prefix: a }\naddress {\n prefix: b\n} address { prefix: c }"), ["a", "b", "c"]);
}

#[test]
fn a_comment_begins_with_a_hash_at_the_beginning_of_a_word() {
    assert_eq!(listener("# first\nlistener { # second\n # third\n port: 5672 # fourth\n}").port, "5672");
}

#[test]
fn a_hash_within_a_word_is_data() {
    let config = read("router {\n metadata: a#b\n}").unwrap();
    assert_eq!(config.router.metadata.as_deref(), Some("a#b"));
}

#[test]
fn hashes_in_patterns_are_data() {
    assert_eq!(patterns("address {\n pattern: # # everything\n}"), ["#"]);
    assert_eq!(patterns("address {\n pattern: a/#/b # comment\n}"), ["a/#/b"]);
}

#[test]
fn hashes_in_host_names_of_vhosts_are_data() {
    let config = read("vhost {\n hostname: #.example.com\n}").unwrap();
    assert_eq!(config.vhosts().next().unwrap().1.hostname, "#.example.com");
}

#[test]
fn a_second_attribute_on_the_line_is_warned_about() {
    let config = read("address {\n prefix: a; distribution: multicast\n}").unwrap();
    let warning =
        "router.conf:2:10: 'distribution:' is part of the value of 'prefix'; write each attribute on a line of its own";
    assert_eq!(config.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), [warning]);
    assert_eq!(read("address {\n prefix: a; weight: b\n}").unwrap().warnings, []);
}

#[test]
fn what_follows_a_pattern_is_warned_about() {
    let config = read("address {\n pattern: a b\n}").unwrap();
    assert_eq!(config.warnings[0].to_string(), "router.conf:2:11: 'b' after the value 'a' is ignored");
}

#[test]
fn values_run_to_the_end_of_the_line() {
    let config = read("router {\n metadata:  one, two; {three}  \n}").unwrap();
    assert_eq!(config.router.metadata.as_deref(), Some("one, two; {three}"));
}

#[test]
fn a_backslash_begins_an_escape_as_in_json() {
    let config = read("router {\n metadata: a\\tb\\\\c\n}").unwrap();
    assert_eq!(config.router.metadata.as_deref(), Some("a\tb\\c"));
    let text = "Invalid \\escape: line 2 column 14 (char 22)";
    assert_eq!(mistakes("router {\n metadata: C:\\dir\n}"), [(2, 14, text.into())]);
}

#[test]
fn an_empty_value_is_empty_text() {
    assert_eq!(listener("listener {\n host:\n port: 1\n}").host, "");
}

#[test]
fn names_may_be_written_with_separators() {
    let config = read("ssl-profile {\n name: x\n ca-cert-file: y\n}\nauto_link { addr: a\n dir: in }").unwrap();
    assert_eq!(config.ssl_profiles().next().unwrap().1.ca_cert_file.as_deref(), Some("y"));
    assert_eq!(config.auto_links().next().unwrap().1.address, "a");
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_do_not_matter() {
    assert_eq!(listener("\u{feff}listener {\r\n    port: 5672\r\n}\r\n").port, "5672");
}

#[test]
fn a_file_without_a_last_line_end_is_complete() {
    assert_eq!(listener("listener {\nport: 1\n}").port, "1");
}

#[test]
fn open_properties_are_json_with_a_comma_too_many() {
    let text = "listener {\n port: 1\n openProperties: {\n  \"one\": 1,\n  # in between\n  \"two\": {\"a\": [true, null]},\n }\n}";
    let properties = listener(text).connection.open_properties;
    assert_eq!(properties.get("one"), Some(&Value::Int(1)));
    assert_eq!(properties.len(), 2);
}

#[test]
fn groups_of_a_vhost_may_be_json_or_lines() {
    let json = "vhost {\n hostname: h\n groups: {\n \"g\": {\n \"users\": \"a\",\n \"maxSenders\": 2,\n },\n }\n}";
    let lines = "vhost {\n hostname: h\n groups: {\n g: {\n users: a\n maxSenders: 2\n }\n }\n}";
    let groups = |text: &str| read(text).unwrap().vhosts().next().unwrap().1.groups.clone();
    assert_eq!(groups(json), groups(lines));
    assert_eq!(groups(json)[0].max_senders, Some(2));
}

#[test]
fn the_default_group_begins_with_a_dollar() {
    let text = "vhost {\n hostname: h\n allowUnknownUser: yes\n groups: {\n $default: {\n sources: *\n }\n }\n}";
    assert_eq!(read(text).unwrap().vhosts().next().unwrap().1.groups[0].name, "$default");
}

#[test]
fn of_an_attribute_given_twice_the_last_one_counts_with_a_warning() {
    let config = read("listener {\n port: 1\n port: 2\n}").unwrap();
    assert_eq!(config.listeners().next().unwrap().1.port, "2");
    assert_eq!(
        config.warnings[0].to_string(),
        "router.conf:3:2: 'port' is given twice in this section; the last one counts"
    );
}

#[test]
fn quotes_are_part_of_the_value_with_a_warning() {
    let config = read("router {\n metadata: \"x\"\n}").unwrap();
    assert_eq!(config.router.metadata.as_deref(), Some("\"x\""));
    assert!(config.warnings[0].text.contains("part of the value"));
}

#[test]
fn a_file_of_comments_only_is_a_router_with_defaults() {
    let config = read("# nothing here\n").unwrap();
    assert_eq!(config.entities.iter().map(|entity| entity.entity_type.short).collect::<Vec<_>>(), ["router", "policy"]);
}

#[test]
fn a_section_that_is_not_closed_before_the_next_is_told_where() {
    assert_eq!(
        mistakes("address {\n prefix: a\nlistener {\n port: 1\n}\n"),
        [(3, 1, "Section 'address' is not closed here".into())]
    );
}

#[test]
fn a_section_that_is_never_closed_is_told_where_it_begins() {
    assert_eq!(mistakes("router {\n}\nlistener {\n port: 1\n"), [(3, 1, "Section 'listener' is not closed".into())]);
}

#[test]
fn a_brace_too_many_is_told() {
    assert_eq!(mistakes("router {\n}\n}\n"), [(3, 1, "Configuration file: invalid entity nesting detected.".into())]);
}

#[test]
fn a_missing_brace_or_colon_is_told() {
    assert_eq!(mistakes("listener\n port: 1\n}\n"), [(1, 9, "A brace is missing after 'listener'".into())]);
    assert_eq!(mistakes("listener {\n port 1\n}\n"), [(2, 7, "A colon is missing after 'port'".into())]);
    assert_eq!(mistakes("port: 1\n"), [(1, 5, "Attribute 'port' is not inside a section".into())]);
}

#[test]
fn a_prefix_is_no_pattern() {
    let config = read("address {\n prefix: a.b\n}\naddress {\n pattern: x/*\n}").unwrap();
    let matches: Vec<_> = config.addresses().map(|(_, address)| address.matches.clone()).collect();
    assert_eq!(matches, [AddressMatch::Prefix("a.b".into()), AddressMatch::Pattern("x/*".into())]);
    assert_eq!(matches[0].pattern(), "a/b/#");
}
