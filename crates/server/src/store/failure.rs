//! A log whose disk has failed: nothing is written any more, and nobody knows what of the last entries is on the disk. Whoever waits for
//! one of these is told that it failed; after a restart it may be there nevertheless. Links that need the log are ended, with what to
//! do. Queues in memory go on.

use amqp::condition::names;
use amqp::state::Modified;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::Millis;
use queue_log::LogError;

use super::journal::Waiter;
use super::links::{Arrival, End, Role, Side};
use super::node::Node;
use super::say::Say;

impl Node {
    /// Why links to durable queues cannot be, if the log has failed.
    pub(super) fn log_has_failed(&self) -> Result<(), ErrorCondition> {
        let failed = self.journal.failed.as_ref();
        failed.map_or(Ok(()), |why| Err(not_stored(&LogError::Failed(why.clone()))))
    }

    /// The log has failed: ends whatever waits for it.
    pub(super) fn end_what_waits_for_the_log(&mut self, time: Millis) {
        let Err(error) = self.log_has_failed() else { return };
        while let Some(entry) = self.journal.lost() {
            // The files of large messages stay: after a restart it is known who needs them.
            for command in &entry.commands {
                self.brokers[Side::Logged as usize].withdraw(command, time);
            }
            entry.waiters.into_iter().for_each(|(_, waiter)| self.in_doubt(waiter, &error));
        }
        self.unlogged_in_doubt().into_iter().for_each(|waiter| self.in_doubt(waiter, &error));
        let links: Vec<u32> = self.links.iter().map(|(link, _)| link as u32).collect();
        for link in links {
            if self.needs_the_log(link) {
                self.end_link(link, error.clone());
            }
        }
    }

    /// Whether a link is of no use without the log.
    fn needs_the_log(&mut self, link: u32) -> bool {
        self.refresh_look(link);
        match self.links.get(link as usize).map(|record| (&record.role, record.end)) {
            // Those of the router's own are for many senders: they only have no credit.
            Some((Role::Sender(sender), End::Open)) => !sender.relays && self.is_logged(link),
            Some((Role::Receiver(receiver), End::Open)) => receiver.place.side == Side::Logged,
            _ => false,
        }
    }

    /// Nobody knows whether the command is on the disk that somebody waits for.
    fn in_doubt(&mut self, waiter: Waiter, error: &ErrorCondition) {
        match waiter {
            Waiter::Arrival(arrival) => self.arrival_in_doubt(arrival),
            Waiter::Half { pair } => {
                if let Some(pair) = self.pairs.try_remove(pair) {
                    self.arrival_in_doubt(pair.arrival);
                }
            }
            Waiter::Early(early) => self.refuse_early(&early, error.clone()),
            Waiter::Discharge { arrival, txn } => {
                self.roll_back(txn);
                if let Some(arrival) = arrival {
                    self.end_link(arrival.link, error.clone());
                }
            }
            Waiter::Attach { link } => self.cannot_attach(link, error.clone()),
            Waiter::Across { crossing, at } => self.across_or_not(crossing, at, false),
            Waiter::Left { crossing } => self.crossed(crossing, false),
            Waiter::Shadow(place) => self.shadow_not_deleted(place),
            // Their links are ended; who asked from outside is told what the matter is when no answer comes.
            Waiter::Nobody | Waiter::Settlement { .. } | Waiter::Relocated | Waiter::Reply(_) => {}
        }
    }

    /// A message that may be on the disk or not: its sender is told that it has failed, and may send it again. That is also what the core
    /// says of deliveries on a link that ends.
    fn arrival_in_doubt(&mut self, arrival: Arrival) {
        let failed = Modified { delivery_failed: true, ..Modified::default() };
        self.conclude_arrival(arrival, DeliveryState::Modified(Box::new(failed)));
    }

    /// A link is ended from here.
    pub(super) fn end_link(&mut self, link: u32, error: ErrorCondition) {
        if let Some(record) = self.links.get_mut(link as usize).filter(|record| record.end == End::Open) {
            record.end = End::Asked;
            let key = record.key;
            self.say(Say::Detach { key, closed: true, error: Some(Box::new(error)) });
        }
    }
}

/// Why something is not stored, in the words of AMQP.
pub(super) fn not_stored(error: &LogError) -> ErrorCondition {
    let name = match error {
        LogError::Failed(_) => names::INTERNAL_ERROR,
        _ => names::RESOURCE_LIMIT_EXCEEDED,
    };
    ErrorCondition::new(name, format!("Not stored: {error}"))
}
