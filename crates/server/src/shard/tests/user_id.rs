//! Whom a message may say it is from.

use amqp::message::{Body, Message, Properties};
use amqp::{DeliveryState, ErrorCondition};

use super::client::encoded;
use super::policy::policy;
use super::router::Router;

/// More than what is gathered before a message goes on.
const STREAMED: usize = 1 << 20;

/// What an anonymous client is told of a message of this size that says it is from `user`. Whoever gets it accepts it.
fn outcome_of(user: &str, size: usize, own_user_id_only: bool) -> Option<DeliveryState> {
    let router = Router::start();
    let proxy = if own_user_id_only { "no" } else { "yes" };
    router.shards.set_policy(Some(policy(&format!("sources=*; targets=*; allowUserIdProxy={proxy}"))));
    let mut receiver = router.client();
    receiver.receiver("a", 10);
    let mut sender = router.client();
    let link = sender.sender(Some("a"));
    let properties = Properties { user_id: Some(user.as_bytes().to_vec()), ..Properties::default() };
    let body = Body::Data(vec![vec![b'x'; size]]);
    let key = sender.send(link, false, &encoded(&Message { properties, body, ..Message::default() }));
    let passes = !own_user_id_only || ["", "anonymous"].contains(&user);
    if passes {
        let received = receiver.receive();
        receiver.settle(&received, DeliveryState::Accepted);
    }
    sender.outcome(key)
}

fn violation() -> Option<DeliveryState> {
    let error = ErrorCondition::new("amqp:unauthorized-access", "user_id proxy violation");
    Some(DeliveryState::Rejected(Some(Box::new(error))))
}

#[test]
fn a_message_in_the_name_of_another_user_is_rejected_where_that_is_not_allowed() {
    assert_eq!(outcome_of("bad", 10, true), violation());
}

#[test]
fn a_large_message_in_the_name_of_another_user_is_rejected_too() {
    assert_eq!(outcome_of("bad", STREAMED, true), violation());
}

#[test]
fn a_message_in_the_name_of_its_sender_passes() {
    assert_eq!(outcome_of("anonymous", 10, true), Some(DeliveryState::Accepted));
}

#[test]
fn a_message_with_an_empty_user_id_passes() {
    assert_eq!(outcome_of("", 10, true), Some(DeliveryState::Accepted));
}

#[test]
fn where_it_is_allowed_a_message_may_be_in_anybodys_name() {
    assert_eq!(outcome_of("bad", 10, false), Some(DeliveryState::Accepted));
}
