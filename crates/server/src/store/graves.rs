//! Queues for dead letters and expired messages: they are there as soon as a queue, a topic or a template of queues names them, so
//! that whoever waits there before the first of these messages waits at the queue.

use queue_core::{Command, QueueSettings};

use super::journal::Waiter;
use super::links::{Destination, Place, Side};
use super::node::Node;
use super::wanted::is_plain;

impl Node {
    /// Has a command take effect that may say what queues are like. What it names for dead letters and expired messages is made
    /// in the same entry of the log.
    pub(super) fn submit_declaration(&mut self, side: Side, command: Command, waiter: Waiter) {
        let graves = match &command {
            Command::CreateQueue(settings)
            | Command::ChangeQueue { settings, .. }
            | Command::CreateTopic(settings)
            | Command::ChangeTopic { settings, .. }
            | Command::SetTemplate { settings, .. } => self.graves_to_make(settings),
            _ => Vec::new(),
        };
        self.submit(side, command, None, waiter);
        self.make_graves(graves);
    }

    /// Sees to it that all that is named is there: stores of earlier versions lack what was never used.
    pub(super) fn make_all_graves(&mut self) {
        let queues = self.queues().into_values().filter_map(|place| self.settings(place).cloned());
        let topics = self.brokers[Side::Logged as usize].topics().map(|(_, settings)| settings.clone());
        let graves: Vec<_> = queues.chain(topics).flat_map(|settings| self.graves_to_make(&settings)).collect();
        self.make_graves(graves);
    }

    /// The same for what a template names that is not part of the log.
    pub(super) fn make_graves_of(&mut self, settings: &QueueSettings) {
        let graves = self.graves_to_make(settings);
        self.make_graves(graves);
    }

    /// Of the queues that these settings name, those that are not there.
    fn graves_to_make(&self, settings: &QueueSettings) -> Vec<QueueSettings> {
        let mut missing = Vec::new();
        for address in settings.graves().filter(|address| is_plain(address)) {
            missing.extend(self.collector_to_make(settings, address));
            let missing_here = match self.find(address) {
                None => self.brokers.iter().all(|broker| broker.node(address).is_none()),
                // Nobody has said what it is to be like, and something durable is to go there.
                Some(Destination::Queue(place)) => {
                    settings.durable && self.is_made_by_itself(place) && place.side == Side::Memory
                }
                Some(_) => false,
            };
            if missing_here {
                missing.push(settings.grave(address.clone()));
            }
        }
        missing
    }

    /// Whether nobody has said what a queue is to be like.
    pub(super) fn is_made_by_itself(&self, place: Place) -> bool {
        self.settings(place).is_some_and(|settings| settings.auto_created)
    }

    pub(super) fn make_graves(&mut self, graves: Vec<QueueSettings>) {
        for grave in graves {
            // One that is being made already is refused, which nobody minds.
            self.submit(Side::of(grave.durable), Command::CreateQueue(Box::new(grave)), None, Waiter::Nobody);
        }
    }
}
