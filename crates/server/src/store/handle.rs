//! The control plane's hold on the store.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use queue_core::{Applied, Command, Orphans, QueueSettings, Refused};
use router_core::{ConnectionInfo, Role, StripAnnotations};

use super::journal::Waiter;
use super::links::{Destination, Place, Side};
use super::say::Say;
use super::spec::{QueueView, StoreError, StoreSettings, TemplateSpec, TopicSpec};
use super::wanted::{is_plain, not_plain};
use super::{COORDINATOR, DYNAMIC, Store};
use crate::shard::{ConnRef, Shards};

/// How long the control plane waits for the disk. What takes longer happens nevertheless.
const PATIENCE: Duration = Duration::from_secs(10);

/// The store, for whoever manages it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct StoreHandle {
    shards: Shards,
    store: Arc<Store>,
    settings: StoreSettings,
}

impl StoreHandle {
    /// Opens a store, or makes one, and leads messages to its queues.
    ///
    /// # Errors
    /// If there is one already, or the directory cannot be used: what is wrong with it, and what to do.
    pub(crate) fn open(shards: &Shards, settings: &StoreSettings) -> Result<Self, StoreError> {
        let store =
            Arc::new(Store::open(shards, settings).map_err(|error| StoreError::Unavailable(error.to_string()))?);
        Self::start(shards, store, settings.clone())
    }

    /// A store that outlives nothing.
    #[cfg(test)]
    pub(crate) fn in_memory(shards: &Shards) -> Self {
        Self::start(shards, Arc::new(Store::in_memory(shards)), StoreSettings::at("nowhere"))
            .expect("there is none yet")
    }

    fn start(shards: &Shards, store: Arc<Store>, settings: StoreSettings) -> Result<Self, StoreError> {
        if !shards.set_store(&store) {
            return Err(StoreError::Exists("store".to_owned()));
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
        let handle = Self { shards: shards.clone(), store, settings };
        handle.with(|node| {
            let queues = node.queues();
            let topics = node.brokers[0].topics().map(|(_, address)| Arc::clone(address));
            let addresses: Vec<Arc<str>> = queues.into_keys().chain(topics).collect();
            let own = [COORDINATOR, DYNAMIC].map(Arc::from);
            for address in own.into_iter().chain(addresses.into_iter().filter(|address| is_plain(address))) {
                node.say(Say::Lead { address: (*address).into() });
            }
            node.learn_filters();
            node.take_over_topics();
        });
        Ok(handle)
    }

    pub(super) fn with<R>(&self, call: impl FnOnce(&mut super::node::Node) -> R) -> R {
        // The core is locked, and the store pumped afterwards.
        self.shards.with_core(|_, _, _| self.store.with(call))
    }

    /// Has a command take effect, and waits until it has.
    pub(super) fn command(&self, side: Side, command: Command, of: &str) -> Result<queue_core::Done, StoreError> {
        let (reply, answer) = channel::<Applied>();
        self.with(|node| node.submit(side, command, None, Waiter::Reply(reply)));
        match answer.recv_timeout(PATIENCE) {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(refused)) => Err(refusal(&refused, of)),
            Err(_) => Err(StoreError::Unavailable(format!(
                "The disk of the store has not answered for {} seconds: see its log",
                PATIENCE.as_secs()
            ))),
        }
    }

    pub(super) fn place(&self, address: &str) -> Result<Place, StoreError> {
        match self.with(|node| node.find(address)) {
            Some(Destination::Queue(place)) => Ok(place),
            _ => Err(StoreError::NotFound(address.to_owned())),
        }
    }

    /// Makes a queue. One that is there already is as it is to be from then on, if `or_change`.
    ///
    /// # Errors
    /// If it cannot be, or is there.
    pub(crate) fn create_queue(&self, settings: QueueSettings, or_change: bool) -> Result<(), StoreError> {
        let address = settings.address.to_string();
        check_address(&address)?;
        if let Some(problem) = settings.problem() {
            return Err(StoreError::Invalid(problem.to_owned()));
        }
        match self.with(|node| node.find(&address)) {
            Some(Destination::Queue(place)) if or_change => {
                let same_side = place.side == Side::of(settings.durable);
                if !same_side {
                    let text = "a queue cannot become durable, or cease to be: delete it first";
                    return Err(StoreError::Invalid(text.to_owned()));
                }
                return self.change(place, settings);
            }
            Some(_) => return Err(StoreError::Exists(address)),
            None => {}
        }
        let side = Side::of(settings.durable);
        self.command(side, Command::CreateQueue(Box::new(settings)), &address).map(drop)
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
        let same = self.with(|node| node.settings(place).is_some_and(|known| **known == settings));
        if same {
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

    /// As it was opened.
    pub(super) fn settings(&self) -> &StoreSettings {
        &self.settings
    }

    /// Adds a template. Queues that it has made before stay as they are.
    ///
    /// # Errors
    /// If there is one for this pattern, or it is none.
    pub(crate) fn create_template(&self, template: TemplateSpec) -> Result<(), StoreError> {
        let TemplateSpec { pattern, queue } = template;
        if let Some(problem) = (QueueSettings { address: "a".into(), ..queue.clone() }).problem() {
            return Err(StoreError::Invalid(problem.to_owned()));
        }
        let added = self.with(|node| {
            let added = node.templates.add(&pattern, queue);
            if added {
                node.say(Say::Lead { address: pattern.as_str().into() });
            }
            added
        });
        if added { Ok(()) } else { Err(StoreError::Exists(pattern)) }
    }

    /// Removes a template; its queues stay.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn delete_template(&self, pattern: &str) -> Result<(), StoreError> {
        let removed = self.with(|node| {
            let removed = node.templates.remove(pattern);
            if removed {
                node.say(Say::Unlead { address: pattern.into() });
            }
            removed
        });
        if removed { Ok(()) } else { Err(StoreError::NotFound(pattern.to_owned())) }
    }

    /// Makes a topic, or says what the subscriptions of one are like from now on, if `or_change`.
    ///
    /// # Errors
    /// If its address is another's.
    pub(crate) fn create_topic(&self, topic: TopicSpec, or_change: bool) -> Result<(), StoreError> {
        let TopicSpec { address, subscription } = topic;
        check_address(&address)?;
        match self.with(|node| node.find(&address)) {
            Some(Destination::Topic(_)) if or_change => {}
            Some(_) => return Err(StoreError::Exists(address)),
            None => {
                // Both sides know it: subscriptions are durable or not.
                for side in Side::BOTH {
                    let command = Command::CreateTopic { address: address.as_str().into() };
                    match self.command(side, command, &address) {
                        Ok(_) | Err(StoreError::Exists(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        self.with(|node| {
            node.templates.set_topic(&address, subscription);
            node.say(Say::Lead { address: address.as_str().into() });
        });
        Ok(())
    }

    /// Deletes a topic and its subscriptions.
    ///
    /// # Errors
    /// If it is not there.
    pub(crate) fn delete_topic(&self, address: &str) -> Result<(), StoreError> {
        let Some(Destination::Topic(topics)) = self.with(|node| node.find(address)) else {
            return Err(StoreError::NotFound(address.to_owned()));
        };
        for side in Side::BOTH {
            let topic = topics[side as usize];
            let bound: Vec<_> = self.with(|node| node.broker(side).bound(topic).collect());
            for queue in bound {
                let command = Command::DeleteQueue { queue, if_empty: false, orphans: Orphans::Drop };
                self.command(side, command, address)?;
            }
            self.command(side, Command::DeleteTopic { topic }, address)?;
        }
        self.with(|node| {
            node.templates.remove_topic(address);
            node.topic_deleted(topics, address);
        });
        Ok(())
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

fn check_address(address: &str) -> Result<(), StoreError> {
    if is_plain(address) { Ok(()) } else { Err(StoreError::Invalid(not_plain(address))) }
}

fn refusal(refused: &Refused, of: &str) -> StoreError {
    match refused {
        Refused::NoQueue | Refused::NoTopic => StoreError::NotFound(of.to_owned()),
        Refused::Exists(address) => StoreError::Exists(address.to_string()),
        Refused::NotEmpty => StoreError::InUse(of.to_owned(), "it has messages"),
        Refused::InUse => StoreError::InUse(of.to_owned(), "it has subscriptions"),
        refused => StoreError::Invalid(refused.to_string()),
    }
}
