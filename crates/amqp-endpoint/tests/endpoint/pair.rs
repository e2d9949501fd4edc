//! Two endpoints that talk to each other in memory, in virtual time.

use std::time::Duration;

use amqp::DeliveryState;
use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp_endpoint::{
    Connection, ConnectionConfig, Event, IncomingTransfer, Input, LinkId, NewDelivery, NewLink, SaslClient, SaslServer,
    SessionId, Side,
};

/// One end, its bytes still to be read, and what it has told so far.
pub(crate) struct End {
    pub(crate) connection: Connection,
    inbox: Vec<u8>,
    /// Events in order; whoever looks at them takes them.
    pub(crate) events: Vec<Event<'static>>,
    /// An acceptor's open is answered at once.
    pub(crate) answers_open: bool,
}

impl End {
    pub(crate) fn new(config: ConnectionConfig, side: Side) -> Self {
        let connection = Connection::new(config, side, Duration::ZERO);
        Self { connection, inbox: Vec::new(), events: Vec::new(), answers_open: true }
    }

    /// Gives it bytes, and polls until it wants more.
    pub(crate) fn receive(&mut self, now: Duration, bytes: &[u8]) {
        self.inbox.extend_from_slice(bytes);
        let mut input = Input::new(&self.inbox);
        while let Some(event) = self.connection.poll(now, &mut input) {
            if matches!(event, Event::Opened(_)) && self.answers_open {
                self.connection.open(None);
            }
            self.events.push(kept(event));
        }
        let consumed = input.consumed();
        self.inbox.drain(..consumed);
    }

    /// What it has to say now.
    pub(crate) fn take_output(&mut self, now: Duration) -> Vec<u8> {
        self.connection.flush(now);
        let bytes = self.connection.output().to_vec();
        self.connection.consume_output(bytes.len());
        bytes
    }

    /// The events so far, which are gone then.
    pub(crate) fn take(&mut self) -> Vec<Event<'static>> {
        std::mem::take(&mut self.events)
    }

    /// The transfers among the events so far, which are gone then.
    pub(crate) fn take_transfers(&mut self) -> Vec<IncomingTransfer<'static>> {
        let transfer = |event| match event {
            Event::Transfer(transfer) => Some(transfer),
            _ => None,
        };
        self.take().into_iter().filter_map(transfer).collect()
    }

    /// The outcomes among the events so far, as key, state and whether settled; the events are gone then.
    pub(crate) fn take_outcomes(&mut self) -> Vec<(u64, Option<DeliveryState>, bool)> {
        let outcome = |event| match event {
            Event::Outcome { key, state, settled } | Event::SenderOutcome { key, state, settled } => {
                Some((key, state, settled))
            }
            _ => None,
        };
        self.take().into_iter().filter_map(outcome).collect()
    }

    /// The last credit among the events so far, and whether it is to be drained; the events are gone then.
    pub(crate) fn take_credit(&mut self) -> Option<(u32, bool)> {
        let credit = |event| match event {
            Event::Credit { credit, drain, .. } => Some((credit, drain)),
            _ => None,
        };
        self.take().into_iter().filter_map(credit).next_back()
    }

    /// The credit returned by the last drain among the events so far, which are gone then.
    pub(crate) fn take_drained(&mut self) -> Option<u32> {
        let drained = |event| match event {
            Event::Drained { returned, .. } => Some(returned),
            _ => None,
        };
        self.take().into_iter().filter_map(drained).next_back()
    }

    /// Why the connection failed, if it did.
    pub(crate) fn failure(&self) -> Option<String> {
        self.events.iter().find_map(|event| match event {
            Event::Failed(error) => Some(error.to_string()),
            _ => None,
        })
    }
}

/// A client and a server, connected.
pub(crate) struct Pair {
    pub(crate) now: Duration,
    pub(crate) client: End,
    pub(crate) server: End,
    /// Bytes are handed over in pieces of this size.
    pub(crate) piece: usize,
}

/// A link from the client's point of view and the server's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Both {
    pub(crate) client: LinkId,
    pub(crate) server: LinkId,
}

impl Pair {
    /// Nothing has been said yet.
    pub(crate) fn silent(client: Side, server: Side) -> Self {
        Self::with(config("client"), client, config("server"), server)
    }

    pub(crate) fn with(client: ConnectionConfig, asks: Side, server: ConnectionConfig, answers: Side) -> Self {
        let (client, server) = (End::new(client, asks), End::new(server, answers));
        Self { now: Duration::ZERO, client, server, piece: usize::MAX }
    }

    /// Both ends are open, without SASL, and all events so far are forgotten.
    pub(crate) fn open() -> Self {
        Self::open_with(config("client"), config("server"))
    }

    pub(crate) fn open_with(client: ConnectionConfig, server: ConnectionConfig) -> Self {
        let mut pair = Self::with(client, initiator(), server, acceptor());
        pair.run();
        pair.forget_events();
        pair
    }

    pub(crate) fn forget_events(&mut self) {
        self.client.events.clear();
        self.server.events.clear();
    }

    /// Lets them talk until both are silent.
    pub(crate) fn run(&mut self) {
        loop {
            let (to_server, to_client) = (self.client.take_output(self.now), self.server.take_output(self.now));
            if to_server.is_empty() && to_client.is_empty() {
                return;
            }
            to_server.chunks(self.piece).for_each(|piece| self.server.receive(self.now, piece));
            to_client.chunks(self.piece).for_each(|piece| self.client.receive(self.now, piece));
        }
    }

    /// Lets time pass, waking each end when it wants to be woken.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let due = |side: &End| side.connection.next_timeout();
            let next = [due(&self.client), due(&self.server)].into_iter().flatten().min();
            let Some(next) = next.filter(|&next| next <= end) else { break };
            self.now = self.now.max(next);
            for side in [&mut self.client, &mut self.server] {
                if due(side).is_some_and(|due| due <= self.now) {
                    side.connection.handle_timeout(self.now);
                    side.receive(self.now, &[]);
                }
            }
            self.run();
        }
        self.now = end;
    }

    /// Begins a session at the client; the server's id is the second.
    pub(crate) fn begin(&mut self) -> (SessionId, SessionId) {
        let client = self.client.connection.begin_session().expect("the connection is open");
        self.run();
        let begun = self.server.take().into_iter().find_map(|event| match event {
            Event::SessionBegun(session, _) => Some(session),
            _ => None,
        });
        self.client.events.retain(|event| !matches!(event, Event::SessionAnswered(..)));
        (client, begun.expect("the server saw the session"))
    }

    /// Attaches a link at the client in a session of its own; the server accepts it.
    pub(crate) fn attach(&mut self, link: NewLink) -> Both {
        let (session, _) = self.begin();
        self.attach_in(session, link)
    }

    pub(crate) fn attach_in(&mut self, session: SessionId, link: NewLink) -> Both {
        let client = self.client.connection.attach(session, link).expect("the session is open");
        self.run();
        let attached = self.server.take().into_iter().find_map(|event| match event {
            Event::Attached(link, attach) => Some((link, attach)),
            _ => None,
        });
        let (server, attach) = attached.expect("the server saw the link");
        self.server.connection.attach_answer(server, attach.source.clone(), attach.target.clone(), None);
        self.run();
        self.forget_events();
        Both { client, server }
    }

    /// A link on which the client sends, with this credit from the server.
    pub(crate) fn sending(&mut self, credit: u32) -> Both {
        let link = self.attach(sender("sending"));
        self.server.connection.add_credit(link.server, credit);
        self.run();
        self.forget_events();
        link
    }

    /// Sends whole deliveries from the client, with these keys, and runs.
    pub(crate) fn send(&mut self, link: Both, keys: impl IntoIterator<Item = u64>) {
        for key in keys {
            assert!(self.client.connection.try_send(link.client, &unsettled(key), &[b"hello"]), "delivery {key}");
        }
        self.run();
    }
}

/// The event without its borrow of the input: the bytes of a transfer may as well live for ever in a test.
fn kept(event: Event<'_>) -> Event<'static> {
    match event {
        Event::Transfer(transfer) => {
            let IncomingTransfer { link, context, delivery_id, first, message_format, .. } = transfer;
            let IncomingTransfer { settled, more, aborted, state, manner, tag, payload, .. } = transfer;
            let (tag, payload) = (Vec::leak(tag.to_vec()), Vec::leak(payload.to_vec()));
            Event::Transfer(IncomingTransfer {
                link,
                context,
                delivery_id,
                first,
                tag,
                message_format,
                settled,
                more,
                aborted,
                state,
                manner,
                payload,
            })
        }
        Event::Authenticated { mechanism, user } => Event::Authenticated { mechanism, user },
        Event::StartTls => Event::StartTls,
        Event::Opened(open) => Event::Opened(open),
        Event::SessionBegun(session, begin) => Event::SessionBegun(session, begin),
        Event::SessionAnswered(session, begin) => Event::SessionAnswered(session, begin),
        Event::SessionEnded(session, error) => Event::SessionEnded(session, error),
        Event::Attached(link, attach) => Event::Attached(link, attach),
        Event::AttachAnswered(link, attach) => Event::AttachAnswered(link, attach),
        Event::Detached { link, context, closed, error, answer } => {
            Event::Detached { link, context, closed, error, answer }
        }
        Event::LinkFailed { link, context, error } => Event::LinkFailed { link, context, error },
        Event::LinkLost { link, context } => Event::LinkLost { link, context },
        Event::Credit { link, context, credit, drain } => Event::Credit { link, context, credit, drain },
        Event::FlowProperties { link, context, properties } => Event::FlowProperties { link, context, properties },
        Event::Drained { link, context, returned } => Event::Drained { link, context, returned },
        Event::Outcome { key, state, settled } => Event::Outcome { key, state, settled },
        Event::SenderOutcome { key, state, settled } => Event::SenderOutcome { key, state, settled },
        Event::SessionWritable(session) => Event::SessionWritable(session),
        Event::Closed(error) => Event::Closed(error),
        Event::Failed(error) => Event::Failed(error),
    }
}

pub(crate) fn config(name: &str) -> ConnectionConfig {
    ConnectionConfig { container_id: name.to_owned(), ..ConnectionConfig::default() }
}

/// An acceptor that knows no SASL.
pub(crate) fn acceptor() -> Side {
    Side::Acceptor { sasl: None, sasl_required: false }
}

/// An acceptor that insists on SASL.
pub(crate) fn sasl_acceptor(server: impl SaslServer + 'static) -> Side {
    Side::Acceptor { sasl: Some(Box::new(server)), sasl_required: true }
}

/// An initiator that skips SASL.
pub(crate) fn initiator() -> Side {
    Side::Initiator { sasl: None }
}

pub(crate) fn sasl_initiator(client: impl SaslClient + 'static) -> Side {
    Side::Initiator { sasl: Some(Box::new(client)) }
}

/// A link on which whoever attaches it sends.
pub(crate) fn sender(name: &str) -> NewLink {
    NewLink {
        name: name.to_owned(),
        sender: true,
        snd_settle_mode: SenderSettleMode::Mixed,
        rcv_settle_mode: ReceiverSettleMode::First,
        source: Some(Source::default()),
        target: Some(TargetTerminus::Target(Target { address: Some(name.to_owned()), ..Target::default() })),
        max_message_size: None,
        offered_capabilities: Vec::new(),
        desired_capabilities: Vec::new(),
        properties: None,
    }
}

/// A link on which whoever attaches it receives.
pub(crate) fn receiver(name: &str) -> NewLink {
    NewLink { sender: false, ..sender(name) }
}

/// A delivery that is to be settled by the receiver.
pub(crate) fn unsettled(key: u64) -> NewDelivery<'static> {
    NewDelivery { key, tag: b"tag", message_format: 0, settled: false, state: None, manner: Default::default() }
}

/// A delivery that is settled when sent.
pub(crate) fn presettled() -> NewDelivery<'static> {
    NewDelivery { settled: true, ..unsettled(0) }
}

/// A seconds value.
pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
