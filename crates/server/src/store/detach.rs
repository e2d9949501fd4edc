//! Links go, and what they held is free.

use amqp::ErrorCondition;
use amqp::condition::names;
use queue_core::{Command, ConsumerId, Outcome};

use super::journal::Waiter;
use super::links::{Destination, End, Link, Place, Receiver, Role, Side};
use super::node::Node;
use super::say::Say;

impl Node {
    /// The core detaches a link, or answers its detach.
    pub(super) fn detached(&mut self, link: u32, closed: bool) {
        let Some(record) = self.links.get(link as usize) else { return };
        if record.end == End::Open {
            self.says.push(Say::DetachAnswered { key: record.key, closed });
        }
        let record = self.links.remove(link as usize);
        self.let_go(record, link, closed);
    }

    /// A link is gone: what it held is free.
    fn let_go(&mut self, record: Link, link: u32, closed: bool) {
        match record.role {
            Role::Sender(sender) => {
                if let (Destination::Queue(place), false) = (sender.to, sender.relays) {
                    let now = self.clock();
                    self.broker(place.side).link_detached(place.queue, now);
                }
                self.sender_gone(sender);
            }
            Role::Receiver(receiver) => self.receiver_gone(*receiver, closed),
            Role::Coordinator(coordinator) => self.coordinator_gone(coordinator),
            Role::Attaching(_) | Role::Nothing => {}
        }
        self.nothing_comes_on(link);
        self.early_flows.remove(&link);
        for side in Side::BOTH {
            let mut commands = Vec::new();
            self.broker(side).owner_gone(record.key.0, &mut commands);
            commands.into_iter().for_each(|command| self.submit(side, command, None, Waiter::Nobody));
        }
    }

    /// A receiver is gone; `closed`: it wants nothing to stay.
    pub(super) fn receiver_gone(&mut self, receiver: Receiver, closed: bool) {
        let side = receiver.place.side;
        self.consumers.remove(side, receiver.consumer);
        // What was chosen for it and never left was not delivered.
        for acquisition in receiver.parked.into_iter().rev().filter_map(|assignment| assignment.acquisition) {
            let time = self.clock();
            self.apply_outcome(side, acquisition, &amqp::DeliveryState::Released, None, time);
        }
        let mut commands = Vec::new();
        let now = self.clock();
        self.broker(side).cancel(receiver.consumer, &Outcome::lost(), now, &mut commands);
        commands.into_iter().for_each(|command| self.submit(side, command, None, Waiter::Nobody));
        if receiver.subscription == Some(true) && closed {
            self.end_subscription(receiver.place);
        }
    }

    pub(super) fn delete_queue(&mut self, place: Place, waiter: Waiter) {
        let command = Command::DeleteQueue { queue: place.queue, if_empty: false, orphans: queue_core::Orphans::Drop };
        self.submit(place.side, command, None, waiter);
    }

    /// A queue is gone under its links.
    pub(super) fn queue_deleted(&mut self, place: Place, address: &str, _consumers: &[ConsumerId]) {
        self.filters.remove(&place);
        self.fullness.forget(place);
        self.promised.remove(&place);
        self.starved.remove(&place);
        if self.is_hidden(place) {
            // No link leads there.
            self.shadows.forget(place);
            return self.collectors.forget(place);
        }
        self.unlead(address);
        self.epoch += 1;
        let error = ErrorCondition::new(names::RESOURCE_DELETED, format!("The queue '{address}' was deleted"));
        let there = |role: &Role| match role {
            Role::Sender(sender) => sender.to == Destination::Queue(place),
            Role::Receiver(receiver) => receiver.place == place,
            _ => false,
        };
        for (_, record) in self.links.iter_mut().filter(|(_, record)| record.end == End::Open && there(&record.role)) {
            record.end = End::Asked;
            self.says.push(Say::Detach { key: record.key, closed: true, error: Some(Box::new(error.clone())) });
        }
        // What was its shadow is found there now.
        if self.find(address).is_some() {
            self.lead(address);
        }
    }
}
