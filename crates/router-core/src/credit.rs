//! Credit: who may send how much.
//!
//! A sender has credit while its deliveries have somewhere to go, and then always its whole capacity: what it has not
//! used, and what is held for deliveries not yet settled, add up to it. Credit comes back as deliveries are settled.
//! When the last destination goes, the sender is asked to drain; when one comes back, its credit is filled up again.
//!
//! On outgoing links the peer's credit is spent by transmissions; what it does not cover is queued.

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::{Host, LinkKey, Now};

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
            self.unblock(index_of(link.0));
        }
        self.push_queue(host, index_of(link.0));
    }

    /// An incoming link's peer gave back `returned` unused credit, as it was asked to.
    pub fn drained(&mut self, now: Now, host: &mut H, link: LinkKey, returned: u32) {
        self.tick(now);
        let second = self.clock.second;
        let Some(record) = self.links.get_mut(link.0).filter(|link| link.incoming) else { return };
        record.draining = false;
        if record.credit > 0 && returned >= record.credit {
            record.no_credit_since = second;
        }
        record.credit = record.credit.saturating_sub(returned);
        if record.flowing {
            self.top_up(host, index_of(link.0));
        }
    }

    /// A delivery on this incoming link ended before it was offered (aborted by its sender): its credit comes back.
    pub fn discarded(&mut self, now: Now, host: &mut H, link: LinkKey) {
        self.tick(now);
        if self.links.get(link.0).is_some_and(|link| link.incoming) {
            let link = index_of(link.0);
            self.hold_credit(link);
            self.give_back(host, link);
        }
    }

    /// Where deliveries for this address can go has changed: its senders, and those of whom it is the fallback, are told.
    pub(crate) fn destinations_changed(&mut self, host: &mut H, addr: u32) {
        for addr in [addr, self.addresses[addr].fallback_of] {
            if addr == NONE {
                continue;
            }
            let reachable = self.is_reachable(addr);
            let mut link = self.addresses[addr].senders.head;
            while link != NONE {
                self.set_flowing(host, link, reachable);
                link = self.links[link].addr_next;
            }
        }
    }

    /// Gives a sender its credit, or asks for it back.
    pub(crate) fn set_flowing(&mut self, host: &mut H, link: u32, flowing: bool) {
        let record = &mut self.links[link];
        if record.flowing == flowing {
            return;
        }
        record.flowing = flowing;
        if flowing {
            if std::mem::take(&mut record.draining) {
                host.drain(record.host, false);
            }
            self.top_up(host, link);
        } else {
            self.ask_to_drain(host, link);
        }
    }

    /// Asks a sender that has credit to use it or give it back.
    pub(crate) fn ask_to_drain(&mut self, host: &mut H, link: u32) {
        let link = &mut self.links[link];
        if link.credit > 0 && !link.draining {
            link.draining = true;
            host.drain(link.host, true);
        }
    }

    /// Fills a sender's credit up.
    fn top_up(&mut self, host: &mut H, link: u32) {
        let record = &self.links[link];
        let missing = record.capacity.saturating_sub(record.credit.saturating_add(record.held));
        if missing > 0 {
            self.grant(host, link, missing);
        }
    }

    /// A delivery came: its credit is used, and held until the delivery is over.
    pub(crate) fn hold_credit(&mut self, link: u32) {
        let second = self.clock.second;
        let link = &mut self.links[link];
        link.held += 1;
        if link.credit > 0 {
            link.credit -= 1;
            if link.credit == 0 {
                link.no_credit_since = second;
            }
        }
    }

    /// A delivery is over: its credit goes back to the sender, if further ones have somewhere to go.
    pub(crate) fn give_back(&mut self, host: &mut H, link: u32) {
        let record = &mut self.links[link];
        record.held -= 1;
        // A sender that used more credit than it had is not given it a second time.
        if record.flowing && record.credit + record.held < record.capacity {
            self.grant(host, link, 1);
        }
    }

    fn grant(&mut self, host: &mut H, link: u32, credit: u32) {
        let record = &mut self.links[link];
        record.credit += credit;
        host.add_credit(record.host, credit);
        if record.blocked {
            self.unblock(link);
        }
    }

    /// There is credit again.
    fn unblock(&mut self, link: u32) {
        if std::mem::take(&mut self.links[link].blocked) {
            self.statistics.links_blocked -= 1;
        }
    }

    /// A transmission begins: it costs one credit.
    pub(crate) fn spend_credit(&mut self, link: u32) {
        let second = self.clock.second;
        let link = &mut self.links[link];
        link.credit -= 1;
        if link.credit == 0 {
            link.no_credit_since = second;
        }
    }
}
