//! Clients of the routers: what they attach, send, and say of what they got.

use super::*;

impl Mesh {
    /// A client's connection to a router.
    pub(crate) fn connect(&mut self, router: usize) -> usize {
        let Router { core, host, conns, .. } = &mut self.routers[router];
        let id = core.next_connection_id();
        let info = ConnectionInfo { id, incoming: true, link_capacity: 250, ..Default::default() };
        conns.push(Some(core.open_connection(self.now, host, conns.len(), info)));
        conns.len() - 1
    }

    pub(super) fn attach(&mut self, router: usize, attach: AttachInfo) -> Client {
        let conn = self.connect(router);
        let record = &mut self.routers[router];
        record.next_link += 1;
        let link = record.next_link;
        record.links.far.insert(link, Far::Client);
        record.links.conn.insert(link, conn);
        let key =
            record.core.attach(self.now, &mut record.host, record.conns[conn].expect("just opened"), link, attach);
        record.links.keys.insert(link, key);
        self.settle();
        Client { router, link }
    }

    /// A receiver with this credit, of which all routers have heard.
    pub(crate) fn receiver(&mut self, router: usize, address: &str, credit: u32) -> Client {
        let receiver = self.receiver_only(router, address);
        if credit > 0 {
            self.credit(receiver, credit);
        }
        self.converge();
        receiver
    }

    /// A receiver of which nobody has heard.
    pub(crate) fn receiver_only(&mut self, router: usize, address: &str) -> Client {
        self.receiver_with(router, address, Vec::new())
    }

    /// A receiver at the fallback of an address.
    pub(crate) fn fallback_receiver(&mut self, router: usize, address: &str, credit: u32) -> Client {
        let receiver = self.receiver_with(router, address, vec!["qd.fallback".into()]);
        self.credit(receiver, credit);
        self.converge();
        receiver
    }

    pub(super) fn receiver_with(&mut self, router: usize, address: &str, capabilities: Vec<Symbol>) -> Client {
        let source = Source { address: Some(address.into()), capabilities, ..Source::default() };
        let attach = AttachInfo {
            name: String::new(),
            incoming: false,
            source: Some(source),
            target: Some(TargetTerminus::Target(Target::default())),
            send_settled: false,
            terms: LinkTerms::default(),
        };
        self.attach(router, attach)
    }

    pub(crate) fn credit(&mut self, receiver: Client, credit: u32) {
        let record = &mut self.routers[receiver.router];
        let all = record.host.credit.entry(receiver.link).or_default();
        *all += credit;
        let all = *all;
        record.core.credit(self.now, &mut record.host, record.links.keys[&receiver.link], all, false);
        self.settle();
    }

    /// A sender to an address; to none: anonymous.
    pub(crate) fn sender(&mut self, router: usize, address: &str) -> Client {
        let target = Target { address: Some(address.to_owned()).filter(|text| !text.is_empty()), ..Target::default() };
        self.attach(
            router,
            AttachInfo {
                name: String::new(),
                incoming: true,
                source: Some(Source::default()),
                target: Some(TargetTerminus::Target(target)),
                send_settled: false,
                terms: LinkTerms::default(),
            },
        )
    }

    /// Sends a message and lets it come to rest. Its number.
    pub(crate) fn send(&mut self, sender: Client) -> u64 {
        self.send_with(sender, |_| (), false)
    }

    pub(crate) fn send_settled(&mut self, sender: Client) -> u64 {
        self.send_with(sender, |_| (), true)
    }

    pub(crate) fn send_to(&mut self, sender: Client, to: &str) -> u64 {
        self.send_with(sender, |message| message.to = Some(to.to_owned()), false)
    }

    /// Begins a message that does not end yet.
    pub(crate) fn begin(&mut self, sender: Client) -> u64 {
        self.send_with(sender, |message| message.complete.store(false, Ordering::Relaxed), false)
    }

    pub(crate) fn send_with(&mut self, sender: Client, change: impl FnOnce(&mut Message), settled: bool) -> u64 {
        let mut message = Message::new(self.next_message, None, 4);
        self.next_message += 1;
        change(&mut message);
        let number = message.number;
        self.offer(sender.router, sender.link, message, settled, None);
        self.settle();
        number
    }

    /// After some seconds more of a message comes to all routers that have begun to see it.
    pub(crate) fn more(&mut self, number: u64, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        for record in &mut self.routers {
            let keys = record.offered.values().filter(|offered| offered.message == number);
            for key in keys.filter_map(|offered| offered.key) {
                record.core.moved(self.now, key);
            }
        }
    }

    /// The sender of a message that has not ended gives it up.
    pub(crate) fn abort(&mut self, sender: Client, number: u64) {
        let record = &mut self.routers[sender.router];
        let offered = record.offered.values().find(|offered| offered.from.is_none() && offered.message == number);
        let key = offered.and_then(|offered| offered.key).expect("begun");
        record.core.aborted(self.now, &mut record.host, key);
        self.settle();
    }

    /// The rest of a message is there.
    pub(crate) fn end(&mut self, number: u64) {
        let partial = self.routers.iter().flat_map(|router| &router.partial);
        let message = partial.map(|(.., message)| message).find(|message| message.number == number);
        if let Some(message) = message {
            message.complete.store(true, Ordering::Relaxed);
        }
        for router in 0..self.routers.len() {
            self.received_rest(router, None, number);
        }
        self.settle();
    }

    /// Lets the receivers of a message accept it.
    pub(crate) fn accept(&mut self, number: u64) {
        self.outcome(number, DeliveryState::Accepted);
    }

    pub(crate) fn outcome(&mut self, number: u64, state: DeliveryState) {
        let got: Vec<_> = self.received.iter().filter(|got| got.message.number == number).cloned().collect();
        assert!(!got.is_empty(), "nobody received message {number}");
        got.iter().for_each(|got| self.outcome_of(got, state.clone()));
    }

    /// One receiver settles its copy so.
    pub(crate) fn outcome_of(&mut self, got: &Received, state: DeliveryState) {
        let record = &mut self.routers[got.receiver.router];
        record.core.outcome(self.now, &mut record.host, got.key, Some(state), true);
        self.settle();
    }

    /// A client's link is lost, and all routers hear of it.
    pub(crate) fn lose(&mut self, client: Client) {
        self.lose_only(client);
        self.converge();
    }

    pub(crate) fn lose_only(&mut self, client: Client) {
        let record = &mut self.routers[client.router];
        let key = record.links.keys.remove(&client.link).expect("there");
        record.links.far.remove(&client.link);
        record.core.link_lost(self.now, &mut record.host, key);
        self.settle();
    }
}
