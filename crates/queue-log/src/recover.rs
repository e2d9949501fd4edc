//! What a host does with what an open store holds.

use crate::entry::Entry;
use crate::error::HostError;
use std::io::Read;

/// Gets back what was stored: the newest snapshot if there is one, then every entry after it, in order.
pub trait Recover {
    /// The newest snapshot, which has the state after the entry `index`. It is given only what was written: its checksums
    /// hold.
    ///
    /// # Errors
    /// If it is of no use: the store is not opened then.
    fn snapshot(&mut self, index: u64, from: &mut dyn Read) -> Result<(), HostError>;

    /// The next entry.
    ///
    /// # Errors
    /// If it is of no use: the store is not opened then.
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), HostError>;
}

/// One that can say which large messages there should be.
pub trait Inventory: Recover {
    /// The id of each large message that is named by what it was given, and what people call the message: where it is. A file
    /// that several messages share has as many of these.
    fn large(&self) -> Vec<(u64, String)>;
}
