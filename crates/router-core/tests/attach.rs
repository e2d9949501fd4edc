//! What an attach leads to.

mod support;

use amqp::ErrorCondition;
use amqp::terminus::{Source, Target, TargetTerminus};
use router_core::*;
use support::*;

/// The error with which an attach on a connection of this role is refused, and that its own terminus is null.
fn refusal_on(world: &mut World, role: Role, attach: AttachInfo) -> Option<ErrorCondition> {
    let conn = world.connect_with(|info| info.role = role);
    let (incoming, given_source, given_target) = (attach.incoming, attach.source.clone(), attach.target.clone());
    let link = world.attach(conn, attach);
    let calls = world.calls();
    let [Call::Answer { source, target, .. }, Call::Detach { closed: true, error, .. }] = calls.as_slice() else {
        panic!("not a refusal: {calls:?}");
    };
    let expected = if incoming { (given_source, None) } else { (None, given_target) };
    assert_eq!((source.clone(), target.clone()), expected, "the other terminus is echoed");
    assert_eq!(link.key, LinkKey::DEAD);
    error.clone()
}

fn refusal(world: &mut World, attach: AttachInfo) -> Option<ErrorCondition> {
    refusal_on(world, Role::Normal, attach)
}

fn error(condition: &str, description: &str) -> Option<ErrorCondition> {
    Some(ErrorCondition::new(condition, description))
}

fn no_route() -> Option<ErrorCondition> {
    error("qd:no-route-to-dest", "No route to the destination node")
}

fn without_address(mut attach: AttachInfo) -> AttachInfo {
    match (&mut attach.source, &mut attach.target) {
        (Some(source), _) if !attach.incoming => source.address = None,
        (_, Some(TargetTerminus::Target(target))) => target.address = None,
        _ => {}
    }
    attach
}

fn dynamic(attach: AttachInfo) -> AttachInfo {
    let mut attach = without_address(attach);
    match (&mut attach.source, &mut attach.target) {
        (Some(source), _) if !attach.incoming => source.dynamic = true,
        (_, Some(TargetTerminus::Target(target))) => target.dynamic = true,
        _ => {}
    }
    attach
}

/// Source and target of the last answer.
fn answer(world: &mut World) -> (Option<Source>, Option<TargetTerminus>) {
    let calls = world.calls();
    let answer = calls.into_iter().find_map(|call| match call {
        Call::Answer { source, target, .. } => Some((source, target)),
        _ => None,
    });
    answer.expect("the attach is answered")
}

#[test]
fn an_accepted_attach_echoes_both_termini_as_they_came() {
    let mut world = World::new();
    let mut attach = with_capability(receiver_from("foo"), "queue");
    attach.source.as_mut().unwrap().timeout = 7;
    let conn = world.connect();
    world.attach(conn, attach.clone());
    assert_eq!(answer(&mut world), (attach.source, attach.target));
}

#[test]
fn links_between_routers_are_refused_on_other_connections() {
    let expected = error("qd:forbidden", "Connectivity to the node is forbidden");
    for capability in ["qd.router", "qd.router-data"] {
        let sender = with_capability(sender_to("x"), capability);
        let receiver = with_capability(receiver_from("x"), capability);
        assert_eq!(refusal(&mut World::new(), sender), expected);
        assert_eq!(refusal(&mut World::new(), receiver), expected);
    }
}

#[test]
fn a_router_capability_that_is_not_the_first_does_not_count() {
    let attach = with_capability(with_capability(receiver_from("x"), "queue"), "qd.router");
    let mut world = World::new();
    let conn = world.connect();
    assert_ne!(world.attach(conn, attach).key, LinkKey::DEAD);
}

#[test]
fn clients_links_are_refused_on_a_connection_between_routers() {
    let refused = refusal_on(&mut World::new(), Role::InterRouter, sender_to("x"));
    assert_eq!(refused, error("qd:connection-role", "Link attach forbidden on inter-router connection"));
}

#[test]
fn a_coordinator_is_refused_with_what_is_missing() {
    let coordinator = TargetTerminus::Coordinator { capabilities: vec![] };
    let refused = refusal(&mut World::new(), AttachInfo { target: Some(coordinator), ..sender_to("") });
    let text = "The router can't coordinate transactions by itself, a linkRoute to a coordinator must be configured to \
                use transactions.";
    assert_eq!(refused, error("amqp:precondition-failed", text));
}

#[test]
fn a_sender_without_address_is_anonymous_and_has_full_credit_at_once() {
    let mut world = World::new();
    let sender = world.anonymous_sender();
    assert_eq!(world.calls().last(), Some(&Call::Credit(sender.id, 250)));
    assert_eq!(world.link(sender).owning_addr, None);
}

#[test]
fn a_receiver_without_address_is_refused() {
    assert_eq!(refusal(&mut World::new(), without_address(receiver_from(""))), no_route());
    assert_eq!(refusal(&mut World::new(), AttachInfo { source: None, ..receiver_from("") }), no_route());
}

#[test]
fn an_unavailable_address_is_refused_to_both() {
    let expected = error("amqp:not-found", "Node not found");
    let mut world = World::distributing("unavailable", Treatment::Unavailable);
    assert_eq!(refusal(&mut world, sender_to("unavailable/x")), expected);
    assert_eq!(refusal(&mut world, receiver_from("unavailable/x")), expected);
}

#[test]
fn with_default_distribution_unavailable_only_configured_addresses_are_there() {
    let mut world = World::with(|settings| settings.default_treatment = Treatment::Unavailable);
    world.configure(NewAddressConfig {
        prefix: Some("closest".into()),
        distribution: Treatment::Closest,
        ..Default::default()
    });
    let conn = world.connect();
    assert_ne!(world.sender_on(conn, "closest/x").key, LinkKey::DEAD);
    assert_eq!(
        refusal(&mut World::with(|settings| settings.default_treatment = Treatment::Unavailable), sender_to("other")),
        error("amqp:not-found", "Node not found")
    );
}

#[test]
fn dynamic_nodes_exist_even_with_default_distribution_unavailable() {
    let mut world = World::with(|settings| settings.default_treatment = Treatment::Unavailable);
    let conn = world.connect();
    assert_ne!(world.attach(conn, dynamic(receiver_from(""))).key, LinkKey::DEAD);
}

#[test]
fn a_receiver_cannot_be_another_routers() {
    assert_eq!(refusal(&mut World::new(), receiver_from("_topo/0/OTHER/x")), no_route());
}

#[test]
fn a_sender_to_another_router_waits_without_credit() {
    let mut world = World::new();
    let sender = world.sender("_topo/0/OTHER/x");
    assert_eq!((world.link(sender).owning_addr, world.link(sender).credit_available), (Some("ROTHER"), 0));
}

#[test]
fn a_dynamic_source_gets_an_address_of_this_router() {
    let mut world = World::new();
    let conn = world.connect();
    let link = world.attach(conn, dynamic(receiver_from("")));
    let address = answer(&mut world).0.and_then(|source| source.address).unwrap();
    let name = address.strip_prefix("amqp:/_topo/0/QDR/temp.").expect("the form of a temporary address");
    assert_eq!(name.len(), 15);
    assert_eq!(world.link(link).owning_addr, Some(format!("Ltemp.{name}").as_str()));
    assert_eq!(world.address(&format!("Ltemp.{name}")).distribution, Treatment::Balanced);
}

#[test]
fn a_dynamic_source_on_an_edge_router_says_so() {
    let mut world = World::with(|settings| settings.mode = Mode::Edge);
    let conn = world.connect();
    world.attach(conn, dynamic(receiver_from("")));
    let address = answer(&mut world).0.and_then(|source| source.address).unwrap();
    assert!(address.starts_with("amqp:/_edge/QDR/temp."), "{address}");
}

#[test]
fn a_dynamic_target_is_a_mobile_address_that_others_can_receive_from() {
    let mut world = World::new();
    let conn = world.connect();
    let sender = world.attach(conn, dynamic(sender_to("")));
    let Some(TargetTerminus::Target(Target { address: Some(address), dynamic: true, .. })) = answer(&mut world).1
    else {
        panic!("no address");
    };
    assert!(address.starts_with("amqp:/_$temp."), "{address}");
    world.receiver_on(conn, &address);
    assert_eq!(world.link(sender).credit_available, 250);
}

#[test]
fn two_dynamic_sources_have_two_addresses() {
    let mut world = World::new();
    let conn = world.connect();
    world.attach(conn, dynamic(receiver_from("")));
    let first = answer(&mut world).0;
    world.attach(conn, dynamic(receiver_from("")));
    assert_ne!(answer(&mut world).0, first);
}

#[test]
fn a_source_of_names_that_repeats_itself_does_not_hang_the_router() {
    let mut world = World::with(|settings| settings.random = Box::new(|| 0));
    let conn = world.connect();
    world.attach(conn, dynamic(receiver_from("")));
    world.attach(conn, dynamic(receiver_from("")));
    assert_eq!(world.statistics().link_count, 2);
}

#[test]
fn an_address_entry_goes_with_its_last_link() {
    let mut world = World::new();
    let (sender, receiver) = (world.sender("foo"), world.receiver("foo", 0));
    world.lose(sender);
    assert!(world.core.address("M0foo").is_some());
    world.lose(receiver);
    assert!(world.core.address("M0foo").is_none());
}

#[test]
fn waypoint_capabilities_choose_the_phase() {
    let mut world = World::new();
    let conn = world.connect();
    let bound = |world: &mut World, attach| {
        let link = world.attach(conn, attach);
        world.link(link).owning_addr.map(str::to_owned)
    };
    for (capability, sender, receiver) in [
        ("qd.waypoint", "M1x", "M0x"),
        ("qd.waypoint.1", "M1x", "M0x"),
        ("qd.waypoint.3", "M3x", "M2x"),
        ("qd.waypoint.9", "M9x", "M8x"),
        ("qd.waypoint.10", "M0x", "M0x"),
        ("qd.waypoint.0", "M0x", "M0x"),
    ] {
        assert_eq!(bound(&mut world, with_capability(sender_to("x"), capability)).as_deref(), Some(sender));
        assert_eq!(bound(&mut world, with_capability(receiver_from("x"), capability)).as_deref(), Some(receiver));
    }
}

#[test]
fn a_fallback_receiver_is_bound_to_the_fallback_and_a_sender_is_not() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.attach(conn, with_capability(receiver_from("x"), "qd.fallback"));
    let sender = world.attach(conn, with_capability(sender_to("x"), "qd.fallback"));
    assert_eq!((world.link(receiver).owning_addr, world.link(sender).owning_addr), (Some("MFx"), Some("M0x")));
}

#[test]
fn phases_come_from_configuration_without_capabilities() {
    let mut world = World::new();
    world.configure(NewAddressConfig { prefix: Some("w".into()), waypoint: true, ..Default::default() });
    let (sender, receiver) = (world.sender("w/x"), world.receiver("w/x", 0));
    assert_eq!((world.link(sender).owning_addr, world.link(receiver).owning_addr), (Some("M0w/x"), Some("M1w/x")));
}

#[test]
fn configuration_goes_for_entries_made_afterwards() {
    let mut world = World::new();
    world.sender("foo");
    let id = world.configure(NewAddressConfig {
        prefix: Some("foo".into()),
        distribution: Treatment::Multicast,
        ..Default::default()
    });
    world.sender("foo/later");
    assert_eq!(world.address("M0foo").distribution, Treatment::Balanced);
    assert_eq!(world.address("M0foo/later").distribution, Treatment::Multicast);
    assert!(world.core.delete_address_config(id));
    assert_eq!(world.address("M0foo/later").distribution, Treatment::Multicast);
}

#[test]
fn heartbeats_may_be_sent_to_but_not_received() {
    let mut world = World::new();
    let sender = world.sender("_$qd.edge_heartbeat");
    assert_eq!(world.calls().last(), Some(&Call::Credit(sender.id, 2)));
    assert_eq!(refusal(&mut world, receiver_from("_$qd.edge_heartbeat")), None);
}

#[test]
fn edge_routers_may_ask_an_interior_router_and_hear_from_it_and_nobody_else_and_not_the_other_way() {
    let mut world = World::with(|settings| settings.mode = Mode::Interior);
    let (lookup, tracking) = ("_$qd.addr_lookup", "_$qd.edge_addr_tracking");
    for (role, attach) in [
        (Role::Normal, sender_to(lookup)),
        (Role::Normal, receiver_from(lookup)),
        (Role::Normal, sender_to(tracking)),
        (Role::Normal, receiver_from(tracking)),
        (Role::Edge, receiver_from(lookup)),
        (Role::Edge, sender_to(tracking)),
    ] {
        assert_eq!(refusal_on(&mut world, role, attach), None);
    }
    let conn = world.connect_with(|info| info.role = Role::Edge);
    let links = [world.attach(conn, sender_to(lookup)), world.attach(conn, receiver_from(tracking))];
    assert!(links.iter().all(|link| link.key != LinkKey::DEAD));
}

#[test]
fn attach_and_detach_are_logged_in_the_old_form() {
    let mut world = World::new();
    let conn = world.connect();
    let link = world.sender_on(conn, "foo");
    world.core.detach(world.now, &mut world.host, link.key, true, None);
    assert_eq!(
        world.host.logs,
        [
            "[C1][L1] Link attached: dir=in source={<none> expire:sess} target={foo expire:sess}",
            "[C1][L1] Link detached: del=0 presett=0 psdrop=0 acc=0 rej=0 rel=0 mod=0 delay1=0 delay10=0 blocked=no",
        ]
    );
}

#[test]
fn a_dynamic_attach_is_logged_as_it_came() {
    let mut world = World::new();
    let conn = world.connect();
    world.attach(conn, dynamic(receiver_from("")));
    let expected = "[C1][L1] Link attached: dir=out source={(dyn)<none> expire:sess} target={<none> expire:sess}";
    assert_eq!(world.host.logs, [expected]);
}

#[test]
fn losses_are_logged_for_what_they_are() {
    let mut world = World::new();
    let conn = world.connect();
    let lost = world.sender_on(conn, "foo");
    world.sender_on(conn, "foo");
    world.lose(lost);
    world.core.close_connection(world.now, &mut world.host, conn);
    let starts: Vec<_> =
        world.host.logs.iter().filter_map(|line| line.split_once(": del=")).map(|(start, _)| start).collect();
    assert_eq!(starts, ["[C1][L1] Link lost", "[C1][L2] Link closed due to connection loss"]);
}

#[test]
fn a_detach_is_answered_with_the_same_closed_flag() {
    for closed in [true, false] {
        let mut world = World::new();
        let link = world.sender("foo");
        world.calls();
        world.core.detach(world.now, &mut world.host, link.key, closed, None);
        assert_eq!(world.calls(), [Call::Detach { link: link.id, closed, error: None }]);
    }
}

#[test]
fn calls_with_the_key_of_a_dead_link_do_nothing() {
    let mut world = World::new();
    let link = world.sender("foo");
    world.lose(link);
    world.calls();
    world.core.detach(world.now, &mut world.host, link.key, true, None);
    world.core.credit(world.now, &mut world.host, link.key, 10, true);
    world.core.drained(world.now, &mut world.host, link.key, 10);
    world.core.discarded(world.now, &mut world.host, link.key);
    assert_eq!(world.send(link), Offered::Done);
    assert_eq!(world.calls(), []);
}

#[test]
fn a_link_can_be_closed_from_this_side() {
    let mut world = World::new();
    let link = world.sender("foo");
    world.calls();
    let why = ErrorCondition::new("amqp:link:message-size-exceeded", "Message size exceeded");
    world.core.force_detach(world.now, &mut world.host, link.key, Some(why.clone()));
    assert_eq!(world.calls(), [Call::Detach { link: link.id, closed: true, error: Some(why) }]);
}
