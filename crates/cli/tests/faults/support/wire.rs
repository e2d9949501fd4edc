//! One end of a connection, frame by frame: it sends what no client library would, and shows what libraries hide.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use amqp::frame::{self, AMQP_HEADER, FrameKind, Split};
use amqp::performative::{Attach, Begin, End, Open, Transfer};
use amqp::sasl::SaslFrame;
use amqp::{ErrorCondition, Performative};

use rustls::{ClientConnection, StreamOwned};

use super::PATIENCE;
use super::deliveries::{Received, Told};

/// The largest window that a session can have.
pub(super) const WIDE: u32 = i32::MAX as u32;

/// What a connection is made over: a socket, or TLS over one.
pub(crate) trait Stream: Read + Write + Send {
    fn socket(&mut self) -> &mut TcpStream;
}

impl Stream for TcpStream {
    fn socket(&mut self) -> &mut TcpStream {
        self
    }
}

impl Stream for StreamOwned<ClientConnection, TcpStream> {
    fn socket(&mut self) -> &mut TcpStream {
        &mut self.sock
    }
}

/// A connection.
pub(crate) struct Wire {
    stream: Box<dyn Stream>,
    input: Vec<u8>,
    /// What came and was not asked for yet, apart from transfers and dispositions.
    pub(super) frames: VecDeque<Performative<'static>>,
    sasl: VecDeque<SaslFrame>,
    /// What the router told about deliveries, in order.
    pub(super) told: Vec<Told>,
    /// Deliveries that came whole and were not asked for yet.
    pub(super) received: VecDeque<Received>,
    pub(super) arriving: BTreeMap<u32, Received>,
    pub(super) next_handle: u32,
    pub(super) next_delivery: u32,
    pub(crate) incoming_window: u32,
}

/// What a server is asked for.
pub(crate) enum AttachOrMessage {
    Attach(Box<Attach>),
    Message(Received),
}

impl Wire {
    /// A socket, and nothing said yet.
    pub(crate) fn new(stream: impl Stream + 'static) -> Self {
        let mut stream: Box<dyn Stream> = Box::new(stream);
        stream.socket().set_nodelay(true).expect("the option can be set");
        Self {
            stream,
            input: Vec::new(),
            frames: VecDeque::new(),
            sasl: VecDeque::new(),
            told: Vec::new(),
            received: VecDeque::new(),
            arriving: BTreeMap::new(),
            next_handle: 0,
            next_delivery: 0,
            incoming_window: WIDE,
        }
    }

    /// A client with an open connection and a session on channel 0.
    pub(crate) fn client(port: u16) -> Self {
        Self::client_with(port, Open { container_id: "client".to_owned(), ..Open::default() }, WIDE)
    }

    /// A client whose session takes `incoming_window` frames at first.
    pub(crate) fn client_with(port: u16, open: Open, incoming_window: u32) -> Self {
        let mut wire = Self::connect(port);
        wire.incoming_window = incoming_window;
        wire.open(open);
        wire.begin();
        wire
    }

    /// A connected socket.
    pub(crate) fn connect(port: u16) -> Self {
        Self::new(TcpStream::connect(("127.0.0.1", port)).expect("somebody listens"))
    }

    /// Protocol header and open; the router's open.
    pub(crate) fn open(&mut self, open: Open) -> Open {
        self.write(&AMQP_HEADER);
        assert_eq!(self.header(), AMQP_HEADER);
        self.send(Performative::Open(Box::new(open)));
        self.expect("an open", |frame| match frame {
            Performative::Open(open) => Some((**open).clone()),
            _ => None,
        })
    }

    /// Begins the session, with this end's window.
    pub(crate) fn begin(&mut self) {
        let window = self.incoming_window;
        self.send(Performative::Begin(Begin { incoming_window: window, outgoing_window: WIDE, ..Begin::default() }));
        self.expect("a begin", |frame| matches!(frame, Performative::Begin(_)).then_some(()));
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the router reads");
    }

    /// Sends what the router may be tired of: false once it does not take any more.
    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// From now on, writing gives up when the router does not read for so long.
    pub(crate) fn give_up_writing_after(&mut self, wait: Duration) {
        self.stream.socket().set_write_timeout(Some(wait)).expect("the option can be set");
    }

    /// Sends bytes beneath TLS, if there is any, and is gone without a word.
    pub(crate) fn break_off(mut self, bytes: &[u8]) {
        self.stream.socket().write_all(bytes).expect("the router reads");
    }

    /// Why the router closes the connection.
    pub(crate) fn refusal(&mut self) -> Option<ErrorCondition> {
        self.expect("a close", |frame| match frame {
            Performative::Close(close) => Some(close.error.clone()),
            _ => None,
        })
    }

    /// Sends an empty frame, which says no more than that this end is there.
    pub(crate) fn beat(&mut self) {
        let mut bytes = Vec::new();
        frame::write_empty(&mut bytes);
        self.write(&bytes);
    }

    /// Sends a performative on channel 0.
    pub(crate) fn send(&mut self, performative: Performative<'_>) {
        let mut bytes = Vec::new();
        frame::write_performative(&mut bytes, 0, &performative);
        self.write(&bytes);
    }

    /// Sends a performative on another channel.
    pub(crate) fn send_on(&mut self, channel: u16, performative: &Performative<'_>) {
        let mut bytes = Vec::new();
        frame::write_performative(&mut bytes, channel, performative);
        self.write(&bytes);
    }

    /// Sends a transfer on channel 0.
    pub(crate) fn transfer(&mut self, transfer: &Transfer<'_>, payload: &[u8]) {
        let mut bytes = Vec::new();
        frame::write_transfer(&mut bytes, 0, transfer, &[payload]);
        self.write(&bytes);
    }

    /// Waits for a protocol header.
    pub(crate) fn header(&mut self) -> [u8; 8] {
        let header = self.until("a protocol header", |wire| wire.input.first_chunk().copied());
        self.input.drain(..8);
        self.take_frames();
        header
    }

    /// Waits for the next frame of the SASL layer.
    pub(crate) fn sasl(&mut self) -> SaslFrame {
        self.take_frames();
        self.until("a SASL frame", |wire| wire.sasl.pop_front())
    }

    pub(crate) fn send_sasl(&mut self, sasl: &SaslFrame) {
        let mut bytes = Vec::new();
        frame::write_sasl(&mut bytes, sasl);
        self.write(&bytes);
    }

    /// Waits for a frame other than a transfer or a disposition, and takes it; those before it stay.
    pub(crate) fn expect<T>(&mut self, what: &str, mut pick: impl FnMut(&Performative<'static>) -> Option<T>) -> T {
        self.until(what, |wire| {
            let (index, picked) =
                wire.frames.iter().enumerate().find_map(|(index, frame)| pick(frame).map(|picked| (index, picked)))?;
            wire.frames.remove(index);
            Some(picked)
        })
    }

    /// Takes what has come already and is picked.
    pub(crate) fn take<T>(&mut self, mut pick: impl FnMut(&Performative<'static>) -> Option<T>) -> Vec<T> {
        let mut taken = Vec::new();
        self.frames.retain(|frame| match pick(frame) {
            Some(picked) => {
                taken.push(picked);
                false
            }
            None => true,
        });
        taken
    }

    /// Waits until the router closes the socket.
    pub(crate) fn expect_end(&mut self) {
        let begun = Instant::now();
        while self.read(Duration::from_millis(100)) {
            assert!(begun.elapsed() < PATIENCE, "the router does not close the socket");
        }
    }

    /// Makes a round trip: what the router had to say before is here then.
    pub(crate) fn sync(&mut self) {
        let mut bytes = Vec::new();
        frame::write_performative(&mut bytes, 1, &Performative::Begin(Begin::default()));
        frame::write_performative(&mut bytes, 1, &Performative::End(End::default()));
        self.write(&bytes);
        self.expect("the end of another session", |frame| matches!(frame, Performative::End(_)).then_some(()));
        self.take(|frame| matches!(frame, Performative::Begin(_)).then_some(()));
    }

    pub(super) fn until<T>(&mut self, what: &str, ask: impl FnMut(&mut Self) -> Option<T>) -> T {
        let answer = self.until_or_end(what, ask);
        answer.unwrap_or_else(|| panic!("the socket was closed before {what} came; what came: {:?}", self.frames))
    }

    /// Asks until there is an answer; `None` if the other side closes the socket first.
    fn until_or_end<T>(&mut self, what: &str, mut ask: impl FnMut(&mut Self) -> Option<T>) -> Option<T> {
        let begun = Instant::now();
        loop {
            if let Some(answer) = ask(self) {
                return Some(answer);
            }
            assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}; what came: {:?}", self.frames);
            if !self.read(Duration::from_millis(100)) {
                return None;
            }
        }
    }

    /// Waits for an attach or a message, whichever comes first; `None` if the other side goes.
    pub(crate) fn attach_or_message(&mut self) -> Option<AttachOrMessage> {
        self.until_or_end("an attach or a message", |wire| {
            if let Some(received) = wire.received.pop_front() {
                return Some(AttachOrMessage::Message(received));
            }
            let index = wire.frames.iter().position(|frame| matches!(frame, Performative::Attach(_)))?;
            match wire.frames.remove(index) {
                Some(Performative::Attach(attach)) => Some(AttachOrMessage::Attach(attach)),
                _ => None,
            }
        })
    }

    /// Reads once, waiting for at most so long; false at the end of the stream.
    fn read(&mut self, wait: Duration) -> bool {
        self.stream.socket().set_read_timeout(Some(wait)).expect("the option can be set");
        let mut buffer = [0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => return false,
            Ok(count) => self.input.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return false,
        }
        self.take_frames();
        true
    }

    fn take_frames(&mut self) {
        let input = std::mem::take(&mut self.input);
        let mut rest = input.as_slice();
        // A protocol header begins like a frame that is larger than any.
        while !rest.starts_with(b"AMQP") {
            let Ok(Split::Frame { frame, used }) = frame::split(rest, u32::MAX) else { break };
            match frame.kind {
                FrameKind::Sasl => self.sasl.push_back(SaslFrame::decode(frame.body).expect("it is well formed")),
                FrameKind::Amqp if frame.body.is_empty() => {}
                FrameKind::Amqp => self.take_frame(frame.body),
            }
            rest = &rest[used..];
        }
        self.input = rest.to_vec();
    }

    fn take_frame(&mut self, body: &[u8]) {
        let (performative, payload) = Performative::decode(body).expect("it is well formed");
        let frame = match performative {
            Performative::Transfer(transfer) => return self.take_transfer(&transfer, payload),
            Performative::Disposition(disposition) => return self.take_disposition(&disposition),
            Performative::Open(open) => Performative::Open(open),
            Performative::Begin(begin) => Performative::Begin(begin),
            Performative::Attach(attach) => Performative::Attach(attach),
            Performative::Flow(flow) => Performative::Flow(flow),
            Performative::Detach(detach) => Performative::Detach(detach),
            Performative::End(end) => Performative::End(end),
            Performative::Close(close) => Performative::Close(close),
        };
        self.frames.push_back(frame);
    }
}
