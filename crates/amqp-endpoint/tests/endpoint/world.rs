//! Two endpoints over a slow line, and what is known of them from outside.

use std::collections::{BTreeMap, VecDeque};

use amqp::DeliveryState;
use amqp_endpoint::{ConnectionConfig, Event, Hold, LinkId, NewDelivery};

use crate::model::{LINKS, Step};
use crate::pair::{End, Pair, config, receiver, sender, unsettled};

/// A delivery, as its sender or its receiver sees it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Delivery {
    tag: Vec<u8>,
    payload: Vec<u8>,
    complete: bool,
    aborted: bool,
    settled: bool,
}

/// What is known of a link from outside the endpoints.
struct Model {
    sending: LinkId,
    receiving: LinkId,
    client_sends: bool,
    sent: Vec<Delivery>,
    /// What the endpoint has not taken yet of the delivery in progress.
    rest: Option<VecDeque<u8>>,
    arrived: Vec<Delivery>,
    /// Ids of deliveries that the receiver is to settle, with their tags.
    open: Vec<(u32, Vec<u8>)>,
    /// Keys that the sender may settle.
    unsettled: Vec<u64>,
    /// What the receiver said of each delivery last, by tag.
    said: BTreeMap<Vec<u8>, DeliveryState>,
    granted: u32,
    begun: u32,
    returned: u32,
}

pub(crate) struct World {
    pair: Pair,
    links: Vec<Model>,
    to_server: Vec<u8>,
    to_client: Vec<u8>,
    next_key: u64,
    /// Outcomes told, by key.
    told: BTreeMap<u64, Vec<(Option<DeliveryState>, bool)>>,
    /// Keys that the sender has settled itself.
    given_up: Vec<u64>,
}

fn state(which: usize) -> DeliveryState {
    match which {
        0 => DeliveryState::Accepted,
        1 => DeliveryState::Released,
        2 => DeliveryState::Rejected(None),
        _ => DeliveryState::Modified(Box::default()),
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let small = |name| ConnectionConfig { max_frame_size: 512, session_window: 4, ..config(name) };
        let mut pair = Pair::open_with(small("client"), small("server"));
        let mut links = Vec::new();
        for session in 0..LINKS / 2 {
            let (client, _) = pair.begin();
            let to = pair.attach_in(client, sender(&format!("to {session}")));
            let from = pair.attach_in(client, receiver(&format!("from {session}")));
            links.push(Model::new(to.client, to.server, true));
            links.push(Model::new(from.server, from.client, false));
        }
        let (to_server, to_client) = (Vec::new(), Vec::new());
        Self { pair, links, to_server, to_client, next_key: 0, told: BTreeMap::new(), given_up: Vec::new() }
    }

    fn end(&mut self, client: bool) -> &mut End {
        if client { &mut self.pair.client } else { &mut self.pair.server }
    }

    fn sender(&mut self, link: usize) -> (&mut End, LinkId) {
        let (client, id) = (self.links[link].client_sends, self.links[link].sending);
        (self.end(client), id)
    }

    fn receiver(&mut self, link: usize) -> (&mut End, LinkId) {
        let (client, id) = (!self.links[link].client_sends, self.links[link].receiving);
        (self.end(client), id)
    }

    pub(crate) fn take(&mut self, step: Step) {
        match step {
            Step::Send { link, size, settled } => self.send(link, size, settled),
            Step::Begin { link, size, settled } => self.begin(link, size, settled),
            Step::Continue { link, size } => self.go_on(link, size),
            Step::Abort { link } => self.abort(link),
            Step::Credit { link, credit } => {
                let (end, id) = self.receiver(link);
                end.connection.add_credit(id, credit);
                self.links[link].granted += credit;
            }
            Step::Drain { link } => {
                let (end, id) = self.receiver(link);
                end.connection.drain(id, true);
            }
            Step::Drained { link } => {
                let (end, id) = self.sender(link);
                end.connection.drained(id);
            }
            Step::Settle { link, nth, state: which } => self.settle(link, nth, which),
            Step::SenderSettles { link, nth } => self.sender_settles(link, nth),
            Step::Hold { link, hold } => {
                let (end, id) = self.receiver(link);
                let session = end.connection.link(id).expect("links stay").session;
                end.connection.hold_session(session, Hold::Lag, hold);
            }
            Step::Flush { client } => self.flush(client),
            Step::Deliver { to_server, bytes } => self.deliver(to_server, bytes),
        }
    }

    fn new_delivery(&mut self, size: usize, settled: bool) -> (u64, Delivery) {
        let key = self.next_key;
        self.next_key += 1;
        let payload = (0..size).map(|at| (at as u64 + key) as u8).collect();
        (key, Delivery { tag: key.to_be_bytes().to_vec(), payload, settled, ..Delivery::default() })
    }

    fn send(&mut self, link: usize, size: usize, settled: bool) {
        let (key, mut delivery) = self.new_delivery(size, settled);
        let (end, id) = self.sender(link);
        let new = NewDelivery { tag: &delivery.tag, settled, ..unsettled(key) };
        if end.connection.try_send(id, &new, &[&delivery.payload]) {
            delivery.complete = true;
            self.sent(link, key, delivery);
        }
    }

    fn begin(&mut self, link: usize, size: usize, settled: bool) {
        let (key, mut delivery) = self.new_delivery(size, settled);
        let (end, id) = self.sender(link);
        let new = NewDelivery { tag: &delivery.tag, settled, ..unsettled(key) };
        if end.connection.begin_delivery(id, &new) {
            self.links[link].rest = Some(std::mem::take(&mut delivery.payload).into());
            self.sent(link, key, delivery);
        }
    }

    fn sent(&mut self, link: usize, key: u64, delivery: Delivery) {
        if !delivery.settled {
            self.links[link].unsettled.push(key);
        }
        self.links[link].sent.push(delivery);
    }

    fn go_on(&mut self, link: usize, size: usize) {
        let Some(rest) = &self.links[link].rest else { return };
        let piece: Vec<u8> = rest.iter().copied().take(size).collect();
        let more = piece.len() < rest.len();
        let (end, id) = self.sender(link);
        let taken = end.connection.send_payload(id, &piece, more);
        let complete = !end.connection.is_sending(id);
        let model = &mut self.links[link];
        let delivery = model.sent.last_mut().expect("a delivery is in progress");
        delivery.payload.extend_from_slice(&piece[..taken]);
        delivery.complete = complete;
        let rest = model.rest.as_mut().expect("looked at above");
        rest.drain(..taken);
        if complete {
            assert!(rest.is_empty(), "complete without all of its bytes");
            model.rest = None;
        }
    }

    fn abort(&mut self, link: usize) {
        if self.links[link].rest.take().is_none() {
            return;
        }
        let (end, id) = self.sender(link);
        end.connection.abort_delivery(id);
        let model = &mut self.links[link];
        let delivery = model.sent.last_mut().expect("a delivery is in progress");
        delivery.aborted = true;
        let key = u64::from_be_bytes(*delivery.tag.first_chunk().expect("tags are keys"));
        // Without a frame it never was.
        if delivery.payload.is_empty() {
            model.sent.pop();
        }
        model.unsettled.retain(|&other| other != key);
        self.given_up.push(key);
    }

    fn settle(&mut self, link: usize, nth: usize, which: usize) {
        if nth >= self.links[link].open.len() {
            return;
        }
        let (id, tag) = self.links[link].open.remove(nth);
        let (end, receiving) = self.receiver(link);
        end.connection.update_incoming(receiving, id, Some(state(which)), true);
        self.links[link].said.insert(tag, state(which));
    }

    fn sender_settles(&mut self, link: usize, nth: usize) {
        if nth >= self.links[link].unsettled.len() {
            return;
        }
        let key = self.links[link].unsettled.remove(nth);
        let (end, id) = self.sender(link);
        end.connection.update_outgoing(id, key, None, true);
        // Before the first frame nothing can be settled.
        self.given_up.push(key);
    }

    fn flush(&mut self, client: bool) {
        let now = self.pair.now;
        let bytes = self.end(client).take_output(now);
        if client { &mut self.to_server } else { &mut self.to_client }.extend(bytes);
    }

    fn deliver(&mut self, to_server: bool, count: usize) {
        let wire = if to_server { &mut self.to_server } else { &mut self.to_client };
        let bytes: Vec<u8> = wire.drain(..count.min(wire.len())).collect();
        let now = self.pair.now;
        self.end(!to_server).receive(now, &bytes);
        let events = self.end(!to_server).take();
        for event in events {
            self.absorb(!to_server, event);
        }
    }

    /// What an end tells, compared with what is known.
    fn absorb(&mut self, client: bool, event: Event<'static>) {
        let receives = |model: &&mut Model, link: LinkId| model.client_sends != client && model.receiving == link;
        match event {
            Event::Transfer(transfer) => {
                let model = self.links.iter_mut().find(|model| receives(model, transfer.link)).expect("a known link");
                if transfer.first {
                    model.begun += 1;
                    model.arrived.push(Delivery { tag: transfer.tag.to_vec(), ..Delivery::default() });
                }
                let delivery = model.arrived.last_mut().expect("the first frame came first");
                delivery.payload.extend_from_slice(transfer.payload);
                delivery.settled = transfer.settled && !transfer.aborted || delivery.settled;
                delivery.aborted = transfer.aborted;
                delivery.complete = !transfer.more && !transfer.aborted;
                if transfer.first && !transfer.settled {
                    model.open.push((transfer.delivery_id, transfer.tag.to_vec()));
                }
                if transfer.aborted {
                    model.open.retain(|(id, _)| *id != transfer.delivery_id);
                }
            }
            Event::Outcome { key, state, settled } => self.told.entry(key).or_default().push((state, settled)),
            Event::Drained { link, returned, .. } => {
                let model = self.links.iter_mut().find(|model| receives(model, link)).expect("a known link");
                model.returned += returned;
            }
            Event::Credit { .. } | Event::SessionWritable(_) => {}
            unexpected => panic!("{unexpected:?}"),
        }
    }

    /// The receiver's account of credit is that of its owner.
    pub(crate) fn check_credit(&mut self) {
        for link in 0..LINKS {
            let Model { granted, begun, returned, .. } = self.links[link];
            let (end, id) = self.receiver(link);
            let credit = end.connection.link(id).expect("links stay").credit;
            assert_eq!(credit + begun + returned, granted, "link {link}");
        }
    }

    /// Lets both talk until nothing is left to say.
    fn settle_down(&mut self) {
        loop {
            self.flush(true);
            self.flush(false);
            if self.to_server.is_empty() && self.to_client.is_empty() {
                return;
            }
            self.deliver(true, usize::MAX);
            self.deliver(false, usize::MAX);
        }
    }

    /// Finishes and settles all that has begun.
    pub(crate) fn finish(&mut self) {
        for link in 0..LINKS {
            self.take(Step::Hold { link, hold: false });
        }
        self.settle_down();
        for link in 0..LINKS {
            for _ in 0..100 {
                self.take(Step::Credit { link, credit: 1 });
                self.take(Step::Continue { link, size: usize::MAX });
                self.settle_down();
            }
            assert!(self.links[link].rest.is_none(), "link {link} is stuck");
        }
        for link in 0..LINKS {
            while !self.links[link].open.is_empty() {
                self.take(Step::Settle { link, nth: 0, state: 0 });
            }
        }
        self.settle_down();
    }

    pub(crate) fn check_deliveries(&self) {
        for (link, model) in self.links.iter().enumerate() {
            assert_eq!(model.sent, model.arrived, "link {link}");
        }
    }

    /// Each unsettled delivery has one outcome, which is what the receiver said.
    pub(crate) fn check_outcomes(&self) {
        for model in &self.links {
            for delivery in model.sent.iter().filter(|delivery| !delivery.settled && !delivery.aborted) {
                let key = u64::from_be_bytes(*delivery.tag.first_chunk().expect("tags are keys"));
                if self.given_up.contains(&key) {
                    continue;
                }
                let expected = (model.said.get(&delivery.tag).cloned(), true);
                assert_eq!(self.told.get(&key), Some(&vec![expected]), "delivery {key}");
            }
        }
    }

    /// Both ends of a link count the same credit when nothing is on its way.
    pub(crate) fn check_agreement(&mut self) {
        for link in 0..LINKS {
            let (end, id) = self.receiver(link);
            let receivers = end.connection.link(id).expect("links stay").credit;
            let (end, id) = self.sender(link);
            let senders = end.connection.link(id).expect("links stay").credit;
            assert_eq!(senders, receivers, "link {link}");
        }
    }
}

impl Model {
    fn new(sending: LinkId, receiving: LinkId, client_sends: bool) -> Self {
        Self {
            sending,
            receiving,
            client_sends,
            sent: Vec::new(),
            rest: None,
            arrived: Vec::new(),
            open: Vec::new(),
            unsettled: Vec::new(),
            said: BTreeMap::new(),
            granted: 0,
            begun: 0,
            returned: 0,
        }
    }
}
