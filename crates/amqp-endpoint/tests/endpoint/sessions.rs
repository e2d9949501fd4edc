//! Begin and end (part 2, section 2.5).

use amqp::frame::AMQP_HEADER;
use amqp::performative::{Begin, Disposition, End, Open, Performative, Role};
use amqp::{ErrorCondition, Symbol};
use amqp_endpoint::{AttachError, BeginError, ConnectionConfig, Event, Hold, SessionId, Side};

use crate::pair::{Pair, config, receiver, sender, unsettled};
use crate::scripted::{Scripted, attach, begin, credit, open, whole};

fn end() -> Performative<'static> {
    Performative::End(End { error: None })
}

/// An acceptor whose peer allows channels up to this.
fn peer_allows(channel_max: u16) -> Scripted {
    let mut peer = Scripted::silent(config("acceptor"), crate::pair::acceptor());
    peer.bytes(&amqp::frame::AMQP_HEADER);
    let open = amqp::performative::Open { channel_max, ..open() };
    peer.frame(0, Performative::Open(Box::new(open)));
    peer.take_output();
    peer.end.take();
    peer
}

#[test]
fn a_session_that_the_peer_begins_is_answered_on_its_channel() {
    let mut peer = Scripted::open();
    peer.frame(5, Performative::Begin(begin()));
    let answers = peer.answers();
    let Performative::Begin(begin) = &answers[0].performative else { panic!("{answers:?}") };
    assert_eq!(begin.remote_channel, Some(5));
}

#[test]
fn a_begin_says_windows_and_the_largest_handle() {
    let config = ConnectionConfig { session_window: 77, handle_max: 5, ..config("acceptor") };
    let mut peer = Scripted::open_with(config);
    peer.frame(0, Performative::Begin(begin()));
    let expected = Begin {
        remote_channel: Some(0),
        next_outgoing_id: 0,
        incoming_window: 77,
        outgoing_window: 0x7fff_ffff,
        handle_max: 5,
        ..Begin::default()
    };
    assert_eq!(peer.answers()[0].performative, Performative::Begin(expected));
}

#[test]
fn the_default_incoming_window_is_that_of_the_old_router() {
    let mut peer = Scripted::open();
    peer.frame(0, Performative::Begin(begin()));
    let answers = peer.answers();
    let Performative::Begin(begin) = &answers[0].performative else { panic!("{answers:?}") };
    assert_eq!(begin.incoming_window, 0x7fff_ffff);
}

#[test]
fn a_session_cannot_begin_before_the_connection_is_open() {
    let mut peer = Scripted::silent(config("acceptor"), crate::pair::acceptor());
    assert_eq!(peer.end.connection.begin_session(), Err(BeginError::NotOpen));
}

/// An initiator that has heard nothing yet.
fn early() -> Scripted {
    let mut peer = Scripted::silent(config("initiator"), Side::Initiator { sasl: None });
    peer.take_output();
    peer
}

#[test]
fn an_initiator_begins_and_attaches_before_the_peer_has_said_anything() {
    let mut peer = early();
    let session = peer.end.connection.begin_session().unwrap();
    peer.end.connection.attach(session, sender("a")).unwrap();
    let frames: Vec<_> = peer.answers().into_iter().map(|frame| frame.performative).collect();
    assert!(matches!(frames[..], [Performative::Begin(_), Performative::Attach(_)]), "{frames:?}");
}

#[test]
fn sessions_begun_early_are_answered_once_the_peer_speaks() {
    let mut peer = early();
    let session = peer.end.connection.begin_session().unwrap();
    peer.bytes(&AMQP_HEADER);
    peer.frame(0, Performative::Open(Box::new(open())));
    let said = Begin { remote_channel: Some(0), offered_capabilities: vec![Symbol::from("o")], ..begin() };
    peer.frame(7, Performative::Begin(said.clone()));
    let events = peer.end.take();
    let Some(Event::SessionAnswered(answered, told)) = events.last() else { panic!("{events:?}") };
    assert_eq!((*answered, &**told), (session, &said));
}

#[test]
fn a_peer_that_allows_fewer_sessions_than_have_begun_early_is_left() {
    let mut peer = early();
    peer.end.connection.begin_session().unwrap();
    peer.end.connection.begin_session().unwrap();
    peer.bytes(&AMQP_HEADER);
    peer.frame(0, Performative::Open(Box::new(Open { channel_max: 0, ..open() })));
    assert!(matches!(peer.end.take().last(), Some(Event::Failed(_))));
}

#[test]
fn links_on_many_sessions_are_attached_in_the_order_in_which_the_owner_asked() {
    let mut peer = Scripted::open();
    let mut expected = Vec::new();
    for class in 0..11_u16 {
        let session = peer.end.connection.begin_session().unwrap();
        for name in ["in", "out"] {
            let name = format!("{name} {class}");
            peer.end.connection.attach(session, sender(&name)).unwrap();
            expected.push((class, name));
        }
    }
    let attached = peer.answers().into_iter().filter_map(|frame| match frame.performative {
        Performative::Attach(attach) => Some((frame.channel, attach.name)),
        _ => None,
    });
    assert_eq!(attached.collect::<Vec<_>>(), expected);
}

#[test]
fn the_owner_sees_what_the_peers_begin_says() {
    let mut peer = Scripted::open();
    let said = Begin { desired_capabilities: vec![Symbol::from("d")], ..begin() };
    peer.frame(0, Performative::Begin(said.clone()));
    let events = peer.end.take();
    let [Event::SessionBegun(_, told)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(**told, said);
}

#[test]
fn as_many_sessions_begin_as_the_peer_allows() {
    let mut peer = peer_allows(1);
    assert!(peer.end.connection.begin_session().is_ok());
    assert!(peer.end.connection.begin_session().is_ok());
    assert_eq!(peer.end.connection.begin_session(), Err(BeginError::ChannelMax(2)));
}

#[test]
fn a_channel_above_our_channel_max_closes_the_connection() {
    let mut peer = Scripted::open_with(ConnectionConfig { channel_max: 3, ..config("acceptor") });
    peer.frame(4, Performative::Begin(begin()));
    let expected = "amqp:connection:framing-error channel 4 is above the channel-max of 3";
    assert_eq!(peer.close_error(), expected);
}

#[test]
fn the_largest_channel_is_allowed() {
    let mut peer = Scripted::open_with(ConnectionConfig { channel_max: 3, ..config("acceptor") });
    peer.frame(3, Performative::Begin(begin()));
    assert!(matches!(peer.end.take()[..], [Event::SessionBegun(..)]));
}

#[test]
fn a_session_that_cannot_be_answered_closes_the_connection() {
    let mut peer = peer_allows(0);
    peer.frame(0, Performative::Begin(begin()));
    peer.frame(1, Performative::Begin(begin()));
    assert!(peer.close_error().starts_with("amqp:not-allowed no channel is left to answer on"));
}

#[test]
fn a_channel_in_use_cannot_begin_again() {
    let mut peer = Scripted::begun();
    peer.frame(0, Performative::Begin(begin()));
    assert_eq!(peer.close_error(), "amqp:not-allowed a session has begun on channel 0 already");
}

#[test]
fn an_answer_to_nothing_closes_the_connection() {
    let mut peer = Scripted::open();
    peer.frame(0, Performative::Begin(Begin { remote_channel: Some(9), ..begin() }));
    assert!(peer.close_error().starts_with("amqp:not-allowed begin answers channel 9"));
}

#[test]
fn a_session_is_not_answered_twice() {
    let mut peer = Scripted::open();
    peer.end.connection.begin_session().unwrap();
    peer.frame(0, Performative::Begin(Begin { remote_channel: Some(0), ..begin() }));
    peer.frame(1, Performative::Begin(Begin { remote_channel: Some(0), ..begin() }));
    assert!(peer.close_error().starts_with("amqp:not-allowed begin answers channel 0"));
}

#[test]
fn both_ends_may_begin_sessions_at_once() {
    let mut pair = Pair::open();
    let client = pair.client.connection.begin_session().unwrap();
    let server = pair.server.connection.begin_session().unwrap();
    pair.run();
    assert!(pair.client.connection.attach(client, sender("a")).is_ok());
    assert!(pair.server.connection.attach(server, sender("b")).is_ok());
    pair.run();
    assert_eq!((pair.client.failure(), pair.server.failure()), (None, None));
}

#[test]
fn a_frame_on_a_channel_that_never_began_closes_the_connection() {
    let mut peer = Scripted::begun();
    peer.frame(1, Performative::Flow(credit(0, 1)));
    assert_eq!(peer.close_error(), "amqp:not-allowed no session has begun on channel 1");
}

#[test]
fn an_end_on_a_channel_that_never_began_closes_the_connection() {
    let mut peer = Scripted::begun();
    peer.frame(1, end());
    assert_eq!(peer.close_error(), "amqp:not-allowed no session has begun on channel 1");
}

#[test]
fn an_end_is_answered() {
    let mut peer = Scripted::begun();
    peer.frame(0, end());
    assert_eq!(peer.answers()[0].performative, end());
}

#[test]
fn an_end_tells_of_the_loss_of_each_link_first() {
    let mut pair = Pair::open();
    let (client, _) = pair.begin();
    pair.attach_in(client, sender("a"));
    pair.attach_in(client, receiver("b"));
    pair.client.connection.end_session(client, None);
    pair.run();
    for end in [&mut pair.client, &mut pair.server] {
        let events = end.take();
        assert!(matches!(events[..], [Event::LinkLost { .. }, Event::LinkLost { .. }, Event::SessionEnded(_, None)]));
    }
}

#[test]
fn the_error_of_an_end_reaches_the_peer() {
    let mut pair = Pair::open();
    let (client, _) = pair.begin();
    let error = ErrorCondition::new("amqp:internal-error", "oh");
    pair.client.connection.end_session(client, Some(error.clone()));
    pair.run();
    let events = pair.server.take();
    let [Event::SessionEnded(_, Some(told))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*told, error);
}

#[test]
fn an_owner_is_told_of_the_end_once_the_peer_has_answered() {
    let mut peer = Scripted::begun();
    peer.end.connection.end_session(SessionId(0), None);
    peer.bytes(&[]);
    assert!(peer.end.take().is_empty());
    peer.frame(0, end());
    assert!(matches!(peer.end.take()[..], [Event::SessionEnded(SessionId(0), None)]));
}

#[test]
fn only_the_links_of_the_session_are_lost() {
    let mut pair = Pair::open();
    let (other, _) = pair.begin();
    let kept = pair.attach_in(other, sender("a"));
    let (ended, _) = pair.begin();
    pair.attach_in(ended, sender("a"));
    pair.client.connection.end_session(ended, None);
    pair.run();
    let names: Vec<_> = pair.server.connection.links().map(|(link, _)| link).collect();
    assert_eq!(names, [kept.server]);
}

#[test]
fn nothing_is_said_on_a_channel_after_its_end() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    let outgoing = peer.attach(attach("other", 1, Role::Receiver));
    peer.grant(link, 10);
    peer.flow(amqp::performative::Flow { handle: Some(1), ..credit(0, 10) });
    peer.transfer(&whole(0));
    peer.take_output();
    let engine = &mut peer.end.connection;
    engine.end_session(SessionId(0), None);
    engine.add_credit(link, 5);
    engine.drain(link, true);
    engine.update_incoming(link, 0, None, true);
    engine.hold_session(SessionId(0), Hold::Lag, true);
    engine.detach(link, true, None);
    assert!(!engine.try_send(outgoing, &unsettled(1), &[b"x"]));
    assert_eq!(engine.attach(SessionId(0), sender("new")), Err(AttachError::NoSession));
    let answers = peer.answers();
    assert!(matches!(answers.last().unwrap().performative, Performative::End(_)), "{answers:?}");
}

#[test]
fn dispositions_that_wait_go_before_the_end() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, 10);
    peer.transfer(&whole(0));
    peer.end.connection.update_incoming(link, 0, Some(amqp::DeliveryState::Accepted), true);
    peer.end.connection.end_session(SessionId(0), None);
    let answers = peer.answers();
    assert!(matches!(answers[0].performative, Performative::Disposition(_)), "{answers:?}");
}

#[test]
fn what_was_on_its_way_when_a_session_ended_is_discarded() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, 10);
    peer.end.connection.end_session(SessionId(0), None);
    peer.bytes(&[]);
    peer.end.take();
    peer.transfer(&whole(0));
    peer.flow(credit(0, 1));
    let role = Role::Sender;
    peer.disposition(Disposition { role, first: 0, last: None, settled: true, state: None, batchable: false });
    peer.frame(0, Performative::Attach(Box::new(attach("late", 7, Role::Sender))));
    peer.detach(0);
    peer.frame(0, end());
    assert!(matches!(peer.end.take()[..], [Event::SessionEnded(..)]));
}

#[test]
fn a_session_that_ended_before_it_was_answered_ends_after_the_answer() {
    let mut peer = Scripted::open();
    let session = peer.end.connection.begin_session().unwrap();
    peer.end.connection.end_session(session, None);
    peer.frame(0, Performative::Begin(Begin { remote_channel: Some(0), ..begin() }));
    peer.frame(0, end());
    assert!(matches!(peer.end.take()[..], [Event::SessionEnded(_, None)]));
}

#[test]
fn both_may_end_a_session_at_once() {
    let mut pair = Pair::open();
    let (client, server) = pair.begin();
    pair.client.connection.end_session(client, None);
    pair.server.connection.end_session(server, None);
    pair.run();
    for end in [&mut pair.client, &mut pair.server] {
        assert!(matches!(end.take()[..], [Event::SessionEnded(_, None)]));
    }
}

#[test]
fn a_channel_is_used_again_after_the_end() {
    let mut pair = Pair::open();
    let (first, _) = pair.begin();
    pair.client.connection.end_session(first, None);
    pair.run();
    pair.forget_events();
    let (second, _) = pair.begin();
    pair.attach_in(second, sender("a"));
    assert_eq!(first, second);
}

#[test]
fn a_channel_is_not_used_again_before_the_peer_has_ended_too() {
    let mut peer = Scripted::begun();
    peer.end.connection.end_session(SessionId(0), None);
    assert_eq!(peer.end.connection.begin_session(), Ok(SessionId(1)));
}

#[test]
fn a_session_in_the_other_direction_has_a_peer_channel_of_its_own() {
    let mut peer = Scripted::open();
    let session = peer.end.connection.begin_session().unwrap();
    peer.frame(40, Performative::Begin(Begin { remote_channel: Some(0), ..begin() }));
    peer.frame(40, Performative::Attach(Box::new(attach("a", 0, Role::Sender))));
    let events = peer.end.take();
    let [Event::SessionAnswered(..), Event::Attached(link, _)] = events[..] else { panic!("{events:?}") };
    assert_eq!(peer.end.connection.link(link).unwrap().session, session);
}
