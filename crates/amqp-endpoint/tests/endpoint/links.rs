//! Attach, and its refusal (part 2, sections 2.6.1 to 2.6.3).

use amqp::performative::{Attach, Begin, Performative, ReceiverSettleMode, Role, SenderSettleMode};
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{ErrorCondition, Map, Symbol, Value};
use amqp_endpoint::{AttachAnswer, AttachError, ConnectionConfig, Event, LinkId, NewLink, SessionId};

use crate::pair::{Pair, config, receiver, sender};
use crate::scripted::{Scripted, a_detach, attach, begin, credit, whole};

fn properties() -> Map {
    Map::from_iter([(Value::Symbol(Symbol::from("k")), Value::from("v"))])
}

/// A link of which nothing has its default.
fn full() -> NewLink {
    NewLink {
        name: "full".to_owned(),
        sender: false,
        snd_settle_mode: SenderSettleMode::Settled,
        rcv_settle_mode: ReceiverSettleMode::Second,
        source: Some(Source { address: Some("from".to_owned()), durable: 2, ..Source::default() }),
        target: Some(TargetTerminus::Target(Target { address: Some("to".to_owned()), ..Target::default() })),
        max_message_size: Some(1 << 33),
        offered_capabilities: vec![Symbol::from("mine")],
        desired_capabilities: vec![Symbol::from("yours")],
        properties: Some(properties()),
    }
}

/// An acceptor on whose session the peer accepts handles up to this.
fn peer_allows(handle_max: u32) -> Scripted {
    let mut peer = Scripted::open();
    peer.frame(0, Performative::Begin(Begin { handle_max, ..begin() }));
    peer.take_output();
    peer.end.take();
    peer
}

#[test]
fn an_attach_says_all_that_the_owner_wants() {
    let mut peer = Scripted::begun();
    peer.end.connection.attach(SessionId(0), full()).unwrap();
    let expected = Attach {
        snd_settle_mode: SenderSettleMode::Settled,
        rcv_settle_mode: ReceiverSettleMode::Second,
        source: full().source,
        target: full().target,
        max_message_size: full().max_message_size,
        offered_capabilities: full().offered_capabilities,
        desired_capabilities: full().desired_capabilities,
        properties: full().properties,
        ..Attach::new("full", 0, Role::Receiver)
    };
    assert_eq!(peer.answers()[0].performative, Performative::Attach(Box::new(expected)));
}

#[test]
fn a_sender_says_where_its_delivery_count_begins() {
    let mut peer = Scripted::begun();
    peer.end.connection.attach(SessionId(0), sender("a")).unwrap();
    let answers = peer.answers();
    let Performative::Attach(attach) = &answers[0].performative else { panic!("{answers:?}") };
    assert_eq!((attach.role, attach.initial_delivery_count), (Role::Sender, Some(0)));
}

#[test]
fn the_owner_sees_all_that_the_peers_attach_says() {
    let mut peer = Scripted::begun();
    let said = Attach {
        unsettled: Some(Map::new()),
        incomplete_unsettled: true,
        initial_delivery_count: Some(9),
        max_message_size: Some(10),
        offered_capabilities: vec![Symbol::from("o")],
        desired_capabilities: vec![Symbol::from("d")],
        properties: Some(properties()),
        ..attach("a", 3, Role::Sender)
    };
    peer.frame(0, Performative::Attach(Box::new(said.clone())));
    let events = peer.end.take();
    let [Event::Attached(_, told)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(**told, said);
}

#[test]
fn an_answer_says_all_that_the_owner_wants() {
    let mut peer = Scripted::begun();
    peer.frame(0, Performative::Attach(Box::new(attach("a", 3, Role::Sender))));
    let NewLink { source, target, max_message_size, offered_capabilities, desired_capabilities, properties, .. } =
        full();
    let settle_modes = Some((SenderSettleMode::Settled, ReceiverSettleMode::Second));
    let answer = AttachAnswer {
        source,
        target,
        max_message_size,
        offered_capabilities,
        desired_capabilities,
        properties,
        settle_modes,
    };
    peer.end.connection.answer_attach(LinkId(0), answer.clone());
    let expected = Attach {
        source: answer.source,
        target: answer.target,
        max_message_size: answer.max_message_size,
        offered_capabilities: answer.offered_capabilities,
        desired_capabilities: answer.desired_capabilities,
        properties: answer.properties,
        snd_settle_mode: SenderSettleMode::Settled,
        rcv_settle_mode: ReceiverSettleMode::Second,
        ..Attach::new("a", 0, Role::Receiver)
    };
    assert_eq!(peer.answers()[0].performative, Performative::Attach(Box::new(expected)));
}

#[test]
fn an_answer_echoes_name_and_settle_modes() {
    let mut peer = Scripted::begun();
    let asked = Attach {
        snd_settle_mode: SenderSettleMode::Unsettled,
        rcv_settle_mode: ReceiverSettleMode::Second,
        ..attach("a", 3, Role::Sender)
    };
    peer.frame(0, Performative::Attach(Box::new(asked)));
    peer.end.connection.attach_answer(LinkId(0), None, Some(TargetTerminus::Target(Target::default())), Some(5));
    let expected = Attach {
        snd_settle_mode: SenderSettleMode::Unsettled,
        rcv_settle_mode: ReceiverSettleMode::Second,
        target: Some(TargetTerminus::Target(Target::default())),
        max_message_size: Some(5),
        ..Attach::new("a", 0, Role::Receiver)
    };
    assert_eq!(peer.answers()[0].performative, Performative::Attach(Box::new(expected)));
}

#[test]
fn an_attach_is_answered_once() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.end.connection.attach_answer(link, None, None, None);
    assert_eq!(peer.take_output(), b"");
}

#[test]
fn the_peers_answer_is_told() {
    let mut pair = Pair::open();
    let (session, _) = pair.begin();
    let link = pair.client.connection.attach(session, full()).unwrap();
    pair.run();
    let events = pair.server.take();
    let [Event::Attached(server, attach)] = &events[..] else { panic!("{events:?}") };
    pair.server.connection.attach_answer(*server, attach.source.clone(), None, None);
    pair.run();
    let events = pair.client.take();
    let [Event::AttachAnswered(answered, answer)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((*answered, &answer.source, &answer.target), (link, &full().source, &None));
}

#[test]
fn an_owner_may_ask_about_its_links() {
    let mut pair = Pair::open();
    let link = pair.attach(full());
    let info = pair.client.connection.link(link.client).unwrap();
    assert_eq!((info.name, info.sender, info.credit), ("full", false, 0));
    assert_eq!((info.snd_settle_mode, info.rcv_settle_mode), (SenderSettleMode::Settled, ReceiverSettleMode::Second));
}

#[test]
fn a_context_comes_back_with_the_links_events() {
    let (mut peer, link) = Scripted::attached(Role::Receiver);
    peer.end.connection.set_link_context(link, 77);
    peer.flow(credit(0, 1));
    assert!(matches!(peer.end.take()[..], [Event::Credit { context: 77, .. }]));
}

#[test]
fn a_refusal_is_an_attach_with_null_terminus_and_a_detach() {
    let mut peer = Scripted::begun();
    peer.frame(0, Performative::Attach(Box::new(attach("a", 0, Role::Sender))));
    let error = ErrorCondition::new("amqp:not-found", "Node not found");
    peer.end.connection.attach_answer(LinkId(0), Some(Source::default()), None, None);
    peer.end.connection.detach(LinkId(0), true, Some(error.clone()));
    let answers = peer.answers();
    let Performative::Attach(attach) = &answers[0].performative else { panic!("{answers:?}") };
    assert_eq!((&attach.target, &answers[1].performative), (&None, &a_detach(0, true, Some(error))));
}

#[test]
fn an_attach_that_is_not_answered_is_refused_by_a_detach() {
    let mut peer = Scripted::begun();
    peer.frame(0, Performative::Attach(Box::new(attach("a", 0, Role::Sender))));
    peer.end.connection.detach(LinkId(0), true, None);
    let answers = peer.answers();
    let Performative::Attach(attach) = &answers[0].performative else { panic!("{answers:?}") };
    assert_eq!((&attach.source, &attach.target), (&None, &None));
    assert_eq!(answers[1].performative, a_detach(0, true, None));
}

#[test]
fn as_many_links_are_attached_as_the_peer_allows() {
    let mut peer = peer_allows(1);
    assert!(peer.end.connection.attach(SessionId(0), sender("a")).is_ok());
    assert!(peer.end.connection.attach(SessionId(0), sender("b")).is_ok());
    assert_eq!(peer.end.connection.attach(SessionId(0), sender("c")), Err(AttachError::HandleMax(2)));
}

#[test]
fn a_link_that_cannot_be_answered_ends_the_session() {
    let mut peer = peer_allows(0);
    peer.end.connection.attach(SessionId(0), sender("a")).unwrap();
    peer.frame(0, Performative::Attach(Box::new(attach("b", 0, Role::Sender))));
    let expected = "amqp:resource-limit-exceeded no handle is left to answer on: your handle-max is 0";
    assert_eq!(peer.end_error(), expected);
}

#[test]
fn a_handle_above_our_handle_max_closes_the_connection() {
    let mut peer = Scripted::begun_with(ConnectionConfig { handle_max: 5, ..config("acceptor") });
    peer.frame(0, Performative::Attach(Box::new(attach("a", 6, Role::Sender))));
    let expected = "amqp:connection:framing-error handle 6 is above the handle-max of 5";
    assert_eq!(peer.close_error(), expected);
}

#[test]
fn the_largest_handle_is_allowed() {
    let mut peer = Scripted::begun();
    peer.frame(0, Performative::Attach(Box::new(attach("a", u32::MAX, Role::Sender))));
    assert!(matches!(peer.end.take()[..], [Event::Attached(..)]));
}

#[test]
fn a_handle_in_use_ends_the_session() {
    let (mut peer, _) = Scripted::attached(Role::Sender);
    peer.frame(0, Performative::Attach(Box::new(attach("other", 0, Role::Sender))));
    assert!(peer.end_error().starts_with("amqp:session:handle-in-use"));
}

#[test]
fn frames_for_a_handle_that_is_not_attached_end_the_session() {
    let frames: [fn(&mut Scripted); 3] =
        [|peer| peer.transfer(&whole(0)), |peer| peer.flow(credit(0, 1)), |peer| peer.detach(0)];
    for send in frames {
        let mut peer = Scripted::begun();
        send(&mut peer);
        assert_eq!(peer.end_error(), "amqp:session:unattached-handle no link is attached on handle 0");
    }
}

#[test]
fn a_name_in_use_is_refused_without_harm_to_anyone_else() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.frame(0, Performative::Attach(Box::new(attach("link", 1, Role::Sender))));
    assert!(peer.end.take().is_empty(), "the owner does not hear of it");
    assert!(peer.detach_error().starts_with("amqp:not-allowed a link named \"link\" is attached"));
    peer.grant(link, 1);
    peer.transfer(&whole(0));
    assert_eq!(peer.end.take_transfers().len(), 1);
}

#[test]
fn a_link_refused_for_its_name_leaves_its_handle_when_the_peer_has_detached() {
    let (mut peer, _) = Scripted::attached(Role::Sender);
    peer.frame(0, Performative::Attach(Box::new(attach("link", 1, Role::Sender))));
    peer.detach(1);
    peer.frame(0, Performative::Attach(Box::new(attach("other", 1, Role::Sender))));
    assert!(matches!(peer.end.take()[..], [Event::Attached(..)]));
}

#[test]
fn an_owner_cannot_use_a_name_twice() {
    let mut pair = Pair::open();
    let (session, _) = pair.begin();
    pair.attach_in(session, sender("a"));
    assert_eq!(pair.client.connection.attach(session, sender("a")), Err(AttachError::NameInUse));
}

#[test]
fn a_name_is_used_once_in_each_direction() {
    let mut pair = Pair::open();
    let (session, _) = pair.begin();
    pair.attach_in(session, sender("a"));
    pair.attach_in(session, receiver("a"));
    assert_eq!(pair.server.connection.links().count(), 2);
}

#[test]
fn a_name_is_used_once_in_each_session() {
    let mut pair = Pair::open();
    pair.attach(sender("a"));
    pair.attach(sender("a"));
    assert_eq!(pair.server.connection.links().count(), 2);
}

#[test]
fn ends_that_attach_each_others_link_at_once_share_it() {
    let mut pair = Pair::open();
    let (client, server) = pair.begin();
    pair.client.connection.attach(client, sender("a")).unwrap();
    pair.server.connection.attach(server, receiver("a")).unwrap();
    pair.run();
    assert!(matches!(pair.client.take()[..], [Event::AttachAnswered(..)]));
    assert!(matches!(pair.server.take()[..], [Event::AttachAnswered(..)]));
}
