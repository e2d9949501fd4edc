//! What sections mean.

use super::reading::{connector, listener, mistake, read};
use config::{Config, Direction, Distribution, Mode, RouteVia, Secret, Settings};
use management::schema::{self, Source};
use std::time::Duration;

#[test]
fn the_built_in_configuration_serves_this_machine_on_the_standard_port() {
    let config = Config::built_in(None);
    let (entity, listener) = config.listeners().next().unwrap();
    assert_eq!((listener.host.as_str(), listener.port.as_str()), ("localhost", "amqp"));
    assert_eq!(entity.attributes.text("identity"), Some("listener/localhost:amqp"));
    assert_eq!((config.router.mode, config.addresses().count()), (Mode::Standalone, 5));
}

#[test]
fn a_listener_has_the_old_routers_defaults() {
    let listener = listener("listener {\n}");
    assert_eq!((listener.host.as_str(), listener.port.as_str(), listener.authenticate_peer), ("", "amqp", false));
    let connection = &listener.connection;
    assert_eq!((connection.max_frame_size, connection.max_sessions, connection.link_capacity), (16384, 32768, 250));
    assert_eq!((connection.idle_timeout, connection.max_session_frames), (Duration::from_secs(16), None));
}

#[test]
fn frames_are_at_least_as_large_as_the_protocol_asks() {
    assert_eq!(listener("listener {\n maxFrameSize: 100\n}").connection.max_frame_size, 512);
}

#[test]
fn impossible_numbers_of_sessions_mean_as_many_as_possible() {
    assert_eq!(listener("listener {\n maxSessions: 0\n}").connection.max_sessions, 32768);
    assert_eq!(listener("listener {\n maxSessions: 70000\n}").connection.max_sessions, 32768);
    assert_eq!(listener("listener {\n maxSessions: 10\n}").connection.max_sessions, 10);
}

#[test]
fn negative_numbers_are_refused() {
    assert_eq!(
        mistake("listener {\n linkCapacity: -1\n}"),
        "Value -1 of 'linkCapacity' is not between 0 and 4294967295"
    );
}

#[test]
fn a_connector_connects_to_this_machine_unless_told_otherwise() {
    let connector = connector("connector {\n saslPassword: env:SECRET\n}");
    assert_eq!(
        (connector.host.as_str(), connector.port.as_str(), connector.verify_hostname),
        ("127.0.0.1", "amqp", true)
    );
    assert_eq!(connector.sasl_password, Some(Secret::Environment("SECRET".into())));
}

#[test]
fn former_names_mean_the_same() {
    let listener = listener("listener {\n protocolFamily: IPv6\n logMessage: all\n failoverList: h:1\n}");
    assert_eq!(listener.socket_address_family.map(|family| family.as_str()), Some("IPv6"));
    assert!(listener.connection.message_logging.includes("subject"));
    assert_eq!(listener.failover[0].host, "h");
}

#[test]
fn the_router_is_named_by_its_id() {
    let config = read("router {\n id: A\n}").unwrap();
    let router = config.entities.iter().find(|entity| entity.entity_type.short == "router").unwrap();
    assert_eq!(router.attributes.text("identity"), Some("router/A"));
}

#[test]
fn a_router_without_an_id_can_be_named_later() {
    let mut config = read("router {\n metadata: m\n}").unwrap();
    assert_eq!(config.router.id, None);
    config.name_router("Standalone_x");
    let router = config.entities.iter().find(|entity| entity.entity_type.short == "router").unwrap();
    assert_eq!(router.attributes.text("name"), Some("router/Standalone_x"));
    assert!(matches!(&router.settings, Settings::Router(router) if router.id.as_deref() == Some("Standalone_x")));
}

#[test]
fn a_waypoint_address_has_fixed_phases() {
    let config = read("address {\n prefix: q\n waypoint: yes\n distribution: multicast\n priority: 3\n}").unwrap();
    let (entity, address) = config.addresses().next().unwrap();
    assert_eq!((address.ingress_phase, address.egress_phase, address.priority), (0, 1, Some(3)));
    assert_eq!((address.distribution, entity.attributes.text("name")), (Distribution::Multicast, Some("address/0")));
}

#[test]
fn impossible_addresses_are_refused_in_the_old_routers_words() {
    let address = |lines: &str| mistake(&format!("address {{\n {lines}\n}}"));
    assert_eq!(address("distribution: closest"), "Either a 'prefix' or 'pattern' attribute must be provided");
    assert_eq!(address("prefix: a\n pattern: b"), "Cannot specify both a 'prefix' and a 'pattern' attribute");
    assert_eq!(address("prefix:"), "Prefix must be a non-empty string type");
    assert_eq!(address("pattern: ./."), "Pattern invalid - no tokens");
    assert_eq!(address("prefix: a\n ingressPhase: 10"), "Phase values must be between 0 and 9");
    let fallback = "Fallback cannot be specified with waypoint or non-zero ingress and egress phases";
    assert_eq!(address("prefix: a\n enableFallback: yes\n waypoint: yes"), fallback);
    let priority = "Priority value, if present, must be between 0 and QDR_MAX_PRIORITY";
    assert_eq!(address("prefix: a\n priority: 10"), priority);
}

#[test]
fn auto_links_know_their_phase_and_container() {
    let config =
        read("autoLink {\n addr: q\n dir: in\n connection: broker\n}\nautoLink {\n address: q\n direction: out\n}")
            .unwrap();
    let links: Vec<_> = config.auto_links().map(|(_, link)| (link.direction, link.phase, link.via.clone())).collect();
    assert_eq!(links[0], (Direction::In, 1, RouteVia::Connection("broker".into())));
    assert_eq!(links[1], (Direction::Out, 0, RouteVia::Nothing));
}

#[test]
fn a_route_goes_to_one_place() {
    let text = mistake("linkRoute {\n prefix: a\n direction: in\n connection: c\n containerId: d\n}");
    assert_eq!(text, "Both connection and containerId cannot be specified. Specify only one");
}

#[test]
fn an_address_that_is_no_text_is_refused() {
    let attributes = management::Attributes::new().with("prefix", amqp::Value::Int(5));
    let refusal = Settings::from_attributes(&schema::ADDRESS, &attributes).unwrap_err();
    assert_eq!(refusal.text, "Prefix must be a non-empty string type");
}

#[test]
fn an_sslprofile_may_name_its_password_in_several_ways() {
    let profile = |line: &str| read(&format!("sslProfile {{\n name: s\n {line}\n}}")).unwrap();
    let password = |config: Config| config.ssl_profiles().next().unwrap().1.password.clone();
    assert_eq!(password(profile("password: file:/p")), Some(Secret::File("/p".into())));
    assert_eq!(password(profile("passwordFile: /p")), Some(Secret::File("/p".into())));
    assert_eq!(password(profile("password: pass:x y")), Some(Secret::Literal("x y".into())));
}

#[test]
fn sizes_keep_all_64_bits() {
    let config = read("policy {\n maxMessageSize: 5368709120\n}").unwrap();
    assert_eq!(config.policies().next().unwrap().1.max_message_size, Some(5_368_709_120));
}

#[test]
fn the_old_hostport_of_an_authentication_service_is_understood() {
    let config = read("authServicePlugin {\n name: a\n authService: h:5671\n}").unwrap();
    let (_, service) = config.auth_services().next().unwrap();
    assert_eq!((service.host.as_str(), service.port.as_str()), ("h", "5671"));
}

#[test]
fn no_level_at_all_differs_from_no_setting() {
    let enable = |line: &str| {
        read(&format!("log {{\n module: AGENT\n {line}\n}}")).unwrap().logs().next().unwrap().1.enable.clone()
    };
    assert_eq!((enable("enable:"), enable("includeSource: yes")), (Some(String::new()), None));
}

#[test]
fn each_log_module_has_one_section() {
    assert!(mistake("log {\n module: AGENT\n}\nlog {\n module: AGENT\n}").contains("log/AGENT"));
}

#[test]
fn a_creation_through_management_means_the_same_as_a_section() {
    let config = read("listener {\n port: 5672\n}").unwrap();
    let entity = config.listeners().next().unwrap().0;
    let given = management::Attributes::new().with("port", amqp::Value::Ulong(5672));
    let created = schema::validate_create(entity.entity_type, &given, Source::Management).unwrap().attributes;
    assert_eq!(Settings::from_attributes(entity.entity_type, &created).unwrap(), {
        let mut section = entity.attributes.clone();
        section.remove("name");
        Settings::from_attributes(entity.entity_type, &section).unwrap()
    });
}
