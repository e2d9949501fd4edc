//! A connection that waits.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::ErrorKind;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use amqp::ErrorCondition;
use amqp_endpoint::{Connection, ConnectionConfig, Input, SessionId, Side};

use super::books::Books;
use super::sasl_layer::SaslLayer;
use super::{ClientError, ConnectOptions, Outcome, Stream, Url, secure};

/// The condition under which the old tools report that there was no transport at all.
pub(super) const NO_TRANSPORT: &str = "proton.pythonio";

const READ_CHUNK: usize = 256 * 1024;
/// How long a polite end of the connection may take.
const CLOSING: Duration = Duration::from_millis(500);

/// One connection with one session.
pub struct Client {
    pub(super) engine: Connection,
    pub(super) books: Books,
    pub(super) session: SessionId,
    pub(super) timeout: Duration,
    pub(super) container: String,
    pub(super) next_key: u64,
    stream: Stream<TcpStream>,
    layer: SaslLayer,
    /// Bytes that the layer has made of output and that are not written yet.
    wrapped: Vec<u8>,
    url: Box<Url>,
    start: Instant,
    input: Vec<u8>,
    chunk: Vec<u8>,
}

impl Client {
    /// Connects, authenticates, and begins a session.
    ///
    /// # Errors
    /// If any of it fails or takes too long.
    pub fn connect(options: &ConnectOptions) -> Result<Self, ClientError> {
        let url = Box::new(options.url.clone());
        let tls = options.client_tls()?;
        let (stream, input) = secure(dial(&url, options.timeout)?, tls.as_ref(), &url, options.timeout)?;
        let container = options.container.clone().unwrap_or_else(random_id);
        let config = ConnectionConfig {
            container_id: container.clone(),
            hostname: Some(options.virtual_host.clone().unwrap_or_else(|| url.host.clone())),
            max_frame_size: 65536,
            idle_time_out: None,
            ..ConnectionConfig::default()
        };
        let sasl = options.mechanisms().map(|mechanisms| Box::new(mechanisms) as _);
        let mut client = Self {
            engine: Connection::new(config, Side::Initiator { sasl }, Duration::ZERO),
            books: Books::default(),
            session: SessionId(0),
            timeout: options.timeout,
            container,
            next_key: 0,
            stream,
            layer: SaslLayer::default(),
            wrapped: Vec::new(),
            url,
            start: Instant::now(),
            input,
            chunk: vec![0; READ_CHUNK],
        };
        client.wait("Opening connection", |books| books.opened)?;
        client.session = client.engine.begin_session().map_err(|error| client.failed(error.to_string()))?;
        Ok(client)
    }

    /// The name by which the peer calls itself.
    pub fn peer(&self) -> &str {
        self.engine.remote_open().map_or("", |open| &open.container_id)
    }

    /// What became of messages sent, since this was asked last.
    pub fn take_outcomes(&mut self) -> Vec<Outcome> {
        self.books.outcomes.drain(..).collect()
    }

    /// How many messages were sent unsettled whose outcome has not come yet.
    pub fn unsettled(&self) -> usize {
        self.books.unsettled()
    }

    /// Carries on with the connection for up to `patience`, or until something comes.
    ///
    /// # Errors
    /// If the connection ended.
    pub fn pump(&mut self, patience: Duration) -> Result<(), ClientError> {
        self.turn(Some(Instant::now() + patience))?;
        self.check()
    }

    /// Closes the connection as the protocol wants it, without insisting.
    pub fn close(mut self) {
        // What was settled last goes out before the close, after which nothing may.
        self.engine.flush(self.start.elapsed());
        self.engine.close(None);
        let deadline = Instant::now() + CLOSING;
        while !self.books.closed && Instant::now() < deadline {
            if self.turn(Some(deadline)).is_err() {
                return;
            }
        }
        self.stream.close();
    }

    /// Carries on until `done`; `what` is what the error says was waited for.
    pub(super) fn wait(&mut self, what: &str, done: impl Fn(&mut Books) -> bool) -> Result<(), ClientError> {
        let deadline = self.deadline();
        loop {
            if done(&mut self.books) {
                return Ok(());
            }
            self.check()?;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(self.timed_out(what));
            }
            self.turn(deadline)?;
        }
    }

    /// How long each thing may take from now on; zero: for ever.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// When waiting that begins now is to end.
    pub(super) fn deadline(&self) -> Option<Instant> {
        (!self.timeout.is_zero()).then(|| Instant::now() + self.timeout)
    }

    pub(super) fn timed_out(&self, what: &str) -> ClientError {
        ClientError::Timeout { url: self.url.clone(), waiting_for: what.to_owned() }
    }

    /// An error if the connection has ended.
    pub(super) fn check(&self) -> Result<(), ClientError> {
        match &self.books.ended {
            Some(error) => Err(self.disconnected(error.clone())),
            None => Ok(()),
        }
    }

    /// An error of this end's own.
    pub(super) fn failed(&self, text: String) -> ClientError {
        self.disconnected(ErrorCondition::new(amqp::condition::names::INTERNAL_ERROR, text))
    }

    /// One turn: write what is to be written, then read once, waiting until the deadline at the longest.
    pub(super) fn turn(&mut self, deadline: Option<Instant>) -> Result<(), ClientError> {
        self.drive();
        self.engine.flush(self.start.elapsed());
        self.write()?;
        let now = self.start.elapsed();
        let due = self.engine.next_timeout().map(|due| due.saturating_sub(now));
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        // A time-out of zero would mean none to the socket.
        let wait = due.into_iter().chain(left).min().map(|wait| wait.max(Duration::from_micros(100)));
        let read = self.stream.socket().set_read_timeout(wait).and_then(|()| self.stream.read(&mut self.chunk));
        match read {
            Ok(0) => self.engine.transport_closed(),
            Ok(count) => {
                if self.layer.decode(&self.chunk[..count], &mut self.input).is_err() {
                    self.engine.transport_closed();
                }
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
            // A client that shows no certificate hears of it only after its own end of the handshake (TLS 1.3).
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return Err(super::stream::failure(&self.url, &error));
            }
            Err(_) => self.engine.transport_closed(),
        }
        let now = self.start.elapsed();
        if self.engine.next_timeout().is_some_and(|due| now >= due) {
            self.engine.handle_timeout(now);
        }
        self.drive();
        Ok(())
    }

    fn drive(&mut self) {
        self.poll();
        if self.engine.has_security_layer() {
            // All that was said so far goes out as it is.
            let began = match self.write() {
                Ok(()) => self.layer.begin(&mut self.engine, &mut self.input),
                Err(_) => Err("the exchange could not be ended".to_owned()),
            };
            if began.is_err() {
                self.engine.transport_closed();
            }
            self.poll();
        }
    }

    fn poll(&mut self) {
        let now = self.start.elapsed();
        let mut input = Input::new(&self.input);
        while let Some(event) = self.engine.poll(now, &mut input) {
            self.books.absorb(&mut self.engine, event);
        }
        let consumed = input.consumed();
        self.input.drain(..consumed);
    }

    fn write(&mut self) -> Result<(), ClientError> {
        match self.layer.encode(self.engine.output()) {
            Some(Ok(wire)) => {
                self.wrapped.extend_from_slice(&wire);
                let all = self.engine.output().len();
                self.engine.consume_output(all);
            }
            Some(Err(text)) => return Err(self.failed(text)),
            None => {}
        }
        while !(self.wrapped.is_empty() && self.engine.output().is_empty()) || self.stream.wants_write() {
            let wrapped = !self.wrapped.is_empty();
            let output = if wrapped { &self.wrapped } else { self.engine.output() };
            let written = if output.is_empty() { self.stream.flush().map(|()| 0) } else { self.stream.write(output) };
            match written {
                Ok(count) if wrapped => drop(self.wrapped.drain(..count)),
                Ok(count) => self.engine.consume_output(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(self.timed_out("Sending to the peer, which does not read"));
                }
                // What the peer said before it hung up may still be there to be read, and says more than this error.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    fn disconnected(&self, error: ErrorCondition) -> ClientError {
        ClientError::Disconnected { url: self.url.clone(), error: Box::new(error) }
    }
}

/// Opens a TCP connection to the first address of the host that takes it.
pub(crate) fn dial(url: &Url, timeout: Duration) -> Result<TcpStream, ClientError> {
    let port = url.port_number().unwrap_or_default();
    let addresses = (url.host.as_str(), port).to_socket_addrs().map_err(|error| unknown_host(url, &error))?;
    let mut failure = None;
    for address in addresses {
        let attempt =
            if timeout.is_zero() { TcpStream::connect(address) } else { TcpStream::connect_timeout(&address, timeout) };
        match attempt {
            Ok(stream) => {
                // Small requests should not wait for acknowledgements; and a peer that stops reading must not hang us.
                let ready = stream.set_nodelay(true);
                let limit = (!timeout.is_zero()).then_some(timeout);
                match ready.and_then(|()| stream.set_write_timeout(limit)) {
                    Ok(()) => return Ok(stream),
                    Err(error) => failure = Some(error),
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    let text = match failure {
        Some(error) if error.kind() == ErrorKind::TimedOut => {
            let waiting_for = "Opening connection".to_owned();
            return Err(ClientError::Timeout { url: Box::new(url.clone()), waiting_for });
        }
        Some(error) if error.kind() != ErrorKind::ConnectionRefused => error.to_string(),
        _ => "Connection refused to all addresses".to_owned(),
    };
    let error = Box::new(ErrorCondition::new(NO_TRANSPORT, text));
    Err(ClientError::Disconnected { url: Box::new(url.clone()), error })
}

/// The standard library gives the name service's words, but not its code.
fn unknown_host(url: &Url, error: &std::io::Error) -> ClientError {
    let text = error.to_string();
    let text = text.rsplit_once(": ").map_or(text.as_str(), |(_, words)| words).to_owned();
    let code = match text.as_str() {
        "Temporary failure in name resolution" => -3,
        "No address associated with hostname" => -5,
        _ => -2,
    };
    ClientError::UnknownHost { code, text, host: url.host.clone() }
}

/// A name that nobody else has: a random UUID as text.
pub(crate) fn random_id() -> String {
    // The standard library seeds its hash maps from the system's random numbers, and hands them out nowhere else.
    let random = || RandomState::new().build_hasher().finish();
    let (high, low) = (random(), random());
    // The version (4) and variant bits of RFC 4122 stand in fixed places.
    let (high, low) = (high & !0xf000 | 0x4000, low & !(3 << 62) | 1 << 63);
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
    format!("{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_are_uuids_and_differ() {
        let id = random_id();
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!((lengths, id.as_bytes()[14]), (vec![8, 4, 4, 4, 12], b'4'));
        assert_ne!(id, random_id());
    }
}
