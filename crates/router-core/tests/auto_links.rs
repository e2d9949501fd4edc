//! Links that the router attaches by itself at a container.

mod support;

use amqp::{DeliveryState, ErrorCondition};
use router_core::*;
use support::*;

fn auto(address: &str, direction: RouteDirection) -> NewAutoLink {
    NewAutoLink {
        name: None,
        address: address.into(),
        direction,
        phase: u8::from(direction == RouteDirection::In),
        via: RouteVia::Connection("broker".into()),
        external_address: None,
        fallback: false,
        on_demand: None,
    }
}

fn create(world: &mut World, new: NewAutoLink) -> u64 {
    world.core.create_auto_link(world.now, &mut world.host, new).expect("valid")
}

fn broker(world: &mut World) -> ConnKey {
    world.connect_with(|info| {
        info.role = Role::RouteContainer;
        info.configured_name = Some("broker".into());
        info.container = "the broker".into();
    })
}

/// A router with one auto-link, and the link at the broker, answered.
fn attached(new: NewAutoLink) -> (World, Link) {
    let mut world = World::new();
    create(&mut world, new);
    broker(&mut world);
    let link = world.open_last();
    world.answer_last();
    (world, link)
}

fn state(world: &World) -> AutoLinkState {
    world.core.auto_links()[0].state
}

/// The container refuses the link asked for last.
fn refuse(world: &mut World) {
    let link = world.open_last();
    let terms = LinkTerms::default();
    world.core.attach_answered(world.now, &mut world.host, link.key, None, None, terms);
    let error = Some(ErrorCondition::new("amqp:not-found", "no such queue"));
    world.core.detach(world.now, &mut world.host, link.key, true, error);
}

#[test]
fn a_link_is_attached_when_the_container_connects() {
    let mut world = World::new();
    create(&mut world, auto("queue", RouteDirection::Out));
    assert_eq!(state(&world), AutoLinkState::Inactive);
    broker(&mut world);
    assert_eq!(state(&world), AutoLinkState::Attaching);
    world.open_last();
    world.answer_last();
    assert_eq!(state(&world), AutoLinkState::Active);
    assert_eq!(world.host.opened[0].2.target, sender_to("queue").target);
}

#[test]
fn a_link_is_attached_at_once_when_the_container_is_there() {
    let mut world = World::new();
    broker(&mut world);
    create(&mut world, auto("queue", RouteDirection::In));
    assert_eq!(world.host.opened[0].2.source, receiver_from("queue").source);
}

#[test]
fn a_container_may_call_the_node_otherwise() {
    let mut world = World::new();
    broker(&mut world);
    create(&mut world, NewAutoLink { external_address: Some("EXT".into()), ..auto("queue", RouteDirection::In) });
    assert_eq!(world.host.opened[0].2.source, receiver_from("EXT").source);
}

#[test]
fn what_is_sent_to_the_address_goes_to_the_container() {
    let (mut world, broker) = attached(auto("queue", RouteDirection::Out));
    world.credit(broker, 10);
    let sender = world.sender("queue");
    world.calls();
    world.send(sender);
    assert_eq!(world.calls_but_credit(), [transmit(broker, 0)]);
}

#[test]
fn what_the_container_sends_goes_to_the_next_phase_of_the_address() {
    let (mut world, broker) = attached(auto("queue", RouteDirection::In));
    let phase_1 = world.core.address("M1queue").map(|address| address.key.to_owned());
    assert!(phase_1.is_some());
    let conn = world.connect();
    let receiver = world.attach(conn, with_capability(receiver_from("queue"), "qd.waypoint.2"));
    world.credit(receiver, 1);
    let credit = world.calls().into_iter().find(|call| matches!(call, Call::Credit(..)));
    assert_eq!(credit, Some(Call::Credit(broker.id, 250)));
    world.send(broker);
    assert_eq!(world.calls(), [transmit(receiver, 0)]);
}

#[test]
fn a_waypoint_takes_messages_through_the_container() {
    let mut world = World::new();
    world.configure(NewAddressConfig { prefix: Some("queue".into()), waypoint: true, ..Default::default() });
    create(&mut world, auto("queue", RouteDirection::Out));
    create(&mut world, auto("queue", RouteDirection::In));
    broker(&mut world);
    let opened = world.host.opened.clone();
    for (number, (_, key, open)) in opened.iter().enumerate() {
        world.core.link_opened(world.now, &mut world.host, *key, 100 + number as u32);
        let (source, target) = (open.source.clone(), open.target.clone());
        world.core.attach_answered(world.now, &mut world.host, *key, source, target, LinkTerms::default());
    }
    let [to, from] = [0, 1].map(|at: usize| Link { key: opened[at].1, id: 100 + at as u32 });
    world.credit(to, 10);
    let receiver = world.receiver("queue", 10);
    let sender = world.sender("queue");
    world.calls();
    world.send(sender);
    world.accept(0);
    world.send(from);
    let calls = world.calls_but_credit();
    assert_eq!(calls, [transmit(to, 0), settled(sender, 0, DeliveryState::Accepted), transmit(receiver, 1)]);
}

#[test]
fn a_refused_link_is_tried_again_after_two_seconds_then_every_five() {
    let mut world = World::new();
    create(&mut world, auto("queue", RouteDirection::Out));
    broker(&mut world);
    refuse(&mut world);
    assert_eq!((state(&world), world.core.auto_links()[0].last_error), (AutoLinkState::Failed, Some("no such queue")));
    world.pass_and_scan(2);
    assert_eq!(world.host.opened.len(), 2);
    refuse(&mut world);
    world.pass_and_scan(4);
    assert_eq!(world.host.opened.len(), 2);
    world.pass_and_scan(1);
    assert_eq!(world.host.opened.len(), 3);
    world.open_last();
    world.answer_last();
    assert_eq!(state(&world), AutoLinkState::Active);
}

#[test]
fn a_link_that_the_container_detaches_is_attached_again() {
    let (mut world, link) = attached(auto("queue", RouteDirection::Out));
    world.core.detach(world.now, &mut world.host, link.key, true, None);
    assert_eq!((state(&world), world.core.auto_links()[0].last_error), (AutoLinkState::Failed, None));
    world.pass_and_scan(2);
    assert_eq!(state(&world), AutoLinkState::Attaching);
}

#[test]
fn a_container_that_comes_back_by_another_connection_is_found() {
    let mut world = World::new();
    create(&mut world, auto("queue", RouteDirection::Out));
    let first = broker(&mut world);
    broker(&mut world);
    world.core.close_connection(world.now, &mut world.host, first);
    assert_eq!(state(&world), AutoLinkState::Attaching);
}

#[test]
fn a_link_is_attached_on_each_connection_of_the_name() {
    let mut world = World::new();
    create(&mut world, auto("queue", RouteDirection::Out));
    for _ in 0..2 {
        broker(&mut world);
        world.open_last();
        world.answer_last();
    }
    let brokers: Vec<_> = world.host.opened.iter().map(|(_, key, _)| *key).collect();
    for key in brokers {
        world.core.credit(world.now, &mut world.host, key, 10, false);
    }
    let sender = world.sender("queue");
    world.send_times(sender, 10);
    let links: std::collections::BTreeSet<_> = world.host.sent.iter().map(|sent| sent.link).collect();
    assert_eq!((world.host.sent.len(), links.len()), (10, 2));
}

#[test]
fn without_its_container_an_auto_link_is_inactive() {
    let mut world = World::new();
    create(&mut world, auto("queue", RouteDirection::Out));
    let conn = broker(&mut world);
    world.open_last();
    world.answer_last();
    world.core.close_connection(world.now, &mut world.host, conn);
    assert_eq!(state(&world), AutoLinkState::Inactive);
    world.pass_and_scan(10);
    assert_eq!(world.host.opened.len(), 1);
}

#[test]
fn a_deleted_auto_link_is_detached_and_not_tried_again() {
    let (mut world, link) = attached(auto("queue", RouteDirection::Out));
    world.calls();
    let id = world.core.auto_links()[0].id;
    assert!(world.core.delete_auto_link(world.now, &mut world.host, id));
    assert_eq!(world.calls(), [Call::Detach { link: link.id, closed: true, error: None }]);
    world.pass_and_scan(10);
    assert_eq!((world.host.opened.len(), world.core.auto_links().len()), (1, 0));
}

/// As in the old router.
#[test]
fn the_address_of_an_auto_link_is_there_as_long_as_the_auto_link_whoever_is_connected() {
    let mut world = World::new();
    let id = create(&mut world, auto("queue", RouteDirection::Out));
    let known = |world: &World| world.core.address("M0queue").is_some();
    assert!(known(&world));
    assert!(world.core.delete_auto_link(world.now, &mut world.host, id));
    assert!(!known(&world));
}

#[test]
fn a_fallback_takes_what_nobody_else_takes() {
    let mut world = World::new();
    world.configure(NewAddressConfig { prefix: Some("queue".into()), fallback: true, ..Default::default() });
    create(&mut world, NewAutoLink { fallback: true, ..auto("queue", RouteDirection::Out) });
    broker(&mut world);
    let broker = world.open_last();
    world.answer_last();
    world.credit(broker, 10);
    let sender = world.sender("queue");
    world.send(sender);
    let receiver = world.receiver("queue", 10);
    world.send(sender);
    assert_eq!(world.counts([broker, receiver]), [1, 1]);
}

#[test]
fn a_name_is_used_once() {
    let mut world = World::new();
    create(&mut world, NewAutoLink { name: Some("n".into()), ..auto("a", RouteDirection::In) });
    let again = NewAutoLink { name: Some("n".into()), ..auto("b", RouteDirection::In) };
    let refused = world.core.create_auto_link(world.now, &mut world.host, again);
    assert_eq!(refused.unwrap_err().to_string(), "Name conflicts with an existing entity");
}

#[test]
fn ten_thousand_auto_links_are_attached() {
    let mut world = World::new();
    for number in 0..10_000 {
        create(&mut world, auto(&format!("queue.{number}"), RouteDirection::Out));
    }
    broker(&mut world);
    assert_eq!((world.host.opened.len(), world.core.statistics().auto_link_count), (10_000, 10_000));
}

/// Attaches what the core asks for of auto-links, from the place `from` on, until `die` have been answered; every seventh is
/// refused. Returns the place of the next.
fn answer_some(world: &mut World, from: usize, die: usize) -> usize {
    let mut answered = 0;
    let mut at = from;
    while at < world.host.opened.len() && answered < die {
        let (_, key, open) = world.host.opened[at].clone();
        world.core.link_opened(world.now, &mut world.host, key, at as u32 + 1);
        let refused = at % 7 == 3;
        let (source, target) = if refused { (None, None) } else { (open.source, open.target) };
        world.core.attach_answered(world.now, &mut world.host, key, source, target, open.terms);
        if refused {
            let error = Some(ErrorCondition::new("amqp:not-found", "not yet"));
            world.core.detach(world.now, &mut world.host, key, true, error);
        }
        (at, answered) = (at + 1, answered + 1);
    }
    at
}

#[test]
fn two_thousand_auto_links_are_complete_after_the_broker_died_at_any_point_of_attaching_them() {
    let mut world = World::new();
    for number in 0..1_000 {
        create(&mut world, auto(&format!("queue.{number}"), RouteDirection::Out));
        create(&mut world, auto(&format!("queue.{number}"), RouteDirection::In));
    }
    for die in [0, 1, 77, 1_500, 2_000, 2_100, usize::MAX] {
        let from = world.host.opened.len();
        let conn = broker(&mut world);
        let mut at = answer_some(&mut world, from, die);
        if die < usize::MAX {
            // Some were refused, and tried again, before it died.
            world.pass_and_scan(3);
            answer_some(&mut world, at, die / 2);
            world.core.close_connection(world.now, &mut world.host, conn);
            assert!(world.core.auto_links().iter().all(|auto| auto.state == AutoLinkState::Inactive));
            assert_eq!(world.core.object_counts().links, 0);
            continue;
        }
        // Of those tried again some are refused again.
        for _ in 0..20 {
            world.pass_and_scan(6);
            at = answer_some(&mut world, at, die);
        }
    }
    let all = world.core.auto_links();
    assert!(all.iter().all(|auto| auto.state == AutoLinkState::Active && auto.link.is_some()));
    let mut links: Vec<_> = all.iter().filter_map(|auto| auto.link).collect();
    links.sort_unstable();
    links.dedup();
    assert_eq!((links.len(), world.core.object_counts().links), (2_000, 2_000));
}
