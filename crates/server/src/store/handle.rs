//! The control plane's hold on the store.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use queue_core::{Applied, Command, Lifetime, Orphans, QueueSettings, Refused};
use queue_log::{Disk, OpenError};
use router_core::{ConnectionInfo, Role, StripAnnotations};

use super::journal::Waiter;
use super::links::{Destination, Place, Side};
use super::say::Say;
use super::spec::{QueueView, StoreError, StoreSettings};
use super::wanted::{is_plain, not_plain};
use super::{COORDINATOR, DYNAMIC, Store};
use crate::shard::{ConnRef, Shards};

/// How long whoever manages queues waits for the disk. What takes longer happens nevertheless.
const PATIENCE: Duration = Duration::from_secs(10);

/// The store, for whoever manages it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct StoreHandle {
    shards: Shards,
    store: Arc<Store>,
    settings: StoreSettings,
    /// Waits for the disk as long as it takes.
    patient: bool,
}

impl StoreHandle {
    /// As [`StoreHandle::open_on`], on the disk of the operating system.
    #[cfg(any(test, feature = "measure"))]
    pub(crate) fn open(shards: &Shards, settings: &StoreSettings) -> Result<Self, StoreError> {
        Self::open_on(shards, settings, Arc::new(queue_log::RealDisk))
    }

    /// Opens a store, or makes one, and leads messages to its queues.
    ///
    /// # Errors
    /// If there is one already, or the directory cannot be used: what is wrong with it, and what to do.
    pub(crate) fn open_on(shards: &Shards, settings: &StoreSettings, disk: Arc<dyn Disk>) -> Result<Self, StoreError> {
        let store = Store::open(shards, settings, disk).map_err(|error| {
            let remedy = match &error {
                OpenError::Io { source, .. } if source.kind() == ErrorKind::StorageFull => "; make room on that disk",
                OpenError::Io { .. } => "; give store { path: ... } a directory that the router may make and write to",
                _ => "",
            };
            StoreError::Unavailable(format!("{error}{remedy}"))
        })?;
        Self::start(shards, Arc::new(store), settings.clone())
    }

    /// A store that outlives nothing.
    #[cfg(test)]
    pub(crate) fn in_memory(shards: &Shards) -> Self {
        Self::start(shards, Arc::new(Store::in_memory(shards)), StoreSettings::at("nowhere"))
            .expect("there is none yet")
    }

    fn start(shards: &Shards, store: Arc<Store>, settings: StoreSettings) -> Result<Self, StoreError> {
        if !shards.set_store(&store) {
            return Err(StoreError::Exists("store", settings.path.display().to_string()));
        }
        shards.with_core(|core, host, now| {
            let info = ConnectionInfo {
                role: Role::RouteContainer,
                container: format!("{}/store", core.settings().router_id),
                host: "store".to_owned(),
                authenticated: true,
                strip_annotations: StripAnnotations::Both,
                link_capacity: 1000,
                internal: true,
                ..ConnectionInfo::default()
            };
            core.open_connection(now, host, ConnRef::STORE, info);
        });
        let handle = Self { shards: shards.clone(), store, settings, patient: false };
        handle.with(|node| {
            let own = [COORDINATOR, DYNAMIC].map(Arc::from);
            let queues = node.queues().into_keys().filter(|address| is_plain(address));
            for address in own.into_iter().chain(queues) {
                node.say(Say::Lead { address: (*address).into() });
            }
            node.learn_filters();
            node.take_over_topics();
            node.take_over_collectors();
            node.take_over_templates();
            node.make_all_graves();
            node.tell_who_is_full();
        });
        Ok(handle)
    }

    /// The same for who waits for a disk as long as that takes, unless it takes nothing any more.
    pub(crate) fn patient(&self) -> Self {
        Self { patient: true, ..self.clone() }
    }

    pub(super) fn with<R>(&self, call: impl FnOnce(&mut super::node::Node) -> R) -> R {
        // The core is locked, and the store pumped afterwards.
        self.shards.with_core(|_, _, _| self.store.with(call))
    }

    /// Has a command take effect, and waits until it has.
    pub(super) fn command(&self, side: Side, command: Command, of: &str) -> Result<queue_core::Done, StoreError> {
        let (reply, answer) = channel::<Applied>();
        self.with(|node| node.submit_declaration(side, command, Waiter::Reply(reply)));
        self.answer(&answer)?.map_err(|refused| refusal(&refused, of))
    }

    /// Waits for what the store says of something that was asked of it.
    pub(super) fn answer<T>(&self, answer: &Receiver<T>) -> Result<T, StoreError> {
        loop {
            return match answer.recv_timeout(PATIENCE) {
                Ok(answer) => Ok(answer),
                Err(RecvTimeoutError::Timeout) if self.patient && self.with(|node| node.journal.stuck.is_none()) => {
                    continue;
                }
                Err(_) => Err(StoreError::Unavailable(self.why_late())),
            };
        }
    }

    /// What is the matter when nothing comes of what the store was asked for.
    pub(crate) fn why_late(&self) -> String {
        self.with(|node| match (&node.journal.stuck, node.journal.oldest_in_flight()) {
            (Some(reason), _) => format!("The store takes nothing now: {reason}"),
            (None, Some(since)) => {
                let millis = node.clock().saturating_sub(since);
                format!("The disk of the store has not answered for {}.{} s", millis / 1000, millis % 1000 / 100)
            }
            (None, None) => "The store is busy with something else".to_owned(),
        })
    }

    /// Refuses an address that names something.
    pub(super) fn is_free(&self, address: &str) -> Result<(), StoreError> {
        let what = match self.with(|node| node.find(address)) {
            None | Some(Destination::Named) => return Ok(()),
            Some(Destination::Queue(_)) => "queue",
            Some(Destination::Topic(_)) => "topic",
        };
        Err(StoreError::Exists(what, address.to_owned()))
    }

    pub(super) fn place(&self, address: &str) -> Result<Place, StoreError> {
        match self.with(|node| node.find(address)) {
            Some(Destination::Queue(place)) => Ok(place),
            _ => Err(StoreError::NotFound(address.to_owned())),
        }
    }

    /// Makes a queue. One that is there because another one names it gets these settings.
    ///
    /// # Errors
    /// If it cannot be, or somebody has made it.
    pub(crate) fn create_queue(&self, settings: QueueSettings) -> Result<(), StoreError> {
        let address = settings.address.to_string();
        check_address(&address)?;
        check(&settings)?;
        if self.made_by_itself(&address).is_some() {
            return self.take_over(&address, settings);
        }
        self.is_free(&address)?;
        let side = Side::of(settings.durable);
        self.command(side, Command::CreateQueue(Box::new(settings)), &address).map(drop)
    }

    /// The queue at an address if nobody has said yet what it is to be like.
    pub(super) fn made_by_itself(&self, address: &str) -> Option<Place> {
        let place = self.place(address).ok()?;
        self.with(|node| node.is_made_by_itself(place)).then_some(place)
    }

    /// A queue that was made by itself is somebody's from now on. If it is on the other side, what is in it is carried over.
    fn take_over(&self, address: &str, settings: QueueSettings) -> Result<(), StoreError> {
        let side = Side::of(settings.durable);
        match self.with(|node| node.brokers[side as usize].node(address)) {
            Some(queue_core::Node::Queue(queue)) => self.change(Place { side, queue }, settings),
            _ => self.command(side, Command::CreateQueue(Box::new(settings)), address).map(drop),
        }
    }

    /// Sees to it that there is such a queue. Returned are the settings it had before, if somebody had made it with others.
    ///
    /// # Errors
    /// If it cannot be.
    pub(crate) fn declare_queue(&self, settings: QueueSettings) -> Result<Option<QueueSettings>, StoreError> {
        let found = self.with(|node| node.find(&settings.address));
        let Some(Destination::Queue(place)) = found.filter(|_| self.made_by_itself(&settings.address).is_none()) else {
            return self.create_queue(settings).map(|()| None);
        };
        check(&settings)?;
        let before = self.with(|node| node.settings(place).map(|settings| QueueSettings::clone(settings)));
        let other = before.filter(|before| *before != as_it_came_to_be(before, settings.clone()));
        if other.is_some() {
            self.change(place, settings)?;
        }
        Ok(other)
    }

    /// Changes a queue; its address says which.
    ///
    /// # Errors
    /// If it is not there, or cannot be so.
    pub(crate) fn change_queue(&self, settings: QueueSettings) -> Result<(), StoreError> {
        let place = self.place(&settings.address)?;
        self.change(place, settings)
    }

    fn change(&self, place: Place, settings: QueueSettings) -> Result<(), StoreError> {
        let address = settings.address.to_string();
        let Some(known) = self.with(|node| node.settings(place).cloned()) else {
            return Err(StoreError::NotFound(address));
        };
        if known.durable != settings.durable {
            let text = "durable cannot change once there is a queue: delete it, and create another one";
            return Err(StoreError::Invalid(text.to_owned()));
        }
        let settings = as_it_came_to_be(&known, settings);
        if *known == settings {
            return Ok(());
        }
        let command = Command::ChangeQueue { queue: place.queue, settings: Box::new(settings) };
        self.command(place.side, command, &address).map(drop)
    }

    /// Deletes a queue and its messages.
    ///
    /// # Errors
    /// If it is not there, or, where that matters, not empty or not unused.
    pub(crate) fn delete_queue(&self, address: &str, if_empty: bool, if_unused: bool) -> Result<(), StoreError> {
        let place = self.place(address)?;
        let consumers = self.queue(address).map_or(0, |queue| queue.consumers);
        if if_unused && consumers > 0 {
            return Err(StoreError::InUse(address.to_owned(), "it has consumers"));
        }
        let command = Command::DeleteQueue { queue: place.queue, if_empty, orphans: Orphans::Drop };
        self.command(place.side, command, address).map(drop)
    }

    /// All queues, in order of their addresses.
    pub(crate) fn queues(&self) -> Vec<QueueView> {
        self.with(|node| node.views(usize::MAX))
    }

    /// One queue.
    pub(crate) fn queue(&self, address: &str) -> Option<QueueView> {
        self.with(|node| match node.find(address) {
            Some(Destination::Queue(place)) => node.view(place),
            _ => None,
        })
    }

    /// Its directory.
    pub(crate) fn path(&self) -> &Path {
        &self.settings.path
    }

    /// As it was opened.
    pub(super) fn settings(&self) -> &StoreSettings {
        &self.settings
    }

    /// Gives nobody credit any more, and delivers nothing.
    pub(crate) fn stop_delivering(&self) {
        self.with(|node| node.is_stopping = true);
    }

    /// Writes what is left, and closes the log.
    pub(crate) fn close(&self) {
        self.store.close();
    }
}

/// New settings for a queue. What nobody can say of one is as it was: whose subscription it is, what its client does not want of
/// its own, and who owns it. If it had been
/// made by itself, it is somebody's now.
fn as_it_came_to_be(known: &QueueSettings, settings: QueueSettings) -> QueueSettings {
    let lifetime = match (known.lifetime, settings.lifetime) {
        (Lifetime::OnClose, Lifetime::Manual) => Lifetime::OnClose,
        (_, lifetime) => lifetime,
    };
    let no_local = known.no_local.clone();
    QueueSettings { topic: known.topic, owner: known.owner, no_local, lifetime, ..settings }
}

/// What no queue can be like.
pub(super) fn check(settings: &QueueSettings) -> Result<(), StoreError> {
    settings.problem().map_or(Ok(()), |problem| Err(StoreError::Invalid(problem.to_owned())))
}

/// A pattern is no address.
pub(super) fn check_address(address: &str) -> Result<(), StoreError> {
    if is_plain(address) { Ok(()) } else { Err(StoreError::Invalid(not_plain(address))) }
}

fn refusal(refused: &Refused, of: &str) -> StoreError {
    match refused {
        Refused::NoQueue | Refused::NoTopic | Refused::NoTemplate => StoreError::NotFound(of.to_owned()),
        Refused::Exists(address) => StoreError::Exists("queue, topic or template", address.to_string()),
        Refused::NotEmpty => StoreError::InUse(of.to_owned(), "it has messages"),
        Refused::InUse => StoreError::InUse(of.to_owned(), "it has subscriptions"),
        refused => StoreError::Invalid(refused.to_string()),
    }
}
