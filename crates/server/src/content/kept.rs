//! Messages that are kept, and how many there are.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::Layout;

/// What is kept by this process now, counted by threads in tallies of their own: what one has counted in, another one may
/// count out, so that only the sum of all means something.
static TALLIES: [Tally; 16] =
    [const { Tally { messages: AtomicU64::new(0), bytes: AtomicU64::new(0), buffered: AtomicU64::new(0) } }; 16];
/// The tally that the next thread gets.
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static OWN: &'static Tally = &TALLIES[NEXT.fetch_add(1, Ordering::Relaxed) % TALLIES.len()];
}

thread_local! {
    /// Records of messages that are gone, with their memory: for the next ones.
    static SPARE: RefCell<Vec<Arc<Whole>>> = const { RefCell::new(Vec::new()) };
}

/// How many of those a thread keeps, and for how many bytes each may have room.
const MOST_SPARE: usize = 128;
const SPARE_ROOM: usize = 1024;

/// On a cache line of its own, or the processors would quarrel about it for each message.
#[repr(align(128))]
struct Tally {
    messages: AtomicU64,
    bytes: AtomicU64,
    /// Bytes in the buffers of connections.
    buffered: AtomicU64,
}

impl Tally {
    /// Adds to this thread's tally; what is taken away is added with its sign turned.
    fn add(messages: u64, bytes: u64) {
        Self::with_own(|tally| {
            if messages != 0 {
                tally.messages.fetch_add(messages, Ordering::Relaxed);
            }
            tally.bytes.fetch_add(bytes, Ordering::Relaxed);
        });
    }

    fn with_own(add: impl Fn(&Self)) {
        // A thread that is ending may have none any more.
        if OWN.try_with(|own| add(own)).is_err() {
            add(&TALLIES[0]);
        }
    }

    fn sum(of: impl Fn(&Tally) -> &AtomicU64) -> u64 {
        TALLIES.iter().fold(0, |sum: u64, tally| sum.wrapping_add(of(tally).load(Ordering::Relaxed)))
    }
}

/// What the record of a kept message needs beside its bytes.
pub(crate) const RECORD_SIZE: u64 = size_of::<Whole>() as u64;

/// What a kept message takes in memory beside its bytes: its record, and what refers to it.
pub(crate) const OVERHEAD: u64 = 128;

/// How much is kept now; a message with several receivers counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptCounts {
    /// Messages.
    pub(crate) messages: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
}

/// How much this process keeps now.
pub(crate) fn kept() -> KeptCounts {
    KeptCounts { messages: never_less(|tally| &tally.messages), bytes: never_less(|tally| &tally.bytes) }
}

/// While it is summed up, what one thread has counted in another one may count out: never less than nothing.
fn never_less(of: fn(&Tally) -> &AtomicU64) -> u64 {
    Tally::sum(of).cast_signed().max(0).cast_unsigned()
}

/// Bytes of memory that all messages of this process take now, kept and in the buffers of connections.
pub(crate) fn in_memory() -> u64 {
    let KeptCounts { messages, bytes } = kept();
    bytes.saturating_add(messages.saturating_mul(OVERHEAD)).saturating_add(never_less(|tally| &tally.buffered))
}

/// What the buffers of one connection hold, as a part of [`in_memory`]; nothing any more when dropped.
#[derive(Debug, Default)]
pub(crate) struct Buffered(usize);

impl Buffered {
    /// They hold so many bytes now.
    #[inline]
    pub(crate) fn set(&mut self, bytes: usize) {
        if bytes != self.0 {
            let more = (bytes as u64).wrapping_sub(self.0 as u64);
            self.0 = bytes;
            Tally::with_own(|tally| {
                tally.buffered.fetch_add(more, Ordering::Relaxed);
            });
        }
    }
}

impl Drop for Buffered {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// A message kept in one piece.
#[derive(Debug)]
pub(crate) struct Whole {
    bytes: Vec<u8>,
    layout: Layout,
    weight: Weight,
}

impl Whole {
    pub(super) fn new(bytes: &[u8], layout: Layout) -> Arc<Self> {
        if bytes.len() <= SPARE_ROOM
            && let Ok(Some(mut spare)) = SPARE.try_with(|spare| spare.borrow_mut().pop())
            && let Some(whole) = Arc::get_mut(&mut spare)
        {
            whole.bytes.extend_from_slice(bytes);
            whole.layout = layout;
            whole.weight = Weight::of_message(bytes.len());
            return spare;
        }
        Self::with_layout(bytes.to_vec(), layout)
    }

    /// A message is needed no more where it was kept. If it is needed nowhere else, its memory is kept for another one.
    pub(crate) fn recycle(mut message: Arc<Self>) {
        let Some(whole) = Arc::get_mut(&mut message).filter(|whole| whole.bytes.capacity() <= SPARE_ROOM) else {
            return;
        };
        whole.bytes.clear();
        whole.weight = Weight::NOTHING;
        // A thread that is ending keeps nothing.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < MOST_SPARE {
                spare.push(message);
            }
        });
    }

    /// Of a message that goes out as it is.
    pub(crate) fn plain(bytes: Vec<u8>) -> Arc<Self> {
        Self::with_layout(bytes, Layout::plain(0))
    }

    /// Of bytes that are put together already.
    pub(crate) fn with_layout(bytes: Vec<u8>, layout: Layout) -> Arc<Self> {
        let weight = Weight::of_message(bytes.len());
        Arc::new(Self { bytes, layout, weight })
    }

    /// All sections.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where its parts are.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }
}

impl AsRef<[u8]> for Whole {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A message's share in what is kept; given back when dropped.
#[derive(Debug)]
pub(super) struct Weight {
    /// 1, or 0 of one that is no message's.
    messages: u64,
    bytes: usize,
}

impl Weight {
    /// That of no message.
    const NOTHING: Self = Self { messages: 0, bytes: 0 };

    pub(super) fn of_message(bytes: usize) -> Self {
        Tally::add(1, bytes as u64);
        Self { messages: 1, bytes }
    }

    /// Bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn add(&mut self, bytes: usize) {
        Tally::add(0, bytes as u64);
        self.bytes += bytes;
    }

    pub(super) fn remove(&mut self, bytes: usize) {
        Tally::add(0, (bytes as u64).wrapping_neg());
        self.bytes -= bytes;
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        if self.messages > 0 {
            Tally::add(self.messages.wrapping_neg(), (self.bytes as u64).wrapping_neg());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_takes_the_memory_of_one_that_is_gone() {
        let first = Whole::new(&[1; 100], Layout::plain(0));
        let at = first.bytes().as_ptr();
        Whole::recycle(first);
        let second = Whole::new(&[2; 50], Layout::plain(7));
        assert_eq!((second.bytes(), second.layout().message_format), (&[2; 50][..], 7));
        assert_eq!(second.bytes().as_ptr(), at);
    }

    #[test]
    fn the_memory_of_a_message_that_somebody_else_has_is_not_taken() {
        let first = Whole::new(&[1; 100], Layout::plain(0));
        Whole::recycle(Arc::clone(&first));
        let second = Whole::new(&[2; 100], Layout::plain(0));
        assert_eq!((first.bytes(), second.bytes()), (&[1; 100][..], &[2; 100][..]));
    }

    #[test]
    fn the_memory_of_large_messages_is_given_back() {
        Whole::recycle(Whole::new(&[1; SPARE_ROOM + 1], Layout::plain(0)));
        assert!(SPARE.with_borrow(|spare| spare.is_empty()));
    }
}
