//! The clients at both ends, which are not counted.

use crate::serve::{MAX_FRAME_SIZE, Serve};
use amqp::DeliveryState;
use amqp::message::{Body, Message, Properties};
use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp_endpoint::{Connection, ConnectionConfig, Event, Input, LinkId, NewDelivery, NewLink, Now, SessionId, Side};
use std::sync::Arc;

/// More credit than is ever used up.
const CREDIT: u32 = 1 << 30;

/// One connection to the router.
struct Client {
    conn: usize,
    endpoint: Connection,
    session: SessionId,
    links: Vec<LinkId>,
    received: usize,
    settled: usize,
}

impl Client {
    fn new(router: &mut dyn Serve) -> Self {
        let config = ConnectionConfig {
            container_id: "client".to_owned(),
            max_frame_size: MAX_FRAME_SIZE,
            idle_time_out: None,
            ..ConnectionConfig::default()
        };
        let endpoint = Connection::new(config, Side::Initiator { sasl: None }, Now::ZERO);
        let (conn, session, links) = (router.connect(), SessionId(0), Vec::new());
        let mut client = Client { conn, endpoint, session, links, received: 0, settled: 0 };
        // A session can only begin once the opens are exchanged.
        client.exchange(router);
        client.session = client.endpoint.begin_session().unwrap_or_else(|error| panic!("no session: {error}"));
        client.exchange(router);
        client
    }

    /// Attaches a link; a sender without an address leaves it to each message.
    fn attach(&mut self, router: &mut dyn Serve, address: Option<&str>, sender: bool) {
        let own = address.map(str::to_owned);
        let source = Source { address: own.clone().filter(|_| !sender), ..Source::default() };
        let target = Target { address: own.filter(|_| sender), ..Target::default() };
        let link = NewLink {
            name: address.unwrap_or("anonymous").to_owned(),
            sender,
            snd_settle_mode: SenderSettleMode::Mixed,
            rcv_settle_mode: ReceiverSettleMode::First,
            source: Some(source),
            target: Some(TargetTerminus::Target(target)),
            max_message_size: None,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
        };
        let link = self.endpoint.attach(self.session, link).unwrap_or_else(|error| panic!("no link: {error}"));
        self.links.push(link);
        if !sender {
            self.endpoint.add_credit(link, CREDIT);
        }
        self.exchange(router);
    }

    /// Hands what there is to say to the router, lets it act, and takes its answer, until both have nothing to say.
    fn exchange(&mut self, router: &mut dyn Serve) {
        loop {
            self.endpoint.flush(Now::ZERO);
            let bytes = Arc::new(self.endpoint.output().to_vec());
            self.endpoint.consume_output(bytes.len());
            if !bytes.is_empty() {
                router.turn(self.conn, Arc::clone(&bytes));
            }
            let answer = router.output(self.conn);
            let mut input = Input::new(&answer);
            while let Some(event) = self.endpoint.poll(Now::ZERO, &mut input) {
                match event {
                    Event::Transfer(transfer) => {
                        self.received += 1;
                        if !transfer.settled {
                            let accepted = Some(DeliveryState::Accepted);
                            self.endpoint.update_incoming(transfer.link, transfer.delivery_id, accepted, true);
                        }
                    }
                    Event::Outcome { settled: true, .. } => self.settled += 1,
                    // A link that the router attaches at this client, as at a container.
                    Event::Attached(link, attach) => {
                        self.endpoint.attach_answer(link, attach.source, attach.target, None);
                        self.endpoint.add_credit(link, CREDIT);
                    }
                    _ => {}
                }
            }
            if bytes.is_empty() && answer.is_empty() {
                return;
            }
        }
    }
}

/// A client that receives, and accepts everything.
pub(crate) struct Receiver(Client);

impl Receiver {
    pub(crate) fn new(router: &mut dyn Serve) -> Self {
        Receiver(Client::new(router))
    }

    pub(crate) fn attach(&mut self, router: &mut dyn Serve, address: &str) {
        self.0.attach(router, Some(address), false);
    }

    pub(crate) fn exchange(&mut self, router: &mut dyn Serve) {
        self.0.exchange(router);
    }

    pub(crate) fn received(&self) -> usize {
        self.0.received
    }
}

/// A client that sends, on its links in turn.
pub(crate) struct Sender {
    client: Client,
    message: Vec<u8>,
    settled: bool,
    sent: usize,
}

impl Sender {
    /// Its messages have these properties.
    pub(crate) fn new(router: &mut dyn Serve, size: usize, settled: bool, properties: Properties) -> Self {
        let message = Message { properties, ..Message::new(Body::Data(vec![vec![b'x'; size]])) }.to_bytes();
        Sender { client: Client::new(router), message, settled, sent: 0 }
    }

    pub(crate) fn attach(&mut self, router: &mut dyn Serve, address: Option<&str>) {
        self.client.attach(router, address, true);
    }

    /// Puts one message into the output.
    pub(crate) fn send(&mut self) {
        let link = self.client.links[self.sent % self.client.links.len()];
        let key = self.sent as u64;
        let tag = key.to_le_bytes();
        let delivery = NewDelivery {
            key,
            tag: &tag,
            message_format: 0,
            settled: self.settled,
            state: None,
            manner: Default::default(),
        };
        let sent = self.client.endpoint.try_send(link, &delivery, &[&self.message]);
        assert!(sent, "the router gives credit enough for every scenario");
        self.sent += 1;
    }

    pub(crate) fn exchange(&mut self, router: &mut dyn Serve) {
        self.client.exchange(router);
    }

    /// Messages that wait for an outcome.
    pub(crate) fn unsettled(&self) -> usize {
        if self.settled { 0 } else { self.sent - self.client.settled }
    }
}
