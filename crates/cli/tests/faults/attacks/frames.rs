//! Frames at the wrong time, without end, or with values that are costly to read.

use amqp::Performative;
use amqp::condition::names;
use amqp::frame::{self, AMQP_HEADER, FrameKind};
use amqp::performative::{Attach, Begin, End, Flow, Open, Role};

use super::{condition, withstands};
use crate::support::codec::{data, head_of_data};
use crate::support::router::{Router, Setup};
use crate::support::wire::Wire;
use crate::support::{CAPACITY, PATIENCE};

#[test]
fn frames_before_the_open_end_the_connection() {
    let router = Router::start("");
    let begin = Performative::Begin(Begin::default());
    let attach = Performative::Attach(Box::new(Attach::new("early", 0, Role::Sender)));
    let flow = Performative::Flow(Flow::default());
    withstands(&router, 32, || {
        for early in [begin, attach, flow] {
            let mut wire = Wire::connect(router.port);
            wire.write(&AMQP_HEADER);
            wire.header();

            wire.send(early);

            assert_eq!(condition(wire.refusal().as_ref()), Some(names::NOT_ALLOWED));
            wire.expect_end();
        }
    });
}

/// What comes of an attach whose properties are this value.
fn refusal_of_properties(value: &[u8]) -> Option<String> {
    let router = Router::start("");
    let error = withstands(&router, 32, || {
        let mut wire = router.client();
        let mut bytes = Vec::new();
        frame::write_frame(&mut bytes, FrameKind::Amqp, 0, |out| {
            // An attach: name, handle, role, then null up to the properties.
            let size = u32::try_from(4 + 5 + 10 + value.len()).expect("it fits a frame");
            out.extend_from_slice(&[0, 0x53, 0x12, 0xd0]);
            out.extend_from_slice(&size.to_be_bytes());
            out.extend_from_slice(&14_u32.to_be_bytes());
            out.extend_from_slice(&[0xa1, 1, b'x', 0x43, 0x42]);
            out.extend_from_slice(&[0x40; 10]);
            out.extend_from_slice(value);
        });
        wire.write(&bytes);
        wire.refusal()
    });
    condition(error.as_ref()).map(str::to_owned)
}

#[test]
fn deeply_nested_lists_in_a_frame_are_not_decoded() {
    // Each is a list of one: the next.
    let mut nested = Vec::new();
    for depth in (0..1500_u32).rev() {
        nested.push(0xd0);
        nested.extend_from_slice(&(4 + depth * 9).to_be_bytes());
        nested.extend_from_slice(&u32::from(depth > 0).to_be_bytes());
    }

    assert_eq!(refusal_of_properties(&nested).as_deref(), Some(names::DECODE_ERROR));
}

#[test]
fn an_array_of_billions_that_is_only_announced_is_not_decoded() {
    for constructor in [0x43, 0x45, 0x80] {
        let mut array = vec![0xf0];
        array.extend_from_slice(&5_u32.to_be_bytes());
        array.extend_from_slice(&u32::MAX.to_be_bytes());
        array.push(constructor);

        assert_eq!(refusal_of_properties(&array).as_deref(), Some(names::DECODE_ERROR));
    }
}

#[test]
fn a_hundred_messages_of_gigabytes_that_are_only_announced_take_no_memory() {
    let router = Router::start("");
    withstands(&router, 64, || {
        let mut receiver = router.client();
        receiver.receiver("a", 100);
        let mut announced: Vec<Wire> = (0..100).map(|_| router.client()).collect();
        for wire in &mut announced {
            let to = wire.sender("a");
            wire.expect_credit(to, CAPACITY);
            let delivery = wire.next_delivery();
            wire.send_part(to, delivery, false, &head_of_data(u32::MAX), true);
            wire.sync();
        }
    });
}

#[test]
fn frames_of_next_to_nothing_cost_next_to_nothing() {
    let router = Router::start("");
    let whole = data(20_000);
    withstands(&router, 32, || {
        let mut idle = router.client();
        let mut empty = Vec::new();
        frame::write_empty(&mut empty);
        let many = empty.repeat(10_000);
        for _ in 0..20 {
            idle.write(&many);
        }
        idle.sync();
        // A message that comes byte by byte arrives whole.
        let (mut sender, mut receiver) = (router.client(), router.client());
        receiver.receiver("a", 10);
        let to = sender.sender("a");
        sender.expect_credit(to, CAPACITY);
        let delivery = sender.next_delivery();
        for byte in whole.chunks(1) {
            sender.send_part(to, delivery, false, byte, true);
        }
        sender.send_part(to, delivery, false, b"", false);
        assert_eq!(receiver.receive().bytes, whole);
    });
}

#[test]
fn a_peer_that_asks_without_end_and_never_reads_is_read_no_more_and_dropped() {
    // It is not read from once there are too many answers for it; then it seems silent, and is dropped for that.
    let mut router = Setup { listener: "idleTimeoutSeconds: 6\n", ..Setup::default() }.start();
    withstands(&router, 64, || {
        let mut deaf = router.client();
        deaf.give_up_writing_after(PATIENCE);
        let mut asked = Vec::new();
        // A session that begins and ends at once is answered by as much.
        for _ in 0..200 {
            let begin = Performative::Begin(Begin { incoming_window: 1, ..Begin::default() });
            frame::write_performative(&mut asked, 7, &begin);
            frame::write_performative(&mut asked, 7, &Performative::End(End::default()));
        }
        let rounds = (0..100_000).take_while(|_| deaf.try_write(&asked)).count();
        assert!(rounds < 100_000, "the router takes all of it");
    });
    router.wait_for_log(names::RESOURCE_LIMIT_EXCEEDED, |line| line.contains("failed"));
}

#[test]
fn a_container_name_of_many_kibibytes_is_no_way_to_more() {
    let router = Router::start("");
    withstands(&router, 96, || {
        let wires: Vec<Wire> = (0..300)
            .map(|_| {
                let mut wire = Wire::connect(router.port);
                wire.open(Open { container_id: "x".repeat(500), ..Open::default() });
                wire
            })
            .collect();
        drop(wires);
        let mut wire = Wire::connect(router.port);
        wire.write(&AMQP_HEADER);
        wire.header();
        // The frame is larger than any before the open may be.
        wire.send(Performative::Open(Box::new(Open { container_id: "x".repeat(100_000), ..Open::default() })));
        wire.expect_end();
    });
}
