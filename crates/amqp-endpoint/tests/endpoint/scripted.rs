//! An endpoint against a peer whose every frame the test writes.

use std::time::Duration;

use amqp::ErrorCondition;
use amqp::frame::{AMQP_HEADER, FrameKind, Split, split, write_frame, write_performative, write_transfer};
use amqp::performative::{
    Attach, Begin, Close, Detach, Disposition, End as EndFrame, Flow, Open, Performative, Role, Transfer,
};
use amqp_endpoint::{ConnectionConfig, Event, LinkId, Side};

use crate::pair::{End, acceptor, config};

/// An acceptor whose peer is the test.
pub(crate) struct Scripted {
    pub(crate) now: Duration,
    pub(crate) end: End,
}

impl Scripted {
    pub(crate) fn silent(config: ConnectionConfig, side: Side) -> Self {
        Self { now: Duration::ZERO, end: End::new(config, side) }
    }

    /// The connection is open, on both sides.
    pub(crate) fn open() -> Self {
        Self::open_with(config("acceptor"))
    }

    pub(crate) fn open_with(config: ConnectionConfig) -> Self {
        let mut scripted = Self::silent(config, acceptor());
        scripted.bytes(&AMQP_HEADER);
        scripted.frame(0, Performative::Open(Box::new(open())));
        scripted.take_output();
        scripted.end.take();
        scripted
    }

    /// A session has begun, on channel 0 on both sides.
    pub(crate) fn begun() -> Self {
        Self::begun_with(config("acceptor"))
    }

    pub(crate) fn begun_with(config: ConnectionConfig) -> Self {
        let mut scripted = Self::open_with(config);
        scripted.frame(0, Performative::Begin(begin()));
        scripted.take_output();
        scripted.end.take();
        scripted
    }

    /// A link is attached on handle 0, with the given role of the peer.
    pub(crate) fn attached(role: Role) -> (Self, LinkId) {
        Self::attached_with(config("acceptor"), role)
    }

    pub(crate) fn attached_with(config: ConnectionConfig, role: Role) -> (Self, LinkId) {
        let mut scripted = Self::begun_with(config);
        let link = scripted.attach(attach("link", 0, role));
        (scripted, link)
    }

    /// Attaches a link, which is accepted.
    pub(crate) fn attach(&mut self, attach: Attach) -> LinkId {
        self.frame(0, Performative::Attach(Box::new(attach)));
        let attached = self.end.take().into_iter().find_map(|event| match event {
            Event::Attached(link, attach) => Some((link, attach)),
            _ => None,
        });
        let (link, attach) = attached.expect("the attach was told");
        self.end.connection.attach_answer(link, attach.source.clone(), attach.target.clone(), None);
        self.take_output();
        link
    }

    /// The peer, sender on the link, gets credit.
    pub(crate) fn grant(&mut self, link: LinkId, credit: u32) {
        self.end.connection.add_credit(link, credit);
        self.take_output();
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.end.receive(self.now, bytes);
    }

    pub(crate) fn frame(&mut self, channel: u16, performative: Performative<'_>) {
        let mut bytes = Vec::new();
        write_performative(&mut bytes, channel, &performative);
        self.bytes(&bytes);
    }

    pub(crate) fn transfer(&mut self, transfer: &Transfer<'_>) {
        self.transfer_with(transfer, b"x");
    }

    pub(crate) fn transfer_with(&mut self, transfer: &Transfer<'_>, payload: &[u8]) {
        let mut bytes = Vec::new();
        write_transfer(&mut bytes, 0, transfer, &[payload]);
        self.bytes(&bytes);
    }

    pub(crate) fn flow(&mut self, flow: Flow) {
        self.frame(0, Performative::Flow(flow));
    }

    pub(crate) fn disposition(&mut self, disposition: Disposition) {
        self.frame(0, Performative::Disposition(disposition));
    }

    pub(crate) fn detach(&mut self, handle: u32) {
        self.frame(0, Performative::Detach(Detach { handle, closed: true, error: None }));
    }

    /// Lets time pass, waking the endpoint when it wants to be woken.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(due) = self.end.connection.next_timeout().filter(|&due| due <= end) {
            self.now = self.now.max(due);
            self.end.connection.handle_timeout(self.now);
            self.bytes(&[]);
            self.end.connection.flush(self.now);
        }
        self.now = end;
    }

    /// What the endpoint has to say now, as bytes.
    pub(crate) fn take_output(&mut self) -> Vec<u8> {
        self.end.take_output(self.now)
    }

    /// What the endpoint has to say now, as frames; headers are left out.
    pub(crate) fn answers(&mut self) -> Vec<Answer> {
        let bytes = self.take_output();
        frames(&bytes)
    }

    /// The error of the close that the endpoint sent last.
    pub(crate) fn close_error(&mut self) -> String {
        let answers = self.answers();
        let last = answers.last().map(|answer| &answer.performative);
        let Some(Performative::Close(Close { error: Some(error) })) = last else {
            panic!("no close with an error among {answers:?}")
        };
        error.to_string()
    }

    /// The error of the end that the endpoint sent.
    pub(crate) fn end_error(&mut self) -> String {
        let answers = self.answers();
        let error = answers.iter().find_map(|answer| match &answer.performative {
            Performative::End(EndFrame { error: Some(error) }) => Some(error.to_string()),
            _ => None,
        });
        error.unwrap_or_else(|| panic!("no end with an error among {answers:?}"))
    }

    /// The error of the detach that the endpoint sent.
    pub(crate) fn detach_error(&mut self) -> String {
        let answers = self.answers();
        let error = answers.iter().find_map(|answer| match &answer.performative {
            Performative::Detach(Detach { error: Some(error), closed: true, .. }) => Some(error.to_string()),
            _ => None,
        });
        error.unwrap_or_else(|| panic!("no closing detach with an error among {answers:?}"))
    }
}

/// A frame of the endpoint's, owned.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) channel: u16,
    pub(crate) performative: Performative<'static>,
    pub(crate) payload: &'static [u8],
}

/// The AMQP frames in what an endpoint has said; protocol headers and empty frames are left out.
pub(crate) fn frames(bytes: &[u8]) -> Vec<Answer> {
    let mut rest: &'static [u8] = Vec::leak(bytes.to_vec());
    let mut answers = Vec::new();
    while !rest.is_empty() {
        if rest.starts_with(b"AMQP") {
            rest = &rest[8..];
            continue;
        }
        let Ok(Split::Frame { frame, used }) = split(rest, u32::MAX) else { panic!("half a frame was sent") };
        rest = &rest[used..];
        if !frame.body.is_empty() && frame.kind == FrameKind::Amqp {
            let (performative, payload) = Performative::decode(frame.body).expect("frames sent are well formed");
            answers.push(Answer { channel: frame.channel, performative, payload });
        }
    }
    answers
}

/// A frame with this body, well formed or not.
pub(crate) fn raw_frame(channel: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, FrameKind::Amqp, channel, |out| out.extend_from_slice(body));
    bytes
}

pub(crate) fn open() -> Open {
    Open {
        container_id: "peer".to_owned(),
        hostname: None,
        max_frame_size: u32::MAX,
        channel_max: u16::MAX,
        idle_time_out: None,
        outgoing_locales: Vec::new(),
        incoming_locales: Vec::new(),
        offered_capabilities: Vec::new(),
        desired_capabilities: Vec::new(),
        properties: None,
    }
}

pub(crate) fn begin() -> Begin {
    Begin {
        remote_channel: None,
        next_outgoing_id: 0,
        incoming_window: 1000,
        outgoing_window: 1000,
        handle_max: u32::MAX,
        offered_capabilities: Vec::new(),
        desired_capabilities: Vec::new(),
        properties: None,
    }
}

pub(crate) fn attach(name: &str, handle: u32, role: Role) -> Attach {
    let mut attach = Attach::new(name, handle, role);
    attach.source = Some(Default::default());
    attach.target = Some(amqp::terminus::TargetTerminus::Target(Default::default()));
    attach.initial_delivery_count = (role == Role::Sender).then_some(0);
    attach
}

pub(crate) fn a_detach(handle: u32, closed: bool, error: Option<ErrorCondition>) -> Performative<'static> {
    Performative::Detach(Detach { handle, closed, error })
}

/// The first and only frame of a delivery on handle 0.
pub(crate) fn whole(delivery_id: u32) -> Transfer<'static> {
    Transfer {
        delivery_id: Some(delivery_id),
        delivery_tag: Some(b"t"),
        message_format: Some(0),
        ..Transfer::default()
    }
}

/// A flow for the link on handle 0, from a receiver.
pub(crate) fn credit(delivery_count: u32, link_credit: u32) -> Flow {
    Flow {
        next_incoming_id: Some(0),
        incoming_window: 1000,
        outgoing_window: 1000,
        handle: Some(0),
        delivery_count: Some(delivery_count),
        link_credit: Some(link_credit),
        ..Flow::default()
    }
}

pub(crate) fn condition(error: &ErrorCondition) -> &str {
    error.condition.as_str()
}
