//! The endpoint against a peer that sends anything at all, and an owner that does anything in any order: no panic, no
//! endless loop, no memory without bound, no event that speaks of something the owner does not know.
#![no_main]

use amqp::frame::AMQP_HEADER;
use fuzz::owner::Owner;
use fuzz::script::{Act, FrameAct};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Script {
    acceptor: bool,
    /// Begin with the protocol header and an open, so that the rest gets further.
    opened: bool,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// Bytes as they are.
    Bytes(Vec<u8>),
    /// A frame that is well formed.
    Frame(FrameAct),
    /// The first bytes of a frame; the rest comes with the next step that brings bytes.
    HalfFrame(FrameAct, u8),
    Act(Act),
    /// The socket takes some bytes.
    Write(u16),
}

fuzz_target!(|script: Script| {
    let bytes: usize = script.steps.iter().map(size).sum();
    let (_, peak) = fuzz::peak(|| play(&script));
    assert!(peak < 4 * 1024 * 1024 + 1024 * bytes, "{peak} bytes held for a script that sends {bytes}");
});

fn size(step: &Step) -> usize {
    match step {
        Step::Bytes(bytes) => bytes.len(),
        _ => 64,
    }
}

fn play(script: &Script) {
    let mut owner = Owner::new(script.acceptor, true);
    let mut late = Vec::new();
    if script.opened {
        late.extend_from_slice(&AMQP_HEADER);
        FrameAct::Open { max_frame_size: 512, channel_max: 7, idle: Some(30_000) }.write(&mut late);
    }
    for step in &script.steps {
        match step {
            Step::Bytes(bytes) => {
                late.extend_from_slice(bytes);
                owner.feed(&std::mem::take(&mut late));
            }
            Step::Frame(frame) => {
                frame.write(&mut late);
                owner.feed(&std::mem::take(&mut late));
            }
            Step::HalfFrame(frame, at) => {
                frame.write(&mut late);
                let rest = late.split_off(usize::from(*at).min(late.len()));
                owner.feed(&std::mem::replace(&mut late, rest));
            }
            Step::Act(act) => {
                owner.act(*act);
                owner.feed(&[]);
            }
            Step::Write(count) => drop(owner.output(usize::from(*count))),
        }
    }
    owner.connection.transport_closed();
    owner.feed(&late);
    assert!(owner.connection.links().next().is_none(), "a link outlives its transport");
}
