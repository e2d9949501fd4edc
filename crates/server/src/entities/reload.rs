//! Reading the configuration file again, and making its changes while the router runs.
//!
//! What the file said last is compared with what it says now, so that what management has made in the meantime stays.

use config::{Change, Config, Entity};
use management::{Attributes, Backend, RequestContext};
use parking_lot::Mutex;
use std::sync::Arc;

use super::redeclare::Report;
use super::{Entities, Kept};
use crate::ConfigSource;
use crate::control::errands::For;

/// Where the configuration came from, and what it said.
pub(crate) struct Loaded {
    /// Where it came from.
    source: ConfigSource,
    /// What it said last.
    entities: Vec<Entity>,
    /// What of that is not so.
    undone: Arc<Mutex<Vec<Undone>>>,
}

/// A change that could not be made.
pub(super) struct Undone {
    /// What is there still.
    pub(super) old: Option<Entity>,
    /// What is not there.
    pub(super) new: Option<Entity>,
}

impl Loaded {
    /// A router that has just started is as its configuration says.
    pub(crate) fn new(source: ConfigSource, entities: Vec<Entity>) -> Self {
        Self { source, entities, undone: Arc::default() }
    }

    /// What was said last, as far as it is so: what could not be done is tried again.
    fn take_what_is_so(&mut self) -> Vec<Entity> {
        let mut entities = std::mem::take(&mut self.entities);
        for Undone { old, new } in self.undone.lock().drain(..) {
            let place = |of: &Entity, among: &[Entity]| among.iter().position(|other| config::same(other, of));
            match new.map(|new| place(&new, &entities)) {
                Some(Some(at)) => drop(entities.remove(at)),
                // The file has been read since, and says something else of it.
                Some(None) => continue,
                None => {}
            }
            if let Some(old) = old
                && place(&old, &entities).is_none()
            {
                entities.push(old);
            }
        }
        entities
    }
}

impl Entities {
    /// Reads the configuration file again and makes its changes, but for those of what is kept in the store, which the report
    /// makes: the disk has a part in them.
    ///
    /// # Errors
    /// What is wrong with the file; nothing is changed then.
    pub(crate) fn read_again(&mut self) -> Result<Report, String> {
        let ConfigSource::File(path) = &self.loaded.source else {
            return Err("There is no configuration file to read again: the router runs without one.".to_owned());
        };
        let file = path.display().to_string();
        let mut config = Config::load(path).map_err(|errors| {
            let errors = errors.to_string();
            logging::log!(AGENT, Error, "{file} is not loaded again, nothing is changed:");
            errors.lines().for_each(|line| logging::log!(AGENT, Error, "{line}"));
            errors
        })?;
        if config.router.id.is_none()
            && let Some(id) = &self.router.config().id
        {
            config.name_router(id);
        }
        for warning in &config.warnings {
            logging::log!(AGENT, Warning, "{warning}");
        }
        let old = self.loaded.take_what_is_so();
        self.loaded.entities.clone_from(&config.entities);
        let changes = config::changes(&old, &config.entities);
        let report = self.make(file, &changes);
        // What could not be changed now is still as it was: the next reload tries again, or tells of it again.
        let as_it_was =
            old.into_iter().filter(|entity| matches!(entity.entity_type.short, "router" | "policy" | "store"));
        let as_it_was: Vec<Entity> = as_it_was.collect();
        let stays = |entity: &Entity| as_it_was.iter().any(|old| old.entity_type == entity.entity_type);
        self.loaded.entities.retain(|entity| !stays(entity));
        self.loaded.entities.extend(as_it_was);
        Ok(report)
    }

    /// Has the rest of a reload made: by a thread of its own if there is something left to do in the store, which then
    /// answers. Returned is what came of each change, if that is known now.
    pub(crate) fn finish(&mut self, report: Report, context: RequestContext, whom: For) -> Option<Vec<String>> {
        if report.is_done() {
            return Some(report.make(&self.shards, &self.store));
        }
        self.errands.reload(report, context, whom);
        None
    }

    /// Makes changes: first what goes, the newest first, then what comes.
    fn make(&mut self, file: String, changes: &[Change<'_>]) -> Report {
        let (later, now): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.needs_restart());
        let is_own = |change: &Change<'_>| change.old.or(change.new).is_some_and(|it| !is_kept(it));
        let mut failed = vec![None; now.len()];
        let mut goes = vec![false; now.len()];
        for ((change, failed), goes) in
            now.iter().zip(&mut failed).zip(&mut goes).rev().filter(|((change, _), _)| is_own(change))
        {
            if let Some(old) = change.old
                && !(replaces(old) && change.new.is_some())
            {
                *failed = self.take_away(old).err();
                *goes = failed.is_none();
            }
        }
        for (change, failed) in now.iter().zip(&mut failed).filter(|(change, _)| is_own(change)) {
            if let Some(new) = change.new
                && failed.is_none()
            {
                *failed = self.put_to_work(new).err();
            }
        }
        let mut report = Report::new(file, Arc::clone(&self.loaded.undone));
        for ((change, failed), goes) in now.iter().zip(failed).zip(goes) {
            if !is_own(change) {
                report.left(change);
                continue;
            }
            if failed.is_some() {
                // Settings of the log were reset before they were to be others.
                let stays = |old: &&Entity| !goes && old.entity_type.short != "log";
                let old = change.old.filter(stays).cloned();
                self.loaded.undone.lock().push(Undone { old, new: change.new.cloned() });
            }
            report.made(change, failed);
        }
        later.iter().for_each(|change| report.made(change, None));
        report
    }

    fn take_away(&mut self, old: &Entity) -> Result<(), String> {
        if old.entity_type.short == "log" {
            return self.logs.reset(old.attributes.text("module").unwrap_or_default());
        }
        let rows = self.list(old.entity_type);
        let row = rows.iter().find(|row| is_of(row, &old.attributes));
        let identity = row.and_then(|row| row.text("identity"));
        // Whatever management has deleted is gone already.
        let Some(identity) = identity.map(str::to_owned) else { return Ok(()) };
        self.delete(old.entity_type, &identity, &RequestContext::default()).map_err(|failure| failure.description)
    }

    fn put_to_work(&mut self, new: &Entity) -> Result<(), String> {
        if new.entity_type.short == "log" {
            let module = new.attributes.text("module").unwrap_or_default();
            return self.logs.reset(module).and_then(|()| self.logs.configure(&new.attributes));
        }
        let created = self.create(new.entity_type, new.attributes.clone(), &RequestContext::default());
        created.map(drop).map_err(|failure| failure.description)
    }
}

/// Whether to create such an entity anew puts it in the place of the one there is.
fn replaces(entity: &Entity) -> bool {
    matches!(entity.entity_type.short, "sslProfile" | "log")
}

/// Whether it is the store or in it.
pub(crate) fn is_kept(entity: &Entity) -> bool {
    entity.entity_type.short == "store" || Kept::has(entity.entity_type)
}

/// Whether a row that management shows is that of an entity with these attributes.
fn is_of(row: &Attributes, attributes: &Attributes) -> bool {
    let name = attributes.text("name").filter(|name| !name.contains('/'));
    if name.is_some() || attributes.text("hostname").is_some() {
        return row.text("name") == attributes.text("name") && row.text("hostname") == attributes.text("hostname");
    }
    const KEYS: [&str; 10] =
        ["host", "port", "role", "prefix", "pattern", "address", "addr", "direction", "exchange", "bindingKey"];
    KEYS.iter()
        .all(|key| attributes.get(key).is_none() || row.get(key).is_none() || row.get(key) == attributes.get(key))
}
