//! `qdmanage` against a router of this version: what scripts do with it.

mod support;

use support::{Done, QDMANAGE, Router, assert_golden, run, run_with};

fn qdmanage(router: &Router, line: &str, input: &str) -> Done {
    let done = run_with(QDMANAGE, &format!("-b {} --timeout 120 {line}", router.bus), input);
    assert_eq!(done.err, "");
    done
}

fn ok(router: &Router, line: &str) -> String {
    let done = qdmanage(router, line, "");
    assert_eq!(done.status, 0, "{}", done.out);
    done.out
}

fn refused(router: &Router, line: &str) -> String {
    let done = qdmanage(router, line, "");
    assert_eq!(done.status, 1, "{}", done.out);
    done.out
}

#[test]
fn an_entity_lives_from_create_to_delete() {
    let router = Router::start("qdmanage-life", "");
    let session = [
        "create --type dummy --name d arg1=x num1=7",
        "read --type dummy --name d",
        "update --type dummy --name d arg1 num2=10",
        "query --type dummy name num1 arg1",
        "query --type dummy name num1 --indent -1",
        "delete --type dummy --name d",
        "query --type dummy",
    ];
    let text: String = session.map(|line| format!("$ qdmanage {line}\n{}", ok(&router, line))).concat();
    assert_golden("qdmanage-life.txt", &text);
}

#[test]
fn entities_are_read_from_the_standard_input() {
    let router = Router::start("qdmanage-stdin", "");
    let list =
        r#"[{"type":"dummy","name":"a","arg1":"é"},{"type":"org.apache.qpid.dispatch.dummy","name":"b","num1":4}]"#;
    let one = qdmanage(&router, "create --stdin", r#"{"type":"dummy","name":"c"}"#);
    let several = qdmanage(&router, "create --stdin", list);
    assert_eq!((one.status, several.status), (0, 0));
    assert_golden("qdmanage-stdin.txt", &(one.out + &several.out));
    let wrong = qdmanage(&router, "create --stdin", "17");
    assert_eq!((wrong.status, wrong.out.as_str()), (1, "ValueError: stdin is not a JSON map or list\n"));
}

#[test]
fn an_address_configured_at_run_time_has_all_its_attributes() {
    let router = Router::start("qdmanage-address", "");
    let created = ok(&router, "create --type address prefix=ab waypoint=true name=joe");
    assert!(
        created.contains("\"type\": \"org.apache.qpid.dispatch.router.config.address\"")
            && created.contains("\"egressPhase\": 1")
    );
    ok(&router, "delete --type address --name joe");
    assert_eq!(ok(&router, "query --type address name"), "[]\n");
}

#[test]
fn what_can_be_managed_is_told() {
    let router = Router::start("qdmanage-types", "");
    for operation in ["get-types", "get-attributes", "get-operations"] {
        let all: serde_json::Value = serde_json::from_str(&ok(&router, operation)).expect("JSON");
        assert_eq!(all.as_object().map(serde_json::Map::len), Some(29), "{operation}");
    }
    let listener =
        "get-types listener\nget-operations sslProfile\nget-annotations\nget-mgmt-nodes\nget-attributes sslProfile";
    let text: String = listener.lines().map(|line| format!("$ qdmanage {line}\n{}", ok(&router, line))).collect();
    assert_golden("qdmanage-types.txt", &text);
}

#[test]
fn refusals_have_the_names_that_scripts_look_for() {
    let router = Router::start("qdmanage-refusals", "");
    let session = [
        "read --name nosuch",
        "query --type nosuch",
        "query --type listener nosuch",
        "create arg1=x",
        "create --type dummy num1=x",
        "create --type dummy nosuch=x",
        "update --type log --name log/AGENT enable=foo+",
        "delete",
        "nosuch",
        "callme --type dummy --name d --body {",
        "read --type router --identity 1",
    ];
    let text: String = session.map(|line| format!("$ qdmanage {line}\n{}", refused(&router, line))).concat();
    assert_golden("qdmanage-refusals.txt", &text);
}

#[test]
fn other_operations_are_sent_as_they_are_typed() {
    let router = Router::start("qdmanage-custom", "");
    ok(&router, "create --type dummy --name d");
    let called = ok(&router, r#"callme --type dummy --name d --properties {"a":1} --body [1,2.5] --indent -1"#);
    assert!(called.contains(r#""operation": "callme""#) && called.contains(r#""a": 1"#), "{called}");
    let log: serde_json::Value = serde_json::from_str(&ok(&router, "get-log limit=2")).expect("JSON");
    let entries = log.as_array().expect("a list");
    assert!(entries.len() == 2 && entries.iter().all(|entry| entry.as_array().is_some_and(|entry| entry.len() == 6)));
    let schema: serde_json::Value = serde_json::from_str(&ok(&router, "get-schema --indent 0")).expect("JSON");
    assert_eq!(schema["prefix"], "org.apache.qpid.dispatch");
}

#[test]
fn a_wrong_command_line_ends_with_two() {
    let done = run(QDMANAGE, "");
    assert_eq!((done.status, done.out.as_str()), (2, ""));
    assert!(done.err.ends_with("qdmanage <operation>: error: No operation specified\n"), "{}", done.err);
}
