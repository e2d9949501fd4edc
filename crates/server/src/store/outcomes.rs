//! What receivers say of messages that left a queue.

use std::sync::Arc;

use amqp::condition::names;
use amqp::state::Modified;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::{AcceptedAtOnce, AcqId, Broker, MAX_ANNOTATIONS, Millis, Outcome};
use router_core::Now;

use super::journal::Waiter;
use super::links::{Place, Role, Side};
use super::node::Node;
use super::say::Say;
use super::transactional::TransactionalState;

/// How routers of the old kind reject what is on its way to a receiver behind them that has gone meanwhile (`AMQP_rx_handler` in
/// their `router_node.c`). It is nobody's word on the message.
const NOBODY_THERE: &str = "Routing failure: no address present";

/// Accepted messages for which memory is kept.
const MOST_KEPT: usize = 4096;

impl Node {
    /// A receiver says something of a delivery, or settles it, or both.
    pub(super) fn receiver_says(&mut self, now: Now, link: u32, id: u32, state: Option<DeliveryState>, settled: bool) {
        if settled && matches!(state, Some(DeliveryState::Accepted)) && self.note_accepted(link, id) {
            return;
        }
        self.apply_accepted();
        if state.as_ref().is_some_and(says_nobody_is_there) {
            self.receiver_says(now, link, id, Some(DeliveryState::Released), settled);
            return self.end_receiver(link);
        }
        let time = self.time(now);
        let Some(receiver) = self.receiver_mut(link) else { return };
        let Some(unsettled) = receiver.unsettled.get_mut(id as usize) else { return };
        if unsettled.in_txn {
            // What was said stands until the transaction is over.
            if settled {
                self.settled_in_transaction(link, id, state);
            }
            return;
        }
        match &state {
            Some(DeliveryState::Other(_)) if let Some(of) = state.as_ref().and_then(TransactionalState::of) => {
                return self.retire_named(link, id, of, settled);
            }
            Some(state) if state.is_terminal() => {}
            // Something of which nothing is known but that the delivery is over.
            _ if settled => {}
            _ => return,
        }
        if let Some(txn) = unsettled.acquired_in
            && (settled || state.as_ref().is_some_and(DeliveryState::is_terminal))
        {
            // It belongs to the transaction that the delivery was acquired in, which decides about both.
            let outcome = state.filter(DeliveryState::is_terminal);
            let of = TransactionalState { txn: self.transactions.name(txn), outcome };
            return self.retire(link, id, of, settled);
        }
        let is_final = std::mem::replace(&mut unsettled.answered, true);
        let (side, acquisition) = (receiver.place.side, unsettled.acquisition);
        if settled {
            receiver.unsettled.remove(id as usize);
        }
        if is_final {
            // What was said first holds.
            return;
        }
        let state = match state {
            Some(state) if state.is_terminal() => state,
            _ => receiver.default_outcome.clone(),
        };
        match acquisition {
            Some(acquisition) => self.apply_outcome(side, acquisition, &state, (!settled).then_some((link, id)), time),
            // Whoever browses has nothing to say.
            None if !settled => self.settlement_applied(&Waiter::Settlement { link, id, of: None }),
            None => {}
        }
    }

    /// A receiver is not there any more, and nobody has detached its link: a router that has lost it would reject all that comes,
    /// and ask for more.
    fn end_receiver(&mut self, link: u32) {
        let text = "There is no receiver behind this link: the next router rejects what comes for it";
        self.end_link(link, ErrorCondition::new(names::DETACH_FORCED, text));
        if let Some(record) = self.links.get_mut(link as usize)
            && matches!(record.role, Role::Receiver(_))
            && let Role::Receiver(receiver) = std::mem::replace(&mut record.role, Role::Nothing)
        {
            self.receiver_gone(*receiver, false);
        }
    }

    /// A receiver has accepted and settled a delivery: the short way, if the queue lives in memory alone, nothing is before it, and
    /// the delivery is part of no transaction. False if there is more to it.
    fn note_accepted(&mut self, link: u32, id: u32) -> bool {
        let is_direct = self.is_direct(Side::Memory);
        let Some(receiver) = self.receiver_mut(link).filter(|of| is_direct && of.place.side == Side::Memory) else {
            return false;
        };
        let unsettled = receiver.unsettled.get(id as usize).filter(|unsettled| unsettled.is_plain());
        let Some(acquisition) = unsettled.and_then(|unsettled| unsettled.acquisition) else { return false };
        receiver.unsettled.remove(id as usize);
        self.accepted.push(acquisition);
        true
    }

    /// What receivers have accepted of queues that live in memory alone leaves these: mostly many neighbours do. To be called
    /// before anything else happens to queues.
    #[inline]
    pub(super) fn apply_accepted(&mut self) {
        if !self.accepted.is_empty() {
            self.apply_all_accepted();
        }
    }

    #[inline(never)]
    fn apply_all_accepted(&mut self) {
        let mut accepted = std::mem::take(&mut self.accepted);
        let mut left = self.accept_at_once(&accepted);
        left.drain(..).for_each(|acquisition| self.accept_by_command(Side::Memory, acquisition, Waiter::Nobody));
        self.accepted_spare.left = left;
        accepted.clear();
        accepted.shrink_to(MOST_KEPT);
        self.accepted = accepted;
    }

    /// Has messages that live in memory alone leave their queues at once. Those that take commands are returned.
    fn accept_at_once(&mut self, accepted: &[AcqId]) -> Vec<AcqId> {
        let mut out = std::mem::take(&mut self.accepted_spare);
        self.at_once(|broker, events| broker.accept_at_once(accepted, &mut out, events));
        let AcceptedAtOnce { mut queues, mut gone, left } = out;
        gone.drain(..).for_each(|body| self.body_gone(Side::Memory, body, 0));
        queues.drain(..).for_each(|queue| self.room_again(Place { side: Side::Memory, queue }));
        gone.shrink_to(MOST_KEPT);
        self.accepted_spare = AcceptedAtOnce { queues, gone, left: Vec::new() };
        left
    }

    /// A message that was accepted leaves its queue when the command for it takes effect.
    fn accept_by_command(&mut self, side: Side, acquisition: AcqId, waiter: Waiter) {
        match self.brokers[side as usize].accepted(acquisition) {
            Some((queue, seq)) => {
                self.journal.gathering[side as usize].push_accepted(queue, seq, waiter);
                self.signals.set_busy();
            }
            None => self.settlement_applied(&waiter),
        }
    }

    /// The queue hears the outcome of a delivery. `waits`: the receiver waits for it to be settled here, too.
    pub(super) fn apply_outcome(
        &mut self,
        side: Side,
        acquisition: AcqId,
        state: &DeliveryState,
        waits: Option<(u32, u32)>,
        time: Millis,
    ) {
        let waiter = match waits {
            Some((link, id)) => Waiter::Settlement { link, id, of: Some(acquisition) },
            None => Waiter::Nobody,
        };
        let outcome = self.outcome(state, time);
        if outcome == Outcome::Accepted {
            let is_done = self.is_direct(side) && self.accept_at_once(&[acquisition]).is_empty();
            return match is_done {
                true => self.settlement_applied(&waiter),
                false => self.accept_by_command(side, acquisition, waiter),
            };
        }
        match self.brokers[side as usize].outcome(acquisition, outcome, time) {
            Some(command) => self.submit(side, command, None, waiter),
            None => self.settlement_applied(&waiter),
        }
    }

    /// An outcome in the words of the queue: without what it writes to the message, if that is too much. For the sender of an
    /// outcome there is no answer, so the log says it.
    pub(super) fn outcome(&mut self, state: &DeliveryState, time: Millis) -> Outcome {
        let outcome = outcome(state);
        let bytes = outcome.writes();
        if bytes == 0 {
            return outcome;
        }
        let written = self.brokers.iter().map(Broker::written).sum::<u64>() + self.journal.writing();
        let why = if bytes > MAX_ANNOTATIONS {
            format!("they have {bytes} bytes, and a message may be given {MAX_ANNOTATIONS}")
        } else if written + bytes as u64 > self.most_written {
            let most = self.most_written;
            format!("all messages together have {written} bytes of such, and there is memory for {most}")
        } else {
            return outcome;
        };
        if let Some(unsaid) = self.left_out.speaks(time) {
            logging::log!(
                ROUTER_CORE,
                Warning,
                "Annotations that a receiver gave a message with modified, or its reason for rejected, are left out: {why}; \
                 left out since this was said last: {unsaid}"
            );
        }
        outcome.without_writing()
    }

    /// What a receiver said has taken effect.
    pub(super) fn settlement_applied(&mut self, waiter: &Waiter) {
        let Waiter::Settlement { link, id, of } = *waiter else { return };
        // Another link, or another delivery, may be in its place meanwhile.
        let unsettled = self.delivery_mut(link, id).filter(|unsettled| unsettled.acquisition == of);
        let Some(unsettled) = unsettled else { return };
        if let Some(key) = unsettled.key {
            self.say(Say::Settled { key });
        }
        self.forget_delivery(link, id);
    }

    /// A delivery is over.
    pub(super) fn forget_delivery(&mut self, link: u32, id: u32) {
        if let Some(Role::Receiver(receiver)) = self.links.get_mut(link as usize).map(|link| &mut link.role) {
            receiver.unsettled.try_remove(id as usize);
        }
    }
}

/// Whether an outcome comes from a router on the way that has lost the receiver.
fn says_nobody_is_there(state: &DeliveryState) -> bool {
    let DeliveryState::Rejected(Some(error)) = state else { return false };
    error.condition.as_str() == names::PRECONDITION_FAILED && error.description.as_deref() == Some(NOBODY_THERE)
}

/// The outcome in the words of the queue.
fn outcome(state: &DeliveryState) -> Outcome {
    match state {
        DeliveryState::Rejected(error) => Outcome::Rejected {
            error: error.as_ref().map(|error| match &error.description {
                Some(description) => Arc::from(description.as_str()),
                None => Arc::from(error.condition.as_str()),
            }),
        },
        DeliveryState::Released => Outcome::Released,
        DeliveryState::Modified(modified) => {
            let Modified { delivery_failed, undeliverable_here, message_annotations } = &**modified;
            let annotations = message_annotations.as_ref().map(|map| {
                let mut bytes = Vec::new();
                for (key, value) in &map.0 {
                    key.encode(&mut bytes);
                    value.encode(&mut bytes);
                }
                bytes.into()
            });
            Outcome::Modified { failed: *delivery_failed, undeliverable_here: *undeliverable_here, annotations }
        }
        _ => Outcome::Accepted,
    }
}
