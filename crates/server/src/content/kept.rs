//! Messages that are kept, and how many there are.

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
    bytes: Box<[u8]>,
    layout: Layout,
    _weight: Weight,
}

impl Whole {
    pub(super) fn new(bytes: &[u8], layout: Layout) -> Arc<Self> {
        Arc::new(Self { bytes: bytes.into(), layout, _weight: Weight::of_message(bytes.len()) })
    }

    /// Of a message that goes out as it is.
    pub(crate) fn plain(bytes: Vec<u8>) -> Arc<Self> {
        Self::with_layout(bytes, Layout::plain(0))
    }

    /// Of bytes that are put together already.
    pub(crate) fn with_layout(bytes: Vec<u8>, layout: Layout) -> Arc<Self> {
        let weight = Weight::of_message(bytes.len());
        Arc::new(Self { bytes: bytes.into(), layout, _weight: weight })
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
pub(super) struct Weight(usize);

impl Weight {
    pub(super) fn of_message(bytes: usize) -> Self {
        Tally::add(1, bytes as u64);
        Self(bytes)
    }

    /// Bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0
    }

    pub(super) fn add(&mut self, bytes: usize) {
        Tally::add(0, bytes as u64);
        self.0 += bytes;
    }

    pub(super) fn remove(&mut self, bytes: usize) {
        Tally::add(0, (bytes as u64).wrapping_neg());
        self.0 -= bytes;
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        Tally::add(1_u64.wrapping_neg(), (self.0 as u64).wrapping_neg());
    }
}
