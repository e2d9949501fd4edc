//! Deliveries that could not leave at once: they wait on their link, in order, and leave as the peer's session window and
//! the connection's output allow.

use std::sync::Arc;

use amqp::DeliveryState;
use amqp::performative::Manner;
use amqp_endpoint::{Connection, LinkId, NewDelivery};
use router_core::{OutKey, OwnTag, Transmit};

use super::place::LinkRef;
use crate::content::{Content, Feed, Layout, Reader, ReaderState, Taken, Whole};

/// Bytes of output beyond which a connection takes no more messages.
pub(super) const OUTPUT_HIGH: usize = 256 * 1024;
/// Bytes of output below which it takes messages again.
pub(super) const OUTPUT_LOW: usize = 64 * 1024;
/// Bytes that one link may send before it is another link's turn.
const QUANTUM: usize = 64 * 1024;

/// A delivery tag: the router's own, or the one that the sender of a routed link gave.
#[derive(Clone, Debug)]
pub(super) enum Tag {
    Own(OwnTag),
    Given(Box<[u8]>),
}

impl Tag {
    /// As a delivery goes out.
    pub(super) fn of(how: &Transmit<'_>) -> Self {
        match how.routed_tag {
            Some(tag) => Self::Given(tag.into()),
            None => Self::Own(how.own_tag()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(tag) => tag.as_bytes(),
            Self::Given(tag) => tag,
        }
    }
}

/// A delivery on its way out.
pub(super) struct Delivery {
    pub(super) key: OutKey,
    pub(super) tag: Tag,
    /// What the sender said of it with its transfer.
    pub(super) state: Option<Box<DeliveryState>>,
    /// How the sender wants it dealt with.
    pub(super) manner: Manner,
    pub(super) settled: bool,
    /// The core waits to hear that it is through.
    pub(super) report: bool,
    layout: Layout,
    source: Source,
    /// What goes in place of the message's annotations.
    edit: Option<Box<[u8]>>,
    stage: Stage,
    /// The endpoint knows of it.
    begun: bool,
    /// Nobody wants it any more.
    pub(super) aborted: bool,
}

/// Where a delivery's bytes come from.
enum Source {
    Whole { whole: Arc<Whole>, at: usize },
    Stream(Reader<LinkRef>),
}

/// Which part of an edited message is next; numbers are the bytes left of the part.
#[derive(Clone, Copy)]
enum Stage {
    /// What comes before the message annotations.
    Before(usize),
    /// The new message annotations.
    Edit(usize),
    /// Those that came are passed over.
    Skip(usize),
    /// All that follows, or the whole of a message that is not edited.
    Rest,
}

/// What came of trying to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is through.
    Done,
    /// It can go on at once, after others had their turn.
    Yield,
    /// Its message has to grow first.
    Starved,
    /// The session window, the credit or the output has to grow first.
    Blocked,
    /// Its message was aborted, and so was it.
    Aborted,
}

impl Delivery {
    /// A delivery of a message that is kept. `edit` takes the place of its annotations.
    pub(super) fn new(
        key: OutKey,
        tag: Tag,
        settled: bool,
        content: Content<LinkRef>,
        edit: Option<Box<[u8]>>,
    ) -> Self {
        let layout = content.layout();
        let stage = if edit.is_some() { Stage::Before(layout.annotations_range().start) } else { Stage::Rest };
        let source = match content {
            Content::Whole(whole) => Source::Whole { whole, at: 0 },
            Content::Stream(reader) => Source::Stream(reader),
        };
        Self {
            key,
            tag,
            state: None,
            manner: Manner::default(),
            settled,
            report: false,
            layout,
            source,
            edit,
            stage,
            begun: false,
            aborted: false,
        }
    }

    /// The endpoint has begun it and sent `sent` bytes; only for messages that are not edited.
    pub(super) fn begun(mut self, sent: usize) -> Self {
        self.begun = true;
        if let Source::Whole { at, .. } = &mut self.source {
            *at = sent;
        }
        self
    }

    /// So much of its message as can be logged.
    pub(super) fn logged(&self) -> &[u8] {
        match &self.source {
            Source::Whole { whole, .. } => whole.bytes(),
            Source::Stream(reader) => &reader.head().logged,
        }
    }

    /// Its link is to be told when the message has grown.
    pub(super) fn listen(&mut self, link: LinkRef) {
        if let Source::Stream(reader) = &mut self.source {
            reader.listen(link);
        }
    }

    /// Whether the endpoint knows of it, so that an abort has to be said to the peer.
    pub(super) fn is_begun(&self) -> bool {
        self.begun
    }

    /// Gives it up.
    pub(super) fn abort(&self, endpoint: &mut Connection, link: LinkId) -> Step {
        if self.begun {
            endpoint.abort_delivery(link);
        }
        Step::Aborted
    }

    /// Whether its message comes from this feed and the next bytes of it can go as they come.
    pub(super) fn reads(&self, feed: &Feed<LinkRef>) -> bool {
        match &self.source {
            Source::Stream(reader) => self.begun && matches!(self.stage, Stage::Rest) && feed.feeds(reader),
            Source::Whole { .. } => false,
        }
    }

    /// Sends bytes that go past the stream.
    pub(super) fn pass_by(&mut self, endpoint: &mut Connection, link: LinkId, bytes: &[u8], last: bool) -> Taken {
        if endpoint.output().len() > OUTPUT_HIGH {
            return Taken { bytes: 0, end: false };
        }
        send(endpoint, link, &[bytes], !last, &mut 0)
    }

    /// Sends as much as it may.
    pub(super) fn pump(&mut self, endpoint: &mut Connection, link: LinkId) -> Step {
        if endpoint.output().len() > OUTPUT_HIGH {
            return Step::Blocked;
        }
        if !self.begun && self.send_whole(endpoint, link) {
            return Step::Done;
        }
        if !self.begun {
            self.begun = endpoint.begin_delivery(link, &self.as_new());
            if !self.begun {
                return Step::Blocked;
            }
        }
        let mut sent = 0;
        loop {
            self.say_further(endpoint, link);
            match self.step(endpoint, link, &mut sent) {
                ReaderState::Finished => return Step::Done,
                ReaderState::Waiting => return Step::Starved,
                ReaderState::Aborted => {
                    endpoint.abort_delivery(link);
                    return Step::Aborted;
                }
                ReaderState::More if sent == usize::MAX || endpoint.output().len() > OUTPUT_HIGH => {
                    return Step::Blocked;
                }
                ReaderState::More if sent >= QUANTUM => return Step::Yield,
                ReaderState::More => {}
            }
        }
    }

    /// Has the next frame say what the sender has said with a further one of its own, where nothing may be changed.
    fn say_further(&self, endpoint: &mut Connection, link: LinkId) {
        if let (Tag::Given(_), Source::Stream(reader)) = (&self.tag, &self.source)
            && let Some(state) = reader.take_said()
        {
            endpoint.set_delivery_state(link, state);
        }
    }

    fn as_new(&self) -> NewDelivery<'_> {
        NewDelivery {
            key: self.key.0,
            tag: self.tag.bytes(),
            message_format: self.layout.message_format,
            settled: self.settled,
            state: self.state.as_deref(),
            manner: self.manner,
        }
    }

    /// Sends a message that is all there, and of which nothing is gone yet, in one frame if it fits.
    fn send_whole(&self, endpoint: &mut Connection, link: LinkId) -> bool {
        let Source::Whole { whole, at: 0 } = &self.source else { return false };
        let new = self.as_new();
        match &self.edit {
            None => endpoint.try_send(link, &new, &[whole.bytes()]),
            Some(edit) => endpoint.try_send(link, &new, &self.layout.edited(whole.bytes(), edit)),
        }
    }

    /// Sends from the part that is next. `sent` counts bytes, and becomes `usize::MAX` when fewer were taken than given.
    fn step(&mut self, endpoint: &mut Connection, link: LinkId, sent: &mut usize) -> ReaderState {
        match self.stage {
            Stage::Before(0) => {
                self.stage = Stage::Edit(self.edit.as_ref().map_or(0, |edit| edit.len()));
                ReaderState::More
            }
            Stage::Before(left) => self.send_before(endpoint, link, left, sent),
            Stage::Edit(0) => {
                self.stage = Stage::Skip(self.layout.annotations_range().len());
                ReaderState::More
            }
            Stage::Edit(left) => {
                let edit = self.edit.as_deref().unwrap_or_default();
                let part = edit.get(edit.len() - left..).unwrap_or_default();
                let taken = send(endpoint, link, &[part], true, sent);
                self.stage = Stage::Edit(left - taken.bytes.min(left));
                ReaderState::More
            }
            Stage::Skip(0) => {
                self.stage = Stage::Rest;
                ReaderState::More
            }
            Stage::Skip(left) => {
                let mut skipped = 0;
                let state = self.source.read(|parts, _| {
                    skipped = left.min(parts.first().map_or(0, |part| part.len()));
                    Taken { bytes: skipped, end: false }
                });
                self.stage = Stage::Skip(left - skipped);
                state
            }
            Stage::Rest => self.source.read(|parts, end| send(endpoint, link, parts, !end, sent)),
        }
    }

    fn send_before(&mut self, endpoint: &mut Connection, link: LinkId, left: usize, sent: &mut usize) -> ReaderState {
        let mut taken = 0;
        let state = self.source.read(|parts, _| {
            let part = parts.first().copied().unwrap_or_default();
            taken = send(endpoint, link, &[part.get(..left).unwrap_or(part)], true, sent).bytes;
            Taken { bytes: taken, end: false }
        });
        self.stage = Stage::Before(left - taken.min(left));
        state
    }
}

impl Source {
    /// As [`Reader::read`].
    fn read(&mut self, take: impl FnOnce(&[&[u8]], bool) -> Taken) -> ReaderState {
        match self {
            Self::Stream(reader) => reader.read(take),
            Self::Whole { whole, at } => {
                let taken = take(&[whole.bytes().get(*at..).unwrap_or_default()], true);
                *at += taken.bytes;
                if taken.end { ReaderState::Finished } else { ReaderState::More }
            }
        }
    }
}

/// Gives bytes of the delivery in progress to the endpoint.
fn send(endpoint: &mut Connection, link: LinkId, parts: &[&[u8]], more: bool, sent: &mut usize) -> Taken {
    let given: usize = parts.iter().map(|part| part.len()).sum();
    let taken = endpoint.send_payload_parts(link, parts, more);
    let end = !more && !endpoint.is_sending(link);
    let short = taken < given || (!more && !end);
    *sent = if short { usize::MAX } else { sent.saturating_add(taken) };
    Taken { bytes: taken, end }
}
