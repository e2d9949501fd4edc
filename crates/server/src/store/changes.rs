//! What commands change of queues and topics is noted: what they let in, and which ways lead to them.

use amqp::ErrorCondition;
use amqp::condition::names;
use queue_core::{Applied, Command, Done, QueueSettings, TopicId};

use super::journal::Waiter;
use super::links::{Admission, Destination, End, Place, Role, Side};
use super::node::Node;
use super::say::Say;
use super::telling::tell_done;
use super::wanted::is_plain;

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
        let topics: Vec<_> =
            self.brokers[Side::Logged as usize].topics().map(|(_, topic)| QueueSettings::clone(topic)).collect();
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
}
