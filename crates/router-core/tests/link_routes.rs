//! Links that are passed on to a container: two links are as one.

mod support;

use amqp::performative::{Manner, ReceiverSettleMode};
use amqp::terminus::{ExpiryPolicy, Source, Target, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Map, Symbol, Value};
use router_core::*;
use support::*;

/// A transactional state, as it is on the wire.
fn transactional() -> DeliveryState {
    DeliveryState::Other(vec![0x00, 0x53, 0x34, 0xc0, 0x04, 0x01, 0xa0, 0x01, 0x07].into())
}

fn route(prefix: &str, direction: RouteDirection) -> NewLinkRoute {
    NewLinkRoute {
        name: None,
        prefix: Some(prefix.into()),
        pattern: None,
        direction,
        via: RouteVia::Container("broker".into()),
        add_external_prefix: None,
        del_external_prefix: None,
    }
}

fn create(world: &mut World, new: NewLinkRoute) -> u64 {
    world.core.create_link_route(world.now, &mut world.host, new).expect("valid")
}

fn broker(world: &mut World) -> ConnKey {
    world.connect_with(|info| {
        info.role = Role::RouteContainer;
        info.container = "broker".into();
    })
}

fn client(world: &mut World) -> ConnKey {
    world.connect_with(|info| info.container = "client".into())
}

/// A router with link routes for `queue` in both directions, and the broker's connection.
fn routed() -> (World, ConnKey) {
    routed_in(World::new())
}

/// The same in this world.
fn routed_in(mut world: World) -> (World, ConnKey) {
    create(&mut world, route("queue", RouteDirection::In));
    create(&mut world, route("queue", RouteDirection::Out));
    let broker = broker(&mut world);
    (world, broker)
}

/// A pair of links that are one: the client's, which sends or receives, and the broker's.
struct Pair {
    world: World,
    client: Link,
    broker: Link,
    client_conn: ConnKey,
    broker_conn: ConnKey,
}

fn pair(attach: AttachInfo) -> Pair {
    let (mut world, broker_conn) = routed();
    let client_conn = client(&mut world);
    let client = world.attach(client_conn, attach);
    let broker = world.open_last();
    world.answer_last();
    world.calls();
    Pair { world, client, broker, client_conn, broker_conn }
}

impl Pair {
    fn offer_tagged(&mut self, tag: &[u8], state: Option<DeliveryState>) -> Offered {
        let link = self.client;
        self.world.offer(link, |offer| {
            // The test's tag lives as long as the test.
            offer.tag = Some(Box::leak(tag.to_vec().into_boxed_slice()));
            offer.state = state;
        })
    }

    fn detach(&mut self, link: Link, closed: bool, error: Option<ErrorCondition>) {
        self.world.core.detach(self.world.now, &mut self.world.host, link.key, closed, error);
    }

    fn answer_detach(&mut self, link: Link, closed: bool) {
        self.world.core.detach_answered(self.world.now, &mut self.world.host, link.key, closed, None);
    }
}

fn lost() -> Option<ErrorCondition> {
    Some(ErrorCondition::new("qd:routed-link-lost", "Connectivity to the peer container was lost"))
}

#[test]
fn a_sender_to_the_prefix_is_attached_at_the_container_with_all_its_terms() {
    let (mut world, _) = routed();
    let client = client(&mut world);
    let terms = LinkTerms {
        max_message_size: Some(99),
        properties: Some(Map(vec![(Value::Symbol("p".into()), Value::Bool(true))])),
        offered_capabilities: vec![Symbol::from("o")],
        ..LinkTerms::default()
    };
    world.attach(client, AttachInfo { terms: terms.clone(), ..sender_to("queue.a") });
    let (_, _, open) = world.host.opened.last().unwrap();
    assert_eq!((open.name.as_str(), open.incoming, open.class), ("to queue.a@client", false, LinkClass::LinkRoute));
    assert_eq!((&open.target, &open.terms), (&sender_to("queue.a").target, &terms));
}

#[test]
fn the_client_is_answered_what_the_container_answers() {
    let (mut world, _) = routed();
    let client = client(&mut world);
    let link = world.attach(client, receiver_from("queue.a"));
    world.open_last();
    assert_eq!(world.calls(), []);
    world.answer_last();
    let AttachInfo { source, target, .. } = receiver_from("queue.a");
    assert_eq!(world.calls(), [Call::Answer { link: link.id, source, target }]);
}

#[test]
fn without_a_container_there_is_no_route() {
    let mut world = World::new();
    create(&mut world, route("queue", RouteDirection::In));
    let client = client(&mut world);
    world.attach(client, sender_to("queue.a"));
    let error = Some(ErrorCondition::new("qd:no-route-to-dest", "No route to the destination node"));
    assert_eq!(world.calls()[1..], [Call::Detach { link: 1, closed: true, error }]);
}

#[test]
fn a_link_of_the_other_direction_is_not_passed_on() {
    let mut world = World::new();
    create(&mut world, route("queue", RouteDirection::In));
    broker(&mut world);
    world.receiver("queue.a", 0);
    assert!(world.host.opened.is_empty());
}

#[test]
fn a_connection_that_is_no_route_container_is_none() {
    let mut world = World::new();
    create(&mut world, route("queue", RouteDirection::In));
    world.connect_with(|info| info.container = "broker".into());
    assert!(!world.core.link_routes()[0].active);
}

#[test]
fn containers_of_one_name_take_turns() {
    let (mut world, _) = routed();
    broker(&mut world);
    let client = client(&mut world);
    for _ in 0..4 {
        world.attach(client, sender_to("queue"));
    }
    let conns: Vec<_> = world.host.opened.iter().map(|(conn, ..)| *conn).collect();
    assert_eq!(conns, [1, 2, 1, 2]);
}

#[test]
fn prefixes_are_put_on_and_taken_off_on_the_way_and_undone_on_the_way_back() {
    let mut world = World::new();
    let external = NewLinkRoute { add_external_prefix: Some("abc.".into()), ..route("queue", RouteDirection::Out) };
    create(&mut world, external);
    broker(&mut world);
    let client = client(&mut world);
    let link = world.attach(client, receiver_from("queue.a"));
    world.open_last();
    let source = world.host.opened.last().unwrap().2.source.clone();
    assert_eq!(source.and_then(|source| source.address).as_deref(), Some("abc.queue.a"));
    world.answer_last();
    let AttachInfo { source, target, .. } = receiver_from("queue.a");
    assert_eq!(world.calls(), [Call::Answer { link: link.id, source, target }]);
}

#[test]
fn routers_elsewhere_hear_of_the_first_container_and_of_the_loss_of_the_last() {
    let mut world = World::with(|settings| settings.mode = Mode::Interior);
    create(&mut world, route("queue", RouteDirection::In));
    let pattern = NewLinkRoute { prefix: None, pattern: Some("*.q".into()), ..route("", RouteDirection::Out) };
    create(&mut world, pattern);
    let first = broker(&mut world);
    let second = broker(&mut world);
    world.core.close_connection(world.now, &mut world.host, first);
    world.core.close_connection(world.now, &mut world.host, second);
    let said = ["Cqueue", "F*.q"].map(str::to_owned);
    let expected =
        [(said[0].clone(), true), (said[1].clone(), true), (said[0].clone(), false), (said[1].clone(), false)];
    assert_eq!(world.host.announced, expected);
}

#[test]
fn a_pattern_that_is_a_prefix_is_known_elsewhere_as_a_prefix() {
    let mut world = World::new();
    create(&mut world, NewLinkRoute { prefix: None, pattern: Some("a.b.#".into()), ..route("", RouteDirection::In) });
    assert!(world.core.address("Ca.b").is_some());
}

#[test]
fn a_sender_has_the_credit_that_the_container_gives() {
    let mut pair = pair(sender_to("queue"));
    pair.world.credit(pair.broker, 10);
    pair.world.send_times(pair.client, 3);
    pair.world.credit(pair.broker, 12);
    let credit: Vec<_> = pair.world.calls().into_iter().filter(|call| matches!(call, Call::Credit(..))).collect();
    assert_eq!(credit, [Call::Credit(pair.client.id, 10), Call::Credit(pair.client.id, 5)]);
}

#[test]
fn credit_given_before_the_container_is_attached_reaches_it() {
    let (mut world, _) = routed();
    let client = client(&mut world);
    let receiver = world.attach(client, receiver_from("queue"));
    world.credit(receiver, 7);
    let broker = world.open_last();
    assert_eq!(world.calls(), [Call::Credit(broker.id, 7)]);
}

#[test]
fn a_drain_passes_both_ways() {
    let mut pair = pair(receiver_from("queue"));
    pair.world.core.credit(pair.world.now, &mut pair.world.host, pair.client.key, 5, true);
    assert_eq!(pair.world.calls(), [Call::Credit(pair.broker.id, 5), Call::Drain(pair.broker.id, true)]);
    pair.world.core.drained(pair.world.now, &mut pair.world.host, pair.broker.key, 5);
    assert_eq!(pair.world.calls(), [Call::Drained(pair.client.id)]);
    pair.world.credit(pair.client, 2);
    assert_eq!(pair.world.calls(), [Call::Credit(pair.broker.id, 2)]);
}

#[test]
fn credit_given_back_for_a_drain_that_was_thought_better_of_is_given_again() {
    let mut pair = pair(receiver_from("queue"));
    let (client, broker) = (pair.client, pair.broker);
    let World { core, host, now, .. } = &mut pair.world;
    core.credit(*now, host, client.key, 5, true);
    core.credit(*now, host, client.key, 8, false);
    host.calls.clear();
    // The container answers the drain only now.
    core.drained(*now, host, broker.key, 5);
    assert_eq!(host.calls, [Call::Credit(broker.id, 5)]);
}

#[test]
fn a_receiver_that_asks_for_more_while_it_drains_is_drained_of_all() {
    let mut pair = pair(receiver_from("queue"));
    let (client, broker) = (pair.client, pair.broker);
    let World { core, host, now, .. } = &mut pair.world;
    core.credit(*now, host, client.key, 1, true);
    core.credit(*now, host, client.key, 4, true);
    host.calls.clear();
    core.drained(*now, host, broker.key, 1);
    assert_eq!(host.calls, []);
    core.drained(*now, host, broker.key, 3);
    assert_eq!(host.calls, [Call::Drained(client.id)]);
}

#[test]
fn a_delivery_keeps_its_tag_and_its_state() {
    let mut pair = pair(sender_to("queue"));
    pair.world.credit(pair.broker, 1);
    pair.offer_tagged(b"tag", Some(transactional()));
    let sent = &pair.world.host.sent[0];
    assert_eq!((sent.routed_tag.as_deref(), &sent.state), (Some(b"tag".as_slice()), &Some(transactional())));
}

#[test]
fn a_delivery_that_has_to_wait_keeps_them_too() {
    let mut pair = pair(sender_to("queue"));
    pair.world.credit(pair.broker, 1);
    pair.world.core.set_writable(pair.world.now, &mut pair.world.host, pair.broker_conn, false);
    pair.offer_tagged(b"tag", Some(transactional()));
    pair.world.core.set_writable(pair.world.now, &mut pair.world.host, pair.broker_conn, true);
    let sent = &pair.world.host.sent[0];
    assert_eq!((sent.routed_tag.as_deref(), &sent.state), (Some(b"tag".as_slice()), &Some(transactional())));
}

#[test]
fn a_delivery_keeps_how_its_sender_wants_it_dealt_with() {
    for writable in [true, false] {
        let mut pair = pair(sender_to("queue"));
        pair.world.credit(pair.broker, 1);
        pair.world.core.set_writable(pair.world.now, &mut pair.world.host, pair.broker_conn, writable);
        let manner = Manner { rcv_settle_mode: Some(ReceiverSettleMode::Second), batchable: true, resume: false };
        pair.world.offer(pair.client, |offer| (offer.tag, offer.manner) = (Some(&b"tag"[..]), manner));
        pair.world.core.set_writable(pair.world.now, &mut pair.world.host, pair.broker_conn, true);
        assert_eq!(pair.world.host.sent[0].manner, manner);
    }
}

#[test]
fn what_is_modified_reaches_the_sender_as_the_receiver_says_it() {
    let mut pair = pair(sender_to("queue"));
    pair.world.credit(pair.broker, 1);
    pair.world.send(pair.client);
    pair.world.calls();
    let modified = Some(DeliveryState::Modified(Box::default()));
    pair.world.outcome(0, modified.clone(), true);
    assert_eq!(pair.world.calls(), [Call::Incoming(pair.client.id, 0, modified, true)]);
}

#[test]
fn properties_of_flows_pass_both_ways() {
    let map = |number| Map::from_iter([(Value::from("k"), Value::Int(number))]);
    let mut pair = pair(receiver_from("queue"));
    let Pair { client, broker, .. } = pair;
    pair.world.core.flow_properties(pair.world.now, &mut pair.world.host, client.key, Box::new(map(1)));
    pair.world.core.flow_properties(pair.world.now, &mut pair.world.host, broker.key, Box::new(map(2)));
    assert_eq!(pair.world.calls(), [Call::SayWithFlow(broker.id, map(1)), Call::SayWithFlow(client.id, map(2))]);
    let plain = pair.world.receiver("elsewhere", 1);
    pair.world.calls();
    pair.world.core.flow_properties(pair.world.now, &mut pair.world.host, plain.key, Box::new(map(3)));
    assert_eq!(pair.world.calls(), []);
}

#[test]
fn properties_of_a_flow_that_came_before_the_container_is_attached_reach_it() {
    let map = Map::from_iter([(Value::from("k"), Value::Int(1))]);
    let (mut world, _) = routed();
    let conn = client(&mut world);
    let link = world.attach(conn, receiver_from("queue"));
    world.core.flow_properties(world.now, &mut world.host, link.key, Box::new(map.clone()));
    world.calls();
    let broker = world.open_last();
    assert_eq!(world.calls(), [Call::SayWithFlow(broker.id, map)]);
}

#[test]
fn links_and_entities_are_numbered_from_one_counter() {
    let mut world = World::new();
    let before = create(&mut world, route("queue", RouteDirection::In));
    let sender = world.sender("a");
    let after = create(&mut world, route("queue", RouteDirection::Out));
    assert_eq!((world.link(sender).id, after), (before + 1, before + 2));
}

#[test]
fn a_delivery_that_leaves_for_another_router_is_in_transit_and_one_that_leaves_for_a_client_goes_out() {
    let counts = |world: &World| {
        let router = world.statistics();
        (router.deliveries_ingress, router.deliveries_egress, router.deliveries_transit)
    };
    let mut pair = pair(receiver_from("queue"));
    pair.world.credit(pair.client, 1);
    pair.world.send(pair.broker);
    assert_eq!(counts(&pair.world), (1, 1, 0));
    let (mut world, _) = routed_in(World::with(|settings| settings.mode = Mode::Interior));
    let neighbor = world.connect_with(|info| info.role = Role::InterRouter);
    world.attach(neighbor, with_capability(sender_to("control"), "qd.router"));
    world.attach(neighbor, with_capability(receiver_from("control"), "qd.router"));
    let receiver = world.attach(neighbor, receiver_from("queue"));
    let broker = world.open_last();
    world.answer_last();
    world.credit(receiver, 1);
    world.send(broker);
    assert_eq!(counts(&world), (1, 0, 1));
}

#[test]
fn a_transactional_outcome_reaches_the_sender_as_it_is() {
    let mut pair = pair(sender_to("queue"));
    pair.world.credit(pair.broker, 1);
    pair.world.send(pair.client);
    pair.world.calls();
    pair.world.outcome(0, Some(transactional()), false);
    pair.world.outcome(0, Some(transactional()), true);
    let told = |settled| Call::Incoming(pair.client.id, 0, Some(transactional()), settled);
    assert_eq!(pair.world.calls(), [told(false), told(true)]);
}

#[test]
fn a_settlement_by_the_sender_reaches_the_receiver() {
    let mut pair = pair(sender_to("queue"));
    pair.world.credit(pair.broker, 1);
    let Offered::Tracked(key) = pair.world.send(pair.client) else { panic!("unsettled") };
    pair.world.calls();
    let state = Some(DeliveryState::Accepted);
    pair.world.core.sender_outcome(pair.world.now, &mut pair.world.host, key, state.clone(), true);
    assert_eq!(pair.world.calls(), [Call::Outgoing(pair.broker.id, 0, state, true)]);
}

#[test]
fn an_abort_reaches_the_receiver() {
    let mut pair = pair(sender_to("queue"));
    pair.world.host.slow.push(pair.broker.id);
    pair.world.credit(pair.broker, 1);
    let key = pair.world.begin(pair.client);
    pair.world.calls();
    pair.world.aborted(key);
    assert_eq!(pair.world.calls(), [Call::Abort(pair.broker.id)]);
}

#[test]
fn a_delivery_aborted_before_it_was_offered_gives_its_credit_back() {
    let mut pair = pair(sender_to("queue"));
    pair.world.credit(pair.broker, 1);
    pair.world.core.discarded(pair.world.now, &mut pair.world.host, pair.client.key);
    assert_eq!(pair.world.calls(), [Call::Credit(pair.client.id, 1), Call::Credit(pair.client.id, 1)]);
}

#[test]
fn a_detach_reaches_the_container_as_it_is_and_is_answered_when_the_container_has_answered() {
    for closed in [true, false] {
        let mut pair = pair(sender_to("queue"));
        let error = Some(ErrorCondition::new("some:error", "why"));
        let (client, broker) = (pair.client, pair.broker);
        pair.detach(client, closed, error.clone());
        assert_eq!(pair.world.calls(), [Call::Detach { link: broker.id, closed, error }]);
        pair.answer_detach(broker, closed);
        assert_eq!(pair.world.calls(), [Call::Detach { link: client.id, closed, error: None }]);
        assert_eq!(pair.world.core.object_counts().links, 0);
    }
}

#[test]
fn a_close_that_the_container_answers_with_a_detach_only_is_answered_with_a_close() {
    let mut pair = pair(sender_to("queue"));
    let (client, broker) = (pair.client, pair.broker);
    pair.detach(client, true, None);
    pair.world.calls();
    pair.answer_detach(broker, false);
    assert_eq!(pair.world.calls(), [Call::Detach { link: client.id, closed: true, error: None }]);
}

#[test]
fn a_detach_by_the_container_reaches_the_client() {
    let mut pair = pair(receiver_from("queue"));
    let error = Some(ErrorCondition::new("some:error", "why"));
    let (client, broker) = (pair.client, pair.broker);
    pair.detach(broker, true, error.clone());
    assert_eq!(pair.world.calls(), [Call::Detach { link: client.id, closed: true, error }]);
    pair.answer_detach(client, true);
    assert_eq!(pair.world.calls(), [Call::Detach { link: broker.id, closed: true, error: None }]);
    assert_eq!(pair.world.core.object_counts().links, 0);
}

#[test]
fn a_refusal_by_the_container_reaches_the_client() {
    let (mut world, _) = routed();
    let client = client(&mut world);
    let link = world.attach(client, sender_to("queue"));
    let broker = world.open_last();
    let (source, terms) = (sender_to("queue").source, LinkTerms::default());
    world.core.attach_answered(world.now, &mut world.host, broker.key, source.clone(), None, terms);
    let error = Some(ErrorCondition::new("amqp:not-found", "no such queue"));
    world.core.detach(world.now, &mut world.host, broker.key, true, error.clone());
    let refused =
        [Call::Answer { link: link.id, source, target: None }, Call::Detach { link: link.id, closed: true, error }];
    assert_eq!(world.calls(), refused);
}

#[test]
fn messages_sent_before_a_detach_go_out_before_it() {
    let mut pair = pair(sender_to("queue"));
    pair.world.credit(pair.broker, 5);
    pair.world.core.set_writable(pair.world.now, &mut pair.world.host, pair.broker_conn, false);
    pair.world.send_settled(pair.client, 2);
    pair.world.calls();
    let client = pair.client;
    pair.detach(client, true, None);
    assert_eq!(pair.world.calls(), []);
    pair.world.core.set_writable(pair.world.now, &mut pair.world.host, pair.broker_conn, true);
    let calls = pair.world.calls();
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[2], Call::Detach { link: pair.broker.id, closed: true, error: None });
}

#[test]
fn the_client_hears_of_the_loss_of_the_container_after_its_deliveries() {
    let mut pair = pair(sender_to("queue"));
    pair.world.credit(pair.broker, 5);
    pair.world.send(pair.client);
    pair.world.calls();
    pair.world.core.close_connection(pair.world.now, &mut pair.world.host, pair.broker_conn);
    let detached = Call::Detach { link: pair.client.id, closed: true, error: lost() };
    assert_eq!(pair.world.calls(), [settled(pair.client, 0, failed()), detached]);
    assert_eq!(pair.world.core.object_counts().links, 0);
}

#[test]
fn the_container_hears_of_the_loss_of_the_client() {
    let mut pair = pair(receiver_from("queue"));
    pair.world.core.close_connection(pair.world.now, &mut pair.world.host, pair.client_conn);
    assert_eq!(pair.world.calls(), [Call::Detach { link: pair.broker.id, closed: true, error: lost() }]);
    assert_eq!(pair.world.core.object_counts().links, 0);
}

#[test]
fn a_terminus_that_outlives_its_link_is_not_closed_when_the_other_end_is_lost() {
    let mut attach = receiver_from("queue");
    attach.source = attach.source.map(|source| Source { expiry_policy: ExpiryPolicy::Never, ..source });
    let mut pair = pair(attach);
    pair.world.core.close_connection(pair.world.now, &mut pair.world.host, pair.client_conn);
    assert_eq!(pair.world.calls(), [Call::Detach { link: pair.broker.id, closed: false, error: lost() }]);
}

#[test]
fn a_terminus_that_outlives_its_link_is_refused_where_that_is_not_allowed() {
    let mut world = World::with(|settings| settings.allow_resumable_link_route = false);
    create(&mut world, route("queue", RouteDirection::Out));
    broker(&mut world);
    let client = client(&mut world);
    let mut attach = receiver_from("queue");
    attach.source = attach.source.map(|source| Source { timeout: 1, ..source });
    world.attach(client, attach);
    let error = Some(ErrorCondition::new("qd:link-expiration", "Requested link expiration not allowed"));
    assert_eq!(world.calls()[1..], [Call::Detach { link: 1, closed: true, error }]);
}

#[test]
fn both_ends_on_one_connection_go_with_it() {
    let (mut world, broker) = routed();
    let _client = world.attach(broker, sender_to("queue"));
    world.open_last();
    world.answer_last();
    world.core.close_connection(world.now, &mut world.host, broker);
    assert_eq!(world.core.object_counts().links, 0);
}

#[test]
fn a_client_that_goes_before_the_container_is_attached_leaves_nothing() {
    let (mut world, _) = routed();
    let client = client(&mut world);
    let link = world.attach(client, sender_to("queue"));
    world.core.detach(world.now, &mut world.host, link.key, true, None);
    assert_eq!(world.calls(), [Call::Detach { link: link.id, closed: true, error: None }]);
    let broker = world.open_last();
    assert_eq!(world.calls(), [Call::Detach { link: broker.id, closed: true, error: None }]);
}

#[test]
fn a_coordinator_is_found_by_its_name() {
    let mut world = World::new();
    create(&mut world, route("$coordinator", RouteDirection::In));
    broker(&mut world);
    let client = client(&mut world);
    let target = Some(TargetTerminus::Coordinator { capabilities: Vec::new() });
    world.attach(client, AttachInfo { target: target.clone(), ..sender_to("") });
    assert_eq!(world.host.opened.last().unwrap().2.target, target);
}

#[test]
fn a_dynamic_node_goes_by_the_address_in_its_properties() {
    let (mut world, _) = routed();
    let client = client(&mut world);
    let properties = Map(vec![(Value::Symbol("x-opt-qd.address".into()), Value::String("queue.x".into()))]);
    let dynamic_node_properties = Some(properties);
    let target = Target { dynamic: true, dynamic_node_properties, ..Target::default() };
    let target = Some(TargetTerminus::Target(target));
    world.attach(client, AttachInfo { target: target.clone(), ..sender_to("") });
    assert_eq!(world.host.opened.last().unwrap().2.target, target);
}

/// What the container is asked to attach when a client of the tenant attaches this.
fn passed_on_for_tenant(direction: RouteDirection, attach: AttachInfo) -> OpenLink {
    let mut world = World::new();
    create(&mut world, route("tenant/queue", direction));
    broker(&mut world);
    let client = world.connect_with(|info| info.tenant = Some("tenant/".into()));
    world.attach(client, attach);
    world.host.opened.last().expect("a link was asked for").2.clone()
}

#[test]
fn tenants_addresses_go_on_with_their_prefix() {
    let passed = passed_on_for_tenant(RouteDirection::In, sender_to("queue"));
    assert_eq!(passed.target, sender_to("tenant/queue").target);
    let passed = passed_on_for_tenant(RouteDirection::Out, receiver_from("queue"));
    assert_eq!(passed.source, receiver_from("tenant/queue").source);
}

#[test]
fn the_address_in_the_properties_of_a_tenants_dynamic_node_goes_on_with_its_prefix() {
    let dynamic = |address: &str| {
        let properties = Map(vec![(Value::symbol("x-opt-qd.address"), Value::from(address))]);
        Source { dynamic: true, dynamic_node_properties: Some(properties), ..Source::default() }
    };
    let attach = AttachInfo { source: Some(dynamic("queue")), ..receiver_from("") };
    assert_eq!(passed_on_for_tenant(RouteDirection::Out, attach).source, Some(dynamic("tenant/queue")));
}

#[test]
fn a_deleted_link_route_passes_nothing_on() {
    let mut world = World::new();
    let id = create(&mut world, route("queue", RouteDirection::In));
    broker(&mut world);
    assert!(world.core.delete_link_route(world.now, &mut world.host, id));
    world.sender("queue");
    assert!(world.host.opened.is_empty() && world.core.address("Cqueue").is_none());
}

#[test]
fn a_link_route_of_a_connection_leads_there_and_goes_with_it() {
    let mut world = World::new();
    let owner = world.connect_with(|info| info.container = "edge".into());
    let new = NewLinkRoute { via: RouteVia::Nothing, ..route("queue", RouteDirection::In) };
    world.core.create_connection_link_route(world.now, &mut world.host, owner, new).expect("valid");
    world.sender("queue");
    assert_eq!(world.host.opened.len(), 1);
    world.core.close_connection(world.now, &mut world.host, owner);
    assert!(world.core.connection_link_routes().is_empty() && world.core.address("Cqueue").is_none());
}

#[test]
fn ten_thousand_link_routes_are_created_and_found() {
    let mut world = World::new();
    for number in 0..10_000 {
        create(&mut world, route(&format!("queue.{number}"), RouteDirection::In));
    }
    broker(&mut world);
    world.sender("queue.9999.x");
    assert_eq!(world.core.statistics().link_route_count, 10_000);
    assert_eq!(world.host.opened.len(), 1);
}
