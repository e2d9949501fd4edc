//! A host that checks every call against what its peers know.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Weak};

use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};
use router_core::*;

/// Link capacity.
pub(crate) const CAPACITY: u32 = 4;
/// What there is to send to and to receive from.
pub(crate) const ADDRESSES: [&str; 5] = ["balanced", "closest", "multicast", "fallback", "$management"];

pub(crate) type Message = u64;

/// A delivery as its sender sees it.
#[derive(Debug, Default)]
pub(crate) struct Offering {
    pub(crate) link: u32,
    pub(crate) address: usize,
    pub(crate) key: Option<InKey>,
    pub(crate) complete: bool,
    pub(crate) presettled: bool,
    /// The router has settled.
    pub(crate) settled: bool,
    /// The sender has settled, aborted, or gone.
    pub(crate) over: bool,
    pub(crate) told: Option<DeliveryState>,
    /// How often it was transmitted or taken within the router.
    pub(crate) transmitted: usize,
    pub(crate) accepted: bool,
}

/// A copy as its receiver sees it.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) link: u32,
    pub(crate) message: Message,
    pub(crate) settled: bool,
    pub(crate) partial: bool,
}

#[derive(Debug)]
pub(crate) struct HostLink {
    pub(crate) key: LinkKey,
    pub(crate) conn: usize,
    pub(crate) incoming: bool,
    pub(crate) address: usize,
    pub(crate) credit: u32,
    pub(crate) draining: bool,
    pub(crate) busy: bool,
    pub(crate) held_up: bool,
}

#[derive(Default)]
pub(crate) struct CheckingHost {
    pub(crate) offered: Message,
    pub(crate) offers: BTreeMap<Message, Offering>,
    pub(crate) copies: BTreeMap<u64, Copied>,
    pub(crate) links: BTreeMap<u32, HostLink>,
    pub(crate) unwritable: BTreeSet<usize>,
    pub(crate) contents: Vec<Weak<Message>>,
    pub(crate) slow: bool,
}

impl CheckingHost {
    pub(crate) fn link(&mut self, link: u32) -> &mut HostLink {
        self.links.get_mut(&link).unwrap_or_else(|| panic!("the core names link {link}, which is gone"))
    }

    /// Whether a sender still expects to hear of its deliveries.
    pub(crate) fn alive(&self, offer: &Offering) -> bool {
        self.links.contains_key(&offer.link)
    }
}

impl Host for CheckingHost {
    type Conn = usize;
    type Link = u32;
    type Content = Arc<Message>;

    fn attach_answer(&mut self, _link: u32, _source: Option<Source>, _target: Option<TargetTerminus>) {}
    fn open_link(&mut self, _: Self::Conn, _: LinkKey, _: OpenLink) -> u32 {
        unreachable!("no routers beside this one")
    }

    fn network(&mut self, _: NetworkEvent<'_>) {}

    fn detach(&mut self, _link: u32, _closed: bool, _error: Option<ErrorCondition>) {}
    fn add_credit(&mut self, link: u32, credit: u32) {
        let link = self.link(link);
        assert!(link.incoming && credit > 0);
        link.credit += credit;
        assert!(link.credit <= CAPACITY, "more credit than the capacity");
    }
    fn drain(&mut self, link: u32, drain: bool) {
        let link = self.link(link);
        assert!(link.incoming && link.draining != drain, "asked twice");
        link.draining = drain;
    }
    fn hold_up(&mut self, link: u32, hold: bool) {
        let link = self.link(link);
        assert!(link.incoming && link.held_up != hold, "held up or let go twice");
        link.held_up = hold;
    }
    fn drained(&mut self, link: u32) {
        let link = self.link(link);
        assert!(!link.incoming && link.credit > 0);
        link.credit = 0;
    }
    fn retain(&mut self) -> Arc<Message> {
        let content = Arc::new(self.offered);
        self.contents.push(Arc::downgrade(&content));
        content
    }
    fn transmit(&mut self, link: u32, key: OutKey, content: Option<&Arc<Message>>, how: &Transmit<'_>) -> Transmitted {
        let message = content.map_or(self.offered, |content| **content);
        let slow = self.slow;
        let offer = self.offers.get_mut(&message);
        let partial = slow || offer.as_ref().is_some_and(|offer| !offer.complete);
        if let Some(offer) = offer {
            offer.transmitted += 1;
            offer.accepted |= how.settled;
            assert!(!offer.presettled || how.settled, "a settled delivery goes out unsettled");
            assert!(ADDRESSES[offer.address] == "multicast" || offer.transmitted == 1, "doubled");
        }
        let host_link = self.link(link);
        assert!(!host_link.incoming && host_link.credit > 0, "sent without credit");
        assert!(!host_link.busy, "sent while busy");
        host_link.credit -= 1;
        host_link.busy = partial;
        let conn = host_link.conn;
        assert!(!self.unwritable.contains(&conn), "sent to a connection that takes nothing");
        if partial || !how.settled {
            let copy = Copied { link, message, settled: how.settled, partial };
            assert!(self.copies.insert(key.0, copy).is_none(), "a key was used twice");
        }
        if partial { Transmitted::Partial } else { Transmitted::Complete }
    }
    fn abort(&mut self, link: u32, key: OutKey) {
        let copy = self.copies.remove(&key.0).expect("aborted what is not being sent");
        assert!(copy.partial && copy.link == link);
        self.link(link).busy = false;
    }
    fn update_incoming(&mut self, link: u32, delivery_id: u32, state: Option<DeliveryState>, settled: bool) {
        self.link(link);
        let offer = self.offers.get_mut(&u64::from(delivery_id)).expect("an update of an unknown delivery");
        assert_eq!(offer.link, link);
        assert!(!offer.settled, "settled twice, or updated after the settlement");
        assert!(!offer.presettled && !offer.over, "updated after its sender was done with it");
        if settled {
            assert!(offer.complete, "settled before all of it was there");
            offer.settled = true;
            match &state {
                Some(DeliveryState::Accepted) => assert!(offer.accepted, "accepted by nobody"),
                Some(DeliveryState::Released) if ADDRESSES[offer.address] != "multicast" => {
                    assert!(offer.transmitted == 0 || offer.told == state, "released although it was sent");
                }
                _ => {}
            }
        }
        if let (Some(told), Some(state)) = (&offer.told, &state)
            && told.is_terminal()
        {
            assert_eq!(told, state, "the outcome changed");
        }
        offer.told = state;
    }
    fn update_outgoing(&mut self, link: u32, key: OutKey, _state: Option<DeliveryState>, settled: bool) {
        self.link(link);
        let copy = self.copies.get_mut(&key.0).expect("an update of an unknown copy");
        assert!(!copy.settled, "a copy settled twice");
        copy.settled = settled;
        if settled && !copy.partial {
            self.copies.remove(&key.0);
        }
    }
    fn to_subscriber(
        &mut self,
        _subscriber: SubscriberId,
        content: Option<&Arc<Message>>,
        _from: &SubscriberDelivery,
    ) -> Result<(), ErrorCondition> {
        let message = content.map_or(self.offered, |content| **content);
        if let Some(offer) = self.offers.get_mut(&message) {
            assert!(offer.complete);
            offer.transmitted += 1;
            offer.accepted = true;
        }
        Ok(())
    }
    fn log_enabled(&self, _module: Module, _level: Level) -> bool {
        true
    }
    fn log(&mut self, _module: Module, _level: Level, text: fmt::Arguments<'_>) {
        assert!(!text.to_string().is_empty());
    }
}
