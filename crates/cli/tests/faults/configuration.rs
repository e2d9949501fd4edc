//! Configuration files: what is read wrongly, refused late, or put to work in the wrong order.

use std::io::ErrorKind;
use std::process::Stdio;

use amqp::Value;
use management::client::Request;

use crate::ports::free_port;
use crate::support::node::Node;
use crate::support::router::{ConfigFile, Router, Setup};
use crate::support::wait_for;
use crate::support::wire::Wire;

/// How the program ends that starts with this configuration: its exit status, and what it says.
fn start(text: &str) -> (Option<i32>, String) {
    let output = ConfigFile::new(text).program().output().expect("the program can be started");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

// DISPATCH-1691
#[test]
fn a_hash_in_the_host_name_of_a_vhost_is_part_of_the_name() {
    let router = Router::start("vhost {\n hostname: tenant#1.example.com # the first\n}\n");

    let vhost = router.management().only("vhost");

    assert_eq!(vhost.text("hostname"), Some("tenant#1.example.com"));
}

// DISPATCH-1737
#[test]
fn a_mistake_in_the_groups_of_a_vhost_is_told_with_its_line_of_the_file() {
    let file = "router {\n id: QDR\n}\n\nvhost {\n hostname: a\n # the groups\n groups: {\n  \"$default\": {\n   \
                \"users\": *\n  }\n }\n}\n";

    let (status, text) = start(file);

    assert_eq!(status, Some(1));
    assert!(text.contains("Expecting value: line 10 column 13"), "{text}");
}

// DISPATCH-1645
#[test]
fn a_limit_of_five_gigabytes_is_kept_to_the_byte() {
    let limit = 5 * 1024 * 1024 * 1024_i64 + 1;
    let router = Router::start(&format!("vhost {{\n hostname: a\n maxMessageSize: {limit}\n}}\n"));
    let mut management = router.management();
    assert_eq!(management.only("vhost").integer("maxMessageSize"), Some(limit));

    management.update("vhost", "vhost/a", &[("maxMessageSize", Value::Long(limit + 1))]).expect("it can be changed");

    assert_eq!(management.only("vhost").integer("maxMessageSize"), Some(limit + 1));
}

// DISPATCH-1288, DISPATCH-1227, DISPATCH-1275, DISPATCH-1313
#[test]
fn what_users_wished_for_in_policies_can_be_configured() {
    let group = "groups: {\n$default: {\nusers: *\nallowDynamicLinkRoutes: no\nallowAdminStatusUpdate: no\n}\n}\n";
    let sections = format!(
        "vhost {{\nhostname: a\n{group}}}\nconnector {{\nname: out\nhost: 127.0.0.1\nport: 1\npolicyVhost: a\n}}\n"
    );
    let router = Setup { listener: "policyVhost: a", sections: &sections, ..Setup::default() }.start();
    let mut management = router.management();

    assert_eq!(management.only("listener").text("policyVhost"), Some("a"));
    assert_eq!(management.only("connector").text("policyVhost"), Some("a"));
    let vhost = format!("{:?}", management.only("vhost"));
    assert!(vhost.contains("allowDynamicLinkRoutes") && vhost.contains("allowAdminStatusUpdate"), "{vhost}");
}

// DISPATCH-1288
#[test]
fn the_schema_lists_what_can_be_configured() {
    let router = Router::start("");
    let request = Request::node("GET-ATTRIBUTES").with("entityType", "org.apache.qpid.dispatch.listener");
    let attributes = router.management().ask(request).expect("it is answered");
    assert!(format!("{attributes:?}").contains("policyVhost"), "{attributes:?}");
}

// DISPATCH-1760, DISPATCH-1764
#[test]
fn the_first_client_finds_all_of_the_configuration_at_work_though_the_listener_comes_first_in_the_file() {
    let port = free_port();
    let addresses: String = (0..2000).map(|number| format!("address {{\n prefix: area/{number}\n}}\n")).collect();
    let listener = format!("listener {{\n host: 127.0.0.1\n port: {port}\n authenticatePeer: no\n}}\n");
    let config = ConfigFile::new(&format!("{listener}{addresses}"));
    let mut process = config.program().stderr(Stdio::null()).spawn().expect("the program can be started");

    let stream = wait_for("the router to listen", || match std::net::TcpStream::connect(("127.0.0.1", port)) {
        Ok(stream) => Some(stream),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => None,
        Err(error) => panic!("{error}"),
    });
    let mut wire = Wire::new(stream);
    wire.open(amqp::performative::Open { container_id: "first".to_owned(), ..Default::default() });
    wire.begin();
    let found = Node::of(wire).query("address").len();

    process.kill().expect("it is running");
    process.wait().expect("it was killed");
    assert_eq!(found, 2000);
}

// DISPATCH-1617, DISPATCH-1622
#[test]
fn impossible_entities_are_not_created_and_leave_no_trace() {
    let text = |text: &str| Value::from(text);
    let impossible: [(&str, Vec<(&str, Value)>); 7] = [
        ("listener", vec![("port", text("0")), ("role", text("inter-router"))]),
        ("listener", vec![("port", text("0")), ("idleTimeoutSeconds", text("soon"))]),
        ("connector", vec![("port", text("1")), ("role", text("edge"))]),
        ("connector", vec![("port", text("1")), ("saslPassword", text("env:WAYSTATION_NO_SUCH_VARIABLE"))]),
        ("address", vec![("prefix", text("a")), ("pattern", text("a"))]),
        ("address", vec![("prefix", text("a")), ("ingressPhase", Value::Int(10))]),
        ("address", vec![("distribution", text("closest"))]),
    ];
    let router = Router::start("");
    let mut management = router.management();
    let count = |management: &mut Node| ["listener", "connector", "address"].map(|kind| management.query(kind).len());
    let before = count(&mut management);

    for (entity, pairs) in &impossible {
        let refused = management.create(entity, "impossible", pairs);
        assert!(refused.is_err(), "{entity} {pairs:?}");
        assert_eq!(count(&mut management), before, "{entity} {pairs:?}");
    }
}

// DISPATCH-1617, DISPATCH-1622
#[test]
fn a_name_that_was_refused_once_can_be_used() {
    let router = Router::start("");
    let mut management = router.management();
    let role = ("role", Value::from("inter-router"));
    let port = ("port", Value::from("0"));
    management.create("listener", "mine", &[port.clone(), role]).expect_err("a standalone router has no peers");

    let host = ("host", Value::from("127.0.0.1"));
    management.create("listener", "mine", &[port, host]).expect("now it is possible");

    assert_eq!(management.named("listener", "mine").text("role"), Some("normal"));
}

// DISPATCH-1617
#[test]
fn a_file_with_a_role_that_the_mode_does_not_allow_is_refused() {
    let (status, text) = start("listener {\n port: 0\n role: inter-router\n}\n");
    assert_eq!(status, Some(1));
    let reason = "role='standalone' not allowed to connect to or accept connections from other routers.";
    assert!(text.contains(reason), "{text}");
}

// skupper-router#1107, skupper-router#1190
#[test]
fn the_memory_that_a_container_may_use_is_told_and_not_that_of_the_machine() {
    let mut router = Router::start("");

    let line = router.wait_for_log("GiB available memory", |_| true);

    let told = line.split('(').nth(2).and_then(|rest| rest.split(' ').next());
    let told: f64 = told.and_then(|number| number.parse().ok()).expect("the line has a number");
    let allowed = allowed_memory(router.process_id()) as f64 / 1024.0 / 1024.0 / 1024.0;
    assert!((told - allowed).abs() < 0.01, "told {told} of {allowed} GiB");
}

/// What control groups and the machine allow a process, in bytes.
fn allowed_memory(process: u32) -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let meminfo = read("/proc/meminfo");
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")).expect("the machine has memory");
    let total = total.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024;
    let groups = read(&format!("/proc/{process}/cgroup"));
    let limits = groups.lines().filter_map(|line| {
        let (_, group) = line.split_once("::")?;
        read(&format!("/sys/fs/cgroup{}/memory.max", group.trim_end_matches('/'))).trim().parse().ok()
    });
    limits.chain([total]).min().expect("there is at least one")
}

// EnMasse#1810
#[test]
fn after_a_restart_all_of_a_large_configuration_is_there_again() {
    let sections: String = (0..3000).map(|number| format!("address {{\n prefix: area/{number}\n}}\n")).collect();
    let mut router = Router::start(&sections);
    assert_eq!(router.management().query("address").len(), 3000);

    router.restart();

    assert_eq!(router.management().query("address").len(), 3000);
}
