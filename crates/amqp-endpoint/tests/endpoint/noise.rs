//! A peer that says anything, and an owner that does anything, in any order: the endpoint neither panics nor breaks the
//! rules itself.

use std::time::Duration;

use amqp::DeliveryState;
use amqp::frame::{AMQP_HEADER, SASL_HEADER};
use amqp::performative::{Attach, Begin, Detach, Disposition, End, Flow, Performative, Role, Transfer};
use amqp_endpoint::{ConnectionConfig, Hold, LinkId, SessionId};
use proptest::prelude::*;

use crate::mechanisms::Anonymous;
use crate::memory::live;
use crate::pair::{acceptor, config, presettled, receiver, sasl_acceptor, sender, unsettled};
use crate::rules::Rules;
use crate::scripted::{Scripted, begin, frames, raw_frame};

/// Bytes that an endpoint may hold after a little noise, with the frame it waits for.
const MEMORY: isize = 64 * 1024;

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    Peer { channel: u16, says: Says },
    Owner(Does),
    Passes(u64),
}

/// What the peer says.
#[derive(Clone, Debug)]
enum Says {
    Begin {
        remote_channel: Option<u16>,
        window: u32,
    },
    End,
    Attach {
        name: u8,
        handle: u32,
        sends: bool,
        unsettled: bool,
    },
    Detach {
        handle: u32,
    },
    Flow {
        handle: Option<u32>,
        seen: Option<u32>,
        window: u32,
        credit: u32,
        count: u32,
        drain: bool,
        echo: bool,
    },
    Transfer {
        handle: u32,
        id: Option<u32>,
        more: bool,
        aborted: bool,
        settled: Option<bool>,
        resume: bool,
    },
    /// The id is the next in sequence.
    NextTransfer {
        handle: u32,
        more: bool,
        settled: Option<bool>,
    },
    Disposition {
        receives: bool,
        first: u32,
        last: Option<u32>,
        settled: bool,
    },
    Bytes(Vec<u8>),
}

/// What the owner does.
#[derive(Clone, Debug)]
enum Does {
    Begin,
    End(u32),
    Attach { session: u32, name: u8, sends: bool },
    Answer(u32),
    Detach(u32),
    Credit { link: u32, credit: u32 },
    Drain { link: u32, drain: bool },
    Drained(u32),
    Send { link: u32, key: u64, settled: bool },
    BeginDelivery { link: u32, key: u64 },
    Payload { link: u32, size: usize, more: bool },
    Abort(u32),
    Key { link: u32, id: u32, key: u64 },
    UpdateIncoming { link: u32, id: u32, settled: bool },
    UpdateOutgoing { link: u32, key: u64, settled: bool },
    Hold { session: u32, hold: bool },
    Trim,
    Flush,
    Close,
    TransportClosed,
}

/// A number that is small, or large enough to wrap around.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![20 => 0u32..6, 1 => Just(u32::MAX), 1 => Just(i32::MAX as u32), 1 => any::<u32>()]
}

fn says() -> impl Strategy<Value = Says> {
    let handle = || prop_oneof![30 => 0u32..4, 1 => any::<u32>()];
    prop_oneof![
        3 => (proptest::option::weighted(0.3, 0u16..4), number())
            .prop_map(|(remote_channel, window)| Says::Begin { remote_channel, window }),
        1 => Just(Says::End),
        6 => (0u8..4, handle(), any::<bool>(), any::<bool>())
            .prop_map(|(name, handle, sends, unsettled)| Says::Attach { name, handle, sends, unsettled }),
        2 => handle().prop_map(|handle| Says::Detach { handle }),
        6 => (
            proptest::option::of(handle()),
            proptest::option::weighted(0.3, number()),
            prop_oneof![number(), Just(1000)],
            prop_oneof![number(), Just(1000)],
            number(),
            any::<bool>(),
            any::<bool>(),
        )
            .prop_map(|(handle, seen, window, credit, count, drain, echo)| Says::Flow {
                handle, seen, window, credit, count, drain, echo
            }),
        1 => (handle(), proptest::option::of(number()), any::<bool>(), any::<bool>(), any::<Option<bool>>(), any::<bool>())
            .prop_map(|(handle, id, more, aborted, settled, resume)| Says::Transfer {
                handle, id, more, aborted, settled, resume
            }),
        8 => (handle(), any::<bool>(), any::<Option<bool>>())
            .prop_map(|(handle, more, settled)| Says::NextTransfer { handle, more, settled }),
        3 => (any::<bool>(), number(), proptest::option::of(number()), any::<bool>())
            .prop_map(|(receives, first, last, settled)| Says::Disposition { receives, first, last, settled }),
        1 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(Says::Bytes),
    ]
}

fn does() -> impl Strategy<Value = Does> {
    let link = || 0u32..6;
    prop_oneof![
        1 => Just(Does::Begin),
        1 => (0u32..3).prop_map(Does::End),
        2 => (0u32..3, 0u8..4, any::<bool>()).prop_map(|(session, name, sends)| Does::Attach { session, name, sends }),
        8 => link().prop_map(Does::Answer),
        2 => link().prop_map(Does::Detach),
        6 => (link(), number()).prop_map(|(link, credit)| Does::Credit { link, credit }),
        2 => (link(), any::<bool>()).prop_map(|(link, drain)| Does::Drain { link, drain }),
        2 => link().prop_map(Does::Drained),
        4 => (link(), 0u64..6, any::<bool>()).prop_map(|(link, key, settled)| Does::Send { link, key, settled }),
        3 => (link(), 0u64..6).prop_map(|(link, key)| Does::BeginDelivery { link, key }),
        4 => (link(), 0usize..2000, any::<bool>()).prop_map(|(link, size, more)| Does::Payload { link, size, more }),
        2 => link().prop_map(Does::Abort),
        2 => (link(), 0u32..6, any::<u64>()).prop_map(|(link, id, key)| Does::Key { link, id, key }),
        3 => (link(), 0u32..6, any::<bool>())
            .prop_map(|(link, id, settled)| Does::UpdateIncoming { link, id, settled }),
        3 => (link(), 0u64..6, any::<bool>())
            .prop_map(|(link, key, settled)| Does::UpdateOutgoing { link, key, settled }),
        1 => (0u32..3, any::<bool>()).prop_map(|(session, hold)| Does::Hold { session, hold }),
        1 => Just(Does::Trim),
        4 => Just(Does::Flush),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        100 => (prop_oneof![40 => 0u16..3, 1 => any::<u16>()], says())
            .prop_map(|(channel, says)| Step::Peer { channel, says }),
        100 => does().prop_map(Step::Owner),
        4 => (0u64..9000).prop_map(Step::Passes),
        1 => Just(Step::Owner(Does::Close)),
        1 => Just(Step::Owner(Does::TransportClosed)),
    ]
}

fn peer_says(peer: &mut Scripted, channel: u16, says: Says, next: &mut u32) {
    let performative = match says {
        Says::Begin { remote_channel, window } => {
            Performative::Begin(Begin { remote_channel, incoming_window: window, handle_max: 3, ..begin() })
        }
        Says::End => Performative::End(End { error: None }),
        Says::Attach { name, handle, sends, unsettled } => {
            let role = if sends { Role::Sender } else { Role::Receiver };
            let unsettled = unsettled.then(amqp::Map::new);
            Performative::Attach(Box::new(Attach { unsettled, ..Attach::new(format!("{name}"), handle, role) }))
        }
        Says::Detach { handle } => Performative::Detach(Detach { handle, closed: true, error: None }),
        Says::Flow { handle, seen, window, credit, count, drain, echo } => Performative::Flow(Flow {
            next_incoming_id: Some(seen.unwrap_or(0)),
            incoming_window: window,
            handle,
            link_credit: Some(credit),
            delivery_count: Some(count),
            drain,
            echo,
            ..Flow::default()
        }),
        Says::Transfer { handle, id, more, aborted, settled, resume } => {
            let delivery_tag = Some(&b"t"[..]);
            Performative::Transfer(Transfer {
                handle,
                delivery_id: id,
                delivery_tag,
                more,
                aborted,
                settled,
                resume,
                ..Transfer::default()
            })
        }
        Says::NextTransfer { handle, more, settled } => {
            *next += 1;
            let delivery_id = Some(*next - 1);
            Performative::Transfer(Transfer { handle, delivery_id, more, settled, ..Transfer::default() })
        }
        Says::Disposition { receives, first, last, settled } => {
            let role = if receives { Role::Receiver } else { Role::Sender };
            let state = Some(DeliveryState::Accepted);
            Performative::Disposition(Disposition { role, first, last, settled, state, batchable: false })
        }
        Says::Bytes(bytes) => return peer.bytes(&raw_frame(channel, &bytes)),
    };
    peer.frame(channel, performative);
}

fn owner_does(peer: &mut Scripted, does: Does) {
    let (now, engine) = (peer.now, &mut peer.end.connection);
    match does {
        Does::Begin => {
            let _ = engine.begin_session();
        }
        Does::End(session) => engine.end_session(SessionId(session), None),
        Does::Attach { session, name, sends } => {
            let name = name.to_string();
            let link = if sends { sender(&name) } else { receiver(&name) };
            let _ = engine.attach(SessionId(session), link);
        }
        Does::Answer(link) => engine.attach_answer(LinkId(link), None, None, None),
        Does::Detach(link) => engine.detach(LinkId(link), true, None),
        Does::Credit { link, credit } => engine.add_credit(LinkId(link), credit),
        Does::Drain { link, drain } => engine.drain(LinkId(link), drain),
        Does::Drained(link) => engine.drained(LinkId(link)),
        Does::Send { link, key, settled } => {
            let delivery = if settled { presettled() } else { unsettled(key) };
            engine.try_send(LinkId(link), &delivery, &[b"payload"]);
        }
        Does::BeginDelivery { link, key } => drop(engine.begin_delivery(LinkId(link), &unsettled(key))),
        Does::Payload { link, size, more } => drop(engine.send_payload(LinkId(link), &vec![1; size], more)),
        Does::Abort(link) => engine.abort_delivery(LinkId(link)),
        Does::Key { link, id, key } => engine.set_incoming_key(LinkId(link), id, key),
        Does::UpdateIncoming { link, id, settled } => {
            engine.update_incoming(LinkId(link), id, Some(DeliveryState::Accepted), settled);
        }
        Does::UpdateOutgoing { link, key, settled } => engine.update_outgoing(LinkId(link), key, None, settled),
        Does::Hold { session, hold } => engine.hold_session(SessionId(session), Hold::Lag, hold),
        Does::Trim => engine.trim(),
        Does::Flush => engine.flush(now),
        Does::Close => engine.close(None),
        Does::TransportClosed => engine.transport_closed(),
    }
}

/// An acceptor with little room, and what it has said.
fn opened() -> (Scripted, Vec<u8>) {
    let config = ConnectionConfig { max_frame_size: 512, channel_max: 3, session_window: 8, ..config("acceptor") };
    let mut peer = Scripted::silent(config, acceptor());
    peer.bytes(&AMQP_HEADER);
    let open = amqp::performative::Open { max_frame_size: 512, channel_max: 2, ..crate::scripted::open() };
    peer.frame(0, Performative::Open(Box::new(open)));
    let said = peer.take_output();
    (peer, said)
}

proptest! {
    #[test]
    fn whatever_happens_the_endpoint_keeps_to_the_rules(steps in proptest::collection::vec(step(), 0..120)) {
        let (mut peer, mut said) = opened();
        let mut next = 0;
        for step in steps {
            match step {
                Step::Peer { channel, says } => peer_says(&mut peer, channel, says, &mut next),
                Step::Owner(does) => owner_does(&mut peer, does),
                Step::Passes(milliseconds) => peer.pass(Duration::from_millis(milliseconds)),
            }
            // Its owner always learns of what came of it.
            peer.bytes(&[]);
            said.extend(peer.take_output());
        }
        let mut rules = Rules::default();
        for answer in frames(&said) {
            rules.judge(&answer).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn any_bytes_are_borne(
        start in prop_oneof![Just(Vec::new()), Just(AMQP_HEADER.to_vec()), Just(SASL_HEADER.to_vec())],
        pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..10),
    ) {
        let before = live();
        let mut peer = Scripted::silent(config("acceptor"), sasl_acceptor(Anonymous));
        peer.bytes(&start);
        for piece in pieces {
            peer.bytes(&piece);
            peer.take_output();
            peer.end.take();
        }
        prop_assert!(live() - before < MEMORY);
    }

    #[test]
    fn any_frames_are_borne(
        bodies in proptest::collection::vec((0u16..3, 0x10u8..0x19, proptest::collection::vec(any::<u8>(), 0..60)), 0..20),
    ) {
        let before = live();
        let mut peer = Scripted::open();
        for (channel, descriptor, fields) in bodies {
            let body = [&[0, 0x53, descriptor, 0xc0, fields.len() as u8][..], &fields].concat();
            peer.bytes(&raw_frame(channel, &body));
            peer.take_output();
            peer.end.take();
        }
        prop_assert!(live() - before < MEMORY);
    }
}
