//! What passes between two links that are one: deliveries as they come, and credit.
//!
//! The peer that sends has as much credit as the peer that receives has given, less what is on its way. That holds after
//! each step, whoever takes credit back or does not use it.

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::forward::Passage;
use crate::{Host, LinkKey, Now, Offered};

use amqp::{DeliveryState, Map};

impl<H: Host> Core<H> {
    /// A delivery came in on a link that is one with another, and goes out on that.
    #[inline(never)] // Off the way of all other deliveries.
    pub(crate) fn deliver_routed(&mut self, host: &mut H, passage: &mut Passage<'_, H::Content>) -> Offered {
        match self.partner(&self.links[index_of(passage.link)]) {
            Some(receiver) if self.may_hand_in(receiver, passage) => self.hand_in(host, receiver, passage),
            Some(receiver) => self.forward_to_one(host, receiver, passage, 0),
            None => self.unroutable(host, passage, DeliveryState::Released),
        }
    }

    /// The credit of the link on which the peer receives has changed, or what waits there: the peer that sends gets what it
    /// lacks, and is asked to drain if the receiver drains.
    #[inline(never)] // Off the way of all other deliveries.
    pub(crate) fn relay_credit(&mut self, host: &mut H, receiver: u32) {
        let record = &self.links[receiver];
        let (given, draining) = (record.credit.saturating_sub(record.undelivered), record.draining);
        let Some(sender) = self.partner(record) else { return };
        let sender = &mut self.links[sender];
        if !sender.opened {
            return;
        }
        if given > sender.credit && !sender.held_up {
            let missing = given - sender.credit;
            sender.grant(host, &mut self.statistics, missing);
        }
        if draining != sender.draining {
            sender.draining = draining;
            host.drain(sender.host, draining);
        }
    }

    /// What was queued on the link on which the peer receives has gone as far as it can now.
    #[inline(never)] // Off the way of all other deliveries.
    pub(crate) fn routed_queue_pushed(&mut self, host: &mut H, receiver: u32) {
        if self.links[receiver].draining {
            self.relay_drained(host, receiver);
        }
        if let Some(sender) = self.partner(&self.links[receiver])
            && self.connections[self.links[sender].conn].info.internal
        {
            match self.takes_more(receiver) {
                true => host.room(self.links[sender].host),
                // If it is the connection that takes nothing, somebody has to hear when it does.
                false => self.wait_for_room(receiver),
            }
        }
        self.part_when_through(host, receiver);
    }

    /// Whether a delivery would leave at once on a link: nothing is queued before it.
    #[inline]
    pub(crate) fn takes_more(&self, receiver: u32) -> bool {
        let link = &self.links[receiver];
        link.queue_head == NONE && link.busy == NONE && self.connections[link.conn].writable
    }

    /// Whether what the surroundings send on a link of their own would leave at once by the other one of the two links
    /// that are one. If not, it would wait here; [`Host::room`] tells when that is over.
    pub fn may_send(&mut self, link: LinkKey) -> bool {
        let Some(receiver) = self.links.get(link.0).and_then(|link| self.partner(link)) else { return false };
        let may = self.takes_more(receiver);
        if !may {
            self.wait_for_room(receiver);
        }
        may
    }

    /// Whether a delivery waits on a link, behind others, whose sender has said this of it.
    pub fn has_waiting(&self, link: LinkKey, is_it: impl Fn(&DeliveryState) -> bool) -> bool {
        let first = self.links.get(link.0).map(|link| link.queue_head);
        let waiting = |copy: &u32| self.deliveries[*copy].waiting.as_ref();
        let next = |copy: &u32| Some(self.deliveries[*copy].next).filter(|next| *next != NONE);
        let mut copies = std::iter::successors(first.filter(|copy| *copy != NONE), next);
        copies.any(|copy| waiting(&copy).and_then(|it| it.said.as_ref()?.state()).is_some_and(&is_it))
    }

    /// A flow of a peer had properties. Where its link is one with another, that one's peer is told. Nothing happens for
    /// other links.
    pub fn flow_properties(&mut self, now: Now, host: &mut H, link: LinkKey, properties: Box<Map>) {
        self.tick(now);
        let Some(partner) = self.links.get(link.0).and_then(|link| self.partner(link)) else { return };
        let record = &mut self.links[partner];
        if record.opened {
            host.say_with_flow(record.host, *properties);
        } else if let Some(routed) = &mut record.routed {
            routed.flow_properties = Some(properties);
        }
    }

    /// A link that is one with another can be spoken on now: what its partner's peer has said reaches it.
    pub(crate) fn routed_opened(&mut self, host: &mut H, link: u32) {
        let record = &mut self.links[link];
        if let Some(properties) = record.routed.as_mut().and_then(|routed| routed.flow_properties.take()) {
            host.say_with_flow(record.host, *properties);
        }
        if record.incoming {
            self.relay_credit_to(host, link);
        }
    }

    /// As [`Core::relay_credit`], for the link on which the peer sends.
    #[inline(never)] // Off the way of all other deliveries.
    pub(crate) fn relay_credit_to(&mut self, host: &mut H, sender: u32) {
        if let Some(receiver) = self.partner(&self.links[sender]) {
            self.relay_credit(host, receiver);
        }
    }

    /// The peer that sends has given credit back. If the receiver drains no more, for it has thought better of it, or never
    /// asked, it still counts on what it has given.
    #[inline(never)] // Off the way of all other deliveries.
    pub(crate) fn relay_returned(&mut self, host: &mut H, receiver: u32) {
        match self.links[receiver].draining {
            true => self.relay_drained(host, receiver),
            false => self.relay_credit(host, receiver),
        }
    }

    /// The peer that sends has used its credit or given it back: if the receiver drains, and nothing waits for it, it gets
    /// back what is left.
    #[inline(never)] // Off the way of all other deliveries.
    pub(crate) fn relay_drained(&mut self, host: &mut H, receiver: u32) {
        let drained = self.partner(&self.links[receiver]).is_some_and(|sender| {
            let sender = &self.links[sender];
            sender.credit == 0 && !sender.draining
        });
        let second = self.clock.second;
        let record = &mut self.links[receiver];
        if drained && record.draining && record.queue_head == NONE {
            record.draining = false;
            if std::mem::take(&mut record.credit) > 0 {
                record.no_credit_since = second;
            }
            host.drained(record.host);
        }
    }
}
