//! The start: what the log holds becomes the queues again.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use queue_core::{BodyRef, Broker, EntryIndex, Event, Output, Restore};
use queue_log::{Disk, Entry, HostError, Log, OpenError, Recover, Settings};

use super::entry;
use super::signals::Signals;
use super::spec::StoreSettings;

/// Bytes of a snapshot that are read at once.
const PIECE: usize = 256 * 1024;

/// What is found in a store.
pub(super) struct Recovered {
    pub(super) log: Arc<Log>,
    pub(super) broker: Broker,
    /// The last entry.
    pub(super) applied: u64,
    /// Bytes of the entries that no checkpoint has.
    pub(super) since_checkpoint: u64,
    /// Files of large messages that are needed more than once, and how often.
    pub(super) shared: HashMap<u64, usize>,
}

/// The queues, as far as the log has been read.
#[derive(Default)]
pub(super) struct Recovery {
    pub(super) broker: Broker,
    output: Output,
    /// The last entry.
    pub(super) applied: u64,
    /// Bytes of the entries that were read.
    read: u64,
    /// Bytes that entries have made dead.
    dead: Vec<(u64, u64)>,
}

impl Recover for Recovery {
    fn snapshot(&mut self, index: u64, from: &mut dyn Read) -> Result<(), HostError> {
        let mut restore = Restore::new();
        let mut piece = vec![0; PIECE];
        loop {
            match from.read(&mut piece)? {
                0 => break,
                read => restore.feed(piece.get(..read).unwrap_or_default())?,
            }
        }
        (self.broker, _) = restore.finish()?;
        self.applied = index;
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), HostError> {
        let (time, commands) = entry::decode(entry.part(0).unwrap_or_default())?;
        self.output.clear();
        self.broker.apply(EntryIndex(entry.index()), time, &commands, &mut self.output);
        for event in self.output.events.drain(..) {
            if let Event::BodyGone { body: BodyRef::Log { entry, .. }, size } = event {
                self.dead.push((entry, size));
            }
        }
        self.applied = entry.index();
        self.read += entry.parts().map(|part| part.len() as u64).sum::<u64>();
        Ok(())
    }
}

/// Opens a store.
///
/// # Errors
/// If it is another process's, damaged, or not to be read.
pub(super) fn open(
    settings: &StoreSettings,
    disk: Arc<dyn Disk>,
    signals: &Arc<Signals>,
) -> Result<Recovered, OpenError> {
    let mut recovery = Recovery::default();
    let mut of_log = Settings::new(&settings.path);
    of_log.segment_bytes = u32::try_from(settings.segment_bytes).unwrap_or(u32::MAX);
    of_log.max_bytes = settings.max_bytes;
    let watcher: Arc<Signals> = Arc::clone(signals);
    let log = Log::open(disk, of_log, watcher, &mut recovery)?;
    for (entry, size) in std::mem::take(&mut recovery.dead) {
        log.release(entry, size);
    }
    let files = recovery.broker.files();
    let missing = log.keep_large(files.keys().copied())?.missing;
    if let Some(text) = what_is_missing(&settings.path, &missing) {
        logging::log!(ROUTER_CORE, Error, "{text}");
    }
    let shared = files.into_iter().filter(|(_, times)| *times > 1).collect();
    let Recovery { broker, applied, read: since_checkpoint, .. } = recovery;
    Ok(Recovered { log: Arc::new(log), broker, applied, since_checkpoint, shared })
}

/// What is said of large messages whose files are gone, if there are any.
fn what_is_missing(path: &Path, missing: &[u64]) -> Option<String> {
    let (path, count, first) = (path.display(), missing.len(), missing.first()?);
    Some(format!(
        "{path}: the files of {count} large messages are gone, such as that of number {first}: these messages are not \
         delivered, all others are; restore the store from a backup, or purge them"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_how_many_large_messages_are_gone_and_what_to_do() {
        let text = what_is_missing(Path::new("/s"), &[7, 8]).unwrap_or_default();
        assert!(text.starts_with("/s: the files of 2 large messages are gone, such as that of number 7"), "{text}");
        assert_eq!(what_is_missing(Path::new("/s"), &[]), None);
    }
}
