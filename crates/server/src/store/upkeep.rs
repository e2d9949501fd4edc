//! What has to be done beside moving messages: ways to queues, filters, checkpoints, a log that takes nothing.

use std::collections::HashMap;

use amqp::ErrorCondition;
use amqp::condition::names;
use queue_core::{Applied, Command, Done, EntryIndex, Millis, QueueSettings, Snapshot, TopicId};
use queue_log::LogError;

use super::failure::not_stored;
use super::journal::{Batch, Refused, Waiter};
use super::links::{Admission, Destination, End, Place, Role, Sender, Side};
use super::node::Node;
use super::say::Say;
use super::spec::QueueView;
use super::telling::tell_done;
use super::unlogged::needs_no_room;
use super::wanted::is_plain;

/// Bytes appended to the log after which a checkpoint is due, unless the log has little room.
pub(super) const CHECKPOINT_EVERY: u64 = 128 * 1024 * 1024;
/// The share of the room of the log after which one is due: its space is free again only then.
pub(super) const CHECKPOINT_SHARE: u64 = 8;

impl Node {
    /// Notes what commands have changed about queues.
    pub(super) fn note_changes(&mut self, side: Side, commands: &[Command], applied: &[Applied]) {
        for (command, applied) in commands.iter().zip(applied) {
            if side == Side::Logged || !matches!(command, Command::CreateTopic(_)) {
                tell_done(command, applied);
            }
            match (command, applied) {
                (Command::CreateQueue(settings), Ok(Done::Created(queue))) if settings.is_collector() => {
                    self.collectors.add(Place { side, queue: *queue });
                }
                (Command::CreateQueue(settings), Ok(Done::Created(queue))) => {
                    let place = Place { side, queue: *queue };
                    self.learn(place, settings);
                    self.lead(&settings.address);
                    self.look_for_shadow(&settings.address, Some(place));
                    // Something may wait for it.
                    self.collectors.tend = true;
                }
                (Command::ChangeQueue { queue, settings }, Ok(_)) => {
                    let place = Place { side, queue: *queue };
                    self.learn(place, settings);
                    self.room_again(place);
                    self.look_for_shadow(&settings.address, None);
                }
                // Each side has to know it.
                (Command::CreateTopic(settings), Ok(_)) if self.find(&settings.address).is_some() => {
                    self.lead(&settings.address);
                    self.collectors.seek = true;
                }
                (Command::SetTemplate { settings, .. }, Ok(_)) => self.set_template(settings, false),
                (Command::DeleteTemplate { pattern }, Ok(_)) => self.remove_template(pattern),
                // There may be room where messages have left.
                (Command::Settle(settle), Ok(_)) => self.room_again(Place { side, queue: settle.queue }),
                (
                    Command::Expire { queue, .. }
                    | Command::Purge { queue, .. }
                    | Command::Move { from: queue, .. }
                    | Command::Retry { queue, .. },
                    Ok(_),
                ) => self.room_again(Place { side, queue: *queue }),
                (Command::Transaction(commands), Ok(_)) => {
                    for command in commands {
                        if let Command::Settle(settle) = command {
                            self.room_again(Place { side, queue: settle.queue });
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Notes what a queue lets in.
    fn learn(&mut self, place: Place, settings: &QueueSettings) {
        self.epoch += 1;
        self.filters.remove(&place);
        let selector = settings.filter.as_deref().map(selector::Selector::parse).transpose();
        let selector = selector.unwrap_or_else(|error| {
            let address = &settings.address;
            logging::log!(ROUTER_CORE, Error, "The filter of the queue '{address}' is not used: {error}");
            None
        });
        let no_local = settings.no_local.clone();
        if selector.is_some() || no_local.is_some() {
            self.filters.insert(place, Admission { selector, no_local });
        }
    }

    /// Notes what all queues let in.
    pub(super) fn learn_filters(&mut self) {
        for place in self.queues().into_values() {
            if let Some(settings) = self.settings(place).cloned() {
                self.learn(place, &settings);
            }
        }
    }

    /// Topics of the log are there for subscriptions in memory, too.
    pub(super) fn take_over_topics(&mut self) {
        let topics: Vec<_> = self.brokers[0].topics().map(|(_, topic)| QueueSettings::clone(topic)).collect();
        for topic in topics {
            self.submit(Side::Memory, Command::CreateTopic(Box::new(topic)), None, Waiter::Nobody);
        }
    }

    /// The queue of a dead-letter or expiry address was made.
    pub(super) fn queue_made(&mut self, place: Place) {
        if let Some(settings) = self.settings(place).cloned() {
            if !self.is_shadow(place) {
                self.lead(&settings.address);
                self.epoch += 1;
            }
            self.look_for_shadow(&settings.address, Some(place));
        }
    }

    /// Has the ways to a queue made. There are none to those whose address would be a pattern: subscriptions that are named
    /// so, which are reached by their topic.
    pub(super) fn lead(&mut self, address: &str) {
        if is_plain(address) {
            self.says.push(Say::Lead { address: address.into() });
        }
    }

    /// A queue is gone, and the ways to it.
    pub(super) fn unlead(&mut self, address: &str) {
        if is_plain(address) {
            self.says.push(Say::Unlead { address: address.into() });
        }
    }

    /// A topic is gone under its senders.
    pub(super) fn topic_deleted(&mut self, topics: [TopicId; 2], address: &str) {
        logging::log!(ROUTER_CORE, Info, "The topic '{address}' was deleted");
        self.says.push(Say::Unlead { address: address.into() });
        let error = ErrorCondition::new(names::RESOURCE_DELETED, format!("The topic '{address}' was deleted"));
        let sends = |role: &Role| matches!(role, Role::Sender(sender) if sender.to == Destination::Topic(topics));
        for (_, record) in self.links.iter_mut().filter(|(_, record)| record.end == End::Open && sends(&record.role)) {
            record.end = End::Asked;
            self.says.push(Say::Detach { key: record.key, closed: true, error: Some(Box::new(error.clone())) });
        }
    }

    /// The log has not taken a batch. Who sent messages is told; what makes the store smaller is tried again.
    pub(super) fn log_refused(&mut self, refused: Refused, time: Millis) {
        let Refused { batch: Batch { commands, waiters, .. }, error } = refused;
        self.journal.look();
        let mut kept = Batch::default();
        let mut waiters = waiters.into_iter().peekable();
        for (at, command) in commands.into_iter().enumerate() {
            let of_this = std::iter::from_fn(|| waiters.next_if(|(index, _)| *index == at)).map(|(_, waiter)| waiter);
            if needs_no_room(&command) && matches!(error, LogError::Full { .. }) {
                let index = kept.commands.len();
                kept.waiters.extend(of_this.map(|waiter| (index, waiter)));
                kept.commands.push(command);
                continue;
            }
            let of_this: Vec<_> = of_this.collect();
            self.brokers[0].withdraw(&command, time);
            self.forget_files(&command);
            of_this.into_iter().for_each(|waiter| self.not_logged(waiter, &error));
        }
        if !kept.is_empty() {
            self.journal.put_before(kept);
            // Alone they may find room. If not, they need none.
            if let Err(refused) = self.journal.seal(time, true) {
                self.journal.put_before(refused.batch);
                self.journal.is_blocked = true;
                if self.journal.flight.is_empty() {
                    self.signals.call();
                }
            }
        }
    }

    /// The log is full: what it has taken and has no room for is refused like what it does not take.
    pub(super) fn take_back(&mut self, time: Millis) {
        let Some((first, error)) = self.journal.log.as_ref().and_then(|log| log.take_back()) else { return };
        self.bodies.taken_back(first);
        let batch = self.journal.taken_back(first);
        self.log_refused(Refused { batch, error }, time);
    }

    fn not_logged(&mut self, waiter: Waiter, error: &LogError) {
        let condition = not_stored(error);
        match waiter {
            Waiter::Nobody => {}
            Waiter::Arrival(arrival) => self.refuse(arrival, condition),
            Waiter::Half { pair } => self.half_known(pair, Some(condition)),
            Waiter::Early(early) => self.refuse_early(&early, condition),
            // The receiver has said what becomes of it; that it may come again is the lesser evil.
            Waiter::Settlement { .. } => self.settlement_applied(&waiter),
            Waiter::Discharge { arrival, txn } => self.not_discharged(arrival, txn, &condition),
            Waiter::Relocated => self.relocated(false),
            Waiter::Attach { link } => self.cannot_attach(link, condition),
            Waiter::Across { crossing, at } => self.across_or_not(crossing, at, false),
            Waiter::Left { crossing } => self.crossed(crossing, false),
            Waiter::Shadow(place) => self.shadow_not_deleted(place),
            // Who gets no answer says what is the matter with the store.
            Waiter::Reply(_) => {}
        }
    }

    /// Stores the state of all queues when much has happened since that was done last.
    pub(super) fn checkpoint_if_due(&mut self) {
        if self.journal.since_checkpoint >= self.checkpoint_every {
            self.checkpoint();
            self.relocate();
        }
    }

    /// The state of all queues of the log.
    pub(super) fn snapshot(&self) -> Snapshot {
        self.brokers[Side::Logged as usize].snapshot(EntryIndex(self.journal.applied))
    }

    /// Stores the state of all queues, so that the log before it can be used again.
    pub(super) fn checkpoint(&mut self) {
        let Some(log) = &self.journal.log else { return };
        let snapshot = self.snapshot();
        match log.checkpoint(self.journal.applied, move |to| snapshot.write(|bytes| to.write_all(bytes))) {
            Ok(()) => {
                (self.journal.since_checkpoint, self.journal.checkpointed) = (0, self.journal.applied);
                self.relocation.has_freed = false;
                self.unlogged.checkpoint_begun();
            }
            // It is tried again.
            Err(LogError::Busy) => {}
            Err(error) => {
                (self.journal.since_checkpoint, self.journal.checkpointed) = (0, self.journal.applied);
                logging::log!(ROUTER_CORE, Warning, "No checkpoint of the store: {error}");
            }
        }
    }

    /// All queues as they are, in the order of their addresses; no more than so many.
    pub(super) fn views(&mut self, most: usize) -> Vec<QueueView> {
        let mut producers: HashMap<Place, u64> = HashMap::new();
        for (_, link) in &self.links {
            if let Role::Sender(Sender { to: Destination::Queue(place), relays: false, .. }) = &link.role {
                *producers.entry(*place).or_default() += 1;
            }
        }
        let places = self.queues().into_values().take(most);
        places.filter_map(|place| self.view_with(place, producers.get(&place).copied().unwrap_or(0))).collect()
    }

    /// A queue as it is.
    pub(super) fn view(&mut self, place: Place) -> Option<QueueView> {
        let sends = |role: &Role| matches!(role, Role::Sender(sender) if sender.to == Destination::Queue(place) && !sender.relays);
        let producers = self.links.iter().filter(|(_, link)| sends(&link.role)).count() as u64;
        self.view_with(place, producers)
    }

    fn view_with(&mut self, place: Place, producers: u64) -> Option<QueueView> {
        let settings = self.settings(place).cloned()?;
        let now = self.clock();
        let found = self.broker(place.side).statistics(place.queue)?;
        Some(QueueView {
            settings: (*settings).clone(),
            messages: found.depth,
            bytes: found.bytes,
            acquired: found.acquired,
            delayed: found.delayed,
            consumers: found.consumers,
            producers,
            oldest: found.oldest.map(|came| std::time::Duration::from_millis(now.saturating_sub(came))),
            enqueued: found.totals.enqueued,
            dequeued: found.totals.accepted,
            delivered: found.delivered,
            redelivered: found.redelivered,
            dead_lettered: found.totals.dead_lettered,
            expired: found.totals.expired,
            dropped: found.totals.dropped + found.totals.refused,
            full: found.full,
        })
    }

    /// Writes what is left, and closes the log.
    pub(super) fn close(&mut self) {
        let time = self.clock();
        self.finish_asking();
        if let Err(refused) = self.journal.seal(time, true) {
            let error = refused.error;
            self.journal.put_before(refused.batch);
            self.journal.is_blocked = true;
            self.go_on_without_entries(time);
            if !self.journal.gathering[Side::Logged as usize].is_empty() {
                logging::log!(ROUTER_CORE, Warning, "What was said last is not stored: {error}");
            }
        }
        self.reading.stop();
        self.large.stop();
        if let Some(log) = &self.journal.log {
            log.wait_for_checkpoint();
        }
        // The next start need not read what has happened since the last one.
        self.checkpoint();
        let Some(log) = self.journal.log.take() else { return };
        log.wait_for_checkpoint();
        log.close();
    }
}
