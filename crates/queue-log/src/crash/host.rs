//! A host in miniature: entries carry a body, and settle others.

use crate::entry::Entry;
use crate::error::HostError;
use crate::log::Log;
use crate::recover::{Inventory, Recover};
use crate::settings::{Notice, Watcher};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::Read;

/// What the host knows after an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) applied: u64,
    /// Entries whose bodies are alive, and the bytes of those.
    pub(super) live: BTreeMap<u64, u64>,
    /// Of all entries so far.
    digest: u32,
}

impl State {
    /// What an entry does: its first part says which others it settles, the other parts are its body.
    pub(super) fn apply(&mut self, index: u64, parts: &[Vec<u8>]) -> Vec<(u64, u64)> {
        assert_eq!(index, self.applied + 1, "an entry is missing, or comes twice");
        self.applied = index;
        let mut released = Vec::new();
        for settled in parts[0].chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())) {
            released.extend(self.live.remove(&settled).map(|bytes| (settled, bytes)));
        }
        let held: u64 = parts[1..].iter().map(|part| part.len() as u64).sum();
        if held > 0 {
            self.live.insert(index, held);
        }
        for part in parts {
            self.digest = crc32c::crc32c_append(self.digest, part);
        }
        released
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = self.applied.to_le_bytes().to_vec();
        bytes.extend_from_slice(&u64::from(self.digest).to_le_bytes());
        for (index, held) in &self.live {
            bytes.extend_from_slice(&index.to_le_bytes());
            bytes.extend_from_slice(&held.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        let numbers: Vec<u64> =
            bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
        let live = numbers[2..].chunks_exact(2).map(|two| (two[0], two[1])).collect();
        State { applied: numbers[0], digest: numbers[1] as u32, live }
    }
}

/// A host that opens a store.
#[derive(Default)]
pub(super) struct Opening {
    pub(super) state: State,
    pub(super) snapshot: u64,
    released: Vec<(u64, u64)>,
}

impl Opening {
    /// What the entries after the snapshot have released is released once the log is open.
    pub(super) fn release(&mut self, log: &Log) {
        for (index, bytes) in self.released.drain(..) {
            log.release(index, bytes);
        }
    }
}

impl Recover for Opening {
    fn snapshot(&mut self, index: u64, from: &mut dyn Read) -> Result<(), HostError> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        self.state = State::decode(&bytes);
        assert_eq!(self.state.applied, index);
        self.snapshot = index;
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), HostError> {
        let parts: Vec<Vec<u8>> = entry.parts().map(<[u8]>::to_vec).collect();
        assert_eq!(entry.len(), parts.len());
        self.released.extend(self.state.apply(entry.index(), &parts));
        Ok(())
    }
}

impl Inventory for Opening {
    fn large(&self) -> Vec<(u64, String)> {
        Vec::new()
    }
}

/// What the log says.
#[derive(Default)]
pub(super) struct Ear {
    heard: Mutex<(u64, Vec<Notice>)>,
}

impl Ear {
    pub(super) fn durable(&self) -> u64 {
        self.heard.lock().0
    }

    pub(super) fn heard(&self, what: impl Fn(&Notice) -> bool) -> bool {
        self.heard.lock().1.iter().any(what)
    }
}

impl Watcher for Ear {
    fn durable(&self, up_to: u64) {
        self.heard.lock().0 = up_to;
    }

    fn notice(&self, notice: Notice) {
        self.heard.lock().1.push(notice);
    }
}
