//! A link ends.

use amqp::ErrorCondition;

use crate::arena::index_of;
use crate::core::Core;
use crate::{Host, Level, LinkKey, Module, Now};

impl<H: Host> Core<H> {
    /// The peer detached; answered through [`Host::detach`] with the same `closed`. Not to be called for the peer's
    /// answer to a detach of ours.
    pub fn detach(&mut self, now: Now, host: &mut H, link: LinkKey, closed: bool, error: Option<ErrorCondition>) {
        self.tick(now);
        if let Some(record) = self.links.get(link.0) {
            if let Some(error) = &error {
                let (conn, id) = (self.connections[record.conn].info.id, record.id);
                let reason = error.description.as_deref().unwrap_or_default();
                host.log(
                    Module::RouterCore,
                    Level::Debug,
                    format_args!("[C{conn}][L{id}] Peer detaches: {} {reason}", error.condition),
                );
            }
            if self.links.get(link.0).is_some_and(|link| link.routed.is_some()) {
                return self.routed_detached(host, index_of(link.0), closed, error);
            }
            if self.links[index_of(link.0)].auto_link != 0 {
                self.auto_link_failed(host, index_of(link.0), error.as_ref());
            }
            let answer_to = self.links[index_of(link.0)].host;
            self.remove_link(host, index_of(link.0), "Link detached");
            host.detach(answer_to, closed, None);
        }
    }

    /// A link ended with its session or because this side gave it up without ceremony.
    pub fn link_lost(&mut self, now: Now, host: &mut H, link: LinkKey) {
        self.tick(now);
        if self.links.get(link.0).is_some() {
            self.remove_link(host, index_of(link.0), "Link lost");
        }
    }

    /// Closes a link from this side, for a reason that the surroundings found.
    pub fn force_detach(&mut self, now: Now, host: &mut H, link: LinkKey, error: Option<ErrorCondition>) {
        self.tick(now);
        if let Some(record) = self.links.get(link.0) {
            let detached = record.host;
            self.remove_link(host, index_of(link.0), "Link lost");
            host.detach(detached, true, error);
        }
    }
}
