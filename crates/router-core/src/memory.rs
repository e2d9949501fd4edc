//! Memory is short: who may send no more until what he has sent is gone?
//!
//! Each link has a bound of its own, its credit; a thousand times that bound may still be more than there is. While messages
//! take too much memory altogether, a sender whose deliveries have to be queued gets no credit, and is asked to stop, until
//! these have left their queues. Whose deliveries leave at once goes on undisturbed: receivers that never read hold up
//! those who send to them, and nobody else.
//!
//! Other routers are not held up. What they send is of many senders, for whom the routers that they are connected to care,
//! and everything else would have to wait behind it.

use crate::arena::index_of;
use crate::core::Core;
use crate::{Host, LinkType, Now};

impl<H: Host> Core<H> {
    /// Whether messages take more memory than they may.
    pub fn is_memory_short(&self) -> bool {
        self.memory_short
    }

    /// Messages take more memory than they may, or no longer.
    pub fn set_memory_short(&mut self, now: Now, host: &mut H, short: bool) {
        self.tick(now);
        self.memory_short = short;
        if !short {
            for key in std::mem::take(&mut self.held_up) {
                self.let_go_on(host, key);
            }
        }
    }

    /// A delivery of this link is to be queued while memory is short: its sender is held up until it has left the queue. The
    /// key of the link; 0: nobody is held up.
    pub(crate) fn hold_up(&mut self, host: &mut H, sender: u64) -> u64 {
        let Some(link) = self.links.get_mut(sender) else { return 0 };
        if link.link_type != LinkType::Endpoint || self.connections[link.conn].info.internal {
            return 0;
        }
        link.queued_short += 1;
        if !std::mem::replace(&mut link.held_up, true) {
            self.held_up.insert(sender);
            host.hold_up(link.host, true);
        }
        sender
    }

    /// A delivery that holds its sender up has left its queue.
    #[cold]
    pub(crate) fn holds_up_no_more(&mut self, host: &mut H, key: u64) {
        let Some(link) = self.links.get_mut(key) else { return };
        link.queued_short -= 1;
        if link.queued_short == 0 {
            self.let_go_on(host, key);
        }
    }

    /// Lets a sender go on that was held up, with the credit that it was not given.
    fn let_go_on(&mut self, host: &mut H, key: u64) {
        let Some(link) = self.links.get_mut(key).filter(|link| link.held_up) else { return };
        link.held_up = false;
        self.held_up.remove(&key);
        host.hold_up(link.host, false);
        if link.routed.is_some() {
            self.relay_credit_to(host, index_of(key));
        } else if link.flowing {
            link.top_up(host, &mut self.statistics);
        }
    }
}
