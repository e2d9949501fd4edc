//! Link credit (part 2, section 2.6.7).

use amqp::performative::{Flow, Performative, Role, Transfer};
use amqp::{Map, Symbol, Value};
use amqp_endpoint::{ConnectionConfig, Event};

use crate::pair::{Pair, config, presettled, receiver, sender, unsettled};
use crate::scripted::{Scripted, attach, credit, whole};

/// Flows of a link among the answers: delivery-count, link-credit and drain.
fn link_flows(peer: &mut Scripted) -> Vec<(u32, u32, bool)> {
    let flow = |answer: crate::scripted::Answer| match answer.performative {
        Performative::Flow(Flow { delivery_count: Some(count), link_credit: Some(credit), drain, .. }) => {
            Some((count, credit, drain))
        }
        _ => None,
    };
    peer.answers().into_iter().filter_map(flow).collect()
}

/// A link on which the peer sends with this credit.
fn granted(credit: u32) -> (Scripted, amqp_endpoint::LinkId) {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, credit);
    (peer, link)
}

/// A link on which this end sends with this credit.
fn given(link_credit: u32) -> (Scripted, amqp_endpoint::LinkId) {
    let (mut peer, link) = Scripted::attached(Role::Receiver);
    peer.flow(credit(0, link_credit));
    peer.end.take();
    (peer, link)
}

#[test]
fn a_link_begins_without_credit() {
    let mut pair = Pair::open();
    let link = pair.attach(sender("a"));
    assert!(!pair.client.connection.try_send(link.client, &unsettled(1), &[b"x"]));
}

#[test]
fn credit_reaches_the_sender() {
    let mut pair = Pair::open();
    let link = pair.attach(sender("a"));
    pair.server.connection.add_credit(link.server, 7);
    pair.run();
    assert_eq!(pair.client.take_credit(), Some((7, false)));
}

#[test]
fn as_many_deliveries_are_sent_as_there_is_credit() {
    let mut pair = Pair::open();
    let link = pair.sending(3);
    pair.send(link, 0..3);
    assert!(!pair.client.connection.try_send(link.client, &unsettled(3), &[b"x"]));
    assert_eq!(pair.server.take_transfers().len(), 3);
}

#[test]
fn credit_of_one_turn_is_said_once() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    (0..5).for_each(|_| peer.end.connection.add_credit(link, 2));
    assert_eq!(link_flows(&mut peer), [(0, 10, false)]);
}

#[test]
fn credit_given_before_the_link_is_answered_is_said_when_it_is() {
    let mut peer = Scripted::begun();
    peer.frame(0, Performative::Attach(Box::new(attach("a", 0, Role::Sender))));
    let link = amqp_endpoint::LinkId(0);
    peer.end.connection.add_credit(link, 4);
    assert_eq!(peer.take_output(), b"");
    peer.end.connection.attach_answer(link, None, None, None);
    assert_eq!(link_flows(&mut peer), [(0, 4, false)]);
}

#[test]
fn credit_given_before_the_peer_has_answered_is_said_when_it_has() {
    let mut pair = Pair::open();
    let (session, _) = pair.begin();
    let link = pair.client.connection.attach(session, receiver("a")).unwrap();
    pair.client.connection.add_credit(link, 4);
    pair.run();
    let events = pair.server.take();
    let [Event::Attached(server, _)] = events[..] else { panic!("{events:?}") };
    pair.server.connection.attach_answer(server, None, None, None);
    pair.run();
    assert_eq!(pair.server.connection.link(server).unwrap().credit, 4);
}

#[test]
fn credit_returns_to_its_full_amount_however_little_is_used() {
    let mut pair = Pair::open();
    let link = pair.sending(250);
    pair.send(link, [1]);
    pair.server.connection.add_credit(link.server, 1);
    pair.run();
    assert_eq!(pair.client.take_credit(), Some((250, false)));
}

#[test]
fn credit_counts_from_the_senders_first_count() {
    let mut peer = Scripted::begun();
    let attach = amqp::performative::Attach { initial_delivery_count: Some(u32::MAX), ..attach("a", 0, Role::Sender) };
    let link = peer.attach(attach);
    peer.grant(link, 2);
    peer.transfer(&whole(0));
    peer.end.connection.add_credit(link, 1);
    assert_eq!(link_flows(&mut peer), [(0, 2, false)]);
}

#[test]
fn more_deliveries_than_credit_detach_the_link() {
    let (mut peer, _) = granted(1);
    peer.transfer(&whole(0));
    peer.transfer(&whole(1));
    assert!(peer.detach_error().starts_with("amqp:link:transfer-limit-exceeded"));
}

/// An end that takes up to `credit_tolerance` deliveries beyond the credit of a link.
fn tolerant(credit: u32, credit_tolerance: u32) -> (Scripted, amqp_endpoint::LinkId) {
    let config = ConnectionConfig { credit_tolerance, ..config("acceptor") };
    let (mut peer, link) = Scripted::attached_with(config, Role::Sender);
    peer.grant(link, credit);
    (peer, link)
}

#[test]
fn as_many_deliveries_beyond_the_credit_are_taken_as_are_tolerated() {
    let (mut peer, _) = tolerant(1, 2);
    for id in 0..3 {
        peer.transfer(&whole(id));
    }
    assert_eq!(peer.end.take().len(), 3);
    peer.transfer(&whole(3));
    assert!(peer.detach_error().starts_with("amqp:link:transfer-limit-exceeded"));
}

#[test]
fn deliveries_beyond_the_credit_count_for_the_credit_that_is_said_next() {
    let (mut peer, link) = tolerant(1, 2);
    for id in 0..3 {
        peer.transfer(&whole(id));
    }
    peer.grant(link, 5);
    for id in 3..10 {
        peer.transfer(&whole(id));
    }
    peer.transfer(&whole(10));
    assert!(peer.detach_error().starts_with("amqp:link:transfer-limit-exceeded"));
}

#[test]
fn more_deliveries_than_credit_are_told_as_a_failed_link() {
    let (mut peer, link) = granted(0);
    peer.end.connection.set_link_context(link, 5);
    peer.transfer(&whole(0));
    let events = peer.end.take();
    let [Event::LinkFailed { link: failed, context: 5, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*failed, link);
}

#[test]
fn credit_that_was_not_said_does_not_count() {
    let (mut peer, link) = granted(1);
    peer.end.connection.add_credit(link, 10);
    peer.transfer(&whole(0));
    peer.transfer(&whole(1));
    assert!(peer.detach_error().starts_with("amqp:link:transfer-limit-exceeded"));
}

#[test]
fn a_delivery_of_many_frames_uses_one_credit() {
    let (mut peer, link) = granted(2);
    peer.transfer(&Transfer { more: true, ..whole(0) });
    peer.transfer(&Transfer { more: true, ..Transfer::default() });
    peer.transfer(&Transfer::default());
    assert_eq!(peer.end.connection.link(link).unwrap().credit, 1);
}

#[test]
fn an_aborted_delivery_uses_one_credit() {
    let (mut peer, link) = granted(2);
    peer.transfer(&Transfer { more: true, ..whole(0) });
    peer.transfer(&Transfer { aborted: true, ..Transfer::default() });
    peer.end.connection.add_credit(link, 1);
    assert_eq!(link_flows(&mut peer), [(1, 2, false)]);
}

#[test]
fn a_link_that_failed_leaves_the_others_alone() {
    let (mut peer, _) = granted(0);
    let other = peer.attach(attach("other", 1, Role::Sender));
    peer.grant(other, 1);
    peer.transfer(&whole(0));
    peer.end.take();
    peer.transfer(&Transfer { handle: 1, ..whole(1) });
    assert_eq!(peer.end.take_transfers().len(), 1);
}

#[test]
fn deliveries_on_their_way_are_taken_off_new_credit() {
    let (mut peer, link) = given(5);
    for key in 0..3 {
        assert!(peer.end.connection.try_send(link, &presettled(), &[b"x"]), "{key}");
    }
    // The peer has seen one of the three.
    peer.flow(credit(1, 5));
    assert_eq!(peer.end.take_credit(), Some((3, false)));
}

#[test]
fn a_peer_may_take_credit_back() {
    let (mut peer, link) = given(5);
    peer.flow(credit(0, 0));
    assert!(!peer.end.connection.try_send(link, &unsettled(1), &[b"x"]));
}

#[test]
fn a_delivery_count_that_is_ahead_is_not_believed() {
    let (mut peer, _) = given(0);
    peer.flow(credit(1000, 5));
    assert_eq!(peer.end.take_credit(), Some((5, false)));
}

#[test]
fn a_receiver_that_has_not_seen_our_attach_counts_from_the_start() {
    let (mut peer, _) = given(0);
    peer.flow(Flow { delivery_count: None, ..credit(0, 5) });
    assert_eq!(peer.end.take_credit(), Some((5, false)));
}

#[test]
fn a_flow_without_credit_changes_nothing() {
    let (mut peer, link) = given(5);
    peer.flow(Flow { link_credit: None, ..credit(0, 0) });
    assert_eq!(peer.end.connection.link(link).unwrap().credit, 5);
}

#[test]
fn properties_of_a_flow_are_told() {
    let (mut peer, _) = given(0);
    let map = Map::from_iter([(Value::Symbol(Symbol::from("k")), Value::Int(1))]);
    peer.flow(Flow { properties: Some(Box::new(map.clone())), ..credit(0, 1) });
    let events = peer.end.take();
    let [Event::Credit { .. }, Event::FlowProperties { properties: told, .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(**told, map);
}

#[test]
fn properties_are_said_once_by_either_end_with_its_next_flow() {
    let mut pair = Pair::open();
    let link = pair.sending(10);
    pair.client.take();
    pair.server.take();
    let map = |number| Box::new(Map::from_iter([(Value::Symbol(Symbol::from("k")), Value::Int(number))]));
    pair.client.connection.say_with_flow(link.client, map(1));
    pair.server.connection.say_with_flow(link.server, map(2));
    pair.run();
    for (events, number) in [(pair.server.take(), 1), (pair.client.take(), 2)] {
        let told = events.iter().find_map(|event| match event {
            Event::FlowProperties { properties, .. } => Some(properties.clone()),
            _ => None,
        });
        assert_eq!(told, Some(map(number)));
    }
    pair.server.connection.add_credit(link.server, 1);
    pair.run();
    assert!(!pair.client.take().iter().any(|event| matches!(event, Event::FlowProperties { .. })));
}

#[test]
fn properties_that_do_not_fit_a_frame_are_left_out() {
    let client = ConnectionConfig { max_frame_size: 512, ..config("client") };
    let mut pair = Pair::open_with(client, config("server"));
    let link = pair.sending(10);
    pair.client.take();
    let long = Value::String("x".repeat(1000));
    let map = Map::from_iter([(Value::Symbol(Symbol::from("k")), long)]);
    pair.server.connection.say_with_flow(link.server, Box::new(map));
    pair.server.connection.add_credit(link.server, 5);
    pair.run();
    assert!(matches!(pair.client.take()[..], [Event::Credit { credit: 15, .. }]));
}

#[test]
fn a_sender_that_is_drained_gives_its_credit_back() {
    let mut pair = Pair::open();
    let link = pair.sending(10);
    pair.server.connection.drain(link.server, true);
    pair.run();
    assert_eq!(pair.client.take_credit(), Some((10, true)));
    pair.client.connection.drained(link.client);
    pair.run();
    assert_eq!(pair.server.take_drained(), Some(10));
    assert_eq!(pair.client.connection.link(link.client).unwrap().credit, 0);
}

#[test]
fn a_sender_that_is_drained_may_use_a_part_of_its_credit() {
    let mut pair = Pair::open();
    let link = pair.sending(10);
    pair.server.connection.drain(link.server, true);
    pair.run();
    pair.send(link, 0..4);
    pair.client.connection.drained(link.client);
    pair.run();
    assert_eq!(pair.server.take_drained(), Some(6));
}

#[test]
fn a_drain_is_complete_when_all_credit_is_used() {
    let mut pair = Pair::open();
    let link = pair.sending(2);
    pair.server.connection.drain(link.server, true);
    pair.run();
    pair.send(link, 0..2);
    assert_eq!(pair.server.take_drained(), Some(0));
}

#[test]
fn a_drain_that_is_complete_is_told_once() {
    let mut pair = Pair::open();
    let link = pair.sending(2);
    pair.server.connection.drain(link.server, true);
    pair.run();
    pair.send(link, 0..2);
    pair.client.connection.drained(link.client);
    pair.run();
    let drained = pair.server.take().into_iter().filter(|event| matches!(event, Event::Drained { .. }));
    assert_eq!(drained.count(), 1);
}

#[test]
fn a_link_without_credit_is_drained_at_once() {
    let (mut peer, link) = granted(0);
    peer.end.connection.drain(link, true);
    peer.bytes(&[]);
    assert_eq!((peer.end.take_drained(), peer.take_output()), (Some(0), Vec::new()));
}

#[test]
fn a_drain_says_all_credit_given_before() {
    let (mut peer, link) = granted(1);
    peer.end.connection.add_credit(link, 4);
    peer.end.connection.drain(link, true);
    assert_eq!(link_flows(&mut peer), [(0, 5, true)]);
}

#[test]
fn a_drain_is_asked_for_once() {
    let (mut peer, link) = granted(1);
    peer.end.connection.drain(link, true);
    peer.take_output();
    peer.end.connection.drain(link, true);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn a_drain_may_be_called_off() {
    let (mut peer, link) = granted(3);
    peer.end.connection.drain(link, true);
    peer.take_output();
    peer.end.connection.drain(link, false);
    assert_eq!(link_flows(&mut peer), [(0, 3, false)]);
}

#[test]
fn credit_given_after_a_drain_is_credit_again() {
    let mut pair = Pair::open();
    let link = pair.sending(2);
    pair.server.connection.drain(link.server, true);
    pair.run();
    pair.client.connection.drained(link.client);
    pair.run();
    pair.server.connection.add_credit(link.server, 5);
    pair.run();
    assert_eq!(pair.client.take_credit(), Some((5, false)));
}

#[test]
fn a_sender_may_give_credit_back_without_being_asked() {
    let (mut peer, link) = granted(10);
    peer.flow(Flow { link_credit: Some(0), ..credit(10, 0) });
    assert_eq!(peer.end.take_drained(), Some(10));
    assert_eq!(peer.end.connection.link(link).unwrap().credit, 0);
}

#[test]
fn a_sender_that_counts_behind_is_not_believed() {
    let (mut peer, link) = granted(10);
    peer.transfer(&whole(0));
    peer.end.take();
    peer.flow(credit(0, 10));
    assert!(peer.end.take().is_empty());
    assert_eq!(peer.end.connection.link(link).unwrap().credit, 9);
}

#[test]
fn a_sender_cannot_give_back_more_than_it_has() {
    let (mut peer, link) = granted(10);
    peer.flow(credit(1_000_000, 0));
    assert_eq!(peer.end.take_drained(), Some(10));
    assert_eq!(peer.end.connection.link(link).unwrap().credit, 0);
}

#[test]
fn drained_credit_is_said_with_the_deliveries_it_stands_for() {
    let (mut peer, link) = given(10);
    peer.flow(Flow { drain: true, ..credit(0, 10) });
    peer.end.connection.drained(link);
    assert_eq!(link_flows(&mut peer), [(10, 0, true)]);
}

#[test]
fn an_echo_on_a_link_is_answered_with_the_links_flow() {
    let (mut peer, _) = granted(3);
    peer.flow(Flow { echo: true, ..credit(0, 3) });
    assert_eq!(link_flows(&mut peer), [(0, 3, false)]);
}

#[test]
fn an_echo_on_a_sending_link_is_answered_too() {
    let (mut peer, link) = given(3);
    assert!(peer.end.connection.try_send(link, &presettled(), &[b"x"]));
    peer.take_output();
    peer.flow(Flow { echo: true, ..credit(1, 3) });
    assert_eq!(link_flows(&mut peer), [(1, 3, false)]);
}

#[test]
fn an_echo_on_a_session_is_answered_with_the_sessions_flow() {
    let (mut peer, _) = given(3);
    peer.flow(Flow { echo: true, handle: None, delivery_count: None, link_credit: None, ..credit(0, 0) });
    let answers = peer.answers();
    assert!(
        matches!(&answers[..], [only] if matches!(only.performative, Performative::Flow(Flow { handle: None, .. })))
    );
}

#[test]
fn a_flow_without_echo_is_not_answered() {
    let (mut peer, _) = given(3);
    peer.flow(credit(0, 3));
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn credit_on_the_wrong_side_is_ignored() {
    let (mut peer, link) = given(3);
    peer.end.connection.add_credit(link, 10);
    peer.end.connection.drain(link, true);
    assert_eq!(peer.take_output(), b"");
    let (mut peer, link) = granted(3);
    peer.end.connection.drained(link);
    assert_eq!(peer.take_output(), b"");
}
