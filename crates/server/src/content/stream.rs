//! A message whose end has not come: bytes are appended by one feed and read by any number of readers, each at its own
//! pace.
//!
//! A chunk lives until the slowest reader has passed it, so what is held is what the slowest reader lacks. Whoever feeds
//! looks at that and stops its sender; [`Origin::resume`] tells it to go on.

mod chunks;

use std::sync::Arc;

use amqp::DeliveryState;
use parking_lot::Mutex;

use self::chunks::{Chunks, End};
use super::Head;

/// A feed that waits goes on when fewer bytes than this are held.
const RESUME_BELOW: usize = 128 * 1024;

/// Who feeds a stream and may have to be told to go on. Called with locks held: it must only leave a note somewhere.
pub(crate) trait Origin: Send + Sync {
    /// Few enough bytes are held again.
    fn resume(&self);
}

/// Who wants to hear that a stream has grown; a plain reference, such as the place of a link.
pub(crate) trait Listener: Copy + PartialEq {}
impl<L: Copy + PartialEq> Listener for L {}

/// The appending end. Dropped before [`Feed::finish`] it aborts the stream.
pub(crate) struct Feed<L: Listener>(Arc<Shared<L>>);

/// A reading end. A clone begins where the original stands.
pub(crate) struct Reader<L: Listener> {
    shared: Arc<Shared<L>>,
    place: Place,
    listener: Option<L>,
}

/// Where a reader stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// Number of the chunk to read from; one that is not there yet when all is read.
    chunk: u64,
    /// In that chunk.
    offset: usize,
}

/// Whether all of a message has come, for who does not read it. See [`Reader::coming`].
pub(crate) struct Coming<L: Listener>(Arc<Shared<L>>);

impl<L: Listener> Coming<L> {
    /// Whether all of it has.
    pub(crate) fn is_complete(&self) -> bool {
        self.0.state.lock().chunks.end() == End::Complete
    }
}

struct Shared<L: Listener> {
    head: Head,
    origin: Box<dyn Origin>,
    state: Mutex<State<L>>,
}

struct State<L: Listener> {
    chunks: Chunks,
    feed_waits: bool,
    /// What the sender last said of its delivery, and no reader has taken.
    said: Option<DeliveryState>,
    listeners: Vec<L>,
}

/// What a reader took of the bytes it was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// How many bytes.
    pub(crate) bytes: usize,
    /// The message's end too, which may come without bytes.
    pub(crate) end: bool,
}

/// Where a reader stands after [`Reader::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderState {
    /// More is at hand.
    More,
    /// All that came is read; more will come.
    Waiting,
    /// The end has been taken.
    Finished,
    /// No more will come, and what came is worth nothing.
    Aborted,
}

/// Begins a stream with what was received so far.
pub(crate) fn stream<L: Listener>(head: Head, begun: &[u8], origin: Box<dyn Origin>) -> (Feed<L>, Reader<L>) {
    let state = State { chunks: Chunks::new(begun), feed_waits: false, said: None, listeners: Vec::new() };
    let shared = Arc::new(Shared { head, origin, state: Mutex::new(state) });
    let reader = Reader { shared: Arc::clone(&shared), place: Place { chunk: 0, offset: 0 }, listener: None };
    (Feed(shared), reader)
}

impl<L: Listener> Feed<L> {
    /// Appends. Nothing is kept when nobody reads.
    pub(crate) fn append(&self, bytes: &[u8]) {
        self.0.state.lock().chunks.append(bytes);
    }

    /// The sender says something of its delivery, in the middle of it: for the one reader that it has, before the bytes
    /// that are appended next.
    pub(crate) fn say(&self, state: DeliveryState) {
        self.0.state.lock().said = Some(state);
    }

    /// All bytes are there.
    pub(crate) fn finish(&self) {
        self.0.state.lock().chunks.close(End::Complete);
    }

    /// The sender gave the message up.
    pub(crate) fn abort(&self) {
        self.0.state.lock().chunks.close(End::Aborted);
    }

    /// Bytes held for the slowest reader.
    pub(crate) fn held(&self) -> usize {
        self.0.state.lock().chunks.held()
    }

    /// Asks for [`Origin::resume`] once few bytes are held. False: that is so already, and no call will follow.
    pub(crate) fn wait(&self) -> bool {
        let mut state = self.0.state.lock();
        state.feed_waits = state.chunks.held() >= RESUME_BELOW;
        state.feed_waits
    }

    /// Appends those who want to know that more is there.
    pub(crate) fn listeners_into(&self, listeners: &mut Vec<L>) {
        listeners.extend_from_slice(&self.0.state.lock().listeners);
    }

    /// Whether anybody reads.
    pub(crate) fn is_read(&self) -> bool {
        self.0.state.lock().chunks.readers() > 0
    }

    /// Whether this is what the reader reads.
    pub(crate) fn feeds(&self, reader: &Reader<L>) -> bool {
        Arc::ptr_eq(&self.0, &reader.shared)
    }

    /// The only reader, if it listens and has read all: bytes may go past the stream straight to it.
    pub(crate) fn sole_idle_listener(&self) -> Option<L> {
        let state = self.0.state.lock();
        match state.listeners.as_slice() {
            [only] if state.chunks.readers() == 1 && state.chunks.is_read() && state.said.is_none() => Some(*only),
            _ => None,
        }
    }
}

impl<L: Listener> Drop for Feed<L> {
    fn drop(&mut self) {
        self.0.state.lock().chunks.close(End::Aborted);
    }
}

impl<L: Listener> Reader<L> {
    /// What is known of the message's first sections.
    pub(crate) fn head(&self) -> &Head {
        &self.shared.head
    }

    /// Whether the end of the message is at hand.
    pub(crate) fn is_complete(&self) -> bool {
        self.shared.state.lock().chunks.end() == End::Complete
    }

    /// Tells how far the message is without being one of its readers: nothing is kept for it.
    pub(crate) fn coming(&self) -> Coming<L> {
        Coming(Arc::clone(&self.shared))
    }

    /// From now on the feed counts `listener` among [`Feed::listeners_into`].
    pub(crate) fn listen(&mut self, listener: L) {
        if self.listener.is_none() {
            self.shared.state.lock().listeners.push(listener);
            self.listener = Some(listener);
        }
    }

    /// What the sender has said since this was last asked.
    pub(crate) fn take_said(&self) -> Option<DeliveryState> {
        self.shared.state.lock().said.take()
    }

    /// Offers the next bytes, in parts, to `take`, and says to it whether they end the message. `take` is called at most
    /// once, and without bytes only when the end came after all bytes had been read.
    pub(crate) fn read(&mut self, take: impl FnOnce(&[&[u8]], bool) -> Taken) -> ReaderState {
        let mut state = self.shared.state.lock();
        let after = state.chunks.read(&mut self.place, take);
        self.shared.resume_if_due(&mut state);
        after
    }
}

impl<L: Listener> Clone for Reader<L> {
    fn clone(&self) -> Self {
        self.shared.state.lock().chunks.enter(self.place.chunk);
        Self { shared: Arc::clone(&self.shared), place: self.place, listener: None }
    }
}

impl<L: Listener> Drop for Reader<L> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.chunks.leave(self.place.chunk);
        if let Some(listener) = self.listener
            && let Some(index) = state.listeners.iter().position(|known| *known == listener)
        {
            state.listeners.swap_remove(index);
        }
        self.shared.resume_if_due(&mut state);
    }
}

impl<L: Listener> Shared<L> {
    fn resume_if_due(&self, state: &mut State<L>) {
        if state.feed_waits && state.chunks.held() < RESUME_BELOW {
            state.feed_waits = false;
            self.origin.resume();
        }
    }
}

impl<L: Listener> std::fmt::Debug for Reader<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("place", &self.place).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
