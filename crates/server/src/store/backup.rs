//! Copies of the store, made while it goes on.

use std::path::Path;
use std::sync::Arc;

use queue_log::{Copied, Missing};

use super::StoreHandle;
use super::inventory::large;
use super::spec::StoreError;

impl StoreHandle {
    /// Copies the store, as it is now, into a directory that is empty or not there. Takes a while, and holds up nobody but its
    /// caller. Large messages whose files are gone are not in it, which is said in the answer and in the log.
    ///
    /// # Errors
    /// If there is nothing on disk, or the copy cannot be made: what is wrong, and what to do.
    pub(crate) fn backup(&self, to: &Path) -> Result<Copied, StoreError> {
        let log = self.with(|node| node.journal.log.as_ref().map(Arc::clone));
        let log = log.ok_or_else(|| StoreError::Unavailable("this store is not on disk".to_owned()))?;
        let large = || large(&self.with(|node| node.snapshot()));
        let copied = log.backup(to, large).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        for Missing { file, message } in &copied.missing {
            let file = file.display();
            logging::log!(ROUTER_CORE, Error, "{file}: is gone, or was cut: {message} is not in the backup");
        }
        Ok(copied)
    }
}
