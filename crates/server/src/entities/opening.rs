//! Where the store is, which may be opened while the router runs. That takes as long as its log has to be read, so that a thread
//! of its own does it; meanwhile there is none.

use super::{Kept, level_of, store};
use crate::shard::Shards;
use crate::store::{StoreError, StoreHandle};
use amqp::Value;
use config::{Settings, StoreConfig};
use management::{Attributes, Backend, EntityType, Failure, RequestContext};
use parking_lot::Mutex;
use queue_log::{Disk, RealDisk};
use std::path::PathBuf;
use std::sync::Arc;

/// The place of the store of a router. Cheap to clone.
#[derive(Clone)]
pub(crate) struct StoreSlot {
    state: Arc<Mutex<State>>,
    /// What stores are opened on.
    disk: Arc<dyn Disk>,
}

#[derive(Default)]
enum State {
    #[default]
    Empty,
    Opening(PathBuf),
    Open(StoreHandle),
}

impl Default for StoreSlot {
    fn default() -> Self {
        Self { state: Arc::default(), disk: Arc::new(RealDisk) }
    }
}

impl StoreSlot {
    /// The store, if it is open.
    pub(crate) fn get(&self) -> Option<StoreHandle> {
        match &*self.state.lock() {
            State::Open(store) => Some(store.clone()),
            State::Empty | State::Opening(_) => None,
        }
    }

    /// Whether one can be opened: there is none, and none is being opened.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&*self.state.lock(), State::Empty)
    }

    /// The store, or why there is none.
    pub(super) fn found(&self) -> Result<StoreHandle, String> {
        match &*self.state.lock() {
            State::Open(store) => Ok(store.clone()),
            State::Opening(path) => {
                Err(format!("The store in {} is still being opened: try again when it is", path.display()))
            }
            State::Empty => {
                let text = "This router has no store: add store { path: ... } to its configuration, or create one";
                Err(text.to_owned())
            }
        }
    }

    /// Opens the store, if there is none. Takes as long as its log has to be read.
    ///
    /// # Errors
    /// If there is one, or it cannot be.
    pub(super) fn open(&self, shards: &Shards, config: StoreConfig) -> Result<(), StoreError> {
        let mut state = self.state.lock();
        match &*state {
            State::Empty => *state = State::Opening(config.path.clone()),
            State::Opening(path) => return Err(StoreError::Exists("store", path.display().to_string())),
            State::Open(open) => return Err(StoreError::Exists("store", open.path().display().to_string())),
        }
        drop(state);
        let opened = store::open(shards, config, Arc::clone(&self.disk));
        *self.state.lock() = opened.as_ref().map_or(State::Empty, |opened| State::Open(opened.clone()));
        opened.map(drop)
    }

    /// Sees to it that the store that the configuration file names is open.
    ///
    /// # Errors
    /// If there is another one, or it cannot be.
    pub(super) fn declare(&self, shards: &Shards, config: StoreConfig) -> Result<(), StoreError> {
        if self.get().is_some_and(|open| open.path() == config.path) {
            return Ok(());
        }
        self.open(shards, config)
    }

    /// The place of one that is to be on this disk.
    #[cfg(test)]
    pub(crate) fn on(disk: Arc<dyn Disk>) -> Self {
        Self { disk, ..Self::default() }
    }

    /// Puts a store there that is open.
    #[cfg(test)]
    pub(crate) fn set(&self, store: StoreHandle) {
        *self.state.lock() = State::Open(store);
    }
}

/// The store as management sees it while there is none: it can be opened.
pub(crate) struct Opener {
    pub(crate) shards: Shards,
    pub(crate) slot: StoreSlot,
}

impl Opener {
    fn refusal(&self, entity_type: &'static EntityType) -> Failure {
        match self.slot.found() {
            Err(reason) if Kept::has(entity_type) => Failure::bad_request(reason),
            _ => Failure::not_found(),
        }
    }
}

impl Backend for Opener {
    fn list(&mut self, entity_type: &'static EntityType) -> Vec<Attributes> {
        self.slot.get().map(|open| store::rows(&open, entity_type)).unwrap_or_default()
    }

    fn create(
        &mut self,
        entity_type: &'static EntityType,
        attributes: Attributes,
        _context: &RequestContext,
    ) -> Result<Attributes, Failure> {
        let settings = Settings::from_attributes(entity_type, &attributes).map_err(|invalid| invalid.told_in_full())?;
        let Settings::Store(config) = settings else { return Err(self.refusal(entity_type)) };
        self.slot.open(&self.shards, config).map_err(|error| Failure::bad_request(error.to_string()))?;
        self.list(entity_type).into_iter().next().ok_or_else(Failure::not_found)
    }

    fn update(
        &mut self,
        entity_type: &'static EntityType,
        _identity: &str,
        _changes: Attributes,
        _context: &RequestContext,
    ) -> Result<Attributes, Failure> {
        Err(self.refusal(entity_type))
    }

    fn delete(
        &mut self,
        entity_type: &'static EntityType,
        _identity: &str,
        _context: &RequestContext,
    ) -> Result<(), Failure> {
        Err(self.refusal(entity_type))
    }

    fn log_entries(&self, _limit: Option<usize>) -> Vec<Value> {
        Vec::new()
    }

    fn management_nodes(&self) -> Vec<String> {
        Vec::new()
    }

    fn log_enabled(&self, level: &str) -> bool {
        logging::enabled(logging::Module::Agent, level_of(level))
    }

    fn log(&mut self, level: &str, text: &str) {
        logging::write(logging::Module::Agent, level_of(level), None, format_args!("{text}"));
    }
}
