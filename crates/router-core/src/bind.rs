//! Which links belong to which address: making and dropping entries, binding and unbinding links.

use std::sync::Arc;

use crate::address::key::{Class, FALLBACK_PHASE, Parsed, write_key};
use crate::address::{Address, LinkList, Within};
use crate::arena::NONE;
use crate::core::Core;
use crate::forward::balanced::Loads;
use crate::routers::Remotes;
use crate::{Host, Mode, NetworkEvent, Treatment};

/// Classes of addresses that other routers are told of: mobile ones, link routes, edge routers.
const ANNOUNCED: [char; 6] = ['M', 'C', 'D', 'E', 'F', 'H'];
/// Address of the heartbeats that edge routers send.
pub(crate) const HEARTBEAT_KEY: &str = "M0_$qd.edge_heartbeat";

/// Address of the receivers that tell edge routers where consumers are.
const TRACKING_KEY: &str = "M0_$qd.edge_addr_tracking";

/// What an entry is made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Making {
    pub(crate) treatment: Treatment,
    pub(crate) priority: Option<u8>,
    /// It gets a fallback.
    pub(crate) fallback: bool,
}

impl Making {
    /// An entry that no configuration is asked about.
    pub(crate) fn plain(treatment: Treatment) -> Self {
        Self { treatment, priority: None, fallback: false }
    }
}

impl<H: Host> Core<H> {
    /// How an address that has no entry yet is to be treated.
    pub(crate) fn making(&self, parsed: &Parsed<'_>, tenant: &str) -> Making {
        match parsed.class {
            Class::Mobile => {
                let config = self.configs.best_for(tenant, parsed.rest);
                config.map_or(Making::plain(self.settings.default_treatment), |config| Making {
                    treatment: config.distribution,
                    priority: config.priority,
                    fallback: config.fallback,
                })
            }
            Class::Router => Making::plain(Treatment::Closest),
            Class::Local | Class::Topological | Class::Area | Class::Edge => Making::plain(Treatment::Balanced),
        }
    }

    /// Looks an address up.
    pub(crate) fn find_address(&mut self, parsed: &Parsed<'_>, phase: char, tenant: &str) -> Option<u32> {
        write_key(&mut self.scratch, parsed, phase, tenant);
        self.addresses.find(&self.scratch)
    }

    /// Looks an address up by key, and makes an entry if there is none.
    pub(crate) fn find_or_make(&mut self, key: &str, making: Making) -> u32 {
        if let Some(found) = self.addresses.find(key) {
            return found;
        }
        let made = self.make_address(key, making);
        if making.fallback && !key.starts_with("MF") {
            let twin_key = format!("M{FALLBACK_PHASE}{}", self.addresses[made].mobile_text().unwrap_or_default());
            let twin = self.find_or_make(&twin_key, making);
            self.addresses[made].fallback = twin;
            self.addresses[twin].fallback_of = made;
        }
        made
    }

    fn make_address(&mut self, key: &str, making: Making) -> u32 {
        self.next_address += 1;
        let addr = self.addresses.insert(Address {
            receivers: LinkList::default(),
            senders: LinkList::default(),
            at_edge: [0; 2],
            internal: 0,
            treatment: making.treatment,
            permanent: false,
            within: Within::Nothing,
            priority: making.priority.map_or(-1, |priority| priority as i8),
            fallback: NONE,
            fallback_of: NONE,
            loads: None,
            remote: false,
            beyond: false,
            reach: None,
            subscribers: Vec::new(),
            ways: None,
            remotes: Remotes::default(),
            hops: None,
            ingress: 0,
            egress: 0,
            transit: 0,
            rare: None,
            key: Arc::from(key),
            serial: self.next_address,
            named: 0,
        });
        self.enter_ways(addr);
        addr
    }

    /// The address to which anyone may send heartbeats: they are accepted and go nowhere.
    pub(crate) fn add_heartbeat_address(&mut self) {
        let heartbeat = self.find_or_make(HEARTBEAT_KEY, Making::plain(Treatment::Balanced));
        self.addresses[heartbeat].permanent = true;
        self.addresses[heartbeat].within = Within::Sink;
    }

    /// The address of what edge routers are told, in routers that they connect to.
    pub(crate) fn add_tracking_address(&mut self) {
        if self.settings.mode == Mode::Interior {
            let tracking = self.find_or_make(TRACKING_KEY, Making::plain(Treatment::Balanced));
            self.addresses[tracking].permanent = true;
        }
    }

    /// Drops an entry, and then its fallback, if nothing keeps them.
    pub(crate) fn drop_if_idle(&mut self, addr: u32) {
        if !self.addresses[addr].is_idle() {
            return;
        }
        self.leave_ways(addr);
        let twin = self.addresses[addr].fallback;
        self.addresses.remove(addr);
        if twin != NONE {
            self.addresses[twin].fallback_of = NONE;
            self.drop_if_idle(twin);
        }
    }

    /// Whether a delivery to this address, or its fallback, has somewhere to go.
    pub(crate) fn is_reachable(&self, addr: u32) -> bool {
        let address = &self.addresses[addr];
        address.has_destination() || (address.fallback != NONE && self.addresses[address.fallback].has_destination())
    }

    /// Binds a link to an address: a sender gets credit if there is a destination, a receiver may be that destination.
    pub(crate) fn bind(&mut self, host: &mut H, link: u32, addr: u32) {
        self.links[link].addr = addr;
        let incoming = self.links[link].incoming;
        let list = self.list_mut(addr, incoming);
        let last = std::mem::replace(&mut list.tail, link);
        list.len += 1;
        if last == NONE {
            list.head = link;
        } else {
            self.links[last].addr_next = link;
        }
        self.links[link].addr_prev = last;
        if incoming {
            let reachable = self.is_reachable(addr);
            self.links[link].set_flowing(host, &mut self.statistics, reachable);
            if matches!(self.addresses[addr].within, Within::Exchange(_)) {
                host.look_deeper(self.links[link].host);
            }
        } else {
            self.weigh(addr, link);
            if self.addresses[addr].receivers.len == 1 {
                self.destinations_changed(host, addr);
            }
        }
        self.bound_changed(host, link, addr, true);
    }

    /// Undoes [`Core::bind`]; the entry goes if this was the last that kept it.
    pub(crate) fn unbind(&mut self, host: &mut H, link: u32) {
        let addr = std::mem::replace(&mut self.links[link].addr, NONE);
        if addr == NONE {
            return;
        }
        let incoming = self.links[link].incoming;
        self.unlist_from_address(addr, link, incoming);
        if !incoming {
            self.unweigh(addr, link);
            if self.addresses[addr].receivers.len == 0 {
                self.destinations_changed(host, addr);
            }
        }
        self.bound_changed(host, link, addr, false);
        self.drop_if_idle(addr);
    }

    /// Tells other routers of an address that got its first consumer here, or lost its last, if its class concerns them.
    pub(crate) fn announce(&self, host: &mut H, addr: u32, present: bool) {
        let address = &self.addresses[addr];
        if self.settings.mode != Mode::Standalone && address.key.starts_with(ANNOUNCED) {
            host.network(NetworkEvent::LocalAddress { key: &address.key, treatment: address.treatment, present });
        }
    }

    fn list_mut(&mut self, addr: u32, incoming: bool) -> &mut LinkList {
        let address = &mut self.addresses[addr];
        if incoming { &mut address.senders } else { &mut address.receivers }
    }

    fn unlist_from_address(&mut self, addr: u32, link: u32, incoming: bool) {
        let (prev, next) = (self.links[link].addr_prev, self.links[link].addr_next);
        if prev != NONE {
            self.links[prev].addr_next = next;
        }
        if next != NONE {
            self.links[next].addr_prev = prev;
        }
        let list = self.list_mut(addr, incoming);
        list.len -= 1;
        if prev == NONE {
            list.head = next;
        }
        if next == NONE {
            list.tail = prev;
        }
        self.links[link].addr_prev = NONE;
        self.links[link].addr_next = NONE;
    }

    /// Moves the first receiver of an address to the end of its list and returns it.
    pub(crate) fn rotate_receivers(&mut self, addr: u32) -> Option<u32> {
        let LinkList { head, tail, .. } = self.addresses[addr].receivers;
        if head != tail {
            let next = self.links[head].addr_next;
            self.links[next].addr_prev = NONE;
            self.links[head].addr_next = NONE;
            self.links[head].addr_prev = tail;
            self.links[tail].addr_next = head;
            let list = &mut self.addresses[addr].receivers;
            list.head = next;
            list.tail = head;
        }
        (head != NONE).then_some(head)
    }

    /// Begins to keep account of a new receiver's load. A single receiver needs no account.
    fn weigh(&mut self, addr: u32, link: u32) {
        let address = &self.addresses[addr];
        if address.treatment != Treatment::Balanced || address.receivers.len < 2 {
            return;
        }
        // The second receiver brings the first one in with it.
        let (mut loads, mut next) = match self.addresses[addr].loads.take() {
            Some(loads) => (loads, link),
            None => (Box::new(Loads::new()), self.addresses[addr].receivers.head),
        };
        while next != NONE {
            let receiver = &mut self.links[next];
            receiver.slot = loads.add(next, receiver.load(), receiver.capacity);
            receiver.weighed = true;
            next = receiver.addr_next;
        }
        self.addresses[addr].loads = Some(loads);
    }

    fn unweigh(&mut self, addr: u32, link: u32) {
        let address = &mut self.addresses[addr];
        if let Some(loads) = &mut address.loads {
            loads.remove(self.links[link].slot);
            self.links[link].weighed = false;
            if address.receivers.len < 2 {
                address.loads = None;
                let last = address.receivers.head;
                if last != NONE {
                    self.links[last].weighed = false;
                }
            }
        }
    }

    /// Tells the address of a link what its load is now.
    pub(crate) fn load_changed(&mut self, link: u32) {
        let link = &self.links[link];
        if link.weighed
            && let Some(loads) = &mut self.addresses[link.addr].loads
        {
            loads.set(link.slot, link.load());
        }
    }
}
