//! One end of a connection: what it consists of, and how its owner turns the handle.

use std::collections::VecDeque;
use std::sync::Arc;

use amqp::ErrorCondition;
use amqp::frame::{AMQP_HEADER, SASL_HEADER};
use amqp::performative::Open;
use slab::Slab;

use crate::disposition::Range;
use crate::handshake::Handshake;
use crate::header::Expected;
use crate::link::Link;
use crate::names::Names;
use crate::opening::{Limits, Said};
use crate::output::Output;
use crate::session::Session;
use crate::sparse::SparseIndex;
use crate::timers::Timers;
use crate::{ConnectionConfig, Event, Input, LinkId, Now, SessionId, Side};

/// One end of a connection.
pub struct Connection {
    pub(crate) phase: Phase,
    pub(crate) said: Said,
    pub(crate) limits: Limits,
    pub(crate) timers: Timers,
    pub(crate) output: Output,
    /// Sessions by the peer's channel.
    pub(crate) channels: SparseIndex,
    /// The index is our channel.
    pub(crate) sessions: Slab<Session>,
    pub(crate) links: Slab<Link>,
    pub(crate) names: Names,
    /// Links with a flow to send at flush.
    pub(crate) due_links: Vec<u32>,
    /// Sessions with something to send at flush.
    pub(crate) due_sessions: Vec<u32>,
    /// Dispositions wait that no transfer may overtake: they are part of a transaction, and it may discharge that.
    pub(crate) ordered: bool,
    /// Events that wait to be told, before anything else is read.
    pub(crate) queue: VecDeque<Queued>,
    /// What is left to tell of the disposition read last.
    pub(crate) range: Option<Range>,
    /// Gone once both opens are exchanged.
    pub(crate) handshake: Option<Box<Handshake>>,
    pub(crate) remote_open: Option<Arc<Open>>,
}

/// What is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// A protocol header.
    Header(Expected),
    /// SASL frames.
    Sasl,
    /// Nothing: SASL has succeeded, and its security layer is to be taken.
    Authenticated,
    /// AMQP frames.
    Amqp,
    /// Nothing any more.
    Finished,
}

/// What reading comes to.
pub(crate) enum Step<'a> {
    Event(Event<'a>),
    /// Something was done; look again.
    Again,
    /// Nothing can be done without more input, or without the owner.
    Wait,
}

/// An event that waits.
#[derive(Debug)]
pub(crate) enum Queued {
    /// Of the link with this index, which is free once the owner knows.
    LinkLost(u32),
    SessionEnded {
        session: u32,
        error: Option<Box<ErrorCondition>>,
        /// The peer has ended it, too: the index is free once the owner knows.
        gone: bool,
    },
    Other(Box<Event<'static>>),
}

impl Queued {
    pub(crate) fn event(event: Event<'static>) -> Self {
        Self::Other(Box::new(event))
    }
}

impl Connection {
    /// A connection whose transport has just been set up. An initiator's first bytes are in the output at once.
    pub fn new(config: ConnectionConfig, side: Side, now: Now) -> Self {
        let limits = Limits::new(&config);
        let timers = Timers::new(now, config.handshake_time_out);
        let handshake = Handshake::new(config, side);
        let (acceptor, sasl) = (handshake.acceptor, handshake.sasl.is_some());
        let mut connection = Self {
            phase: Phase::Header(Expected::First),
            said: Said::default(),
            limits,
            timers,
            output: Output::default(),
            channels: SparseIndex::default(),
            sessions: Slab::new(),
            links: Slab::new(),
            names: Names::default(),
            due_links: Vec::new(),
            due_sessions: Vec::new(),
            ordered: false,
            queue: VecDeque::new(),
            range: None,
            handshake: Some(Box::new(handshake)),
            remote_open: None,
        };
        match (acceptor, sasl) {
            (true, _) => {}
            (false, true) => {
                connection.phase = Phase::Header(Expected::Sasl);
                connection.output.header(SASL_HEADER);
            }
            (false, false) => {
                connection.phase = Phase::Header(Expected::Amqp);
                connection.output.header(AMQP_HEADER);
                connection.write_open();
            }
        }
        connection
    }

    /// The next event, or `None`: more input is needed. It also waits, without reading on, for the owner to answer an
    /// open ([`Connection::open`]), to take a security layer, or to poke a pending SASL mechanism.
    #[inline]
    pub fn poll<'a>(&mut self, now: Now, input: &mut Input<'a>) -> Option<Event<'a>> {
        self.timers.now = now;
        loop {
            if let Some(queued) = self.queue.pop_front() {
                return Some(self.tell(queued));
            }
            if self.range.is_some()
                && let Some(event) = self.next_outcome()
            {
                return Some(event);
            }
            let step = match self.phase {
                Phase::Amqp => self.read_frame(input),
                phase => self.read_handshake(phase, input),
            };
            match step {
                Step::Event(event) => return Some(event),
                Step::Again => {}
                Step::Wait => {
                    self.timers.hear_part(input.rest().len());
                    return None;
                }
            }
        }
    }

    #[cold]
    fn read_handshake<'a>(&mut self, phase: Phase, input: &mut Input<'a>) -> Step<'a> {
        match phase {
            Phase::Header(expected) => self.read_header(expected, input),
            Phase::Sasl => self.read_sasl(input),
            Phase::Authenticated => self.begin_amqp(),
            Phase::Amqp => Step::Again,
            Phase::Finished => {
                input.consume(input.rest().len());
                Step::Wait
            }
        }
    }

    #[cold]
    fn tell<'a>(&mut self, queued: Queued) -> Event<'a> {
        match queued {
            Queued::LinkLost(link) => {
                let lost = self.links.try_remove(link as usize);
                Event::LinkLost { link: LinkId(link), context: lost.map_or(0, |link| link.context) }
            }
            Queued::SessionEnded { session, error, gone } => {
                if gone {
                    self.sessions.try_remove(session as usize);
                }
                Event::SessionEnded(SessionId(session), error.map(|error| *error))
            }
            Queued::Other(event) => *event,
        }
    }

    /// Bytes for the peer.
    pub fn output(&self) -> &[u8] {
        self.output.bytes()
    }

    /// Forgets the first `count` bytes of the output, which were written. The buffer is freed when it becomes empty.
    pub fn consume_output(&mut self, count: usize) {
        self.output.consume(count);
    }

    /// From now on each frame, in and out, is told as text, in the form that scripts know from the old router.
    pub fn trace(&mut self, on: bool) {
        self.output.trace(on);
    }

    /// The frames told since the last call.
    pub fn take_traces(&mut self) -> Vec<String> {
        self.output.take_traces()
    }

    /// Frees memory kept for bursts; worth calling when the connection has been quiet for a while.
    pub fn trim(&mut self) {
        self.channels.shrink();
        self.names.shrink();
        self.links.shrink_to_fit();
        self.sessions.shrink_to_fit();
        self.queue.shrink_to_fit();
        self.due_links.shrink_to_fit();
        self.due_sessions.shrink_to_fit();
        for (_, session) in &mut self.sessions {
            session.incoming.shrink();
            session.outgoing.shrink();
            session.remote_handles.shrink();
            session.handles.shrink_to_fit();
        }
    }
}
