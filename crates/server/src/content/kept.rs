//! Messages that are kept, and how many there are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Layout;

/// Messages kept by this process now.
static MESSAGES: AtomicU64 = AtomicU64::new(0);
/// Bytes of those.
static BYTES: AtomicU64 = AtomicU64::new(0);

/// What the record of a kept message needs beside its bytes.
pub(crate) const RECORD_SIZE: u64 = size_of::<Whole>() as u64;

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
    KeptCounts { messages: MESSAGES.load(Ordering::Relaxed), bytes: BYTES.load(Ordering::Relaxed) }
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
        MESSAGES.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
        Self(bytes)
    }

    /// Bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0
    }

    pub(super) fn add(&mut self, bytes: usize) {
        BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
        self.0 += bytes;
    }

    pub(super) fn remove(&mut self, bytes: usize) {
        BYTES.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.0 -= bytes;
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        MESSAGES.fetch_sub(1, Ordering::Relaxed);
        BYTES.fetch_sub(self.0 as u64, Ordering::Relaxed);
    }
}
