//! How mistakes are told: at length to people, and in the old router's words to scripts.

use super::reading::{mistake, mistakes, read, read_as};
use config::{Cause, Config};
use std::path::Path;

const LISTENER: &str = "org.apache.qpid.dispatch.listener";

#[test]
fn a_report_shows_the_line_what_was_expected_and_a_remedy() {
    let errors = read("listener {\n    port: 5672\n    autenticatePeer: no\n}\n").unwrap_err();
    let expected = format!(
        "router.conf:3:5: {LISTENER}: Unknown attribute 'autenticatePeer' for '{LISTENER}'
 3 |     autenticatePeer: no
   |     ^^^^^^^^^^^^^^^
  expected: an attribute of listener
  remedy: write authenticatePeer
router.conf: 1 error
"
    );
    assert_eq!(errors.to_string(), expected);
}

#[test]
fn all_mistakes_are_told_in_one_go_in_the_order_of_the_file() {
    let text = "router {\n id: a b\n workerThreads: four\n}\nlistner {\n port: 1\n}\nlistener {\n role: foo\n http: maybe\n}\n";
    let lines: Vec<u32> = mistakes(text).iter().map(|(line, _, _)| *line).collect();
    assert_eq!(lines, [2, 3, 5, 9, 10]);
}

#[test]
fn an_unknown_section_is_told_with_the_one_that_was_meant() {
    let errors = read("listner {\n}\n").unwrap_err();
    assert_eq!(errors.problems[0].text, "No such entity type 'org.apache.qpid.dispatch.listner'");
    assert_eq!(errors.problems[0].hint.as_deref(), Some("write listener"));
}

#[test]
fn values_of_the_wrong_type_are_told_in_the_old_routers_words() {
    let listener = |line: &str| mistake(&format!("listener {{\n {line}\n}}"));
    assert_eq!(listener("authenticatePeer: maybe"), format!("{LISTENER}: Invalid Boolean value ''maybe''"));
    assert_eq!(listener("cost: ten"), format!("{LISTENER}: invalid literal for int() with base 10: 'ten'"));
    let roles = "enum['normal', 'inter-router', 'route-container', 'edge']";
    assert_eq!(listener("role: foo"), format!("{LISTENER}: Invalid value for {roles}: 'foo'"));
    assert_eq!(listener("openProperties: I am bad"), format!("{LISTENER}: Properties must be a map"));
    assert_eq!(listener("openProperties: [1, 2]"), format!("{LISTENER}: Properties must be a map"));
    assert_eq!(listener("openProperties: [1, 'x']"), format!("{LISTENER}: Properties must be a map"));
    assert_eq!(
        listener("openProperties: {\"\\u2588\": 1}"),
        format!("{LISTENER}: Property keys must be ASCII encoded")
    );
}

#[test]
fn a_missing_attribute_is_told_at_its_section() {
    let text = "org.apache.qpid.dispatch.router.config.autoLink: Missing required attribute 'direction'";
    assert_eq!(mistakes("\nautoLink {\n address: x\n}\n"), [(2, 1, text.into())]);
}

#[test]
fn a_former_and_a_present_name_exclude_each_other() {
    let text = "org.apache.qpid.dispatch.router.config.linkRoute: Both 'dir' and 'direction' cannot be specified for entity 'linkRoute'";
    assert_eq!(mistake("linkRoute {\n prefix: a\n direction: in\n dir: in\n}"), text);
}

#[test]
fn warnings_about_former_names_are_kept_when_the_file_is_refused() {
    let errors = read("autoLink {\n externalAddr: x\n addr: y\n direction: out\n}\nfoo {\n}").unwrap_err();
    let texts: Vec<&str> = errors.warnings.iter().map(|warning| warning.text.as_str()).collect();
    assert!(
        texts.contains(
            &"Attribute 'externalAddr' of entity 'autoLink' has been deprecated. Use 'externalAddress' instead"
        )
    );
}

#[test]
fn two_attributes_on_a_line_are_recognised() {
    let errors = read("listener {\n cost: 1 port: 5672\n}").unwrap_err();
    assert!(errors.problems[0].hint.as_deref().unwrap().starts_with("write each attribute on a line of its own"));
}

#[test]
fn a_comment_without_a_blank_before_it_is_recognised() {
    let errors = read("listener {\n cost: 1#cheap\n}").unwrap_err();
    assert!(errors.problems[0].hint.as_deref().unwrap().starts_with("put a blank before #"));
}

#[test]
fn json_without_quotes_is_told_with_its_place() {
    let text = mistake("listener {\n port: 1\n openProperties: {\n  9: \"x\",\n }\n}");
    assert_eq!(text, "Expecting property name enclosed in double quotes: line 4 column 3 (char 41)");
}

#[test]
fn the_first_mistake_ends_the_start_with_the_file_and_the_reason() {
    let errors = read("router {\n mode: standalone\n}\nlistener {\n role: inter-router\n}").unwrap_err();
    let expected = "Python: Exception: Cannot load configuration file router.conf: role='standalone' not allowed to connect to \
                    or accept connections from other routers.";
    assert_eq!(errors.start_up_message(), expected);
}

#[test]
fn what_the_old_router_finds_late_is_told_with_its_class() {
    let message = |text: &str| read(text).unwrap_err().start_up_message();
    let id = "Python: AttributeError: Router id attribute containing character ' ' in id 'a b' is disallowed.";
    assert_eq!(message("router {\n id: a b\n}"), id);
    assert!(message("router {\n id: abc\\bdef\n}").starts_with("Python: AttributeError: Router id"));
    let key = "Python: ValidationError: Reserved key 'qd.x' not allowed in openProperties";
    assert_eq!(message("listener {\n openProperties: {\"qd.x\": 1}\n}"), key);
    let url = "Python: CError: Value: No network host in failover item";
    assert_eq!(message("listener {\n failoverUrls: amqp://:9\n}"), url);
    let role = "router {\n mode: interior\n}\nconnector {\n role: edge\n openProperties: {\"a\": 1}\n}";
    assert_eq!(message(role), "Python: ValidationError: openProperties not allowed for role edge");
}

#[test]
fn a_router_id_that_is_too_long_is_told_with_the_file() {
    let id = "x".repeat(128);
    let message = read(&format!("router {{\n id: {id}\n}}")).unwrap_err().start_up_message();
    assert!(message.ends_with(&format!("Router ID \"{id}\" exceeds the maximum allowed length (127 characters)")));
}

#[test]
fn classes_stand_before_the_texts_for_the_error_log() {
    let errors = read("router {\n id: a b\n}\nlistener {\n cost: x\n}").unwrap_err();
    let lines: Vec<String> = errors.classified_lines().collect();
    assert!(lines[0].starts_with("AttributeError: Router id") && lines[1].starts_with("ValidationError: org.apache"));
}

#[test]
fn an_empty_file_is_told() {
    let errors = read_as("e.conf", "").unwrap_err();
    assert_eq!(
        (&errors.cause, errors.start_up_message().as_str()),
        (&Cause::Empty, "Configuration: Configuration file was empty")
    );
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let errors = Config::load(Path::new("no/such/file.conf")).unwrap_err();
    assert!(matches!(errors.cause, Cause::Unreadable(_)));
    assert_eq!(errors.start_up_message(), "Not found: Configuration file could not be opened");
}

#[test]
fn attributes_that_only_the_router_sets_are_left_out_with_a_warning() {
    let config = read("router {\n area: 5\n}").unwrap();
    assert!(config.warnings[0].text.starts_with("Attribute 'area' of 'router' is set by the router itself"));
}

#[test]
fn passwords_in_clear_are_warned_about() {
    let warnings =
        |password: &str| read(&format!("sslProfile {{\n name: s\n password: {password}\n}}")).unwrap().warnings;
    assert_eq!(warnings("hush")[0].text, "It is unsafe to provide plain text passwords in the config file");
    assert!(warnings("env:HUSH").is_empty());
}
