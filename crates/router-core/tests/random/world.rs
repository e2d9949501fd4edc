//! A router, its host, and the steps that are taken with them.

use std::sync::Arc;
use std::time::Duration;

use amqp::DeliveryState;
use amqp::terminus::{Source, Target, TargetTerminus};
use router_core::*;

use crate::host::{ADDRESSES, CAPACITY, CheckingHost, HostLink, Message, Offering};

pub(crate) struct World {
    pub(crate) core: Core<CheckingHost>,
    pub(crate) host: CheckingHost,
    pub(crate) now: Duration,
    pub(crate) conns: Vec<Option<ConnKey>>,
    pub(crate) next_link: u32,
    pub(crate) next_message: Message,
    pub(crate) subscriber: Option<SubscriberId>,
}

/// One step: what, and three numbers to choose by.
pub(crate) type Step = (u8, u8, u8, u8);

impl World {
    pub(crate) fn new() -> Self {
        let mut random = 1;
        let mut core = Core::new(RouterSettings {
            router_id: "QDR".into(),
            mode: Mode::Standalone,
            default_treatment: Treatment::Balanced,
            test_hooks: true,
            allow_resumable_link_route: true,
            random: Box::new(move || {
                random += 1;
                random
            }),
        });
        let mut host = CheckingHost::default();
        for (prefix, distribution, fallback) in [
            ("closest", Treatment::Closest, false),
            ("multicast", Treatment::Multicast, false),
            ("fallback", Treatment::Balanced, true),
        ] {
            let new = NewAddressConfig { prefix: Some(prefix.into()), distribution, fallback, ..Default::default() };
            core.create_address_config(&mut host, new).expect("valid");
        }
        let now = Duration::from_secs(100);
        Self { core, host, now, conns: vec![], next_link: 0, next_message: 0, subscriber: None }
    }

    pub(crate) fn step(&mut self, (what, a, b, c): Step) {
        match what % 20 {
            0 => self.connect(c),
            1..=3 => self.attach(a, b, c),
            4..=8 => self.send(a, b, c),
            9 => self.finish(a, b),
            10..=12 => self.outcome(a, b, c),
            13 => self.sender_outcome(a, b),
            14 => self.give_credit(a, b % 6, c),
            15 => self.transmitted(a),
            16 => self.lose(a, b, c),
            17 => self.toggle_writable(a),
            18 => self.drained(a),
            _ => self.other(a, b),
        }
    }

    fn connect(&mut self, strip: u8) {
        let id = self.core.next_connection_id();
        let strip_annotations = if strip.is_multiple_of(2) { StripAnnotations::No } else { StripAnnotations::Both };
        let info = ConnectionInfo { id, link_capacity: CAPACITY, strip_annotations, ..Default::default() };
        let key = self.core.open_connection(self.now, &mut self.host, self.conns.len(), info);
        self.conns.push(Some(key));
    }

    fn pick<T: Clone>(&self, from: impl Iterator<Item = T>, number: u8) -> Option<T> {
        let all: Vec<_> = from.collect();
        all.get(usize::from(number) % all.len().max(1)).cloned()
    }

    fn pick_link(&self, incoming: bool, number: u8) -> Option<(u32, LinkKey)> {
        let links = self.host.links.iter().filter(|(_, link)| link.incoming == incoming);
        self.pick(links.map(|(id, link)| (*id, link.key)), number)
    }

    fn attach(&mut self, conn: u8, kind: u8, address: u8) {
        let open = self.conns.iter().enumerate().filter_map(|(at, conn)| conn.map(|conn| (at, conn)));
        let Some((at, conn)) = self.pick(open, conn) else { return };
        let (incoming, address) = (kind.is_multiple_of(2), usize::from(address) % ADDRESSES.len());
        let text = Some(ADDRESSES[address].to_owned());
        // One sender in three is anonymous; one receiver in three is for the fallback or wants settled deliveries.
        let special = kind.is_multiple_of(3);
        let target = Target { address: text.clone().filter(|_| !special), ..Target::default() };
        let mut source = Source { address: text, ..Source::default() };
        if special && ADDRESSES[address] == "fallback" {
            source.capabilities.push("qd.fallback".into());
        }
        self.next_link += 1;
        let id = self.next_link;
        let record = HostLink {
            key: LinkKey::DEAD,
            conn: at,
            incoming,
            address,
            credit: 0,
            draining: false,
            busy: false,
            held_up: false,
        };
        self.host.links.insert(id, record);
        let info = AttachInfo {
            name: String::new(),
            incoming,
            source: (!incoming).then_some(source),
            target: Some(TargetTerminus::Target(if incoming { target } else { Target::default() })),
            send_settled: special && !incoming && address < 2,
            terms: LinkTerms::default(),
        };
        let key = self.core.attach(self.now, &mut self.host, conn, id, info);
        assert_ne!(key, LinkKey::DEAD);
        self.host.link(id).key = key;
    }

    fn send(&mut self, link: u8, how: u8, to: u8) {
        let links = self.host.links.iter().filter(|(_, link)| link.incoming && link.credit > 0 && !link.busy);
        let Some((id, key, address)) = self.pick(links.map(|(id, link)| (*id, link.key, link.address)), link) else {
            return;
        };
        let anonymous = self.core.link(self.now, key).is_some_and(|link| link.owning_addr.is_none());
        let address = if anonymous { usize::from(to) % ADDRESSES.len() } else { address };
        let (settled, complete) = (how.is_multiple_of(3), !how.is_multiple_of(4));
        let message = self.next_message;
        self.next_message += 1;
        self.host.offered = message;
        self.host.slow = how.is_multiple_of(5);
        let link = self.host.link(id);
        link.credit -= 1;
        link.busy = !complete;
        let offer = Offering { link: id, address, complete, presettled: settled, ..Offering::default() };
        self.host.offers.insert(message, offer);
        let offer = Offer {
            delivery_id: message as u32,
            settled,
            complete,
            to: Some(ADDRESSES[address]),
            to_override: None,
            phase: None,
            ingress: None,
            trace: amqp::message::Trace::default(),
            priority: 4,
            state: None,
            stamp: 0,
            tag: None,
            manner: Default::default(),
        };
        let offered = self.core.deliver(self.now, &mut self.host, key, offer);
        let offer = self.host.offers.get_mut(&message).expect("just inserted");
        match offered {
            Offered::Tracked(key) => {
                assert!(!settled || !complete, "nothing to track");
                offer.key = Some(key);
            }
            Offered::Done => {
                assert!(offer.presettled || offer.settled, "neither tracked nor settled");
                if !complete {
                    self.host.link(id).busy = false;
                }
            }
        }
        self.host.slow = false;
    }

    /// The rest of a message comes, or its end.
    fn finish(&mut self, which: u8, how: u8) {
        let unfinished = self
            .host
            .offers
            .iter()
            .filter(|(_, offer)| !offer.complete && offer.key.is_some() && self.host.alive(offer));
        let Some((message, key, link)) =
            self.pick(unfinished.map(|(message, offer)| (*message, offer.key, offer.link)), which)
        else {
            return;
        };
        let key = key.expect("filtered");
        self.host.link(link).busy = false;
        let offer = self.host.offers.get_mut(&message).expect("found");
        offer.complete = true;
        match how % 3 {
            0 => {
                offer.over = true;
                offer.key = None;
                self.core.aborted(self.now, &mut self.host, key);
            }
            1 => self.core.received(self.now, &mut self.host, key, false),
            _ => {
                offer.over = true;
                self.core.received(self.now, &mut self.host, key, true);
            }
        }
    }

    fn state(number: u8) -> Option<DeliveryState> {
        match number % 7 {
            0 => None,
            1 => Some(DeliveryState::Released),
            2 => Some(DeliveryState::Modified(Box::default())),
            3 => Some(DeliveryState::Rejected(None)),
            4 => Some(DeliveryState::Received { section_number: 0, section_offset: 0 }),
            _ => Some(DeliveryState::Accepted),
        }
    }

    fn outcome(&mut self, which: u8, state: u8, settled: u8) {
        let open = self.host.copies.iter().filter(|(_, copy)| !copy.settled);
        let Some(key) = self.pick(open.map(|(key, _)| *key), which) else { return };
        self.tell(key, Self::state(state), !settled.is_multiple_of(3));
    }

    fn tell(&mut self, key: u64, state: Option<DeliveryState>, settled: bool) {
        let copy = self.host.copies.get_mut(&key).expect("found");
        copy.settled = settled;
        let (message, partial) = (copy.message, copy.partial);
        if state == Some(DeliveryState::Accepted)
            && let Some(offer) = self.host.offers.get_mut(&message)
        {
            offer.accepted = true;
        }
        if state == Some(DeliveryState::Released)
            && let Some(offer) = self.host.offers.get_mut(&message)
        {
            // The receiver itself released it.
            offer.transmitted = 0;
        }
        if settled && !partial {
            self.host.copies.remove(&key);
        }
        self.core.outcome(self.now, &mut self.host, OutKey(key), state, settled);
    }

    fn sender_outcome(&mut self, which: u8, state: u8) {
        let open = self.host.offers.iter().filter(|(_, offer)| {
            offer.key.is_some() && !offer.presettled && !offer.settled && !offer.over && self.host.alive(offer)
        });
        let Some((message, key)) = self.pick(open.map(|(message, offer)| (*message, offer.key)), which) else { return };
        self.host.offers.get_mut(&message).expect("found").over = true;
        let key = key.expect("filtered");
        self.core.sender_outcome(self.now, &mut self.host, key, Self::state(state), true);
    }

    fn give_credit(&mut self, which: u8, credit: u8, drain: u8) {
        let Some((id, key)) = self.pick_link(false, which) else { return };
        let link = self.host.link(id);
        link.credit += u32::from(credit);
        let credit = link.credit;
        self.core.credit(self.now, &mut self.host, key, credit, drain.is_multiple_of(4));
    }

    fn transmitted(&mut self, which: u8) {
        let partial =
            self.host.copies.iter().filter(|(_, copy)| {
                copy.partial && self.host.offers.get(&copy.message).is_none_or(|offer| offer.complete)
            });
        let Some(key) = self.pick(partial.map(|(key, _)| *key), which) else { return };
        self.end_transmission(key);
    }

    fn end_transmission(&mut self, key: u64) {
        let copy = self.host.copies.get_mut(&key).expect("found");
        copy.partial = false;
        let (link, settled) = (copy.link, copy.settled);
        if settled {
            self.host.copies.remove(&key);
        }
        self.host.link(link).busy = false;
        self.core.transmitted(self.now, &mut self.host, OutKey(key));
    }

    fn lose(&mut self, which: u8, what: u8, how: u8) {
        if what.is_multiple_of(8) {
            let open = self.conns.iter().enumerate().filter_map(|(at, conn)| conn.map(|conn| (at, conn)));
            let Some((at, conn)) = self.pick(open, which) else { return };
            return self.close(at, conn);
        }
        let all = self.host.links.iter();
        let Some((id, key)) = self.pick(all.map(|(id, link)| (*id, link.key)), which) else { return };
        // A peer's detach is answered; a link that went with its session is simply not there any more.
        if how.is_multiple_of(2) {
            self.core.detach(self.now, &mut self.host, key, true, None);
            self.forget_link(id);
        } else {
            self.forget_link(id);
            self.core.link_lost(self.now, &mut self.host, key);
        }
    }

    fn forget_link(&mut self, id: u32) {
        self.host.links.remove(&id);
        self.host.copies.retain(|_, copy| copy.link != id);
    }

    fn close(&mut self, at: usize, conn: ConnKey) {
        self.conns[at] = None;
        let lost: Vec<_> = self.host.links.iter().filter(|(_, link)| link.conn == at).map(|(id, _)| *id).collect();
        self.core.close_connection(self.now, &mut self.host, conn);
        lost.into_iter().for_each(|id| self.forget_link(id));
        self.host.unwritable.remove(&at);
    }

    fn toggle_writable(&mut self, which: u8) {
        let open = self.conns.iter().enumerate().filter_map(|(at, conn)| conn.map(|conn| (at, conn)));
        let Some((at, conn)) = self.pick(open, which) else { return };
        let writable = self.host.unwritable.remove(&at) || {
            self.host.unwritable.insert(at);
            false
        };
        self.core.set_writable(self.now, &mut self.host, conn, writable);
    }

    fn drained(&mut self, which: u8) {
        let draining = self.host.links.iter().filter(|(_, link)| link.incoming && link.draining);
        let Some((id, key)) = self.pick(draining.map(|(id, link)| (*id, link.key)), which) else { return };
        let link = self.host.link(id);
        link.draining = false;
        let returned = std::mem::take(&mut link.credit);
        self.core.drained(self.now, &mut self.host, key, returned);
    }

    fn other(&mut self, what: u8, amount: u8) {
        match what % 5 {
            0 => {
                self.now += Duration::from_millis(u64::from(amount) * 20);
                self.core.handle_timeout(self.now, &mut self.host);
            }
            1 => match self.subscriber.take() {
                Some(subscriber) => self.core.unsubscribe(self.now, &mut self.host, subscriber),
                None => self.subscriber = Some(self.core.subscribe(self.now, &mut self.host, "M0$management")),
            },
            2 => {
                let short = !self.core.is_memory_short();
                self.core.set_memory_short(self.now, &mut self.host, short);
            }
            _ => {
                let content = Arc::new(u64::MAX);
                self.host.contents.push(Arc::downgrade(&content));
                let to = ADDRESSES[usize::from(amount) % ADDRESSES.len()];
                self.core.send_local(self.now, &mut self.host, to, content);
            }
        }
    }

    /// What must hold after every step.
    pub(crate) fn check(&self) {
        let links = self.core.links(self.now);
        assert_eq!(links.len(), self.host.links.len());
        for link in links {
            let host = self.host.links.values().find(|host| host.key == link.key).expect("a link that the host has");
            assert_eq!(host.credit, link.credit_available, "the two books of credit differ: {link:?}");
            if link.incoming {
                assert!(!host.held_up || self.core.is_memory_short(), "held up for no reason: {link:?}");
                let there = self.has_destination(&link);
                assert!(!there || !host.draining, "asked to drain although there is a destination: {link:?}");
            } else {
                let held_up = host.credit == 0 || host.busy || self.host.unwritable.contains(&host.conn);
                assert!(link.undelivered_count == 0 || held_up, "queued for no reason: {link:?}");
            }
            if !link.incoming {
                let mine = self.host.copies.values().filter(|copy| Some(copy.link) == self.id_of(link.key));
                assert_eq!(link.unsettled_count, mine.filter(|copy| !copy.settled).count() as u64, "{link:?}");
            }
        }
    }

    /// Whether the deliveries of a sender can go somewhere; those of anonymous ones are taken to.
    fn has_destination(&self, link: &LinkSnapshot<'_>) -> bool {
        let Some(key) = link.owning_addr else { return true };
        [key, &key.replacen("M0", "MF", 1)]
            .into_iter()
            .filter_map(|key| self.core.address(key))
            .any(|address| address.subscriber_count + address.in_process > 0)
    }

    fn id_of(&self, key: LinkKey) -> Option<u32> {
        self.host.links.iter().find(|(_, link)| link.key == key).map(|(id, _)| *id)
    }

    /// Lets everything come to its end.
    fn settle_everything(&mut self) {
        for at in std::mem::take(&mut self.host.unwritable) {
            if let Some(conn) = self.conns[at] {
                self.core.set_writable(self.now, &mut self.host, conn, true);
            }
        }
        while self.host.offers.values().any(|offer| !offer.complete && offer.key.is_some() && self.host.alive(offer)) {
            self.finish(0, 1);
        }
        let receivers: Vec<_> = self.host.links.iter().filter(|(_, link)| !link.incoming).map(|(id, _)| *id).collect();
        for id in receivers {
            let link = self.host.link(id);
            link.credit += 10_000;
            let (key, credit) = (link.key, link.credit);
            self.core.credit(self.now, &mut self.host, key, credit, false);
        }
        while let Some((&key, copy)) = self.host.copies.iter().next() {
            if copy.partial {
                self.end_transmission(key);
            } else {
                self.tell(key, Some(DeliveryState::Accepted), true);
            }
        }
        for (message, offer) in &self.host.offers {
            let expected = !offer.presettled && !offer.over && self.host.alive(offer);
            assert!(!expected || offer.settled, "delivery {message} was never settled: {offer:?}");
        }
        assert!(self.host.links.values().all(|link| !link.held_up), "a sender is held up for what has long left");
        for link in self.core.links(self.now) {
            assert_eq!((link.undelivered_count, link.unsettled_count), (0, 0), "{link:?}");
            if link.incoming && self.has_destination(&link) {
                assert_eq!(link.credit_available, CAPACITY, "credit is lost: {link:?}");
            }
        }
    }

    /// Ends everything; nothing may be left.
    pub(crate) fn end(mut self) {
        self.settle_everything();
        let counts = self.core.object_counts();
        assert_eq!(counts.deliveries, 0, "deliveries are left");
        assert_eq!(self.core.statistics().deliveries_stuck, 0);
        for at in 0..self.conns.len() {
            if let Some(conn) = self.conns[at] {
                self.close(at, conn);
            }
        }
        if let Some(subscriber) = self.subscriber.take() {
            self.core.unsubscribe(self.now, &mut self.host, subscriber);
        }
        let expected = ObjectCounts { connections: 0, links: 0, addresses: 1, deliveries: 0 };
        assert_eq!(self.core.object_counts(), expected, "something is left");
        assert_eq!(self.core.statistics().links_blocked, 0);
        assert!(self.host.contents.iter().all(|content| content.upgrade().is_none()), "a message is left");
        let presettled = self
            .host
            .offers
            .values()
            .filter(|offer| offer.presettled && ADDRESSES[offer.address] != "multicast" && offer.transmitted > 1);
        assert_eq!(presettled.count(), 0);
    }
}
