//! The owner of a connection: does what the script says, answers what must be answered, and checks what it is told.

use crate::script::{Act, modes};
use amqp::ErrorCondition;
use amqp::terminus::{Source, TargetTerminus};
use amqp_endpoint::{
    Connection, ConnectionConfig, Event, Hold, Input, LinkId, NewDelivery, NewLink, Now, SessionId, Side,
};
use std::time::Duration;

/// Events that one poll may bring, whatever came in: enough for every delivery that a disposition can speak of.
const MANY: usize = 200_000;
/// Bytes of output above which the owner stops making more, as any owner does whose socket is not written.
const OUTPUT: usize = 256 * 1024;

/// A connection, and what its owner knows of it.
pub struct Owner {
    pub connection: Connection,
    pub now: Now,
    /// Bytes from the peer that are not consumed yet.
    input: Vec<u8>,
    sessions: Vec<SessionId>,
    links: Vec<LinkId>,
    /// Deliveries that came in.
    incoming: Vec<(LinkId, u32)>,
    /// Deliveries that went out.
    outgoing: Vec<(LinkId, u64)>,
    next_key: u64,
    acceptor: bool,
    /// Why the connection failed, if it did.
    pub failed: Option<ErrorCondition>,
    /// Sessions and links that broke the rules.
    pub faults: Vec<ErrorCondition>,
}

impl Owner {
    /// With `narrow` limits a script soon reaches them. (Two ends that begin and attach at the same time can exceed each
    /// other's limits without a fault of either.)
    pub fn new(acceptor: bool, narrow: bool) -> Self {
        let config = ConnectionConfig {
            container_id: "fuzzed".to_owned(),
            max_frame_size: 512,
            channel_max: if narrow { 7 } else { u16::MAX },
            handle_max: if narrow { 15 } else { u32::MAX },
            session_window: 64,
            idle_time_out: Some(Duration::from_secs(16)),
            handshake_time_out: Some(Duration::from_secs(10)),
            ..ConnectionConfig::default()
        };
        let side =
            if acceptor { Side::Acceptor { sasl: None, sasl_required: false } } else { Side::Initiator { sasl: None } };
        Owner {
            connection: Connection::new(config, side, Now::ZERO),
            now: Now::ZERO,
            input: Vec::new(),
            sessions: Vec::new(),
            links: Vec::new(),
            incoming: Vec::new(),
            outgoing: Vec::new(),
            next_key: 1,
            acceptor,
            failed: None,
            faults: Vec::new(),
        }
    }

    /// Takes bytes from the peer, and handles all that they bring about.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.input);
        let mut input = Input::new(&bytes);
        let mut events = 0;
        while let Some(event) = self.connection.poll(self.now, &mut input) {
            self.take(event);
            events += 1;
            assert!(events < MANY, "events without end");
        }
        let consumed = input.consumed();
        assert!(consumed <= bytes.len());
        self.input = bytes[consumed..].to_vec();
        // Less than a frame is ever left, or less than a protocol header, unless the owner has to act first.
        assert!(self.input.len() <= 512 || self.connection.is_finished(), "{} bytes are not read", self.input.len());
    }

    /// What is there to write, at most `count` bytes of it.
    pub fn output(&mut self, count: usize) -> Vec<u8> {
        self.connection.flush(self.now);
        let bytes = self.connection.output();
        let bytes = bytes[..count.min(bytes.len())].to_vec();
        self.connection.consume_output(bytes.len());
        bytes
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Opened(_) if self.acceptor => self.connection.open(None),
            Event::SessionBegun(session, _) => self.sessions.push(session),
            Event::SessionEnded(session, error) => {
                self.sessions.retain(|other| *other != session);
                self.faults.extend(error);
            }
            Event::Attached(link, attach) => {
                self.links.push(link);
                self.connection.set_link_context(link, u64::from(link.0));
                self.connection.attach_answer(link, attach.source.clone(), attach.target.clone(), None);
            }
            Event::Detached { link, context, answer, .. } => {
                self.forget(link, context);
                if !answer {
                    self.connection.detach(link, true, None);
                }
            }
            Event::LinkLost { link, context } => self.forget(link, context),
            Event::LinkFailed { link, context, error } => {
                self.forget(link, context);
                self.faults.push(error);
            }
            Event::Transfer(transfer) => {
                assert_eq!(transfer.context, u64::from(transfer.link.0), "a context of another link");
                assert!(transfer.payload.len() <= 512);
                if transfer.first && !transfer.aborted {
                    self.next_key += 1;
                    self.connection.set_incoming_key(transfer.link, transfer.delivery_id, self.next_key);
                    self.incoming.push((transfer.link, transfer.delivery_id));
                }
            }
            Event::Credit { link, context, .. } | Event::Drained { link, context, .. } => {
                assert_eq!(context, u64::from(link.0), "a context of another link");
            }
            Event::Outcome { key, settled, .. } => {
                assert!(self.outgoing.iter().any(|(_, known)| *known == key), "an outcome for nothing that was sent");
                if settled {
                    self.outgoing.retain(|(_, known)| *known != key);
                }
            }
            Event::Failed(error) => {
                assert!(self.failed.is_none(), "failed twice");
                assert!(self.connection.links().next().is_none(), "a link outlives its connection");
                self.failed = Some(error);
            }
            _ => {}
        }
    }

    fn forget(&mut self, link: LinkId, context: u64) {
        assert_eq!(context, u64::from(link.0), "a context of another link");
        self.links.retain(|other| *other != link);
        self.incoming.retain(|(other, _)| *other != link);
        self.outgoing.retain(|(other, _)| *other != link);
    }

    /// Does what the script says, if there is something to do it to.
    pub fn act(&mut self, act: Act) {
        if self.connection.output().len() > OUTPUT {
            return;
        }
        self.act_on_links(act);
        match act {
            Act::Begin => self.sessions.extend(self.connection.begin_session()),
            Act::EndSession(session) => {
                if let Some(session) = pick(&self.sessions, session) {
                    self.sessions.retain(|other| *other != session);
                    self.connection.end_session(session, None);
                }
            }
            Act::Hold(number, hold) => {
                if let Some(session) = pick(&self.sessions, number) {
                    let why = if number % 2 == 0 { Hold::Lag } else { Hold::Memory };
                    self.connection.hold_session(session, why, hold);
                }
            }
            Act::Attach { session, name, sender, settled, second } => {
                let Some(session) = pick(&self.sessions, session) else { return };
                let (snd_settle_mode, rcv_settle_mode) = modes(settled, second);
                let link = NewLink {
                    name: format!("own{name}"),
                    sender,
                    snd_settle_mode,
                    rcv_settle_mode,
                    source: Some(Source::default()),
                    target: Some(TargetTerminus::Target(Default::default())),
                    max_message_size: None,
                    properties: None,
                    offered_capabilities: Vec::new(),
                    desired_capabilities: Vec::new(),
                };
                if let Ok(link) = self.connection.attach(session, link) {
                    self.connection.set_link_context(link, u64::from(link.0));
                    self.links.push(link);
                }
            }
            Act::Flush => self.connection.flush(self.now),
            Act::Wait(milliseconds) => {
                self.now += Duration::from_millis(u64::from(milliseconds));
                self.connection.handle_timeout(self.now);
            }
            Act::Trace(on) => {
                self.connection.trace(on);
                self.connection.take_traces();
            }
            Act::Close => self.connection.close(None),
            Act::Lose => self.connection.transport_closed(),
            _ => {}
        }
    }

    fn act_on_links(&mut self, act: Act) {
        match act {
            Act::Detach(link, closed) => {
                if let Some(link) = pick(&self.links, link) {
                    self.connection.detach(link, closed, None);
                }
            }
            Act::Credit(link, credit) => {
                if let Some(link) = pick(&self.links, link) {
                    self.connection.add_credit(link, u32::from(credit));
                }
            }
            Act::Drain(link, drain) => {
                if let Some(link) = pick(&self.links, link) {
                    self.connection.drain(link, drain);
                }
            }
            Act::Drained(link) => {
                if let Some(link) = pick(&self.links, link) {
                    self.connection.drained(link);
                }
            }
            Act::Send { link, size, settled } => {
                let Some(link) = pick(&self.links, link) else { return };
                let tag = self.key().to_le_bytes();
                let delivery = NewDelivery {
                    key: self.next_key,
                    tag: &tag,
                    message_format: 0,
                    settled,
                    state: None,
                    manner: Default::default(),
                };
                if self.connection.try_send(link, &delivery, &[&vec![b'p'; usize::from(size) % 600]]) && !settled {
                    self.outgoing.push((link, delivery.key));
                }
            }
            Act::Start { link, settled } => {
                let Some(link) = pick(&self.links, link) else { return };
                let tag = self.key().to_le_bytes();
                let delivery = NewDelivery {
                    key: self.next_key,
                    tag: &tag,
                    message_format: 0,
                    settled,
                    state: None,
                    manner: Default::default(),
                };
                if self.connection.begin_delivery(link, &delivery) && !settled {
                    self.outgoing.push((link, delivery.key));
                }
            }
            Act::Payload { link, size, more } => {
                if let Some(link) = pick(&self.links, link) {
                    let taken = self.connection.send_payload(link, &vec![b's'; usize::from(size) % 4096], more);
                    assert!(taken <= usize::from(size) % 4096);
                }
            }
            Act::Abort(link) => {
                if let Some(link) = pick(&self.links, link) {
                    self.connection.abort_delivery(link);
                }
            }
            Act::Incoming { delivery, outcome, settled } => {
                if let Some((link, delivery)) = pick(&self.incoming, delivery) {
                    self.connection.update_incoming(link, delivery, outcome.state(), settled);
                    if settled {
                        self.incoming.retain(|known| *known != (link, delivery));
                    }
                }
            }
            Act::Outgoing { delivery, outcome, settled } => {
                if let Some((link, key)) = pick(&self.outgoing, delivery) {
                    self.connection.update_outgoing(link, key, outcome.state(), settled);
                    if settled {
                        self.outgoing.retain(|(_, known)| *known != key);
                    }
                }
            }
            _ => {}
        }
    }

    fn key(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key
    }
}

fn pick<T: Copy>(from: &[T], number: u8) -> Option<T> {
    let count = from.len().max(1);
    from.get(usize::from(number) % count).copied()
}
