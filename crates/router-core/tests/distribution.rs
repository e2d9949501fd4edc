//! Who gets a delivery.

mod support;

use amqp::DeliveryState;
use router_core::*;
use support::*;

#[test]
fn closest_takes_turns_whatever_the_credit() {
    let mut world = World::distributing("c", Treatment::Closest);
    let receivers = [world.receiver("c", 10), world.receiver("c", 0), world.receiver("c", 10)];
    let sender = world.sender("c");
    world.send_times(sender, 6);
    assert_eq!(world.counts(receivers), [2, 0, 2]);
    assert_eq!(world.link(receivers[1]).undelivered_count, 2);
}

#[test]
fn closest_goes_on_with_the_others_when_one_leaves() {
    let mut world = World::distributing("c", Treatment::Closest);
    let [a, b, c] = [world.receiver("c", 10), world.receiver("c", 10), world.receiver("c", 10)];
    let sender = world.sender("c");
    world.send(sender);
    world.lose(b);
    world.send_times(sender, 4);
    assert_eq!(world.counts([a, b, c]), [3, 0, 2]);
}

#[test]
fn balanced_is_the_default_and_idle_receivers_take_turns() {
    let mut world = World::new();
    let receivers = [world.receiver("b", 10), world.receiver("b", 10), world.receiver("b", 10)];
    let sender = world.sender("b");
    for at in 0..9 {
        world.send(sender);
        world.accept(at);
    }
    assert_eq!(world.counts(receivers), [3, 3, 3]);
}

#[test]
fn balanced_prefers_the_receiver_that_has_the_least_outstanding() {
    let mut world = World::new();
    let receivers = [world.receiver("b", 10), world.receiver("b", 10)];
    let sender = world.sender("b");
    world.send_times(sender, 4);
    // The second receiver settles what it got; the first does not.
    world.accept(1);
    world.accept(3);
    world.send_times(sender, 2);
    assert_eq!(world.counts(receivers), [2, 4]);
}

#[test]
fn balanced_counts_what_is_queued() {
    let mut world = World::new();
    let receivers = [world.receiver("b", 0), world.receiver("b", 10)];
    let sender = world.sender("b");
    world.send(sender);
    world.send(sender);
    world.accept(0);
    world.send(sender);
    assert_eq!((world.link(receivers[0]).undelivered_count, world.counts(receivers)), (1, [0, 2]));
}

#[test]
fn balanced_prefers_a_receiver_below_its_capacity() {
    let mut world = World::new();
    let small = world.connect_with(|info| info.link_capacity = 1);
    let full = world.receiver_on(small, "b");
    world.credit(full, 10);
    let roomy = world.receiver("b", 100);
    let sender = world.sender("b");
    world.send_times(sender, 10);
    assert_eq!(world.counts([full, roomy]), [1, 9]);
}

#[test]
fn balanced_with_all_at_capacity_takes_the_least_loaded() {
    let mut world = World::new();
    let small = world.connect_with(|info| info.link_capacity = 1);
    let receivers = [world.receiver_on(small, "b"), world.receiver_on(small, "b")];
    let sender = world.sender("b");
    world.send_times(sender, 6);
    assert_eq!(receivers.map(|receiver| world.link(receiver).undelivered_count), [3, 3]);
}

#[test]
fn balanced_knows_the_load_of_a_receiver_that_was_alone_before() {
    let mut world = World::new();
    let first = world.receiver("b", 10);
    let sender = world.sender("b");
    world.send_times(sender, 3);
    let second = world.receiver("b", 10);
    world.send_times(sender, 3);
    assert_eq!(world.counts([first, second]), [3, 3]);
}

#[test]
fn multicast_gives_everyone_a_copy() {
    let mut world = World::distributing("m", Treatment::Multicast);
    let receivers = [world.receiver("m", 10), world.receiver("m", 10), world.receiver("m", 0)];
    let sender = world.sender("m");
    world.send_times(sender, 4);
    assert_eq!(world.counts(receivers), [4, 4, 0]);
    world.credit(receivers[2], 10);
    assert_eq!(world.counts(receivers), [4, 4, 4]);
}

#[test]
fn multicast_reaches_the_sender_itself_if_it_receives() {
    let mut world = World::distributing("m", Treatment::Multicast);
    let conn = world.connect();
    let receiver = world.receiver_on(conn, "m");
    world.credit(receiver, 10);
    let sender = world.sender_on(conn, "m");
    world.send(sender);
    assert_eq!(world.counts([receiver]), [1]);
}

#[test]
fn addresses_are_told_apart_by_every_letter() {
    let mut world = World::new();
    let receivers = [world.receiver("foo", 10), world.receiver("Foo", 10), world.receiver("foo/bar", 10)];
    let sender = world.sender("Foo");
    world.send(sender);
    assert_eq!(world.counts(receivers), [0, 1, 0]);
}

#[test]
fn different_texts_for_one_address_meet() {
    let mut world = World::new();
    let receiver = world.receiver("amqp://host/foo/", 10);
    let sender = world.sender("/foo");
    world.send(sender);
    assert_eq!(world.counts([receiver]), [1]);
}

#[test]
fn an_anonymous_sender_reaches_what_each_message_names() {
    let mut world = World::new();
    let receivers = [world.receiver("foo", 10), world.receiver("_local/bar", 10)];
    let sender = world.anonymous_sender();
    for to in ["foo", "amqp:/foo", "_topo/0/QDR/bar", "_local/bar", "_edge/QDR/bar"] {
        world.offer(sender, |offer| offer.to = Some(to));
    }
    assert_eq!(world.counts(receivers), [2, 3]);
}

#[test]
fn the_to_annotation_wins_over_the_to_property() {
    let mut world = World::new();
    let receivers = [world.receiver("foo", 10), world.receiver("bar", 10)];
    let sender = world.anonymous_sender();
    world.offer(sender, |offer| (offer.to, offer.to_override) = (Some("foo"), Some("bar")));
    assert_eq!(world.counts(receivers), [0, 1]);
}

#[test]
fn the_to_annotation_does_not_lead_away_from_the_target_of_the_link() {
    let mut world = World::new();
    let receivers = [world.receiver("foo", 10), world.receiver("bar", 10)];
    let sender = world.sender("foo");
    world.offer(sender, |offer| offer.to_override = Some("bar"));
    assert_eq!(world.counts(receivers), [1, 0]);
}

#[test]
fn an_anonymous_message_without_to_is_rejected() {
    let mut world = World::new();
    let sender = world.anonymous_sender();
    world.calls();
    assert_eq!(world.send(sender), Offered::Done);
    let expected = rejected("amqp:precondition-failed", "Routing failure: no address present");
    assert_eq!(world.calls_but_credit(), [settled(sender, 0, expected)]);
}

#[test]
fn an_anonymous_message_to_an_unavailable_address_is_rejected() {
    let mut world = World::distributing("u", Treatment::Unavailable);
    let sender = world.anonymous_sender();
    world.calls();
    world.offer(sender, |offer| offer.to = Some("u/x"));
    let expected = rejected("amqp:not-found", "Deliveries cannot be sent to an unavailable address");
    assert_eq!(world.calls_but_credit(), [settled(sender, 0, expected)]);
}

#[test]
fn an_anonymous_message_enters_in_the_configured_phase() {
    let mut world = World::new();
    world.configure(NewAddressConfig { prefix: Some("p".into()), ingress_phase: Some(2), ..Default::default() });
    let conn = world.connect();
    let receiver = world.attach(conn, with_capability(receiver_from("p/x"), "qd.waypoint.3"));
    world.credit(receiver, 10);
    let sender = world.anonymous_sender();
    world.offer(sender, |offer| offer.to = Some("p/x"));
    assert_eq!(world.counts([receiver]), [1]);
}

#[test]
fn the_phase_annotation_wins_over_the_configured_phase() {
    let mut world = World::new();
    let conn = world.connect();
    let receiver = world.attach(conn, with_capability(receiver_from("x"), "qd.waypoint.6"));
    world.credit(receiver, 10);
    let sender = world.anonymous_sender();
    world.offer(sender, |offer| (offer.to, offer.phase) = (Some("x"), Some(5)));
    assert_eq!(world.counts([receiver]), [1]);
}

#[test]
fn the_fallback_gets_a_delivery_only_while_nobody_else_is_there() {
    let mut world = World::new();
    world.configure(NewAddressConfig { prefix: Some("f".into()), fallback: true, ..Default::default() });
    let conn = world.connect_with(|info| info.strip_annotations = StripAnnotations::No);
    let fallback = world.attach(conn, with_capability(receiver_from("f/x"), "qd.fallback"));
    world.credit(fallback, 10);
    let sender = world.sender("f/x");
    world.send(sender);
    let primary = world.receiver("f/x", 10);
    world.send(sender);
    assert_eq!(world.counts([fallback, primary]), [1, 1]);
    let sent = &world.host.sent[0];
    assert_eq!((sent.to_override.as_deref(), sent.phase), (Some("f/x"), 22));
    assert_eq!(world.address("M0f/x").deliveries_redirected_to_fallback, 1);
    assert_eq!(world.statistics().deliveries_redirected_to_fallback, 1);
}

#[test]
fn the_fallback_entry_goes_with_its_address() {
    let mut world = World::new();
    world.configure(NewAddressConfig { prefix: Some("f".into()), fallback: true, ..Default::default() });
    let sender = world.sender("f/x");
    assert!(world.core.address("MFf/x").is_some());
    world.lose(sender);
    assert!(world.core.address("MFf/x").is_none());
}

#[test]
fn a_fallback_receiver_that_was_there_first_is_found() {
    let mut world = World::new();
    world.configure(NewAddressConfig { prefix: Some("f".into()), fallback: true, ..Default::default() });
    let conn = world.connect();
    let fallback = world.attach(conn, with_capability(receiver_from("f/x"), "qd.fallback"));
    world.credit(fallback, 10);
    let sender = world.sender("f/x");
    world.send(sender);
    assert_eq!(world.counts([fallback]), [1]);
}

#[test]
fn delivery_tags_count_up_from_zero_over_all_links() {
    let mut world = World::distributing("m", Treatment::Multicast);
    world.receiver("m", 10);
    world.receiver("m", 10);
    let sender = world.sender("m");
    world.send(sender);
    assert_eq!(world.host.sent.iter().map(|sent| sent.tag).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn router_annotations_go_only_where_the_connection_lets_them_out() {
    for (strip, annotate) in [
        (StripAnnotations::No, true),
        (StripAnnotations::In, true),
        (StripAnnotations::Out, false),
        (StripAnnotations::Both, false),
    ] {
        let mut world = World::new();
        let conn = world.connect_with(|info| info.strip_annotations = strip);
        let receiver = world.receiver_on(conn, "foo");
        world.credit(receiver, 1);
        let sender = world.sender("amqp:/foo");
        world.send(sender);
        let sent = &world.host.sent[0];
        assert_eq!((sent.annotate, sent.to_override.as_deref()), (annotate, annotate.then_some("foo")));
    }
}

#[test]
fn a_to_annotation_that_came_is_passed_on() {
    let mut world = World::new();
    let conn = world.connect_with(|info| info.strip_annotations = StripAnnotations::No);
    let receiver = world.receiver_on(conn, "foo");
    let sender = world.sender("foo");
    world.offer(sender, |offer| offer.to_override = Some("toov/1"));
    world.credit(receiver, 1);
    assert_eq!(world.host.sent[0].to_override.as_deref(), Some("toov/1"));
}

#[test]
fn the_target_of_a_link_to_a_topological_address_is_annotated_as_it_was_written() {
    let mut world = World::new();
    let conn = world.connect_with(|info| info.strip_annotations = StripAnnotations::No);
    let receiver = world.receiver_on(conn, "_local/x");
    world.credit(receiver, 1);
    let sender = world.sender("amqp:/_topo/0/QDR/x");
    world.send(sender);
    assert_eq!(world.host.sent[0].to_override.as_deref(), Some("_topo/0/QDR/x"));
}

#[test]
fn tenants_do_not_see_each_others_addresses() {
    let mut world = World::new();
    let tenant = |info: &mut ConnectionInfo, name: &str| info.tenant = Some(format!("{name}/"));
    let (one, two) = (world.connect_with(|info| tenant(info, "one")), world.connect_with(|info| tenant(info, "two")));
    let receivers = [world.receiver_on(one, "foo"), world.receiver_on(two, "foo")];
    receivers.iter().for_each(|receiver| world.credit(*receiver, 10));
    let sender = world.sender_on(one, "foo");
    world.send(sender);
    assert_eq!(world.counts(receivers), [1, 0]);
    assert_eq!(world.link(sender).owning_addr, Some("M0one/foo"));
}

#[test]
fn a_tenants_anonymous_messages_stay_with_the_tenant_and_say_where_they_go() {
    let mut world = World::new();
    let conn = world.connect_with(|info| {
        info.tenant = Some("acme/".into());
        info.strip_annotations = StripAnnotations::No;
    });
    let receiver = world.receiver_on(conn, "foo");
    world.credit(receiver, 10);
    let target = Some(amqp::terminus::TargetTerminus::Target(Default::default()));
    let sender = world.attach(conn, AttachInfo { target, ..sender_to("") });
    world.offer(sender, |offer| offer.to = Some("foo"));
    let targeted = world.sender_on(conn, "foo");
    world.send(targeted);
    assert_eq!(
        world.host.sent.iter().map(|sent| sent.to_override.as_deref()).collect::<Vec<_>>(),
        [Some("acme/foo"); 2]
    );
}

#[test]
fn a_tenants_anonymous_messages_to_topological_addresses_are_named_by_these() {
    let mut world = World::new();
    let conn = world.connect_with(|info| {
        info.tenant = Some("acme/".into());
        info.strip_annotations = StripAnnotations::No;
    });
    let receiver = world.receiver_on(conn, "_local/x");
    world.credit(receiver, 10);
    let target = Some(amqp::terminus::TargetTerminus::Target(Default::default()));
    let sender = world.attach(conn, AttachInfo { target, ..sender_to("") });
    world.offer(sender, |offer| offer.to = Some("amqp:/_topo/0/QDR/x"));
    assert_eq!(world.host.sent[0].to_override.as_deref(), Some("_topo/0/QDR/x"));
}

#[test]
fn a_tenants_local_addresses_are_everyones() {
    let mut world = World::new();
    let conn = world.connect_with(|info| info.tenant = Some("acme/".into()));
    let receiver = world.receiver_on(conn, "_local/x");
    assert_eq!(world.link(receiver).owning_addr, Some("Lx"));
}

#[test]
fn configuration_is_matched_with_the_tenants_prefix() {
    let mut world = World::distributing("acme/foo", Treatment::Multicast);
    let conn = world.connect_with(|info| info.tenant = Some("acme/".into()));
    world.receiver_on(conn, "foo");
    world.receiver("foo", 0);
    assert_eq!(world.address("M0acme/foo").distribution, Treatment::Multicast);
    assert_eq!(world.address("M0foo").distribution, Treatment::Balanced);
}

#[test]
fn heartbeats_are_accepted() {
    let mut world = World::new();
    let sender = world.sender("_$qd.edge_heartbeat");
    world.calls();
    assert_eq!(world.send(sender), Offered::Done);
    assert_eq!(world.calls(), [settled(sender, 0, DeliveryState::Accepted), Call::Credit(sender.id, 1)]);
}
