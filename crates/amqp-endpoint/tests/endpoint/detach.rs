//! Detach, and what is left of a link after it (part 2, sections 2.6.4 to 2.6.6).

use amqp::ErrorCondition;
use amqp::performative::{Flow, Performative, Role};
use amqp_endpoint::{AttachError, Event, SessionId};

use crate::pair::{Pair, sender, unsettled};
use crate::scripted::{Scripted, a_detach, attach, credit, whole};

#[test]
fn a_detach_is_told_and_answered() {
    let mut pair = Pair::open();
    let link = pair.attach(sender("a"));
    let error = ErrorCondition::new("amqp:resource-deleted", "gone");
    pair.client.connection.detach(link.client, false, Some(error.clone()));
    pair.run();
    let events = pair.server.take();
    let [Event::Detached { closed: false, error: Some(told), answer: false, .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(*told, error);
    pair.server.connection.detach(link.server, false, None);
    pair.run();
    assert!(matches!(pair.client.take()[..], [Event::Detached { answer: true, closed: false, .. }]));
}

#[test]
fn a_link_that_both_have_detached_is_gone() {
    let mut pair = Pair::open();
    let link = pair.attach(sender("a"));
    pair.client.connection.detach(link.client, true, None);
    pair.run();
    pair.server.connection.detach(link.server, true, None);
    pair.run();
    assert!(pair.client.connection.link(link.client).is_none() && pair.server.connection.link(link.server).is_none());
}

#[test]
fn both_may_detach_at_once() {
    let mut pair = Pair::open();
    let link = pair.attach(sender("a"));
    pair.client.connection.detach(link.client, true, None);
    pair.server.connection.detach(link.server, true, None);
    pair.run();
    for end in [&mut pair.client, &mut pair.server] {
        assert!(matches!(end.take()[..], [Event::Detached { answer: true, .. }]));
    }
}

#[test]
fn a_link_is_detached_once() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.end.connection.detach(link, true, None);
    peer.end.connection.detach(link, true, None);
    assert_eq!(peer.answers().len(), 1);
}

#[test]
fn name_and_handle_are_used_again_after_both_detached() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.detach(0);
    peer.end.connection.detach(link, true, None);
    peer.take_output();
    peer.end.take();
    peer.attach(attach("link", 0, Role::Sender));
    assert_eq!(peer.end.connection.links().count(), 1);
}

#[test]
fn a_peer_may_use_name_and_handle_again_before_its_detach_is_answered() {
    let (mut peer, first) = Scripted::attached(Role::Sender);
    peer.detach(0);
    peer.frame(0, Performative::Attach(Box::new(attach("link", 0, Role::Sender))));
    let events = peer.end.take();
    let [Event::Detached { .. }, Event::Attached(second, _)] = events[..] else { panic!("{events:?}") };
    assert_ne!(first, second);
    peer.end.connection.detach(first, true, None);
    assert_eq!(peer.answers()[0].performative, a_detach(0, true, None));
}

#[test]
fn an_owner_does_not_use_a_name_again_before_the_peer_has_detached() {
    let mut pair = Pair::open();
    let (session, _) = pair.begin();
    let link = pair.attach_in(session, sender("a"));
    pair.client.connection.detach(link.client, true, None);
    assert_eq!(pair.client.connection.attach(session, sender("a")), Err(AttachError::NameNotFree));
    pair.run();
    pair.server.connection.detach(link.server, true, None);
    pair.run();
    assert!(pair.client.connection.attach(session, sender("a")).is_ok());
}

#[test]
fn a_link_detached_before_it_was_answered_tells_only_of_the_detach() {
    let mut pair = Pair::open();
    let (session, _) = pair.begin();
    let link = pair.client.connection.attach(session, sender("a")).unwrap();
    pair.client.connection.detach(link, true, None);
    pair.run();
    let events = pair.server.take();
    let [Event::Attached(server, _), Event::Detached { .. }] = events[..] else { panic!("{events:?}") };
    pair.server.connection.detach(server, true, None);
    pair.run();
    assert!(matches!(pair.client.take()[..], [Event::Detached { answer: true, .. }]));
}

#[test]
fn what_was_on_its_way_when_a_link_was_detached_is_discarded() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, 10);
    peer.end.connection.detach(link, true, None);
    peer.transfer(&whole(0));
    peer.flow(Flow { delivery_count: Some(1), ..credit(1, 9) });
    assert!(peer.end.take().is_empty() && peer.end.failure().is_none());
}

#[test]
fn deliveries_are_in_sequence_also_over_those_discarded() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    let other = peer.attach(attach("other", 1, Role::Sender));
    peer.grant(link, 10);
    peer.grant(other, 10);
    peer.end.connection.detach(link, true, None);
    peer.transfer(&whole(0));
    peer.transfer(&amqp::performative::Transfer { handle: 1, ..whole(1) });
    assert_eq!(peer.end.take_transfers().len(), 1);
}

#[test]
fn dispositions_that_wait_go_before_the_detach() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, 10);
    peer.transfer(&whole(0));
    peer.end.connection.update_incoming(link, 0, Some(amqp::DeliveryState::Accepted), true);
    peer.end.connection.detach(link, true, None);
    let answers = peer.answers();
    assert!(matches!(answers[0].performative, Performative::Disposition(_)), "{answers:?}");
}

#[test]
fn nothing_is_sent_on_a_link_that_the_peer_has_detached() {
    let (mut peer, link) = Scripted::attached(Role::Receiver);
    peer.flow(credit(0, 10));
    peer.detach(0);
    assert!(!peer.end.connection.try_send(link, &unsettled(1), &[b"x"]));
    assert!(!peer.end.connection.begin_delivery(link, &unsettled(1)));
}

#[test]
fn unsettled_deliveries_of_a_detached_link_are_forgotten() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, 10);
    peer.transfer(&whole(0));
    peer.detach(0);
    peer.end.connection.update_incoming(link, 0, Some(amqp::DeliveryState::Accepted), true);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn outcomes_after_our_detach_are_not_told() {
    let mut pair = Pair::open();
    let link = pair.sending(1);
    pair.send(link, [1]);
    pair.server.connection.update_incoming(link.server, 0, Some(amqp::DeliveryState::Accepted), true);
    pair.client.connection.detach(link.client, true, None);
    pair.run();
    assert_eq!(pair.client.take_outcomes(), []);
}

#[test]
fn a_lost_link_is_not_listed() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.end.connection.end_session(SessionId(0), None);
    assert!(peer.end.connection.link(link).is_none());
    assert_eq!(peer.end.connection.links().count(), 0);
}
