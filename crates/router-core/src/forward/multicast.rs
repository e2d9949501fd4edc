//! Multicast distribution: a copy for each consumer, and one outcome for the sender.
//!
//! The outcome is decided when each copy has one: rejected before accepted before modified before released. The delivery
//! is settled when each copy is.

use amqp::DeliveryState;

use crate::arena::NONE;
use crate::core::Core;
use crate::delivery::{Delivery, Outcome};
use crate::forward::Passage;
use crate::{Host, Level, Module, OutKey};

/// Descriptors of the states that only make sense with a transaction coordinator: declared and transactional-state.
const TRANSACTIONAL: [u8; 2] = [0x33, 0x34];

impl<H: Host> Core<H> {
    /// Sends a copy to every receiver and subscriber of the address. The record, if there is one, was made for one copy:
    /// this function itself, which keeps the outcome open until all copies are under way. Returns how many there are.
    pub(crate) fn send_copies(&mut self, host: &mut H, addr: u32, passage: &mut Passage<'_, H::Content>) -> usize {
        passage.addr = addr;
        if let Some(delivery) = self.deliveries.get_mut(passage.origin) {
            delivery.multicast = true;
        }
        let mut copies = 0usize;
        let from = self.came_over_edge(passage);
        let mut receiver = self.addresses[addr].receivers.head;
        while receiver != NONE {
            let next = self.links[receiver].addr_next;
            // Nothing goes back to the edge router, or to the interior, that it came from.
            if from != Some(self.links[receiver].conn) {
                self.send_copy(host, receiver, passage);
                copies += 1;
            }
            receiver = next;
        }
        if let Some(up) = self.uplink_for_copy(addr, passage) {
            self.send_copy(host, up, passage);
            copies += 1;
        }
        for at in 0.. {
            let Some(&subscriber) = self.addresses[addr].subscribers.get(at) else { break };
            self.expect_copy(passage.origin);
            let state = self.hand_over(host, addr, subscriber, passage);
            self.copy_resolved(host, passage.origin, Some(state), true);
            copies += 1;
        }
        copies += self.send_copies_to_routers(host, addr, passage);
        // Where everybody else has it already it went nowhere.
        let released = (copies == 0).then_some(DeliveryState::Released);
        self.copy_resolved(host, passage.origin, released, true);
        copies
    }

    fn send_copy(&mut self, host: &mut H, receiver: u32, passage: &mut Passage<'_, H::Content>) {
        self.expect_copy(passage.origin);
        let settled = passage.settled || self.links[receiver].send_settled;
        let link = self.or_stream(host, receiver, passage);
        self.send(host, Delivery::outgoing(link, passage, settled), passage);
        if !passage.complete {
            self.return_stream(link);
        }
    }

    /// Sends a copy to each neighbour that leads to consumers; how many.
    fn send_copies_to_routers(&mut self, host: &mut H, addr: u32, passage: &mut Passage<'_, H::Content>) -> usize {
        if !self.addresses[addr].remote {
            return 0;
        }
        let mut sent = 0;
        for conn in self.multicast_hops(addr, passage) {
            let Some(link) = self.link_to(host, conn, addr, passage) else { continue };
            self.expect_copy(passage.origin);
            self.depart(addr, conn, passage);
            self.send(host, Delivery::outgoing(link, passage, passage.settled), passage);
            self.return_stream(link);
            sent += 1;
        }
        sent
    }

    /// There will be one more copy to wait for.
    pub(crate) fn expect_copy(&mut self, origin: u64) {
        if let Some(delivery) = self.deliveries.get_mut(origin) {
            delivery.unsettled += 1;
            delivery.undecided += 1;
        }
    }
}

/// Works the outcome of one copy into the combined one.
pub(crate) fn combine<C>(delivery: &mut Delivery<C>, state: Option<DeliveryState>) {
    let rank = Outcome::of(state.as_ref());
    if rank != Outcome::Other && rank > Outcome::of(delivery.state.as_ref()) {
        delivery.state = state;
    }
}

impl<H: Host> Core<H> {
    /// A state that is not one of the ordinary ones: passed on as it is, except that a multicast cannot be part of a
    /// transaction, so that there a transactional state is as good as rejected.
    pub(crate) fn without_transaction(&self, host: &mut H, copy: OutKey, state: Box<[u8]>) -> DeliveryState {
        let delivery = self.deliveries.get(copy.0).and_then(|copy| self.deliveries.get(copy.origin));
        let Some(delivery) = delivery.filter(|delivery| delivery.multicast && is_transactional(&state)) else {
            return DeliveryState::Other(state);
        };
        if let Some(link) = self.links.get(delivery.sender) {
            let (conn, id) = (self.connections[link.conn].info.id, link.id);
            host.log(
                Module::RouterCore,
                Level::Warning,
                format_args!("[C{conn}][L{id}] Transactions are not supported for multicast messages"),
            );
        }
        DeliveryState::Rejected(None)
    }
}

/// Whether an encoded state has the descriptor of declared or transactional-state, in either encoding of ulong.
fn is_transactional(bytes: &[u8]) -> bool {
    match bytes {
        [0x00, 0x53, code, ..] | [0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, code, ..] => TRANSACTIONAL.contains(code),
        _ => false,
    }
}
