//! Somebody who listens: what connectors connect to, and tools.

use std::net::TcpListener;

use amqp::frame::{AMQP_HEADER, SASL_HEADER};
use amqp::message::Message;
use amqp::performative::{Attach, Begin, Open, Role};
use amqp::sasl::{SaslCode, SaslFrame};
use amqp::terminus::Source;
use amqp::{Map, Performative, Symbol};

use super::links::Link;
use super::wait_for;
use super::wire::{AttachOrMessage, Wire};

/// A container that listens on a port of its own.
pub(crate) struct Peer {
    listener: TcpListener,
}

/// A connection that was accepted and opened, and how the other side authenticated.
pub(crate) struct Accepted {
    pub(crate) wire: Wire,
    /// The mechanism and the initial response, if there was SASL.
    pub(crate) sasl: Option<(String, Vec<u8>)>,
}

impl Peer {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
        listener.set_nonblocking(true).expect("the option can be set");
        Self { listener }
    }

    pub(crate) fn port(&self) -> u16 {
        self.listener.local_addr().expect("it is bound").port()
    }

    /// Waits for a connection. Nothing is said on it.
    pub(crate) fn accept(&self) -> Wire {
        let (stream, _) = wait_for("a connection", || self.listener.accept().ok());
        stream.set_nonblocking(false).expect("the option can be set");
        Wire::new(stream)
    }

    /// Waits for a connection, lets anybody in, and opens it.
    pub(crate) fn accept_and_open(&self, properties: Option<Map>) -> Accepted {
        let mut wire = self.accept();
        let mut header = wire.header();
        let mut sasl = None;
        if header == SASL_HEADER {
            sasl = Some(let_in(&mut wire));
            header = wire.header();
        }
        assert_eq!(header, AMQP_HEADER);
        wire.write(&AMQP_HEADER);
        wire.expect("an open", |frame| matches!(frame, Performative::Open(_)).then_some(()));
        let open = Open { container_id: "peer".to_owned(), properties, ..Open::default() };
        wire.send(Performative::Open(Box::new(open)));
        Accepted { wire, sasl }
    }
}

/// The SASL layer of a server that takes everybody.
fn let_in(wire: &mut Wire) -> (String, Vec<u8>) {
    wire.write(&SASL_HEADER);
    wire.send_sasl(&SaslFrame::Mechanisms(["PLAIN", "ANONYMOUS"].map(Symbol::from).to_vec()));
    let SaslFrame::Init { mechanism, initial_response, .. } = wire.sasl() else { panic!("expected an init") };
    wire.send_sasl(&SaslFrame::Outcome { code: SaslCode::Ok, additional_data: None });
    (mechanism.0, initial_response.unwrap_or_default())
}

impl Accepted {
    /// Answers requests on one session, as a management node does, until the other side goes. Its dynamic source gets
    /// the address `reply_to`.
    pub(crate) fn serve(&mut self, reply_to: &str, answer: impl Fn(&Message) -> Message) {
        self.answer_begin();
        let mut replies = None;
        while let Some(asked) = self.wire.attach_or_message() {
            match asked {
                AttachOrMessage::Attach(attach) => {
                    let (link, is_receiver) = self.answer_attach(*attach, reply_to);
                    replies = if is_receiver { Some(link) } else { replies };
                }
                AttachOrMessage::Message(received) => {
                    self.wire.accept(&received);
                    let request = Message::decode(&received.bytes).expect("the request is a message");
                    let link = replies.expect("the reply has somewhere to go");
                    self.wire.send_message(link, true, &answer(&request).to_bytes());
                }
            }
        }
    }

    fn answer_begin(&mut self) {
        self.wire.expect("a begin", |frame| matches!(frame, Performative::Begin(_)).then_some(()));
        let window = self.wire.incoming_window;
        let begin = Begin { incoming_window: window, outgoing_window: window, ..Begin::default() };
        self.wire.send(Performative::Begin(Begin { remote_channel: Some(0), ..begin }));
    }

    /// Answers an attach on the same handle; a sender gets credit. Says whether the other side is the receiver.
    fn answer_attach(&mut self, attach: Attach, reply_to: &str) -> (Link, bool) {
        let is_receiver = attach.role == Role::Receiver;
        let source = attach.source.map(|source| match source.dynamic {
            true => Source { address: Some(reply_to.to_owned()), ..source },
            false => source,
        });
        let role = if is_receiver { Role::Sender } else { Role::Receiver };
        let link = Link { handle: attach.handle, theirs: attach.handle };
        let initial_delivery_count = is_receiver.then_some(0);
        self.wire.send(Performative::Attach(Box::new(Attach { role, source, initial_delivery_count, ..attach })));
        if !is_receiver {
            self.wire.credit(link, 0, 1000);
        }
        (link, is_receiver)
    }
}
