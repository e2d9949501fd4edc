//! Credit: who may send how much.
//!
//! A sender has credit while its deliveries have somewhere to go, and then always its whole capacity: what it has not
//! used, and what is held for deliveries not yet settled, add up to it. Credit comes back as deliveries are settled.
//! When the last destination is gone, no credit comes back, and the first delivery that is released for it brings the
//! sender the request to drain; when a destination comes back, its credit is filled up again.
//!
//! On outgoing links the peer's credit is spent by transmissions; what it does not cover is queued.

use crate::arena::{NONE, index_of};
use crate::core::{Clock, Core};
use crate::link::Link;
use crate::{Host, LinkKey, Now, RouterStatistics};

impl<H: Host> Link<H> {
    /// Incoming: a delivery came. Its credit is used, and held until the delivery is over.
    pub(crate) fn hold_credit(&mut self, clock: Clock) {
        self.held += 1;
        if self.credit > 0 {
            self.spend_credit(clock);
        }
    }

    /// One credit is used.
    pub(crate) fn spend_credit(&mut self, clock: Clock) {
        self.credit -= 1;
        if self.credit == 0 {
            self.no_credit_since = clock.second;
        }
    }

    /// Incoming: a delivery is over. Its credit goes back to the sender, if further ones have somewhere to go.
    pub(crate) fn give_back(&mut self, host: &mut H, router: &mut RouterStatistics) {
        self.held -= 1;
        // A sender that used more credit than it had is not given it a second time.
        if self.flowing && !self.held_up && self.credit + self.held < self.capacity {
            self.grant(host, router, 1);
        }
    }

    /// Incoming, from another router: a delivery was forwarded, and the next one may come at once, whatever is held. What
    /// is given back later then finds the sender's credit full.
    pub(crate) fn replenish(&mut self, host: &mut H, router: &mut RouterStatistics) {
        if self.flowing && self.credit < self.capacity {
            self.grant(host, router, 1);
        }
    }

    /// Incoming: a settled delivery, for which its sender had to wait, has left its queue.
    pub(crate) fn give_back_owed(&mut self, host: &mut H, router: &mut RouterStatistics) {
        self.give_back(host, router);
        if self.is_between_routers() {
            self.replenish(host, router);
        }
    }

    /// Incoming, from another router: all its credit is held up by what does not get on. It gets it back, so that the rest of
    /// what it has can pass.
    pub(crate) fn relieve(&mut self, host: &mut H, router: &mut RouterStatistics) {
        if self.flowing && self.credit == 0 {
            self.grant(host, router, self.capacity);
        }
    }

    pub(crate) fn grant(&mut self, host: &mut H, router: &mut RouterStatistics, credit: u32) {
        self.credit += credit;
        self.unblock(router);
        host.add_credit(self.host, credit);
    }

    /// For how long it has lacked credit, at this second. A receiver that has used its credit up, and for which nothing
    /// waits, lacks none: such are those of a client that asks for one answer at a time.
    pub(crate) fn seconds_without_credit(&self, second: u32) -> u32 {
        let lacks_none = !self.incoming && self.counters.deliveries > 0 && self.undelivered == 0;
        if self.credit > 0 || lacks_none { 0 } else { second.saturating_sub(self.no_credit_since) }
    }

    /// There is credit again.
    fn unblock(&mut self, router: &mut RouterStatistics) {
        if std::mem::take(&mut self.blocked) {
            router.links_blocked -= 1;
        }
    }

    /// Fills a sender's credit up.
    pub(crate) fn top_up(&mut self, host: &mut H, router: &mut RouterStatistics) {
        let missing = self.capacity.saturating_sub(self.credit.saturating_add(self.held));
        if missing > 0 && !self.held_up {
            self.grant(host, router, missing);
        }
    }

    /// Asks a sender that has credit to use it or give it back.
    pub(crate) fn ask_to_drain(&mut self, host: &mut H) {
        if self.credit > 0 && !self.draining {
            self.draining = true;
            host.drain(self.host, true);
        }
    }

    /// Gives a sender its credit, or no more of it. What it has left is asked back when it uses it in vain: clients of the
    /// old router rely on that order.
    pub(crate) fn set_flowing(&mut self, host: &mut H, router: &mut RouterStatistics, flowing: bool) {
        // Nothing can be told to the peer of a link that is not attached yet.
        if self.flowing == flowing || !self.opened {
            return;
        }
        self.flowing = flowing;
        if flowing {
            if std::mem::take(&mut self.draining) {
                host.drain(self.host, false);
            }
            self.top_up(host, router);
        }
    }
}

impl<H: Host> Core<H> {
    /// An outgoing link's peer gave credit: `credit` deliveries may be begun now. With `drain` it wants back what we
    /// cannot use.
    pub fn credit(&mut self, now: Now, host: &mut H, link: LinkKey, credit: u32, drain: bool) {
        self.tick(now);
        let second = self.clock.second;
        let Some(record) = self.links.get_mut(link.0).filter(|link| !link.incoming) else { return };
        if credit == 0 && record.credit > 0 {
            record.no_credit_since = second;
        }
        record.credit = credit;
        record.draining = drain;
        if credit > 0 {
            record.unblock(&mut self.statistics);
        }
        if record.routed.is_some() {
            self.relay_credit(host, index_of(link.0));
        }
        self.push_queue(host, index_of(link.0));
    }

    /// An incoming link's peer gave back `returned` unused credit, as it was asked to.
    pub fn drained(&mut self, now: Now, host: &mut H, link: LinkKey, returned: u32) {
        self.tick(now);
        let second = self.clock.second;
        let Some(record) = self.links.get_mut(link.0).filter(|link| link.incoming) else { return };
        // Of two links that are one, what came may answer an earlier request than the last.
        record.draining &= record.routed.is_some() && returned < record.credit;
        if record.credit > 0 && returned >= record.credit {
            record.no_credit_since = second;
        }
        record.credit = record.credit.saturating_sub(returned);
        if record.flowing {
            record.top_up(host, &mut self.statistics);
        } else if record.routed.is_some()
            && let Some(receiver) = self.partner(&self.links[index_of(link.0)])
        {
            self.relay_returned(host, receiver);
        }
    }

    /// A delivery on this incoming link ended before it was offered (aborted by its sender): its credit comes back.
    pub fn discarded(&mut self, now: Now, host: &mut H, link: LinkKey) {
        self.tick(now);
        if let Some(record) = self.links.get_mut(link.0).filter(|link| link.incoming) {
            record.hold_credit(self.clock);
            record.give_back(host, &mut self.statistics);
            if record.is_between_routers() {
                record.replenish(host, &mut self.statistics);
            } else if record.routed.is_some() {
                self.relay_credit_to(host, index_of(link.0));
            }
        }
    }

    /// Where deliveries for this address can go has changed: its senders, and those of whom it is the fallback, are told.
    pub(crate) fn destinations_changed(&mut self, host: &mut H, addr: u32) {
        for addr in [addr, self.addresses[addr].fallback_of] {
            if addr == NONE {
                continue;
            }
            self.tell_destinations(host, addr);
            let reachable = self.is_reachable(addr);
            let mut link = self.addresses[addr].senders.head;
            while link != NONE {
                let sender = &mut self.links[link];
                sender.set_flowing(host, &mut self.statistics, reachable);
                link = sender.addr_next;
            }
        }
    }
}
