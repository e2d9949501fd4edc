//! Deliveries on a connection, both ways, and what is told about them.

use amqp::performative::{Disposition, Role, Transfer};
use amqp::{DeliveryState, Performative};

use super::links::Link;
use super::wire::Wire;

/// What a disposition says of one delivery.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    /// Whether it is about a delivery that this end sent.
    of_mine: bool,
    delivery: u32,
    pub(crate) state: Option<DeliveryState>,
    pub(crate) settled: bool,
}

/// A delivery that came, or the part of it that did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// The router's handle of its link.
    pub(crate) theirs: u32,
    pub(crate) delivery: u32,
    pub(crate) settled: bool,
    pub(crate) aborted: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Wire {
    /// The number of the next delivery.
    pub(crate) fn next_delivery(&mut self) -> u32 {
        self.next_delivery += 1;
        self.next_delivery - 1
    }

    /// Sends a whole message; the number of the delivery.
    pub(crate) fn send_message(&mut self, link: Link, settled: bool, bytes: &[u8]) -> u32 {
        let delivery = self.next_delivery();
        self.send_part(link, delivery, settled, bytes, false);
        delivery
    }

    /// Sends a part of a message, cut into frames.
    pub(crate) fn send_part(&mut self, link: Link, delivery: u32, settled: bool, bytes: &[u8], more: bool) {
        let parts: Vec<&[u8]> = if bytes.is_empty() { vec![bytes] } else { bytes.chunks(16_000).collect() };
        for (index, part) in parts.iter().enumerate() {
            let tag = delivery.to_be_bytes();
            let transfer = Transfer {
                handle: link.handle,
                delivery_id: Some(delivery),
                delivery_tag: Some(&tag),
                message_format: Some(0),
                settled: Some(settled),
                more: more || index + 1 < parts.len(),
                ..Transfer::default()
            };
            self.transfer(&transfer, part);
        }
    }

    /// Gives up a delivery of which a part was sent.
    pub(crate) fn abort(&mut self, link: Link, delivery: u32) {
        let transfer =
            Transfer { handle: link.handle, delivery_id: Some(delivery), aborted: true, ..Transfer::default() };
        self.transfer(&transfer, b"");
    }

    /// Says something about a delivery that came.
    pub(crate) fn settle(&mut self, delivery: u32, state: Option<DeliveryState>, settled: bool) {
        self.dispose(Role::Receiver, delivery, state, settled);
    }

    /// Settles a delivery that was sent.
    pub(crate) fn settle_sent(&mut self, delivery: u32, state: Option<DeliveryState>) {
        self.dispose(Role::Sender, delivery, state, true);
    }

    fn dispose(&mut self, role: Role, first: u32, state: Option<DeliveryState>, settled: bool) {
        self.send(Performative::Disposition(Disposition { role, first, last: None, settled, state, batchable: false }));
    }

    /// Accepts a delivery that came.
    pub(crate) fn accept(&mut self, received: &Received) {
        self.settle(received.delivery, Some(DeliveryState::Accepted), true);
    }

    /// Waits for the next delivery.
    pub(crate) fn receive(&mut self) -> Received {
        self.until("a delivery", |wire| wire.received.pop_front())
    }

    /// Waits until so many bytes of a delivery that is not complete have come.
    pub(crate) fn wait_for_bytes(&mut self, link: Link, count: usize) {
        self.until("a part of a delivery", |wire| {
            wire.arriving.get(&link.theirs).is_some_and(|part| part.bytes.len() >= count).then_some(())
        });
    }

    /// How many deliveries have come and were not asked for.
    pub(crate) fn waiting(&self) -> usize {
        self.received.len()
    }

    /// Whether a delivery of this link has come and was not asked for.
    pub(crate) fn has_delivery_of(&self, link: Link) -> bool {
        self.received.iter().any(|received| received.theirs == link.theirs)
    }

    /// Waits for the settlement of a delivery that was sent: its state.
    pub(crate) fn outcome(&mut self, delivery: u32) -> Option<DeliveryState> {
        self.expect_told(delivery, |told| told.of_mine && told.settled).state
    }

    /// Waits for a state of a delivery that was sent, settled or not.
    pub(crate) fn expect_state(&mut self, delivery: u32, state: &DeliveryState) {
        self.expect_told(delivery, |told| told.of_mine && told.state.as_ref() == Some(state));
    }

    /// Waits until the router, as the sender, settles a delivery that came.
    pub(crate) fn expect_settled_by_sender(&mut self, delivery: u32) {
        self.expect_told(delivery, |told| !told.of_mine && told.settled);
    }

    fn expect_told(&mut self, delivery: u32, wanted: impl Fn(&Told) -> bool) -> Told {
        self.until("word about a delivery", |wire| {
            wire.told.iter().find(|told| told.delivery == delivery && wanted(told)).cloned()
        })
    }

    /// All that was told about a delivery: one that this end sent, or one that came.
    pub(crate) fn told(&self, mine: bool, delivery: u32) -> Vec<Told> {
        self.told.iter().filter(|told| told.of_mine == mine && told.delivery == delivery).cloned().collect()
    }

    pub(super) fn take_disposition(&mut self, disposition: &Disposition) {
        for delivery in disposition.first..=disposition.last.unwrap_or(disposition.first) {
            self.told.push(Told {
                of_mine: disposition.role == Role::Receiver,
                delivery,
                state: disposition.state.clone(),
                settled: disposition.settled,
            });
        }
    }

    pub(super) fn take_transfer(&mut self, transfer: &Transfer<'_>, payload: &[u8]) {
        let handle = transfer.handle;
        let fresh = || Received {
            theirs: handle,
            delivery: transfer.delivery_id.expect("the first transfer has an id"),
            ..Received::default()
        };
        let part = self.arriving.entry(handle).or_insert_with(fresh);
        part.settled |= transfer.settled == Some(true);
        part.aborted |= transfer.aborted;
        part.bytes.extend_from_slice(payload);
        if !transfer.more || transfer.aborted {
            self.received.extend(self.arriving.remove(&handle));
        }
    }
}
