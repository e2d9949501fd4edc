//! What the clients talk to.

use std::sync::Arc;

/// Frames of 64 KiB, so that a message is one frame in every scenario.
pub(crate) const MAX_FRAME_SIZE: u32 = 64 * 1024;

/// A router, as its clients see it.
pub(crate) trait Serve {
    /// A connection that a client makes; its number.
    fn connect(&mut self) -> usize;

    /// A connection's client says this; the router acts on it.
    fn turn(&mut self, conn: usize, bytes: Arc<Vec<u8>>);

    /// What there is for a connection's client to read.
    fn output(&mut self, conn: usize) -> Vec<u8>;

    /// The router does what there is to do beside that, if need be after a little while. False: there never is.
    fn wait(&mut self) -> bool;
}
