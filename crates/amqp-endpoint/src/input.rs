//! Bytes from the peer.

/// Bytes from the peer, in order, beginning at the first byte not yet consumed.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Over all bytes at hand that no earlier input consumed.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many of the bytes are done with.
    pub fn consumed(&self) -> usize {
        self.at
    }

    /// What is not consumed yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Marks `count` bytes as done with; never more than there are.
    pub(crate) fn consume(&mut self, count: usize) {
        self.at = self.bytes.len().min(self.at + count);
    }
}
