//! What the configuration file, read again, says of queues, templates and topics, and what came of all that it changes.

use config::{Change, Entity};
use management::{Backend, RequestContext, status};

use super::{Kept, store};
use crate::store::StoreHandle;

/// What comes of a reload, a line for each change; of those of what is kept in the store when they are made.
pub(crate) struct Report {
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
    pub(super) fn new(file: String) -> Self {
        Self { file, lines: Vec::new(), kept: Vec::new() }
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

    /// Makes what is left: first what goes, the newest first, then what comes. Returned is what came of each change, which is
    /// logged too.
    pub(crate) fn make(mut self, store: Option<&StoreHandle>) -> Vec<String> {
        let kept = std::mem::take(&mut self.kept);
        for KeptChange { line, old, new } in kept.iter().rev() {
            // Messages outlive a change of settings.
            if let (Some(old), None) = (old, new) {
                take_away(store, old).unwrap_or_else(|reason| self.failed(*line, &reason));
            }
        }
        for KeptChange { line, new, .. } in &kept {
            if let Some(new) = new {
                put_to_work(store, new).unwrap_or_else(|reason| self.failed(*line, &reason));
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

fn take_away(store: Option<&StoreHandle>, old: &Entity) -> Result<(), String> {
    let Some(store) = store else { return Ok(()) };
    let name = ["address", "pattern"].into_iter().find_map(|key| old.attributes.text(key)).unwrap_or_default();
    let identity = format!("{}/{name}", old.entity_type.short);
    match Kept(store.clone()).delete(old.entity_type, &identity, &RequestContext::default()) {
        // Whatever management has deleted is gone already.
        Err(failure) if failure.status != status::NOT_FOUND => Err(failure.description),
        _ => Ok(()),
    }
}

fn put_to_work(store: Option<&StoreHandle>, new: &Entity) -> Result<(), String> {
    let store = store.ok_or("there is no store: add store { path: ... }")?;
    store::declare(store, new.settings.clone()).map(drop).map_err(|error| error.to_string())
}
