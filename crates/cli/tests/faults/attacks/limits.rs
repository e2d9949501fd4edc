//! Sessions and links by the thousand.

use amqp::Performative;
use amqp::condition::names;
use amqp::performative::{Begin, Role};
use amqp::terminus::{Source, Target};

use super::{condition, withstands};
use crate::support::router::{Router, Setup};
use crate::support::wire::Wire;

fn begin() -> Performative<'static> {
    Performative::Begin(Begin { incoming_window: 100, outgoing_window: 100, ..Begin::default() })
}

#[test]
fn a_session_on_each_of_65535_channels_is_had_up_to_the_channel_max() {
    let router = Router::start("");
    let error = withstands(&router, 256, || {
        let mut wire = router.client();
        for channel in 1..=32_767 {
            wire.send_on(channel, &begin());
            if channel % 1000 == 0 {
                // The answers are read meanwhile.
                wire.take(|frame| matches!(frame, Performative::Begin(_)).then_some(()));
            }
        }
        wire.send_on(32_768, &begin());
        let error = wire.refusal();
        wire.expect_end();
        error
    });

    assert_eq!(condition(error.as_ref()), Some(names::FRAMING_ERROR));
}

#[test]
fn a_session_beyond_the_listeners_maximum_ends_the_connection() {
    let router = Setup { listener: "maxSessions: 10\n", ..Setup::default() }.start();
    let error = withstands(&router, 32, || {
        let mut wire = router.client();
        for channel in 1..=10 {
            wire.send_on(channel, &begin());
        }
        let error = wire.refusal();
        wire.expect_end();
        error
    });

    assert_eq!(condition(error.as_ref()), Some(names::FRAMING_ERROR));
}

/// Attaches so many senders, each to an address of its own; how many were refused for want of resources.
fn attach_many(wire: &mut Wire, count: u32) -> usize {
    for number in 0..count {
        let mut attach = wire.new_attach(Role::Sender);
        attach.source = Some(Source::default());
        attach.target = Some(Target { address: Some(format!("flood/{number}")), ..Target::default() }.into());
        wire.send(Performative::Attach(Box::new(attach)));
        if number % 500 == 499 {
            wire.sync();
        }
    }
    wire.sync();
    let refused = wire.take(|frame| match frame {
        Performative::Detach(detach) => Some(condition(detach.error.as_ref()) == Some(names::RESOURCE_LIMIT_EXCEEDED)),
        _ => None,
    });
    assert!(refused.iter().all(|for_want| *for_want));
    refused.len()
}

#[test]
fn ten_thousand_links_of_a_peer_are_gone_with_it() {
    let router = Router::start("");
    withstands(&router, 192, || {
        let mut wire = router.client();
        assert_eq!(attach_many(&mut wire, 10_000), 0);
        drop(wire);
        let mut management = router.management();
        crate::support::wait_for("the end of its addresses", || {
            let addresses = management.query("router.address");
            let left = addresses.iter().filter(|row| row.text("name").is_some_and(|name| name.contains("flood/")));
            (left.count() == 0).then_some(())
        });
    });
}

#[test]
fn links_beyond_what_a_policy_allows_are_refused_one_by_one() {
    let router = Router::start(
        "policy {\nenableVhostPolicy: yes\n}\nvhost {\nhostname: $default\nallowUnknownUser: yes\ngroups: {\n$default: \
         {\nremoteHosts: *\nsources: *\ntargets: *\nmaxSenders: 10\n}\n}\n}\n",
    );
    withstands(&router, 64, || {
        let mut wire = Wire::client(router.port);
        assert_eq!(attach_many(&mut wire, 5_000), 4_990);
    });
}
