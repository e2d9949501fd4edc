//! What entities have to agree on with each other.

use super::reading::{mistake, mistakes, read};

#[test]
fn a_standalone_router_has_no_peers() {
    let text = "role='standalone' not allowed to connect to or accept connections from other routers.";
    for entity in ["listener", "connector"] {
        for role in ["inter-router", "edge"] {
            assert_eq!(mistake(&format!("{entity} {{\n role: {role}\n}}")), text);
        }
    }
}

#[test]
fn inter_router_connections_are_for_interior_routers() {
    let text = mistake("router {\n mode: edge\n}\nconnector {\n role: inter-router\n}");
    assert!(text.starts_with("role='inter-router' only allowed with router mode='interior' for ConnectorEntity("));
}

#[test]
fn edge_routers_make_edge_connections_but_accept_none() {
    assert!(read("router {\n mode: edge\n}\nconnector {\n role: edge\n}").is_ok());
    let text = mistake("router {\n mode: edge\n}\nlistener {\n role: edge\n}");
    assert!(text.starts_with("role='edge' only allowed with router mode='interior' for ListenerEntity("));
}

#[test]
fn there_is_one_router() {
    let text = mistake("router {\n id: A\n}\nrouter {\n id: B\n}");
    assert!(text.starts_with("Adding org.apache.qpid.dispatch.router singleton RouterEntity("));
}

#[test]
fn names_are_unique_among_entities_of_a_type() {
    let errors = read("sslProfile {\n name: s\n}\nsslProfile {\n name: s\n}").unwrap_err();
    let text = &errors.problems[0].text;
    assert!(text.starts_with("adding SslProfileEntity(") && text.contains("duplicates unique attribute 'name'"));
    assert!(errors.problems[0].hint.as_deref().unwrap().contains("line 1"));
}

#[test]
fn entities_of_different_types_may_share_a_name() {
    assert!(read("address {\n name: n\n prefix: a\n}\nconnector {\n name: n\n}").is_ok());
}

#[test]
fn two_listeners_cannot_share_a_port() {
    assert!(mistake("listener {\n port: 1\n}\nlistener {\n port: 1\n}").contains("listener/:1"));
    assert!(read("listener {\n port: 1\n name: a\n}\nlistener {\n port: 1\n name: b\n}").is_ok());
}

#[test]
fn an_address_has_one_treatment() {
    let text = mistakes("address {\n prefix: a.b\n}\naddress {\n pattern: a/b/#\n}");
    assert_eq!(text, [(5, 11, "Already exists: an address with pattern 'a/b/#'".into())]);
}

#[test]
fn patterns_that_come_to_the_same_are_the_same() {
    assert!(mistake("address {\n pattern: a.#.#\n}\naddress {\n prefix: a\n}").starts_with("Already exists"));
    assert!(mistake("address {\n pattern: #.*\n}\naddress {\n pattern: */#\n}").starts_with("Already exists"));
}

#[test]
fn profiles_that_are_referred_to_exist() {
    assert_eq!(mistake("listener {\n sslProfile: s\n}"), "Cannot find sslProfile s");
    assert_eq!(mistake("listener {\n saslPlugin: s\n}"), "Cannot find sasl plugin s");
    assert!(read("listener {\n sslProfile: s\n}\nsslProfile {\n name: s\n}").is_ok());
}

#[test]
fn bindings_belong_to_exchanges_that_exist() {
    assert_eq!(mistake("binding {\n exchangeName: e\n nextHopAddress: h\n}"), "Named exchange does not exist");
    assert!(read("binding {\n exchangeName: e\n nextHopAddress: h\n}\nexchange {\n name: e\n address: a\n}").is_ok());
}

#[test]
fn an_address_section_that_is_repeated_word_by_word_has_no_effect() {
    let section = "address {\n prefix: a\n distribution: multicast\n}\n";
    let config = read(&format!("{section}{section}")).unwrap();
    assert_eq!((config.addresses().count(), config.warnings.len()), (1, 1));
}

#[test]
fn a_name_stands_for_one_vhost() {
    let text = mistake("vhost {\n hostname: a\n aliases: x\n}\nvhost {\n hostname: b\n aliases: x\n}");
    assert_eq!(text, "Policy for vhost 'b' alias 'x' conflicts with existing alias for vhost 'a'");
}

#[test]
fn two_vhosts_may_not_have_the_same_pattern_in_two_forms() {
    let vhosts = "vhost {\n hostname: #.example.com\n}\nvhost {\n hostname: #.#.example.com\n}";
    let patterns = "policy {\n enableVhostNamePatterns: yes\n}\n";
    assert_eq!(
        mistake(&format!("{patterns}{vhosts}")),
        "Policy for vhost '#.#.example.com' alias '#.#.example.com' optimized pattern conflicts with existing pattern"
    );
    assert!(read(vhosts).is_ok());
}

#[test]
fn an_option_that_groups_do_not_have_is_warned_of() {
    let config = read("vhost {\n hostname: h\n groups: {\n g: {\n maxConnections: 5\n }\n }\n}").unwrap();
    let warning = &config.warnings[0];
    assert_eq!(warning.text, "Policy vhost 'h' user group 'g' option 'maxConnections' is ignored.");
    assert_eq!(warning.place.as_ref().map(|place| place.line), Some(3));
}

#[test]
fn a_mistake_in_the_routers_mode_is_not_held_against_listeners() {
    assert_eq!(mistakes("router {\n mode: inside\n}\nlistener {\n role: inter-router\n}").len(), 1);
}

#[test]
fn entities_are_put_to_work_in_the_right_order() {
    let text = "listener {\n}\nconnector {\n}\naddress {\n prefix: a\n}\nrouter {\n}\nlog {\n module: DEFAULT\n}\nvhost {\n hostname: v\n}";
    let config = read(text).unwrap();
    let order: Vec<&str> = config.entities.iter().map(|entity| entity.entity_type.section).collect();
    assert_eq!(order, ["log", "router", "policy", "address", "vhost", "connector", "listener"]);
}
