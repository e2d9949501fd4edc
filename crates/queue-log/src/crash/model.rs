//! What a store has to hold, and whether it does.

use super::host::{Ear, Opening, State};
use crate::disk::FaultyDisk;
use crate::error::{OpenError, ReadError};
use crate::log::Log;
use crate::settings::Settings;
use std::sync::Arc;

/// Where the store is, on a disk in memory.
pub(super) const DIR: &str = "/store";

/// Segments of the smallest size, so that there are many.
pub(super) fn settings() -> Settings {
    Settings { segment_bytes: 8192, reserve_bytes: Some(512), spare_segments: 2, ..Settings::new(DIR) }
}

/// What was appended, and what the host makes of it.
#[derive(Clone)]
pub(super) struct Model {
    /// Entry 1 is the first.
    pub(super) entries: Vec<Vec<Vec<u8>>>,
    /// The host after each entry, before the first one included.
    states: Vec<State>,
    /// Everything up to here was reported durable.
    pub(super) durable: u64,
    /// This checkpoint stands, or a later one.
    pub(super) checkpoint: u64,
}

/// A store that was opened and found to be right.
pub(super) struct Opened {
    pub(super) log: Log,
    pub(super) ear: Arc<Ear>,
    pub(super) state: State,
}

impl Model {
    pub(super) fn new() -> Self {
        Model { entries: Vec::new(), states: vec![State::default()], durable: 0, checkpoint: 0 }
    }

    pub(super) fn append(&mut self, parts: Vec<Vec<u8>>) -> u64 {
        let mut state = self.states.last().unwrap().clone();
        let index = state.applied + 1;
        state.apply(index, &parts);
        self.states.push(state);
        self.entries.push(parts);
        index
    }

    /// The log ends with this entry.
    pub(super) fn truncate(&mut self, last: u64) {
        self.entries.truncate(last as usize);
        self.states.truncate(last as usize + 1);
        self.durable = last;
    }

    pub(super) fn state(&self, index: u64) -> &State {
        &self.states[index as usize]
    }

    /// Opens what a crash left of the store. It must be there, up to what was durable at least.
    pub(super) fn check(&self, disk: &FaultyDisk) -> Opened {
        let opened = self.open(disk).unwrap_or_else(|error| {
            let files: Vec<_> = disk.files().into_iter().map(|(path, bytes)| (path, bytes.len())).collect();
            panic!("a crash is taken for more than that: {error}; there are {files:#?}")
        });
        assert!(
            opened.state.applied >= self.durable,
            "entries after {} of {} are lost",
            opened.state.applied,
            self.durable
        );
        self.check_bodies(&opened, true);
        opened
    }

    /// Opens a store. What it gives is what was appended, or it fails.
    pub(super) fn open(&self, disk: &FaultyDisk) -> Result<Opened, OpenError> {
        let (ear, mut opening) = (Arc::new(Ear::default()), Opening::default());
        let log = Log::open_still(Arc::new(disk.clone()), settings(), Arc::<Ear>::clone(&ear), &mut opening)?;
        opening.release(&log);
        let state = opening.state;
        assert!(state.applied <= self.entries.len() as u64, "entries that were never appended");
        assert!(opening.snapshot >= self.checkpoint || opening.snapshot == 0, "a snapshot that was removed");
        assert_eq!(state, *self.state(state.applied), "entries are not what was appended");
        assert_eq!(log.durable(), state.applied);
        let live: u64 = state.live.values().sum();
        assert_eq!(log.stats().live_bytes, live, "what is alive is counted wrong");
        Ok(Opened { log, ear, state })
    }

    /// Reads every body. What is alive is there; what is not may be there, but only as it was.
    pub(super) fn check_bodies(&self, opened: &Opened, intact: bool) {
        let mut reader = opened.log.reader(0);
        for (number, parts) in self.entries.iter().enumerate().take(opened.state.applied as usize) {
            let index = number as u64 + 1;
            match reader.entry(index) {
                Ok(read) => assert!(read == *parts, "entry {index} is not what was appended"),
                Err(ReadError::NotThere { .. }) => {
                    assert!(!opened.state.live.contains_key(&index), "entry {index} is lost");
                }
                Err(ReadError::Corrupt { .. }) if !intact => {}
                Err(error) => panic!("entry {index}: {error}"),
            }
        }
    }
}
