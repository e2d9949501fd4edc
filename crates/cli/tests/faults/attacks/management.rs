//! Those who may use the router, and would manage it.

use amqp::Value;
use amqp::condition::names;
use amqp::message::{Body, Message};
use amqp::terminus::Source;
use management::Attributes;
use management::client::Request;

use super::{condition, withstands};
use crate::support::router::{Router, Setup};

/// All the ways to write where management, or a router's control, is to be had.
const NAMES: [&str; 11] = [
    "$management",
    "/$management",
    "amqp:/$management",
    "amqp://127.0.0.1/$management",
    "amqp:/_local/$management",
    "_local/$management",
    "_topo/0/QDR/$management",
    "amqp:/_topo/0/QDR/$management",
    "_topo/all/all/$management",
    "_$qd.edge_addr_lookup",
    "_local/_$qd.edge_addr_lookup",
];

/// A router where clients may use addresses that begin with `a`, and others elsewhere.
fn policed() -> Router {
    let sections = "policy {\nenableVhostPolicy: yes\n}\nvhost {\nhostname: $default\nallowUnknownUser: yes\ngroups: \
                    {\n$default: {\nremoteHosts: *\nsources: a*, of others\ntargets: a*, of others\nallowDynamicSource: \
                    yes\nallowAnonymousSender: yes\n}\n}\n}\n";
    Setup { sections, ..Setup::default() }.start()
}

/// A request that would make an address of a kind that nobody wants.
fn request(reply_to: &str) -> Vec<u8> {
    let attributes = Attributes(vec![("prefix".to_owned(), Value::from("x"))]);
    Request::create("org.apache.qpid.dispatch.router.config.address", Some("x"), &attributes)
        .into_message(reply_to, Value::Ulong(1))
        .to_bytes()
}

#[test]
fn who_may_not_reach_management_cannot_attach_to_it_by_any_name() {
    let router = policed();
    withstands(&router, 32, || {
        let mut wire = router.client();
        for name in NAMES {
            let to = wire.sender(name);
            let (closed, error) = wire.expect_detach(to);
            assert!(closed, "{name}");
            assert_eq!(condition(error.as_ref()), Some(names::UNAUTHORIZED_ACCESS), "{name}");
        }
    });
}

#[test]
fn who_may_not_reach_management_cannot_send_to_it_by_an_anonymous_sender() {
    let router = policed();
    withstands(&router, 32, || {
        for name in NAMES {
            let mut wire = router.client();
            let (_, source) = wire.receiver_from(Source { dynamic: true, ..Source::default() }, 10);
            let reply_to = source.and_then(|source| source.address).expect("a dynamic source gets an address");
            let to = wire.anonymous_sender();
            wire.expect_flow(to, "credit", |flow| flow.link_credit > Some(0));
            let mut message = Message::decode(&request(&reply_to)).expect("it is one");
            message.properties.to = Some(name.to_owned());

            let sent = wire.send_message(to, false, &message.to_bytes());

            let outcome = wire.outcome(sent);
            let refused = matches!(&outcome, Some(amqp::DeliveryState::Rejected(Some(error)))
                if error.condition.as_str() == names::UNAUTHORIZED_ACCESS);
            assert!(refused, "{name}: {outcome:?}");
            wire.sync();
            assert_eq!(wire.waiting(), 0, "{name} was answered");
        }
    });
}

#[test]
fn requests_that_are_none_are_answered_or_rejected_and_management_goes_on() {
    let router = Router::start("");
    withstands(&router, 64, || {
        let mut wire = router.client();
        let (_, source) = wire.receiver_from(Source { dynamic: true, ..Source::default() }, 1000);
        let reply_to = source.and_then(|source| source.address).expect("a dynamic source gets an address");
        let to = wire.sender("$management");
        wire.expect_credit(to, 250);
        let good = request(&reply_to);
        for length in (1..good.len()).step_by(7) {
            let sent = wire.send_message(to, false, &good[..length]);
            wire.outcome(sent);
        }
        let nothing = Message::new(Body::Value(Value::Null)).to_bytes();
        let sent = wire.send_message(to, false, &nothing);
        wire.outcome(sent);
        assert!(!router.management().query("router").is_empty());
    });
}
