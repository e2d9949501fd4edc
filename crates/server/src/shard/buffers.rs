//! Buffers to read into, lent for one turn and used again.

use std::sync::Arc;

/// Bytes of a buffer: what one read can take.
pub(super) const BUFFER: usize = 64 * 1024;
/// How many idle buffers a shard keeps; more than that are freed, so that a burst leaves no lasting mark.
const SPARE: usize = 16;

/// A shard's idle buffers.
#[derive(Default)]
pub(super) struct Buffers(Vec<Arc<Vec<u8>>>);

impl Buffers {
    /// A buffer of [`BUFFER`] bytes that nobody else refers to.
    pub(super) fn take(&mut self) -> Arc<Vec<u8>> {
        self.0.pop().unwrap_or_else(|| Arc::new(vec![0; BUFFER]))
    }

    /// Gives a buffer back; one that is of another size or still referred to is not kept.
    pub(super) fn give(&mut self, mut buffer: Arc<Vec<u8>>) {
        if self.0.len() < SPARE && buffer.len() == BUFFER && Arc::get_mut(&mut buffer).is_some() {
            self.0.push(buffer);
        }
    }
}
