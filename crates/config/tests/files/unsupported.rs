//! What is valid but cannot be run yet is said, not ignored.

use super::reading::read;

fn unsupported(text: &str) -> Vec<String> {
    let config = read(text).expect("the file should be valid");
    config
        .unsupported()
        .into_iter()
        .map(|it| format!("{}: {}", it.place.map_or(0, |place| place.line), it.sentence))
        .collect()
}

#[test]
fn a_standalone_router_for_clients_can_be_run() {
    let text = "router {\n mode: standalone\n}\nlistener {\n saslMechanisms: ANONYMOUS\n authenticatePeer: no\n multiTenant: yes\n}\n\
                connector {\n role: route-container\n}\naddress {\n prefix: a\n waypoint: yes\n}\nlog {\n module: DEFAULT\n}\nvhost {\n hostname: h\n}";
    assert_eq!(unsupported(text), Vec::<String>::new());
}

#[test]
fn a_network_of_interior_routers_can_be_run() {
    let text = "router {\n mode: interior\n}\nlistener {\n role: inter-router\n}\nconnector {\n role: inter-router\n cost: 5\n}";
    assert_eq!(unsupported(text), Vec::<String>::new());
}

#[test]
fn edge_routers_can_be_run() {
    let edge = "router {\n mode: edge\n}\nconnector {\n role: edge\n}";
    let interior = "router {\n mode: interior\n}\nlistener {\n role: edge\n}";
    assert_eq!([unsupported(edge), unsupported(interior)].concat(), Vec::<String>::new());
}

#[test]
fn profiles_cannot_be_run_yet() {
    let sections = ["policy {\n enableVhostPolicy: yes\n}", "policy {\n maxConnections: 5\n}"];
    for section in sections {
        assert_eq!(unsupported(section).len(), 1, "{section}");
    }
}

#[test]
fn peers_can_be_authenticated() {
    let sections = [
        "listener {\n authenticatePeer: yes\n saslMechanisms: PLAIN ANONYMOUS\n}",
        "listener {\n authenticatePeer: yes\n}",
        "listener {\n saslMechanisms: GSSAPI\n requireEncryption: yes\n}",
        "authServicePlugin {\n name: a\n host: h\n}\nlistener {\n saslPlugin: a\n}",
    ];
    for section in sections {
        assert_eq!(unsupported(section), Vec::<String>::new(), "{section}");
    }
}

fn with_policy(group: &str) -> String {
    let vhost = "hostname: $default\n allowUnknownUser: yes";
    format!(
        "policy {{\n enableVhostPolicy: yes\n}}\nvhost {{\n {vhost}\n groups: {{\n $default: {{\n{group}\n }}\n }}\n}}"
    )
}

const OPEN: &str = "remoteHosts: *\n sources: *\n targets: *\n allowDynamicSource: yes\n allowAnonymousSender: yes";

#[test]
fn a_policy_that_is_the_same_for_everybody_can_be_run() {
    let text = with_policy(&format!("{OPEN}\n allowAdminStatusUpdate: no"));
    let open = read(&text).unwrap().open_policy().unwrap();
    assert_eq!((open.allow_admin_status_update, open.allow_user_id_proxy), (false, false));
    assert!(unsupported(&text).is_empty());
}

#[test]
fn a_policy_that_restricts_anything_else_cannot_be_run_yet() {
    for restriction in ["maxSenders: 5", "users: a", "allowWaypointLinks: no"] {
        assert_eq!(unsupported(&with_policy(&format!("{OPEN}\n {restriction}"))).len(), 1, "{restriction}");
    }
    assert_eq!(unsupported(&with_policy("remoteHosts: *\n sources: a\n targets: *")).len(), 1);
    assert_eq!(unsupported(&format!("{}\nvhost {{\n hostname: h\n}}", with_policy(OPEN))).len(), 1);
    let connector = "connector {\n port: 1\n policyVhost: h\n}";
    assert_eq!(unsupported(&format!("{}\n{connector}", with_policy(OPEN))).len(), 1);
}
