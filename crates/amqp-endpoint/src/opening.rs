//! Open and close (part 2, section 2.4), and the ends that are not so orderly.

use std::sync::Arc;

use amqp::ErrorCondition;
use amqp::condition::names;
use amqp::frame::{AMQP_HEADER, MIN_MAX_FRAME_SIZE};
use amqp::performative::{Close, Open, Performative};
use amqp::trace::{self, Direction};
use slab::Slab;

use crate::connection::{Phase, Queued, Step};
use crate::fault::{Fault, Handled};
use crate::header::Expected;
use crate::{Connection, ConnectionConfig, Event};

/// What both ends have said so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Said {
    pub(crate) open: bool,
    pub(crate) close: bool,
    pub(crate) peer_open: bool,
}

/// The limits that both ends have set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_frame_size: u32,
    pub(crate) channel_max: u16,
    pub(crate) handle_max: u32,
    pub(crate) session_window: u32,
    pub(crate) credit_tolerance: u32,
    pub(crate) remote_max_frame_size: u32,
    pub(crate) remote_channel_max: u16,
}

impl Limits {
    pub(crate) fn new(config: &ConnectionConfig) -> Self {
        Self {
            max_frame_size: config.max_frame_size.max(MIN_MAX_FRAME_SIZE),
            channel_max: config.channel_max,
            handle_max: config.handle_max,
            credit_tolerance: config.credit_tolerance,
            // Without any window no transfer could ever come.
            session_window: config.session_window.max(1),
            remote_max_frame_size: MIN_MAX_FRAME_SIZE,
            remote_channel_max: u16::MAX,
        }
    }
}

impl Connection {
    /// An acceptor's answer to the peer's open. Policy may have changed the limits: `config_override`.
    pub fn open(&mut self, config_override: Option<ConnectionConfig>) {
        if self.phase != Phase::Amqp || self.said.open {
            return;
        }
        if let (Some(config), Some(handshake)) = (config_override, &mut self.handshake) {
            let remote = self.limits;
            self.limits = Limits::new(&config);
            self.limits.remote_max_frame_size = remote.remote_max_frame_size;
            self.limits.remote_channel_max = remote.remote_channel_max;
            handshake.config = config;
        }
        self.write_open();
    }

    /// Closes the connection, after opening it if need be. Nothing is sent after it. The owner is told of the loss of
    /// each link, and [`Event::Closed`] once the peer has answered, gone, or not answered for ten seconds.
    pub fn close(&mut self, error: Option<ErrorCondition>) {
        if self.phase == Phase::Finished || self.said.close {
            return;
        }
        if self.may_close() {
            self.write_close(error);
            self.timers.wait_for_close();
        } else {
            // Before the AMQP header is exchanged there is nothing to close in an orderly way.
            let error = error.unwrap_or_else(|| ErrorCondition::new(names::CONNECTION_FORCED, "closed while opening"));
            self.fail(error);
        }
    }

    /// The transport reached its end (the peer closed its half, reset, or error). Polling with empty input then yields
    /// `LinkLost` for each link and `Failed` ("connection aborted"), or `Closed` if this end has sent a close.
    pub fn transport_closed(&mut self) {
        if self.phase == Phase::Finished {
            return;
        }
        self.output.tell(|text| trace::event(text, Direction::Incoming, "EOS"));
        if self.said.close {
            return self.finish_close(None);
        }
        self.lose_everything();
        let error = ErrorCondition::new(names::FRAMING_ERROR, "connection aborted");
        self.queue.push_back(Queued::event(Event::Failed(error)));
        self.phase = Phase::Finished;
    }

    /// The peer's open.
    pub fn remote_open(&self) -> Option<&Arc<Open>> {
        self.remote_open.as_ref()
    }

    /// The peer's open, which the connection then no longer keeps.
    pub fn take_remote_open(&mut self) -> Option<Arc<Open>> {
        self.remote_open.take()
    }

    /// Bytes; the largest frame the peer accepts.
    pub fn remote_max_frame_size(&self) -> u32 {
        self.limits.remote_max_frame_size
    }

    /// The connection has been closed, by either end, or has failed.
    pub fn is_ending(&self) -> bool {
        self.phase == Phase::Finished || self.said.close
    }

    /// Nothing more will happen once the output is written.
    pub fn is_finished(&self) -> bool {
        self.phase == Phase::Finished && self.queue.is_empty()
    }

    /// Sessions may be begun. Frames written before the peer's open must not be larger than any peer accepts.
    pub(crate) fn may_begin(&mut self) -> bool {
        let may = self.phase != Phase::Finished && self.may_write_frames();
        if may && !self.said.peer_open {
            self.output.set_max_frame_size(MIN_MAX_FRAME_SIZE);
        }
        may
    }

    /// AMQP frames may be written.
    pub(crate) fn may_write_frames(&self) -> bool {
        self.said.open && !self.said.close
    }

    /// A close may be written, if need be after an open.
    fn may_close(&self) -> bool {
        !self.said.close && (self.said.open || self.phase == Phase::Amqp)
    }

    /// SASL is done, and its security layer taken: AMQP begins.
    pub(crate) fn begin_amqp<'a>(&mut self) -> Step<'a> {
        let Some(handshake) = &self.handshake else { return Step::Wait };
        if handshake.layer.is_some() {
            return Step::Wait;
        }
        if !handshake.acceptor {
            self.output.header(AMQP_HEADER);
            self.write_open();
        }
        self.phase = Phase::Header(Expected::Amqp);
        Step::Again
    }

    /// Sends our open; the configuration has served its purpose then.
    pub(crate) fn write_open(&mut self) {
        let Some(handshake) = &mut self.handshake else { return };
        let config = std::mem::take(&mut handshake.config);
        self.said.open = true;
        self.timers.idle_time_out = config.idle_time_out;
        self.timers.heard = self.timers.now;
        // Half of what is borne is announced, so that a frame that is late by as much again is in time.
        let idle = config.idle_time_out.map(|time_out| (time_out / 2).as_millis().clamp(1, u32::MAX.into()) as u32);
        let open = Open {
            container_id: config.container_id,
            hostname: config.hostname,
            max_frame_size: self.limits.max_frame_size,
            channel_max: self.limits.channel_max,
            idle_time_out: idle,
            outgoing_locales: Vec::new(),
            incoming_locales: Vec::new(),
            offered_capabilities: config.offered_capabilities,
            desired_capabilities: config.desired_capabilities,
            properties: config.properties,
        };
        self.output.performative(0, Performative::Open(Box::new(open)));
        self.limit_frames();
    }

    pub(crate) fn on_open(&mut self, open: Box<Open>) -> Handled<'static> {
        if self.said.peer_open {
            return Err(Fault::connection(names::NOT_ALLOWED, "the connection is open already"));
        }
        self.said.peer_open = true;
        // No peer may ask for less than the minimum (section 2.7.1); one that does gets it.
        self.limits.remote_max_frame_size = open.max_frame_size.max(MIN_MAX_FRAME_SIZE);
        self.limits.remote_channel_max = open.channel_max;
        if self.sessions.len() > usize::from(open.channel_max) + 1 {
            let text = format!("more sessions have begun than the channel-max of {} allows", open.channel_max);
            return Err(Fault::connection(names::RESOURCE_LIMIT_EXCEEDED, text));
        }
        self.timers.set_peer_idle_time_out(open.idle_time_out);
        self.timers.handshake_by = None;
        self.limit_frames();
        let open: Arc<Open> = Arc::from(open);
        self.remote_open = Some(Arc::clone(&open));
        Ok(Some(Event::Opened(open)))
    }

    /// Once both opens are exchanged, frames are limited to what the peer accepts; an open itself is not, as its
    /// sender cannot know.
    fn limit_frames(&mut self) {
        if self.said.open && self.said.peer_open {
            self.output.set_max_frame_size(self.limits.remote_max_frame_size);
            self.handshake = None;
        }
    }

    /// The peer's close, or its answer to ours.
    pub(crate) fn on_close(&mut self, close: Close) {
        if self.may_close() {
            self.write_close(None);
        }
        self.finish_close(close.error);
    }

    pub(crate) fn finish_close(&mut self, error: Option<ErrorCondition>) {
        self.phase = Phase::Finished;
        self.queue.push_back(Queued::event(Event::Closed(error)));
    }

    /// Ends the connection for the peer's fault, or for its silence; the peer is told as far as the phase allows.
    pub(crate) fn fail(&mut self, error: ErrorCondition) {
        match self.phase {
            Phase::Finished => return,
            _ if self.may_close() => self.write_close(Some(error.clone())),
            Phase::Header(expected) if self.handshake.as_ref().is_some_and(|handshake| handshake.acceptor) => {
                self.output.header(self.own_header(expected));
            }
            Phase::Sasl => {
                let sasl = self.handshake.as_ref().and_then(|handshake| handshake.sasl.as_ref());
                if let Some(frame) = sasl.and_then(crate::sasl_layer::Sasl::failure_frame) {
                    self.output.sasl(&frame);
                }
            }
            _ => {}
        }
        self.lose_everything();
        self.phase = Phase::Finished;
        self.queue.push_back(Queued::event(Event::Failed(error)));
    }

    /// A frame of ours does not fit what the peer accepts, whatever is left out.
    #[cold]
    pub(crate) fn fail_oversize(&mut self) {
        let text = format!(
            "a frame that had to be sent is larger than the max-frame-size of {} bytes",
            self.limits.remote_max_frame_size
        );
        self.fail(ErrorCondition::new(names::FRAME_SIZE_TOO_SMALL, text));
    }

    fn write_close(&mut self, error: Option<ErrorCondition>) {
        if !self.said.open {
            self.write_open();
        }
        self.write_due();
        self.said.close = true;
        self.output.performative(0, Performative::Close(Close { error }));
        self.lose_everything();
    }

    /// Takes all sessions and links away.
    fn lose_everything(&mut self) {
        self.names.clear();
        self.channels.clear();
        self.sessions = Slab::new();
        self.range = None;
        self.due_links = Vec::new();
        self.due_sessions = Vec::new();
        let links: Vec<u32> = self.links.iter().filter(|(_, link)| !link.lost).map(|(index, _)| index as u32).collect();
        links.into_iter().for_each(|link| self.lose_link(link));
    }
}
