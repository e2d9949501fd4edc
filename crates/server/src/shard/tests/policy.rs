//! What policy lets a connection do.

use amqp::message::{Body, Message, Properties};
use amqp::{DeliveryState, ErrorCondition};
use amqp_endpoint::LinkId;
use config::{PolicyConfig, VhostConfig};
use management::Attributes;
use security::policy::{Policy, Vhost};
use std::sync::Arc;

use super::client::{Client, Happened, encoded, message};
use super::router::Router;
use crate::shard::ConnectionSettings;

/// More than what is gathered before a message goes on.
const STREAMED: usize = 1 << 20;

/// A router whose only vhost, `$default`, lets everybody in, with these settings of its only group.
fn router(group: &str) -> Router {
    router_with(ConnectionSettings::default(), group)
}

fn router_with(listener: ConnectionSettings, group: &str) -> Router {
    let router = Router::with(1, listener);
    router.shards.set_policy(Some(policy(group)));
    router
}

/// A policy whose only vhost, `$default`, has one group for everybody, with these settings.
pub(super) fn policy(group: &str) -> Policy {
    let members = group.split(';').filter_map(|member| member.split_once('='));
    let members = members.chain([("users", "*"), ("remoteHosts", "*")]);
    let members = members.map(|(name, text)| (name.trim().into(), text.trim().into())).collect();
    let groups = amqp::Map(vec![("all".into(), amqp::Value::Map(amqp::Map(members)))]);
    let attributes = Attributes::new().with("hostname", "$default".into()).with("groups", amqp::Value::Map(groups));
    let vhost = VhostConfig::from_attributes(&attributes).expect("the group is valid");
    let config = PolicyConfig::from_attributes(&Attributes::new()).expect("nothing is no mistake");
    Policy::new(&config, vec![Arc::new(Vhost::new(&vhost, &|_| Vec::new()))])
}

fn detached(client: &mut Client, link: LinkId) -> Option<ErrorCondition> {
    match client.expect("a detach", |happened| matches!(happened, Happened::Detached { link: of, .. } if *of == link)) {
        Happened::Detached { closed, error, .. } => {
            assert!(closed, "the link is refused for good");
            error
        }
        other => unreachable!("expected a detach, not {other:?}"),
    }
}

fn closed(client: &mut Client) -> Option<ErrorCondition> {
    match client.expect("a close", |happened| matches!(happened, Happened::Closed(_) | Happened::Failed(_))) {
        Happened::Closed(error) => error,
        other => panic!("the connection was not closed: {other:?}"),
    }
}

fn link_disallowed(condition: &str) -> Option<ErrorCondition> {
    Some(ErrorCondition::new(condition, "link disallowed by local policy"))
}

#[test]
fn a_connection_without_a_vhost_is_closed() {
    let router = Router::start();
    router.shards.set_policy(Some(Policy::default()));
    let expected = ErrorCondition::new("amqp:resource-limit-exceeded", "connection disallowed by local policy");
    assert_eq!(closed(&mut router.client()), Some(expected));
    assert_eq!(router.shards.with_core(|core, _, now| core.connections(now).len()), 0);
}

#[test]
fn links_are_for_the_addresses_allowed() {
    let router = router("sources=in; targets=out");
    let mut client = router.client();
    client.receiver("in", 1);
    client.sender(Some("out"));
    let sender = client.sender(Some("in"));
    assert_eq!(detached(&mut client, sender), link_disallowed("amqp:unauthorized-access"));
    let receiver = client.receiver("out", 1);
    assert_eq!(detached(&mut client, receiver), link_disallowed("amqp:unauthorized-access"));
}

#[test]
fn the_user_of_a_connection_is_put_into_addresses() {
    let router = router("sources=${user}.in; targets=out-${user}-1");
    let mut client = router.client();
    client.receiver("anonymous.in", 1);
    client.sender(Some("out-anonymous-1"));
    let sender = client.sender(Some("out-bob-1"));
    assert_eq!(detached(&mut client, sender), link_disallowed("amqp:unauthorized-access"));
}

#[test]
fn the_sender_beyond_the_limit_is_refused_until_another_is_detached() {
    let router = router("targets=*; maxSenders=2");
    let mut client = router.client();
    let first = client.sender(Some("a"));
    client.sender(Some("b"));
    let third = client.sender(Some("c"));
    assert_eq!(detached(&mut client, third), link_disallowed("amqp:resource-limit-exceeded"));
    client.endpoint.detach(first, true, None);
    detached(&mut client, first);
    let again = client.sender(Some("c"));
    client.expect_attached(again);
}

#[test]
fn a_link_that_is_refused_counts_for_nothing() {
    let router = router("targets=a; maxSenders=1");
    let mut client = router.client();
    let refused = client.sender(Some("b"));
    detached(&mut client, refused);
    let allowed = client.sender(Some("a"));
    client.expect_attached(allowed);
}

#[test]
fn sessions_beyond_the_limit_are_not_to_be_had() {
    let router = router("maxSessions=3");
    let client = router.client();
    let open = client.endpoint.remote_open().expect("the client waits for it");
    assert_eq!(open.channel_max, 2);
}

#[test]
fn frame_size_and_window_are_the_groups_where_it_says_so() {
    let listener = ConnectionSettings { max_session_frames: Some(100), ..ConnectionSettings::default() };
    let open = |group: &str| {
        let router = router_with(listener.clone(), group);
        let client = router.client();
        let open = client.endpoint.remote_open().expect("the client waits for it");
        (open.max_frame_size, open.channel_max)
    };
    assert_eq!(open("maxFrameSize=2048; maxSessionWindow=20480"), (2048, 32767));
    assert_eq!(open("targets=*"), (16384, 32767));
}

/// What comes of a message to this address on an anonymous link.
fn sent_to(group: &str, address: &str, size: usize) -> Option<DeliveryState> {
    let router = router(&format!("sources=*; allowAnonymousSender=yes; {group}"));
    let mut receiver = router.client();
    receiver.receiver(address, 10);
    let mut sender = router.client();
    let link = sender.sender(None);
    let properties = Properties { to: Some(address.to_owned()), ..Properties::default() };
    let body = Body::Data(vec![vec![b'x'; size]]);
    let key = sender.send(link, false, &encoded(&Message { properties, body, ..Message::default() }));
    loop {
        if let Some(received) = receiver.take_message() {
            receiver.settle(&received, DeliveryState::Accepted);
        }
        receiver.turn(std::time::Duration::from_millis(5));
        sender.turn(std::time::Duration::from_millis(5));
        let settled =
            |happened: &Happened| matches!(happened, Happened::Outcome { key: of, settled: true, .. } if *of == key);
        if sender.happened.iter().any(settled) {
            return sender.outcome(key);
        }
    }
}

fn target_violation() -> Option<DeliveryState> {
    let error = ErrorCondition::new("amqp:unauthorized-access", "policy violation on target");
    Some(DeliveryState::Rejected(Some(Box::new(error))))
}

#[test]
fn each_message_of_an_anonymous_sender_is_held_against_the_targets() {
    assert_eq!(sent_to("targets=ok*; allowUserIdProxy=yes", "ok-1", 10), Some(DeliveryState::Accepted));
    assert_eq!(sent_to("targets=ok*", "other", 10), target_violation());
    assert_eq!(sent_to("targetPattern=ok.*", "ok.1.2", 10), target_violation());
}

#[test]
fn a_large_message_of_an_anonymous_sender_is_held_against_the_targets_too() {
    assert_eq!(sent_to("targets=ok*", "other", STREAMED), target_violation());
}

#[test]
fn an_anonymous_sender_needs_a_permission() {
    let router = router("targets=*");
    let mut client = router.client();
    let link = client.sender(None);
    assert_eq!(detached(&mut client, link), link_disallowed("amqp:unauthorized-access"));
}

#[test]
fn the_largest_message_is_told_with_the_attach() {
    let router = router("targets=*; sources=*; maxMessageSize=1000");
    let mut client = router.client();
    let sizes = [client.announced_size("a", true), client.announced_size("a", false)];
    assert_eq!(sizes, [Some(1000), None]);
}

/// Sends a message of this size where 1000 bytes are allowed: what its sender is told of it, of the link, and of the
/// connection.
fn told_of_oversize(size: usize) -> (Option<DeliveryState>, Option<ErrorCondition>, Option<ErrorCondition>) {
    let router = router("targets=*; sources=*; maxMessageSize=1000");
    let mut receiver = router.client();
    receiver.receiver("a", 10);
    let mut sender = router.client();
    let link = sender.sender(Some("a"));
    let key = sender.begin(link, false);
    // The router may close before all is sent.
    let bytes = message(size);
    sender.endpoint.send_payload(link, &bytes, false);
    sender.write();
    let outcome = sender.outcome(key);
    let detached = detached(&mut sender, link);
    let closed = closed(&mut sender);
    // Whoever would have got it goes on.
    receiver.sender(Some("b"));
    assert!(receiver.take_message().is_none_or(|received| received.aborted), "the message was passed on");
    (outcome, detached, closed)
}

#[test]
fn a_message_that_is_too_large_is_rejected_and_ends_its_connection() {
    let size = ErrorCondition::new("amqp:link:message-size-exceeded", "Message size exceeded");
    let forced = ErrorCondition::new("amqp:connection:forced", "Message size exceeded");
    for bytes in [1001, 100_000, STREAMED] {
        let (outcome, detached, closed) = told_of_oversize(bytes);
        assert_eq!(outcome, Some(DeliveryState::Rejected(Some(Box::new(size.clone())))), "{bytes} bytes");
        assert_eq!((detached, closed), (None, Some(forced.clone())), "{bytes} bytes");
    }
}

#[test]
fn a_stream_that_grows_too_large_is_aborted_where_it_went() {
    let limit = 400_000;
    let router = router(&format!("targets=*; sources=*; maxMessageSize={limit}"));
    let mut receiver = router.client();
    receiver.receiver("a", 10);
    let mut sender = router.client();
    let link = sender.sender(Some("a"));
    let bytes = message(STREAMED);
    sender.begin(link, false);
    sender.send_part(link, &bytes[..300_000], true);
    // It is on its way.
    while receiver.bytes_received == 0 {
        receiver.turn(std::time::Duration::from_millis(20));
    }
    sender.endpoint.send_payload(link, &bytes[300_000..], false);
    sender.write();
    assert!(receiver.receive().aborted);
    let forced = ErrorCondition::new("amqp:connection:forced", "Message size exceeded");
    assert_eq!(closed(&mut sender), Some(forced));
}

#[test]
fn a_message_of_just_the_largest_size_passes() {
    let bytes = message(500);
    let router = router(&format!("targets=*; sources=*; maxMessageSize={}", bytes.len()));
    let mut receiver = router.client();
    receiver.receiver("a", 10);
    let mut sender = router.client();
    let link = sender.sender(Some("a"));
    sender.send(link, false, &bytes);
    assert_eq!(receiver.receive().bytes, bytes);
}

#[test]
fn the_tenant_is_the_vhost_that_was_found() {
    let listener = ConnectionSettings { multi_tenant: true, ..ConnectionSettings::default() };
    let router = router_with(listener, "targets=*; sources=*");
    let _client = router.client();
    let tenant = router.shards.with_core(|core, _, now| core.connections(now)[0].tenant.map(str::to_owned));
    assert_eq!(tenant.as_deref(), Some("$default/"));
}

#[test]
fn rules_that_change_are_for_connections_that_come_later() {
    let router = router("targets=old");
    let mut before = router.client();
    router.shards.set_policy(Some(policy("targets=new")));
    let mut after = router.client();
    let old = before.sender(Some("old"));
    before.expect_attached(old);
    let new = after.sender(Some("new"));
    after.expect_attached(new);
    let refused = after.sender(Some("old"));
    assert_eq!(detached(&mut after, refused), link_disallowed("amqp:unauthorized-access"));
}

#[test]
fn connections_and_denials_are_counted() {
    let router = router("targets=a");
    let mut client = router.client();
    let refused = client.sender(Some("b"));
    detached(&mut client, refused);
    let used = router.shards.with_policy(|state| state.admissions.vhost("$default"));
    assert_eq!((used.approved, used.current, used.senders_denied), (1, 1, 1));
    assert_eq!(
        (used.by_user.keys().map(|user| &**user).collect::<Vec<_>>(), used.by_host.len()),
        (vec!["anonymous"], 1)
    );
    drop(client);
    router.wait_until("it has left", |shards| {
        shards.with_policy(|state| state.admissions.vhost("$default").current == 0)
    });
}

#[test]
fn there_are_no_more_sockets_than_there_may_be() {
    let router = Router::start();
    router.shards.set_max_connections(1);
    let client = router.client();
    assert_eq!(router.answer_to(b""), b"");
    let counts = router.shards.counts();
    assert_eq!((counts.connected, counts.denied, counts.accepted), (1, 1, 2));
    drop(client);
    router.wait_until("it has gone", |shards| shards.counts().connected == 0);
    router.client().settle_down();
}
