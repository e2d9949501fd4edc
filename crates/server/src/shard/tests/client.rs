//! A blocking AMQP client for tests.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use amqp::message::{Body, Message};
use amqp::performative::{Attach, Manner, Open, ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Map};
use amqp_endpoint::{Connection, ConnectionConfig, Event, Input, LinkId, NewDelivery, NewLink, SessionId, Side};

use super::router::PATIENCE;

/// What a client's bytes go over.
pub(crate) trait Wire: Read + Write + Send {
    /// The socket beneath.
    fn socket(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

/// One end of a connection, with what happened to it and was not asked for yet.
pub(crate) struct Client {
    stream: Box<dyn Wire>,
    pub(crate) endpoint: Connection,
    input: Vec<u8>,
    start: Instant,
    pub(crate) happened: VecDeque<Happened>,
    parts: Vec<Received>,
    session: Option<SessionId>,
    next_tag: u64,
    /// Payload that came in, complete or not.
    pub(crate) bytes_received: u64,
    /// Of what it sends.
    pub(crate) message_format: u32,
}

/// What a client was told.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "some parts are only for the text of a failed expectation")]
pub(crate) enum Happened {
    Opened(Arc<Open>),
    Attached(LinkId, Box<Attach>),
    Credit { link: LinkId, credit: u32, drain: bool },
    FlowProperties(LinkId, Box<Map>),
    Drained { link: LinkId, returned: u32 },
    Message(Received),
    Outcome { key: u64, state: Option<DeliveryState>, settled: bool },
    SenderOutcome { key: u64, state: Option<DeliveryState>, settled: bool },
    Detached { link: LinkId, closed: bool, error: Option<ErrorCondition> },
    Closed(Option<ErrorCondition>),
    Failed(ErrorCondition),
}

/// A delivery that came in.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) link: LinkId,
    pub(crate) delivery_id: u32,
    pub(crate) settled: bool,
    pub(crate) aborted: bool,
    pub(crate) tag: Vec<u8>,
    /// As the first transfer has it.
    pub(crate) state: Option<DeliveryState>,
    /// As the last transfer that has one has it.
    pub(crate) last_state: Option<DeliveryState>,
    pub(crate) manner: Manner,
    pub(crate) message_format: u32,
    pub(crate) bytes: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::connect_with(address, ConnectionConfig { container_id: "test".to_owned(), ..ConnectionConfig::default() })
    }

    pub(crate) fn connect_with(address: SocketAddr, config: ConnectionConfig) -> Self {
        let stream = TcpStream::connect(address).expect("the router listens");
        stream.set_nodelay(true).expect("the option can be set");
        Self::over(Box::new(stream), config)
    }

    pub(crate) fn over(stream: Box<dyn Wire>, config: ConnectionConfig) -> Self {
        let mut client = Self {
            stream,
            endpoint: Connection::new(config, Side::Initiator { sasl: None }, Duration::ZERO),
            input: Vec::new(),
            start: Instant::now(),
            happened: VecDeque::new(),
            parts: Vec::new(),
            session: None,
            next_tag: 0,
            bytes_received: 0,
            message_format: 0,
        };
        client.expect("an open", |happened| matches!(happened, Happened::Opened(_)));
        client
    }

    /// Writes what there is to say, and reads once, waiting for at most `wait`.
    pub(crate) fn turn(&mut self, wait: Duration) {
        self.write();
        let patience = wait.max(Duration::from_millis(1));
        self.stream.socket().set_read_timeout(Some(patience)).expect("the option can be set");
        let mut buffer = [0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.endpoint.transport_closed(),
            Ok(count) => self.input.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(_) => self.endpoint.transport_closed(),
        }
        self.poll();
        self.write();
    }

    /// Writes what there is to say. The socket blocks: what the router does not read is waited for.
    pub(crate) fn write(&mut self) {
        let now = self.start.elapsed();
        self.endpoint.handle_timeout(now);
        self.endpoint.flush(now);
        while !self.endpoint.output().is_empty() {
            match self.stream.write(self.endpoint.output()) {
                Ok(count) => self.endpoint.consume_output(count),
                Err(_) => {
                    self.endpoint.transport_closed();
                    return;
                }
            }
        }
    }

    fn poll(&mut self) {
        let bytes = std::mem::take(&mut self.input);
        let mut input = Input::new(&bytes);
        let now = self.start.elapsed();
        while let Some(event) = self.endpoint.poll(now, &mut input) {
            let happened = match event {
                Event::Opened(open) => Happened::Opened(open),
                Event::AttachAnswered(link, attach) => Happened::Attached(link, attach),
                // As a container does: whoever attaches gets what it wants.
                Event::Attached(link, attach) => {
                    self.endpoint.attach_answer(link, attach.source.clone(), attach.target.clone(), None);
                    Happened::Attached(link, attach)
                }
                Event::FlowProperties { link, properties, .. } => Happened::FlowProperties(link, properties),
                Event::Credit { link, credit, drain, .. } => Happened::Credit { link, credit, drain },
                Event::Drained { link, returned, .. } => Happened::Drained { link, returned },
                Event::Outcome { key, state, settled } => Happened::Outcome { key, state, settled },
                Event::SenderOutcome { key, state, settled } => Happened::SenderOutcome { key, state, settled },
                Event::Detached { link, closed, error, answer, .. } => {
                    if !answer {
                        self.endpoint.detach(link, closed, None);
                    }
                    Happened::Detached { link, closed, error }
                }
                Event::Closed(error) => Happened::Closed(error),
                Event::Failed(error) => Happened::Failed(error),
                Event::Transfer(transfer) => {
                    self.bytes_received += transfer.payload.len() as u64;
                    let index = self.parts.iter().position(|part| part.link == transfer.link);
                    let index = index.unwrap_or_else(|| {
                        self.parts.push(Received {
                            link: transfer.link,
                            delivery_id: transfer.delivery_id,
                            settled: false,
                            aborted: false,
                            tag: transfer.tag.to_vec(),
                            state: transfer.state.clone(),
                            last_state: None,
                            manner: transfer.manner,
                            message_format: transfer.message_format,
                            bytes: Vec::new(),
                        });
                        self.parts.len() - 1
                    });
                    let part = &mut self.parts[index];
                    part.bytes.extend_from_slice(transfer.payload);
                    part.settled = transfer.settled;
                    part.last_state = transfer.state.or(part.last_state.take());
                    part.aborted = transfer.aborted;
                    if transfer.more {
                        continue;
                    }
                    Happened::Message(self.parts.remove(index))
                }
                _ => continue,
            };
            self.happened.push_back(happened);
        }
        let consumed = input.consumed();
        self.input = bytes[consumed..].to_vec();
    }

    /// Waits for something to happen, and takes it; what happened before it stays.
    pub(crate) fn expect(&mut self, what: &str, mut is_it: impl FnMut(&Happened) -> bool) -> Happened {
        let begun = Instant::now();
        loop {
            if let Some(index) = self.happened.iter().position(&mut is_it) {
                return self.happened.remove(index).expect("it was just found");
            }
            assert!(begun.elapsed() < PATIENCE, "waited for {what}; happened: {:?}", self.happened);
            self.turn(Duration::from_millis(20));
        }
    }

    /// Makes a round trip: what the router had to say before is here then.
    pub(crate) fn settle_down(&mut self) {
        self.sender(None);
    }

    pub(crate) fn session(&mut self) -> SessionId {
        *self.session.get_or_insert_with(|| self.endpoint.begin_session().expect("the connection is open"))
    }

    /// Attaches a sender (`None`: an anonymous one) and waits for the answer.
    pub(crate) fn sender(&mut self, address: Option<&str>) -> LinkId {
        self.link(true, address)
    }

    /// Attaches a receiver, waits for the answer, and gives credit.
    pub(crate) fn receiver(&mut self, address: &str, credit: u32) -> LinkId {
        let link = self.link(false, Some(address));
        self.endpoint.add_credit(link, credit);
        self.write();
        link
    }

    /// Attaches a receiver that names no address; the answer to it is awaited, its end is not.
    pub(crate) fn receiver_of_nothing(&mut self) -> LinkId {
        self.link(false, None)
    }

    /// The largest message for a new link, as the router's attach says.
    pub(crate) fn announced_size(&mut self, address: &str, sender: bool) -> Option<u64> {
        let session = self.session();
        self.next_tag += 1;
        let name = format!("link {}", self.next_tag);
        let link = self.attach_in(session, &name, sender, Some(address));
        let is_it = |happened: &Happened| matches!(happened, Happened::Attached(known, _) if *known == link);
        match self.expect("the answer", is_it) {
            Happened::Attached(_, attach) => attach.max_message_size,
            other => unreachable!("expected an attach, not {other:?}"),
        }
    }

    /// Makes sure that a link was not refused: what the router had to say of it has come.
    pub(crate) fn expect_attached(&mut self, link: LinkId) {
        // The router answers in order; a refusal would have come before the answer to a link that comes later.
        let session = self.session();
        self.next_tag += 1;
        let name = format!("link {}", self.next_tag);
        let later = self.attach_in(session, &name, false, None);
        self.expect("the answer", |happened| matches!(happened, Happened::Attached(known, _) if *known == later));
        let refused = |happened: &Happened| matches!(happened, Happened::Detached { link: of, .. } if *of == link);
        assert!(!self.happened.iter().any(refused), "the link was refused: {:?}", self.happened);
    }

    /// The socket, for bytes that no endpoint would send.
    pub(crate) fn socket(&self) -> TcpStream {
        self.stream.socket().try_clone().expect("a descriptor is free")
    }

    /// Forgets the bytes of messages that are not complete.
    pub(crate) fn forget_parts(&mut self) {
        self.parts.iter_mut().for_each(|part| part.bytes = Vec::new());
    }

    /// Accepts the message that came last.
    pub(crate) fn accept_last(&mut self) {
        let received = self.receive();
        self.settle(&received, DeliveryState::Accepted);
    }

    fn link(&mut self, sender: bool, address: Option<&str>) -> LinkId {
        let session = self.session();
        let name = format!("link {}", self.next_tag);
        self.next_tag += 1;
        let link = self.attach_in(session, &name, sender, address);
        self.expect("the answer", |happened| matches!(happened, Happened::Attached(known, _) if *known == link));
        link
    }

    /// Attaches a link, and does not wait for the answer.
    pub(crate) fn begin_link(&mut self, sender: bool, address: &str) -> LinkId {
        let session = self.session();
        self.next_tag += 1;
        let name = format!("link {}", self.next_tag);
        let link = self.attach_in(session, &name, sender, Some(address));
        self.write();
        link
    }

    /// Waits for the next link that the router attaches or answers.
    pub(crate) fn attached(&mut self) -> LinkId {
        match self.expect("an attach", |happened| matches!(happened, Happened::Attached(..))) {
            Happened::Attached(link, _) => link,
            other => unreachable!("expected an attach, not {other:?}"),
        }
    }

    fn attach_in(&mut self, session: SessionId, name: &str, sender: bool, address: Option<&str>) -> LinkId {
        let address = address.filter(|address| !address.is_empty()).map(str::to_owned);
        let source = Source { address: address.clone().filter(|_| !sender), ..Source::default() };
        let target = Target { address: address.filter(|_| sender), ..Target::default() };
        self.attach_between(session, name, sender, source, target)
    }

    /// Attaches a sender of messages of the routing protocol, and waits for the answer.
    pub(crate) fn control_sender(&mut self) -> LinkId {
        self.control_link(true)
    }

    /// The same for a receiver, which gets some credit.
    pub(crate) fn control_receiver(&mut self) -> LinkId {
        let link = self.control_link(false);
        self.endpoint.add_credit(link, 250);
        self.write();
        link
    }

    fn control_link(&mut self, sender: bool) -> LinkId {
        let session = self.session();
        let capabilities = vec!["qd.router".into()];
        let source = Source { capabilities: capabilities.clone(), ..Source::default() };
        let target = Target { capabilities, ..Target::default() };
        let link = self.attach_between(session, "control", sender, source, target);
        self.expect("the answer", |happened| matches!(happened, Happened::Attached(known, _) if *known == link));
        link
    }

    fn attach_between(
        &mut self,
        session: SessionId,
        name: &str,
        sender: bool,
        source: Source,
        target: Target,
    ) -> LinkId {
        let link = NewLink {
            name: name.to_owned(),
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
        self.endpoint.attach(session, link).expect("a handle is free")
    }

    /// Waits for credit on a sender.
    pub(crate) fn wait_for_credit(&mut self, link: LinkId) {
        let begun = Instant::now();
        while self.endpoint.link(link).is_none_or(|info| info.credit == 0) {
            assert!(begun.elapsed() < PATIENCE, "no credit came; happened: {:?}", self.happened);
            self.turn(Duration::from_millis(20));
        }
    }

    /// Begins a delivery; its key, by which its outcome is known.
    pub(crate) fn begin(&mut self, link: LinkId, settled: bool) -> u64 {
        self.begin_with(link, settled, None)
    }

    /// The same, with a state of it.
    pub(crate) fn begin_with(&mut self, link: LinkId, settled: bool, state: Option<&DeliveryState>) -> u64 {
        self.wait_for_credit(link);
        self.next_tag += 1;
        let key = self.next_tag;
        let tag = key.to_be_bytes();
        let delivery = NewDelivery {
            key,
            tag: &tag,
            message_format: self.message_format,
            settled,
            state,
            manner: Default::default(),
        };
        assert!(self.endpoint.begin_delivery(link, &delivery), "there is credit");
        key
    }

    /// Sends part of the delivery begun.
    pub(crate) fn send_part(&mut self, link: LinkId, bytes: &[u8], more: bool) {
        let mut rest = bytes;
        let begun = Instant::now();
        loop {
            rest = &rest[self.endpoint.send_payload(link, rest, more)..];
            self.write();
            if rest.is_empty() && (more || !self.endpoint.is_sending(link)) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "the session window stays closed");
            self.turn(Duration::from_millis(5));
        }
    }

    /// Sends a whole message.
    pub(crate) fn send(&mut self, link: LinkId, settled: bool, bytes: &[u8]) -> u64 {
        let key = self.begin(link, settled);
        self.send_part(link, bytes, false);
        key
    }

    /// Waits for the settled outcome of a delivery.
    pub(crate) fn outcome(&mut self, key: u64) -> Option<DeliveryState> {
        let is_it =
            |happened: &Happened| matches!(happened, Happened::Outcome { key: of, settled: true, .. } if *of == key);
        match self.expect("an outcome", is_it) {
            Happened::Outcome { state, .. } => state,
            other => unreachable!("expected an outcome, not {other:?}"),
        }
    }

    /// Waits for the next message.
    pub(crate) fn receive(&mut self) -> Received {
        match self.expect("a message", |happened| matches!(happened, Happened::Message(_))) {
            Happened::Message(received) => received,
            other => unreachable!("expected a message, not {other:?}"),
        }
    }

    /// A message that has come.
    pub(crate) fn take_message(&mut self) -> Option<Received> {
        let index = self.happened.iter().position(|happened| matches!(happened, Happened::Message(_)))?;
        match self.happened.remove(index) {
            Some(Happened::Message(received)) => Some(received),
            _ => None,
        }
    }

    /// Settles a message received.
    pub(crate) fn settle(&mut self, received: &Received, state: DeliveryState) {
        self.endpoint.update_incoming(received.link, received.delivery_id, Some(state), true);
        self.write();
    }
}

/// A message with a body of so many bytes.
pub(crate) fn message(size: usize) -> Vec<u8> {
    encoded(&Message { body: Body::Data(vec![vec![b'x'; size]]), ..Message::default() })
}

pub(crate) fn encoded(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}
