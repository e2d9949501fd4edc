//! What is in a message, as far as a router cares, and where is it kept while it is on its way?
//!
//! A message that can go on at once is not kept at all: it is looked at ([`examine`]) and copied from the buffer it came
//! in to the output it leaves by. One that must wait is kept whole; one that leaves while it is still coming is kept in a
//! [`stream`]. This module knows neither sockets nor links.

mod head;
mod kept;
mod stream;

use std::sync::Arc;

pub(crate) use head::{Depth, Examined, Head, Layout, Look, Refusal, RouterPart, before_body, examine, subject};
pub(crate) use kept::{Buffered, OVERHEAD, RECORD_SIZE, Whole, in_memory, kept};
pub(crate) use stream::{Coming, Feed, Listener, Origin, Reader, ReaderState, Taken, stream};

/// A message that is kept. Cheap to clone: a reference count.
#[derive(Clone, Debug)]
pub(crate) enum Content<L: Listener> {
    /// All of it, in one piece.
    Whole(Arc<Whole>),
    /// One that is read while it comes; a clone begins where this one stands.
    Stream(Reader<L>),
}

impl<L: Listener> Content<L> {
    /// Keeps a message that is all there.
    pub(crate) fn whole(bytes: &[u8], layout: Layout) -> Self {
        Self::Whole(Whole::new(bytes, layout))
    }

    /// Where the message's parts are.
    pub(crate) fn layout(&self) -> Layout {
        match self {
            Self::Whole(whole) => whole.layout(),
            Self::Stream(reader) => reader.head().layout,
        }
    }

    /// Its section of message annotations; empty if there is none.
    pub(crate) fn annotations(&self) -> &[u8] {
        match self {
            Self::Whole(whole) => whole.layout().annotations(whole.bytes()),
            Self::Stream(reader) => &reader.head().annotations,
        }
    }

    /// Whether the end of the message is at hand.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::Whole(_) => true,
            Self::Stream(reader) => reader.is_complete(),
        }
    }

    /// All its bytes, if they are there. Reads a stream to its end.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let reader = match self {
            Self::Whole(whole) => return Some(whole.bytes().to_vec()),
            Self::Stream(reader) => reader,
        };
        let mut reader = reader.clone();
        let mut all = Vec::new();
        loop {
            let before = all.len();
            let state = reader.read(|parts, end| {
                parts.iter().for_each(|part| all.extend_from_slice(part));
                Taken { bytes: all.len() - before, end }
            });
            match state {
                ReaderState::More => {}
                ReaderState::Finished => return Some(all),
                ReaderState::Waiting | ReaderState::Aborted => return None,
            }
        }
    }
}
