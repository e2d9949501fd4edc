//! What the configuration file, read again, says of queues, templates and topics, and what came of all that it changes.

use std::sync::Arc;

use config::{Change, Entity, Settings};
use management::{Backend, RequestContext, status};
use parking_lot::Mutex;

use super::reload::Undone;
use super::{Kept, StoreSlot, store};
use crate::shard::Shards;

/// What comes of a reload, a line for each change; of those of what is kept in the store when they are made.
pub(crate) struct Report {
    /// Where it is noted what could not be made.
    undone: Arc<Mutex<Vec<Undone>>>,
    file: String,
    lines: Vec<String>,
    kept: Vec<KeptChange>,
}

/// A change of what is kept, and its line.
struct KeptChange {
    line: usize,
    old: Option<Entity>,
    new: Option<Entity>,
}

impl Report {
    /// Of a file that was read again.
    pub(super) fn new(file: String, undone: Arc<Mutex<Vec<Undone>>>) -> Self {
        Self { undone, file, lines: Vec::new(), kept: Vec::new() }
    }

    /// A change is made, or could not be.
    pub(super) fn made(&mut self, change: &Change<'_>, failed: Option<String>) {
        self.lines.push(change.to_string());
        failed.iter().for_each(|reason| self.failed(self.lines.len() - 1, reason));
    }

    /// A change is still to be made.
    pub(super) fn left(&mut self, change: &Change<'_>) {
        self.kept.push(KeptChange { line: self.lines.len(), old: change.old.cloned(), new: change.new.cloned() });
        self.lines.push(change.to_string());
    }

    /// Whether nothing is left to be made.
    pub(crate) fn is_done(&self) -> bool {
        self.kept.is_empty()
    }

    /// Makes what is left: first what goes, the newest first, then what comes, the store before what is in it. Returned is what came
    /// of each change, which is logged too. What failed is tried again when the file is read the next time.
    pub(crate) fn make(mut self, shards: &Shards, store: &StoreSlot) -> Vec<String> {
        let kept = std::mem::take(&mut self.kept);
        // Messages outlive a change of settings.
        let (go, come): (Vec<_>, Vec<_>) = kept.into_iter().partition(|change| change.new.is_none());
        for KeptChange { line, old, .. } in go.into_iter().rev() {
            let Some(old) = old else { continue };
            if let Err(reason) = take_away(store, &old) {
                self.failed(line, &reason);
                self.undone.lock().push(Undone { old: Some(old), new: None });
            }
        }
        for KeptChange { line, old, new } in come {
            let Some(new) = new else { continue };
            if let Err(reason) = put_to_work(shards, store, &new) {
                self.failed(line, &reason);
                self.undone.lock().push(Undone { old, new: Some(new) });
            }
        }
        let Self { file, lines, .. } = self;
        if lines.is_empty() {
            logging::log!(AGENT, Notice, "{file} was read again: nothing has changed");
        }
        for change in &lines {
            let mut lines = change.lines();
            logging::log!(AGENT, Notice, "{file} was read again: {}", lines.next().unwrap_or_default());
            lines.for_each(|line| logging::log!(AGENT, Notice, "{line}"));
        }
        lines
    }

    fn failed(&mut self, line: usize, reason: &str) {
        if let Some(line) = self.lines.get_mut(line) {
            line.push_str(": failed: ");
            line.push_str(reason);
        }
    }
}

fn take_away(store: &StoreSlot, old: &Entity) -> Result<(), String> {
    let Some(store) = store.get() else { return Ok(()) };
    let name = ["address", "pattern"].into_iter().find_map(|key| old.attributes.text(key)).unwrap_or_default();
    let identity = format!("{}/{name}", old.entity_type.short);
    match Kept(store.patient()).delete(old.entity_type, &identity, &RequestContext::default()) {
        // Whatever management has deleted is gone already.
        Err(failure) if failure.status != status::NOT_FOUND => Err(failure.description),
        _ => Ok(()),
    }
}

fn put_to_work(shards: &Shards, store: &StoreSlot, new: &Entity) -> Result<(), String> {
    let done = match new.settings.clone() {
        Settings::Store(config) => store.declare(shards, config),
        settings => store::declare(&store.found()?.patient(), settings).map(drop),
    };
    done.map_err(|error| error.to_string())
}
