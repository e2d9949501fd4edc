//! The end of a router's work, in order: senders are told to stop, and what is not settled by then is handed back.

use crate::core::Core;
use crate::{Host, LinkType, Now};

impl<H: Host> Core<H> {
    /// Gives no more credit to those who send, and asks back what they have.
    pub fn stop_senders(&mut self, now: Now, host: &mut H) {
        self.tick(now);
        let Self { links, statistics, .. } = self;
        for link in links.values_mut().filter(|link| link.incoming && link.link_type == LinkType::Endpoint) {
            link.set_flowing(host, statistics, false);
            link.ask_to_drain(host);
        }
    }

    /// Takes back from receivers what they have not settled: their senders are told, as if the receivers had gone.
    pub fn hand_back(&mut self, now: Now, host: &mut H) {
        self.tick(now);
        let receivers: Vec<u32> = self
            .links
            .iter()
            .filter(|(_, link)| !link.incoming && link.link_type != LinkType::RouterControl)
            .map(|(key, _)| crate::arena::index_of(key))
            .collect();
        for index in receivers {
            self.receiver_gone(host, index);
        }
    }
}
