//! Unsettled maps and resumption (part 2, sections 2.6.13 and 2.7.3): nothing is remembered of an earlier attachment.

use amqp::performative::{Attach, Performative, Role, Transfer};
use amqp::{DeliveryState, Map, Value};
use amqp_endpoint::LinkId;

use crate::scripted::{Scripted, attach, whole};

/// The endpoint's answer to an attach with or without an unsettled map.
fn answer(unsettled: Option<Map>) -> Attach {
    let mut peer = Scripted::begun();
    let incomplete_unsettled = unsettled.is_some();
    let attach = Attach { unsettled, incomplete_unsettled, ..attach("a", 0, Role::Sender) };
    peer.frame(0, Performative::Attach(Box::new(attach)));
    peer.end.connection.attach_answer(LinkId(0), None, None, None);
    let answers = peer.answers();
    let Performative::Attach(attach) = &answers[0].performative else { panic!("{answers:?}") };
    (**attach).clone()
}

fn two_deliveries() -> Map {
    Map::from_iter([
        (Value::Binary(b"1".to_vec()), Value::Null),
        (Value::Binary(b"2".to_vec()), Value::described(0x24, Value::List(Vec::new()))),
    ])
}

#[test]
fn an_unsettled_map_is_answered_with_an_empty_one() {
    let attach = answer(Some(two_deliveries()));
    assert_eq!((attach.unsettled, attach.incomplete_unsettled), (Some(Map::new()), false));
}

#[test]
fn no_unsettled_map_is_answered_with_none() {
    assert_eq!(answer(None).unsettled, None);
}

#[test]
fn a_resumed_delivery_is_taken_where_the_owner_passes_it_on() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.end.connection.take_resumed(link);
    peer.grant(link, 10);
    peer.transfer(&Transfer { resume: true, ..whole(0) });
    assert!(peer.end.connection.link(link).is_some_and(|link| link.credit == 9));
}

#[test]
fn a_resumed_delivery_detaches_the_link_with_an_error_that_says_what_to_do() {
    let (mut peer, link) = Scripted::attached(Role::Sender);
    peer.grant(link, 10);
    peer.transfer(&Transfer { resume: true, state: Some(DeliveryState::Accepted), ..whole(0) });
    let expected = "amqp:not-implemented deliveries cannot be resumed here: send them anew, on a link attached without \
                    an unsettled map";
    assert_eq!(peer.detach_error(), expected);
}
