//! Queues for dead letters and expired messages: they are there as soon as a queue or a template of queues names them, so that
//! whoever waits there before the first of these messages waits at the queue.

use queue_core::{Command, QueueSettings};

use super::journal::Waiter;
use super::links::{Destination, Side};
use super::node::Node;
use super::wanted::is_plain;

impl Node {
    /// Has a command take effect that may say what queues are like. What it names for dead letters and expired messages is made
    /// in the same entry of the log.
    pub(super) fn submit_declaration(&mut self, side: Side, command: Command, waiter: Waiter) {
        let graves = match &command {
            Command::CreateQueue(settings)
            | Command::ChangeQueue { settings, .. }
            | Command::SetTemplate { settings, .. } => self.graves_to_make(settings),
            _ => Vec::new(),
        };
        self.submit(side, command, None, waiter);
        self.make_graves(graves);
    }

    /// Sees to it that all that is named is there: stores of earlier versions lack what was never used.
    pub(super) fn make_all_graves(&mut self) {
        let queues = self.queues().into_values().filter_map(|place| self.settings(place).cloned());
        let graves: Vec<_> = queues.flat_map(|settings| self.graves_to_make(&settings)).collect();
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
            match self.find(address) {
                None => missing.push(settings.grave(address.clone())),
                Some(Destination::Queue(place)) if place.side != Side::of(settings.durable) => {
                    let from = &settings.address;
                    logging::log!(
                        ROUTER_CORE,
                        Warning,
                        "Dead letters or expired messages of '{from}' cannot be received at '{address}', which it names for them: one \
                         of the two is durable and the other is not; let both be, or name another address"
                    );
                }
                Some(_) => {}
            }
        }
        missing
    }

    fn make_graves(&mut self, graves: Vec<QueueSettings>) {
        for grave in graves {
            // One that is being made already is refused, which nobody minds.
            self.submit(Side::of(grave.durable), Command::CreateQueue(Box::new(grave)), None, Waiter::Nobody);
        }
    }
}
