//! Addresses that have consumers on other routers.

use crate::address::key::FALLBACK_PHASE;
use crate::bind::Making;
use crate::core::Core;
use crate::link_routes::pattern_of;
use crate::{Host, Now, RouterIndex, Treatment};

impl<H: Host> Core<H> {
    /// An address has consumers on another router. `treatment` is that router's; this router's configuration goes first.
    /// A key of no class that may be announced is ignored.
    pub fn add_remote_address(
        &mut self,
        now: Now,
        host: &mut H,
        router: RouterIndex,
        key: &str,
        treatment: Option<Treatment>,
    ) {
        self.tick(now);
        if self.routers.get(router).is_none() {
            return;
        }
        let Some(making) = self.making_remote(key, treatment) else { return };
        let addr = self.find_or_make(key, making);
        if let Some(router) = self.routers.get_mut(router) {
            router.addresses.insert(addr);
        }
        self.add_remote(host, router, addr);
    }

    /// How an address that another router announces is to be treated; `None`: it is of no class that may be announced.
    fn making_remote(&self, key: &str, hint: Option<Treatment>) -> Option<Making> {
        let mut letters = key.chars();
        match letters.next()? {
            'M' => {
                letters.next().filter(|phase| phase.is_ascii_digit() || *phase == FALLBACK_PHASE)?;
                let configured = self.configs.best_for("", letters.as_str());
                let treatment = configured.map(|config| config.distribution).or(hint);
                Some(Making {
                    treatment: match treatment.unwrap_or(self.settings.default_treatment) {
                        Treatment::Unavailable => Treatment::Balanced,
                        treatment => treatment,
                    },
                    priority: configured.and_then(|config| config.priority),
                    fallback: configured.is_some_and(|config| config.fallback),
                })
            }
            'C' | 'D' | 'E' | 'F' => pattern_of(key).map(|_| Making::plain(Treatment::LinkBalanced)),
            'H' => Some(Making::plain(Treatment::Balanced)),
            _ => None,
        }
    }

    /// An address has no consumers on another router any more.
    pub fn remove_remote_address(&mut self, now: Now, host: &mut H, router: RouterIndex, key: &str) {
        self.tick(now);
        let Some(addr) = self.addresses.find(key) else { return };
        let Some(record) = self.routers.get_mut(router) else { return };
        if record.addresses.remove(&addr) {
            self.remove_remote(host, router, addr);
            self.drop_if_idle(addr);
        }
    }

    /// No address has consumers on another router any more, until it is told anew.
    pub fn flush_remote_addresses(&mut self, now: Now, host: &mut H, router: RouterIndex) {
        self.tick(now);
        self.flush(host, router);
    }

    pub(crate) fn flush(&mut self, host: &mut H, router: RouterIndex) {
        let Some(record) = self.routers.get_mut(router) else { return };
        for addr in std::mem::take(&mut record.addresses) {
            self.remove_remote(host, router, addr);
            self.drop_if_idle(addr);
        }
    }

    /// Notes that a router has consumers of an address.
    pub(crate) fn add_remote(&mut self, host: &mut H, router: RouterIndex, addr: u32) {
        if self.addresses[addr].remotes.insert(router) {
            self.remotes_changed(host, addr);
        }
    }

    /// Notes that a router has no consumers of an address any more.
    pub(crate) fn remove_remote(&mut self, host: &mut H, router: RouterIndex, addr: u32) {
        if self.addresses[addr].remotes.remove(router) {
            self.remotes_changed(host, addr);
        }
    }

    /// The routers with consumers of an address have changed, or which of them can be reached.
    pub(crate) fn remotes_changed(&mut self, host: &mut H, addr: u32) {
        let address = &mut self.addresses[addr];
        if let Some(hops) = &mut address.hops {
            hops.outdate();
        }
        let reachable = address.remotes.iter().any(|router| self.routers.route(router).is_some());
        if std::mem::replace(&mut address.remote, reachable) != reachable {
            address.look_beyond();
            self.destinations_changed(host, addr);
        }
    }
}
