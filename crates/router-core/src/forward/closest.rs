//! Closest distribution: round robin among the consumers on this router, whatever their credit.

use crate::Host;
use crate::core::Core;
use crate::forward::Destination;

impl<H: Host> Core<H> {
    /// The subscriber whose turn it is.
    pub(crate) fn next_subscriber(&mut self, addr: u32) -> Destination {
        let subscribers = &mut self.addresses[addr].subscribers;
        match subscribers.first().copied() {
            Some(subscriber) => {
                subscribers.rotate_left(1);
                Destination::Subscriber(subscriber)
            }
            None => Destination::Nobody,
        }
    }

    /// The receiver whose turn it is.
    pub(crate) fn next_receiver(&mut self, addr: u32) -> Destination {
        self.rotate_receivers(addr).map_or(Destination::Nobody, Destination::Link)
    }
}
