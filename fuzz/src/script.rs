//! What the owner of a connection may do, and what a peer may send, as data that a fuzzer makes up.

use amqp::DeliveryState;
use amqp::frame::{FrameKind, write_frame, write_performative};
use amqp::performative::{
    Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Performative, ReceiverSettleMode, Role,
    SenderSettleMode, Transfer,
};
use amqp::state::Modified;
use amqp::terminus::{Source, TargetTerminus};
use libfuzzer_sys::arbitrary::{self, Arbitrary};

/// What the owner does. Numbers choose among what there is; many choices are foolish on purpose.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Act {
    Begin,
    EndSession(u8),
    Hold(u8, bool),
    Attach { session: u8, name: u8, sender: bool, settled: bool, second: bool },
    Detach(u8, bool),
    Credit(u8, u8),
    Drain(u8, bool),
    Drained(u8),
    Send { link: u8, size: u16, settled: bool },
    Start { link: u8, settled: bool },
    Payload { link: u8, size: u16, more: bool },
    Abort(u8),
    Incoming { delivery: u8, outcome: Outcome, settled: bool },
    Outgoing { delivery: u8, outcome: Outcome, settled: bool },
    Flush,
    Wait(u16),
    Trace(bool),
    Close,
    Lose,
}

/// A state to put into a disposition.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Outcome {
    None,
    Received,
    Accepted,
    Rejected,
    Released,
    Modified(bool, bool),
}

impl Outcome {
    pub fn state(self) -> Option<DeliveryState> {
        match self {
            Outcome::None => None,
            Outcome::Received => Some(DeliveryState::Received { section_number: 1, section_offset: 2 }),
            Outcome::Accepted => Some(DeliveryState::Accepted),
            Outcome::Rejected => Some(DeliveryState::Rejected(None)),
            Outcome::Released => Some(DeliveryState::Released),
            Outcome::Modified(delivery_failed, undeliverable_here) => {
                Some(DeliveryState::Modified(Box::new(Modified {
                    delivery_failed,
                    undeliverable_here,
                    message_annotations: None,
                })))
            }
        }
    }
}

/// A frame that is well formed, if not well behaved.
#[derive(Arbitrary, Clone, Debug)]
pub enum FrameAct {
    Open {
        max_frame_size: u16,
        channel_max: u8,
        idle: Option<u16>,
    },
    Begin {
        channel: u8,
        answers: Option<u8>,
        window: u16,
        handle_max: u8,
    },
    Attach {
        channel: u8,
        handle: u8,
        name: u8,
        receiver: bool,
        null: bool,
    },
    Flow {
        channel: u8,
        seen: Option<u8>,
        window: u16,
        handle: Option<u8>,
        count: Option<u8>,
        credit: Option<u16>,
        drain: bool,
        echo: bool,
    },
    Transfer {
        channel: u8,
        handle: u8,
        delivery: Option<u8>,
        tag: Option<u8>,
        settled: Option<bool>,
        more: bool,
        aborted: bool,
        resume: bool,
        size: u8,
    },
    Disposition {
        channel: u8,
        receiver: bool,
        first: u8,
        count: Option<u16>,
        settled: bool,
        outcome: Outcome,
    },
    Detach {
        channel: u8,
        handle: u8,
        closed: bool,
    },
    End {
        channel: u8,
    },
    Close,
    Empty,
    Raw {
        channel: u8,
        sasl: bool,
        body: Vec<u8>,
    },
}

impl FrameAct {
    /// Appends the frame.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (channel, performative) = match self.clone() {
            FrameAct::Open { max_frame_size, channel_max, idle } => {
                let open = Open {
                    container_id: "fuzz".to_owned(),
                    max_frame_size: u32::from(max_frame_size),
                    channel_max: u16::from(channel_max),
                    idle_time_out: idle.map(u32::from),
                    ..Open::default()
                };
                (0, Performative::Open(Box::new(open)))
            }
            FrameAct::Begin { channel, answers, window, handle_max } => {
                let begin = Begin {
                    remote_channel: answers.map(u16::from),
                    incoming_window: u32::from(window),
                    outgoing_window: 1000,
                    handle_max: u32::from(handle_max),
                    ..Begin::default()
                };
                (channel, Performative::Begin(begin))
            }
            FrameAct::Attach { channel, handle, name, receiver, null } => {
                let mut attach = Attach::new(format!("n{name}"), u32::from(handle), role(receiver));
                if !null {
                    attach.source = Some(Source { address: Some("a".to_owned()), ..Source::default() });
                    attach.target = Some(TargetTerminus::Target(Default::default()));
                }
                (channel, Performative::Attach(Box::new(attach)))
            }
            FrameAct::Flow { channel, seen, window, handle, count, credit, drain, echo } => {
                let flow = Flow {
                    next_incoming_id: seen.map(u32::from),
                    incoming_window: u32::from(window),
                    outgoing_window: 1000,
                    handle: handle.map(u32::from),
                    delivery_count: count.map(u32::from),
                    link_credit: credit.map(u32::from),
                    drain,
                    echo,
                    ..Flow::default()
                };
                (channel, Performative::Flow(flow))
            }
            FrameAct::Transfer { channel, handle, delivery, tag, settled, more, aborted, resume, size } => {
                let tag = tag.map(|tag| [tag]);
                let transfer = Transfer {
                    handle: u32::from(handle),
                    delivery_id: delivery.map(u32::from),
                    delivery_tag: tag.as_ref().map(|tag| &tag[..]),
                    settled,
                    more,
                    aborted,
                    resume,
                    ..Transfer::default()
                };
                write_frame(out, FrameKind::Amqp, u16::from(channel), |out| {
                    Performative::Transfer(transfer).encode(out);
                    out.resize(out.len() + usize::from(size), b'x');
                });
                return;
            }
            FrameAct::Disposition { channel, receiver, first, count, settled, outcome } => {
                let disposition = Disposition {
                    role: role(receiver),
                    first: u32::from(first),
                    last: count.map(|count| u32::from(first) + u32::from(count)),
                    settled,
                    state: outcome.state(),
                    batchable: false,
                };
                (channel, Performative::Disposition(disposition))
            }
            FrameAct::Detach { channel, handle, closed } => {
                (channel, Performative::Detach(Detach { handle: u32::from(handle), closed, error: None }))
            }
            FrameAct::End { channel } => (channel, Performative::End(End { error: None })),
            FrameAct::Close => (0, Performative::Close(Close { error: None })),
            FrameAct::Empty => return amqp::frame::write_empty(out),
            FrameAct::Raw { channel, sasl, body } => {
                let kind = if sasl { FrameKind::Sasl } else { FrameKind::Amqp };
                return write_frame(out, kind, u16::from(channel), |out| out.extend_from_slice(&body));
            }
        };
        write_performative(out, u16::from(channel), &performative);
    }
}

fn role(receiver: bool) -> Role {
    if receiver { Role::Receiver } else { Role::Sender }
}

/// The settle modes of an attach.
pub fn modes(settled: bool, second: bool) -> (SenderSettleMode, ReceiverSettleMode) {
    let sender = if settled { SenderSettleMode::Settled } else { SenderSettleMode::Mixed };
    let receiver = if second { ReceiverSettleMode::Second } else { ReceiverSettleMode::First };
    (sender, receiver)
}
