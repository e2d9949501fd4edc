//! Reading AMQP frames, and seeing to it that whoever is concerned handles them.

use amqp::condition::names;
use amqp::frame::{Frame, FrameKind, Split, split};
use amqp::performative::Performative;
use amqp::trace::{self, Direction};

use crate::connection::Step;
use crate::fault::{Fault, Handled};
use crate::{Connection, Event, Input};

/// Bytes of answers (anything but transfers) that may wait for a peer that provokes them and does not read them.
const OWED_LIMIT: usize = 4 * 1024 * 1024;

impl Connection {
    /// Reads one frame.
    #[inline]
    pub(crate) fn read_frame<'a>(&mut self, input: &mut Input<'a>) -> Step<'a> {
        if self.said.peer_open && !self.said.open {
            // The owner is still to answer the peer's open.
            return Step::Wait;
        }
        let frame = match split(input.rest(), self.limits.max_frame_size) {
            Ok(Split::Frame { frame, used }) => {
                input.consume(used);
                frame
            }
            Ok(Split::NeedMore { .. }) => return Step::Wait,
            Err(error) => return self.fault(Fault::connection(names::FRAMING_ERROR, error.to_string())),
        };
        self.timers.hear();
        let handled = self.handle_frame(&frame);
        if self.output.owed() > OWED_LIMIT {
            let text = format!("the peer does not read: more than {OWED_LIMIT} bytes of answers wait for it");
            return self.fault(Fault::connection(names::RESOURCE_LIMIT_EXCEEDED, text));
        }
        if self.output.take_oversize() {
            self.fail_oversize();
        }
        match handled {
            Ok(Some(event)) => Step::Event(event),
            Ok(None) => Step::Again,
            Err(fault) => self.fault(fault),
        }
    }

    #[inline]
    fn handle_frame<'a>(&mut self, frame: &Frame<'a>) -> Handled<'a> {
        if self.output.is_traced() {
            self.output.tell(|text| trace::frame(text, Direction::Incoming, frame.channel, frame.body));
        }
        if frame.kind != FrameKind::Amqp {
            return Err(Fault::connection(names::FRAMING_ERROR, "a SASL frame came after SASL was done"));
        }
        if frame.body.is_empty() {
            // The peer is alive (section 2.4.5).
            return Ok(None);
        }
        let (performative, payload) = Performative::decode(frame.body)
            .map_err(|error| Fault::connection(names::DECODE_ERROR, error.to_string()))?;
        if self.said.close {
            return Ok(self.discard(performative));
        }
        match performative {
            Performative::Open(_) | Performative::Close(_) | Performative::Begin(_) | Performative::End(_) => {
                self.handle_rare(frame.channel, performative)
            }
            _ => match self.live_session(frame.channel)? {
                Some(session) => self.handle_in_session(session, performative, payload),
                // In flight when we ended the session.
                None => Ok(None),
            },
        }
    }

    #[inline]
    fn handle_in_session<'a>(
        &mut self,
        session: u32,
        performative: Performative<'a>,
        payload: &'a [u8],
    ) -> Handled<'a> {
        match performative {
            Performative::Transfer(transfer) => self.on_transfer(session, transfer, payload),
            Performative::Disposition(disposition) => self.on_disposition(session, disposition).map(|()| None),
            Performative::Flow(flow) => self.on_flow(session, flow),
            Performative::Attach(attach) => self.on_attach(session, attach),
            Performative::Detach(detach) => self.on_detach(session, detach),
            Performative::Open(_) | Performative::Close(_) | Performative::Begin(_) | Performative::End(_) => Ok(None),
        }
    }

    #[cold]
    fn handle_rare(&mut self, channel: u16, performative: Performative<'_>) -> Handled<'static> {
        match performative {
            Performative::Open(open) => self.on_open(open),
            Performative::Close(close) => {
                self.on_close(close);
                Ok(None)
            }
            Performative::Begin(begin) => {
                self.check_channel(channel)?;
                self.on_begin(channel, begin)
            }
            Performative::End(end) => {
                let session = self.channels.get(channel.into()).ok_or_else(|| no_session(channel))?;
                self.on_end(session, end);
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Our close is sent: nothing of the peer's matters but its own.
    fn discard(&mut self, performative: Performative<'_>) -> Option<Event<'static>> {
        if let Performative::Close(close) = performative {
            self.on_close(close);
        }
        None
    }

    /// The session on the peer's channel; `None` if we have ended it.
    #[inline]
    fn live_session(&self, channel: u16) -> Result<Option<u32>, Fault> {
        let Some(session) = self.channels.get(channel.into()) else {
            self.check_channel(channel)?;
            return Err(no_session(channel));
        };
        Ok(Some(session).filter(|&session| self.sessions.get(session as usize).is_some_and(|there| !there.ended)))
    }

    fn check_channel(&self, channel: u16) -> Result<(), Fault> {
        if !self.said.peer_open {
            return Err(Fault::connection(names::NOT_ALLOWED, "the first frame was not an open"));
        }
        if channel > self.limits.channel_max {
            let text = format!("channel {channel} is above the channel-max of {}", self.limits.channel_max);
            return Err(Fault::connection(names::FRAMING_ERROR, text));
        }
        Ok(())
    }

    /// Ends what the fault says must end.
    #[cold]
    fn fault<'a>(&mut self, fault: Fault) -> Step<'a> {
        match fault {
            Fault::Link(link, error) => return self.fail_link(link, error).map_or(Step::Again, Step::Event),
            Fault::Session(session, error) => self.fail_session(session, error),
            Fault::Connection(error) => self.fail(error),
        }
        Step::Again
    }
}

#[cold]
fn no_session(channel: u16) -> Fault {
    Fault::connection(names::NOT_ALLOWED, format!("no session has begun on channel {channel}"))
}
