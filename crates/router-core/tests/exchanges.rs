//! Exchanges and bindings: by its subject a message goes on to other addresses.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use amqp::DeliveryState;
use router_core::*;
use support::*;

fn exchange(name: &str, address: &str) -> NewExchange {
    NewExchange { name: name.into(), address: address.into(), ..NewExchange::default() }
}

fn binding(exchange: &str, key: &str, next_hop: &str) -> NewBinding {
    let (exchange, key, next_hop) = (exchange.into(), Some(key.into()), next_hop.into());
    NewBinding { exchange, key, next_hop, ..NewBinding::default() }
}

/// What the tests ask of a router with exchanges.
impl World {
    fn exchange(&mut self, new: NewExchange) -> Result<u64, ExchangeError> {
        self.core.create_exchange(self.now, &mut self.host, new)
    }

    fn bind(&mut self, new: NewBinding) -> Result<u64, BindingError> {
        self.core.create_binding(self.now, &mut self.host, new)
    }

    /// With an exchange `e` at this address, and these bindings of keys to next hops.
    fn with_exchange(address: &str, bindings: &[(&str, &str)]) -> Self {
        let mut world = Self::new();
        world.exchange(exchange("e", address)).unwrap();
        for (key, hop) in bindings {
            world.bind(binding("e", key, hop)).unwrap();
        }
        world
    }

    fn publish(&mut self, sender: Link, subject: &str) -> Offered {
        self.host.subject = Some(subject.to_owned());
        self.send(sender)
    }

    fn publish_settled(&mut self, sender: Link, subject: &str) {
        self.host.subject = Some(subject.to_owned());
        self.send_settled(sender, 1);
    }

    /// Received, dropped, forwarded, diverted.
    fn counters(&self) -> [u64; 4] {
        let exchanges = self.core.exchanges();
        [exchanges[0].received, exchanges[0].dropped, exchanges[0].forwarded, exchanges[0].diverted]
    }

    fn matched(&self) -> Vec<u64> {
        self.core.bindings().iter().map(|binding| binding.matched).collect()
    }
}

fn accepted(link: Link, delivery: u32) -> Call {
    Call::Incoming(link.id, delivery, Some(DeliveryState::Accepted), true)
}

fn released(link: Link, delivery: u32) -> Call {
    Call::Incoming(link.id, delivery, Some(DeliveryState::Released), true)
}

#[test]
fn a_message_goes_once_to_each_next_hop_of_a_binding_that_fits() {
    let keys = [("a.*", "one"), ("a.b", "one"), ("a.c.#", "one"), ("a.c.#", "two"), ("a.b.c", "two")];
    let mut world = World::with_exchange("x", &keys);
    let [one, two] = [world.receiver("one", 10), world.receiver("two", 10)];
    let sender = world.sender("x");
    for subject in ["a.b", "a.c", "a.c.d", "x.y.z", "a.b.c"] {
        world.publish_settled(sender, subject);
    }
    assert_eq!(world.counts([one, two]), [3, 3]);
    assert_eq!(world.matched(), [2, 1, 2, 2, 1]);
    assert_eq!(world.counters(), [5, 1, 4, 0]);
}

#[test]
fn the_sender_is_told_accepted_and_the_copies_go_out_settled() {
    let mut world = World::with_exchange("x", &[("#", "one")]);
    world.receiver("one", 10);
    let sender = world.sender("x");
    world.calls();
    assert_eq!(world.publish(sender, "s"), Offered::Done);
    let calls = world.calls();
    assert!(calls.contains(&accepted(sender, 0)), "{calls:?}");
    assert!(world.host.sent[0].settled && world.host.sent[0].anew);
    assert!(calls.contains(&Call::Credit(sender.id, 1)), "{calls:?}");
}

#[test]
fn what_nobody_gets_is_released_and_counted_as_dropped() {
    let mut world = World::with_exchange("x", &[("a", "one")]);
    let sender = world.sender("x");
    world.calls();
    // No binding fits; then one does, but nobody is there.
    world.publish(sender, "b");
    world.publish(sender, "a");
    let calls = world.calls();
    assert!(calls.contains(&released(sender, 0)) && calls.contains(&released(sender, 1)), "{calls:?}");
    assert_eq!((world.counters(), world.matched()), ([2, 2, 0, 0], vec![1]));
    assert_eq!(world.link(sender).credit_available, 250);
}

#[test]
fn a_message_without_a_subject_fits_no_key() {
    let mut world = World::with_exchange("x", &[("#", "one")]);
    let receiver = world.receiver("one", 10);
    let sender = world.sender("x");
    world.send(sender);
    assert_eq!((world.counts([receiver]), world.counters()), ([0], [1, 1, 0, 0]));
}

#[test]
fn what_no_binding_takes_goes_to_the_alternate_address() {
    let mut world = World::new();
    let alternate_address = Some("alternate".into());
    world.exchange(NewExchange { alternate_address, ..exchange("e", "x") }).unwrap();
    world.bind(binding("e", "a", "one")).unwrap();
    let [one, alternate] = [world.receiver("one", 10), world.receiver("alternate", 10)];
    let sender = world.sender("x");
    world.publish(sender, "a");
    world.publish(sender, "b");
    world.lose(one);
    world.publish(sender, "a");
    assert_eq!(world.counts([one, alternate]), [1, 2]);
    assert_eq!(world.counters(), [3, 0, 3, 2]);
}

#[test]
fn a_binding_without_a_key_takes_everything() {
    for match_method in [MatchMethod::Amqp, MatchMethod::Mqtt] {
        let mut world = World::new();
        world.exchange(NewExchange { match_method, ..exchange("e", "x") }).unwrap();
        world.bind(NewBinding { key: None, ..binding("e", "", "one") }).unwrap();
        let receiver = world.receiver("one", 10);
        let sender = world.sender("x");
        world.publish(sender, "whatever.it/is");
        assert_eq!((world.counts([receiver]), world.core.bindings()[0].given.key.as_deref()), ([1], Some("#")));
    }
}

#[test]
fn a_sender_has_credit_as_soon_as_there_is_an_exchange_and_none_once_it_is_gone() {
    let mut world = World::new();
    let sender = world.sender("x");
    assert_eq!(world.link(sender).credit_available, 0);
    let id = world.exchange(exchange("e", "x")).unwrap();
    assert_eq!(world.link(sender).credit_available, 250);
    assert_eq!(world.host.deeper, [sender.id]);
    assert!(world.core.delete_exchange(world.now, &mut world.host, id));
    world.calls();
    world.publish(sender, "a");
    assert!(world.calls().contains(&Call::Drain(sender.id, true)));
    assert!(!world.core.delete_exchange(world.now, &mut world.host, id));
}

#[test]
fn only_links_to_an_exchange_are_looked_into_deeper() {
    let mut world = World::with_exchange("x", &[]);
    world.sender("y");
    world.receiver("x", 1);
    let sender = world.sender("x");
    assert_eq!(world.host.deeper, [sender.id]);
}

#[test]
fn a_consumer_of_the_address_itself_gets_every_message() {
    let mut world = World::with_exchange("x", &[("a", "one")]);
    let [own, one] = [world.receiver("x", 10), world.receiver("one", 10)];
    let sender = world.sender("x");
    world.publish(sender, "a");
    world.publish(sender, "b");
    assert_eq!((world.counts([own, one]), world.counters()), ([2, 1], [2, 0, 2, 0]));
}

#[test]
fn next_hops_are_treated_as_their_addresses_are() {
    let mut world = World::distributing("many", Treatment::Multicast);
    world.exchange(exchange("e", "x")).unwrap();
    world.bind(binding("e", "a.b", "many")).unwrap();
    world.bind(binding("e", "*.b", "one")).unwrap();
    let all = [world.receiver("many", 10), world.receiver("many", 10), world.receiver("one", 10)];
    let sender = world.sender("x");
    world.publish(sender, "a.b");
    assert_eq!(world.counts(all), [1, 1, 1]);
}

#[test]
fn the_phase_of_a_next_hop_goes_with_the_copy() {
    let mut world = World::new();
    world.exchange(exchange("e", "x")).unwrap();
    world.bind(NewBinding { next_hop_phase: 3, ..binding("e", "#", "one") }).unwrap();
    let conn = world.connect_with(|info| info.strip_annotations = StripAnnotations::No);
    let attach = with_capability(receiver_from("one"), "qd.waypoint.4");
    let receiver = world.attach(conn, attach);
    world.credit(receiver, 10);
    let sender = world.sender("x");
    world.publish(sender, "s");
    let sent = &world.host.sent[0];
    assert_eq!((sent.link, sent.phase, sent.to_override.as_deref()), (receiver.id, 3, Some("one")));
}

#[test]
fn an_exchange_may_take_a_later_phase_of_its_address() {
    let mut world = World::new();
    world.exchange(NewExchange { phase: 2, ..exchange("e", "x") }).unwrap();
    world.bind(binding("e", "#", "one")).unwrap();
    let receiver = world.receiver("one", 10);
    let [plain, conn] = [world.connect(), world.connect()];
    let plain = world.sender_on(plain, "x");
    let waypoint = world.attach(conn, with_capability(sender_to("x"), "qd.waypoint.2"));
    world.publish(waypoint, "s");
    assert_eq!((world.link(plain).credit_available, world.counts([receiver])), (0, [1]));
}

#[test]
fn what_comes_back_to_an_exchange_ends_there() {
    let mut world = World::with_exchange("x", &[("#", "y"), ("#", "one")]);
    world.exchange(exchange("f", "y")).unwrap();
    world.bind(binding("f", "#", "x")).unwrap();
    world.bind(binding("f", "#", "two")).unwrap();
    let receivers = [world.receiver("one", 10), world.receiver("two", 10)];
    let sender = world.sender("x");
    world.publish(sender, "s");
    assert_eq!((world.counts(receivers), world.counters()), ([1, 1], [2, 1, 1, 0]));
}

#[test]
fn a_message_from_within_the_router_passes_an_exchange() {
    let mut world = World::with_exchange("x", &[("s", "one")]);
    let receiver = world.receiver("one", 10);
    world.host.subject = Some("s".into());
    assert!(world.core.send_local(world.now, &mut world.host, "x", std::sync::Arc::new(7)));
    assert_eq!(world.counts([receiver]), [1]);
}

#[test]
fn an_anonymous_sender_reaches_an_exchange() {
    let mut world = World::with_exchange("x", &[("s", "one")]);
    let receiver = world.receiver("one", 10);
    let sender = world.anonymous_sender();
    world.host.subject = Some("s".into());
    world.offer(sender, |offer| offer.to = Some("x"));
    assert_eq!(world.counts([receiver]), [1]);
}

#[test]
fn a_message_that_is_still_coming_goes_on_at_once_and_its_sender_is_told_at_the_end() {
    let mut world = World::distributing("many", Treatment::Multicast);
    world.exchange(exchange("e", "x")).unwrap();
    for hop in ["many", "one", "two"] {
        world.bind(binding("e", "s", hop)).unwrap();
    }
    let receivers = [world.receiver("many", 10), world.receiver("many", 10), world.receiver("one", 10)];
    world.host.slow = receivers.map(|receiver| receiver.id).to_vec();
    let sender = world.sender("x");
    world.host.subject = Some("s".into());
    world.calls();
    let delivery = world.begin(sender);
    assert_eq!(world.counts(receivers), [1, 1, 1]);
    assert!(!world.calls().iter().any(|call| matches!(call, Call::Incoming(..))));
    (0..3).for_each(|at| world.transmitted(at));
    world.received(delivery);
    assert_eq!(world.calls(), [accepted(sender, 0), Call::Credit(sender.id, 1)]);
    assert_eq!(world.core.object_counts().deliveries, 0);
}

#[test]
fn a_message_that_is_still_coming_and_that_nobody_gets_is_released_at_its_end() {
    for multicast in [false, true] {
        let mut world = World::new();
        if multicast {
            world = World::distributing("one", Treatment::Multicast);
        }
        world.exchange(exchange("e", "x")).unwrap();
        world.bind(binding("e", "s", "one")).unwrap();
        let sender = world.sender("x");
        world.host.subject = Some("s".into());
        world.calls();
        let delivery = world.begin(sender);
        world.received(delivery);
        assert_eq!(world.calls(), [released(sender, 0), Call::Credit(sender.id, 1)]);
        assert_eq!(world.core.object_counts().deliveries, 0);
    }
}

#[test]
fn an_abort_reaches_all_copies() {
    let mut world = World::with_exchange("x", &[("s", "one"), ("s", "two")]);
    let receivers = [world.receiver("one", 10), world.receiver("two", 10)];
    world.host.slow = receivers.map(|receiver| receiver.id).to_vec();
    let sender = world.sender("x");
    world.host.subject = Some("s".into());
    let delivery = world.begin(sender);
    world.calls();
    world.aborted(delivery);
    let calls = world.calls();
    assert!(receivers.iter().all(|receiver| calls.contains(&Call::Abort(receiver.id))), "{calls:?}");
    assert_eq!((world.core.object_counts().deliveries, world.link(sender).credit_available), (0, 250));
}

#[test]
fn a_sender_waits_for_the_receiver_whose_credit_covers_its_message() {
    let mut world = World::with_exchange("x", &[("s", "one")]);
    let receiver = world.receiver("one", 10);
    let sender = world.sender("x");
    let conn = world.core.link(world.now, receiver.key).map(|link| link.connection_id).unwrap();
    let (conn, _) = world.core.find_connection(conn).unwrap();
    world.core.set_writable(world.now, &mut world.host, conn, false);
    world.calls();
    world.publish(sender, "s");
    assert_eq!(world.calls(), [accepted(sender, 0)]);
    world.core.set_writable(world.now, &mut world.host, conn, true);
    assert!(world.calls().contains(&Call::Credit(sender.id, 1)));
    assert_eq!(world.link(sender).credit_available, 250);
}

#[test]
fn bindings_come_and_go_at_run_time() {
    let mut world = World::with_exchange("x", &[("a", "one")]);
    let [one, two] = [world.receiver("one", 10), world.receiver("two", 10)];
    let sender = world.sender("x");
    let id = world.bind(binding("e", "a", "two")).unwrap();
    world.publish(sender, "a");
    assert!(world.core.delete_binding(world.now, &mut world.host, id));
    world.publish(sender, "a");
    assert_eq!(world.counts([one, two]), [2, 1]);
    assert!(!world.core.delete_binding(world.now, &mut world.host, id));
}

#[test]
fn many_bindings_come_and_go_without_a_trace() {
    let mut world = World::with_exchange("x", &[("kept.#", "one")]);
    let before = world.core.object_counts();
    let ids: Vec<_> =
        (0..200).map(|n| world.bind(binding("e", &format!("k{n}.*"), &format!("hop{n}"))).unwrap()).collect();
    assert_eq!(world.core.object_counts().addresses, before.addresses + 200);
    for id in ids {
        assert!(world.core.delete_binding(world.now, &mut world.host, id));
    }
    assert_eq!(world.core.object_counts(), before);
    let one = world.receiver("one", 10);
    let sender = world.sender("x");
    world.publish(sender, "kept.still");
    assert_eq!(world.counts([one]), [1]);
}

#[test]
fn an_exchange_takes_its_bindings_with_it_and_leaves_no_address_behind() {
    let mut world = World::new();
    let before = world.core.object_counts();
    let alternate_address = Some("z".into());
    let id = world.exchange(NewExchange { alternate_address, ..exchange("e", "x") }).unwrap();
    world.bind(binding("e", "a", "one")).unwrap();
    world.bind(binding("e", "b", "one")).unwrap();
    world.core.delete_exchange(world.now, &mut world.host, id);
    assert!(world.core.exchanges().is_empty() && world.core.bindings().is_empty());
    assert_eq!(world.core.object_counts(), before);
    // Its name and address are free again.
    world.exchange(exchange("e", "x")).unwrap();
}

#[test]
fn creations_that_clash_are_refused_in_the_old_words_and_leave_no_trace() {
    let mut world = World::with_exchange("x", &[]);
    let named = NewBinding { name: Some("b".into()), ..binding("e", "a", "one") };
    world.bind(named.clone()).unwrap();
    let before = world.core.object_counts();
    let text = |error: ExchangeError| error.to_string();
    assert_eq!(world.exchange(exchange("e", "y")).map_err(text), Err("duplicate exchange name".into()));
    assert_eq!(world.exchange(exchange("f", "x")).map_err(text), Err("duplicate exchange address".into()));
    assert_eq!(world.exchange(exchange("f", "/x")).map_err(text), Err("duplicate exchange address".into()));
    let heartbeat = exchange("f", "_$qd.edge_heartbeat");
    assert_eq!(world.exchange(heartbeat).map_err(text), Err("duplicate exchange address".into()));
    let text = |error: BindingError| error.to_string();
    let cases = [
        (binding("g", "a", "one"), "Named exchange does not exist"),
        (binding("e", "..", "one"), "The binding key pattern is invalid"),
        (NewBinding { key: Some("z".into()), ..named }, "Duplicate next hop name"),
        (binding("e", "a", "one"), "Next hop for key already exists"),
    ];
    for (new, refused) in cases {
        assert_eq!(world.bind(new).map_err(text), Err(refused.into()));
    }
    assert_eq!(world.core.object_counts(), before);
}

#[test]
fn an_exchange_is_announced_to_other_routers_as_a_consumer() {
    let mut world = World::with(|settings| settings.mode = Mode::Interior);
    let id = world.exchange(exchange("e", "x")).unwrap();
    let receiver = world.receiver("x", 1);
    world.lose(receiver);
    world.core.delete_exchange(world.now, &mut world.host, id);
    assert_eq!(world.host.announced, [("M0x".to_owned(), true), ("M0x".to_owned(), false)]);
}
