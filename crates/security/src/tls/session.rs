//! One session: bytes of the socket to bytes of AMQP, and back. No socket here: the owner reads and writes.

use std::io;
use std::sync::Arc;

use rustls::Error;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedConnectionCommon, UnbufferedStatus,
    WriteTraffic,
};

use super::client::ClientTls;
use super::peer::PeerInfo;
use super::server::ServerTls;
use super::user_id::UserIds;

/// Room that is left free before the bytes of the socket, in bytes: a record's plain bytes are never more (RFC 8446,
/// 5.1), and so always fit before what is still encrypted.
const AHEAD: usize = 16 * 1024;
/// Encrypted bytes that may wait for the rest of their record or handshake message. A peer's chain of certificates is
/// the largest of those.
const LARGEST_PART: usize = 30 * 1024;
/// Plain bytes that are encrypted at once.
const SEND_MAX: usize = 64 * 1024;
/// What a record adds to its plain bytes, at most, and how many of them it takes.
const RECORD_OVERHEAD: usize = 64;
const RECORD_MAX: usize = 16 * 1024;

/// A session.
pub struct Session {
    end: End,
    user_ids: Arc<UserIds>,
    /// Encrypted bytes of which the rest has not come.
    part: Vec<u8>,
    established: bool,
    closed: bool,
    /// It has come to an error, and is of no use any more.
    failed: bool,
}

enum End {
    Server(Box<UnbufferedServerConnection>),
    Client(Box<UnbufferedClientConnection>),
}

/// What a look at the socket has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Plain bytes, at the front of the buffer.
    pub count: usize,
    /// The socket may have more.
    pub more: bool,
    /// The peer says that nothing comes any more, or the socket is at its end.
    pub end: bool,
}

impl Session {
    /// The least size of a buffer to receive into.
    pub const BUFFER: usize = 48 * 1024;
    /// The least size of a buffer to encrypt into.
    pub const ROOM: usize = SEND_MAX + (SEND_MAX / RECORD_MAX + 1) * RECORD_OVERHEAD;

    /// For a connection that was accepted.
    ///
    /// # Errors
    /// If the TLS library cannot begin.
    pub fn accept(tls: &ServerTls) -> Result<Self, Error> {
        let end = UnbufferedServerConnection::new(Arc::clone(&tls.config))?;
        Ok(Self::new(End::Server(Box::new(end)), Arc::clone(&tls.user_ids)))
    }

    /// For a connection that was made to this host; what is to be said first is added to `outgoing`.
    ///
    /// # Errors
    /// If the host's name is neither a DNS name nor an address, or the TLS library cannot begin.
    pub fn connect(tls: &ClientTls, host: &str, outgoing: &mut Vec<u8>) -> Result<Self, Error> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Error::General(format!("'{host}' is neither a DNS name nor an address")))?;
        let end = UnbufferedClientConnection::new(Arc::clone(&tls.config), name)?;
        let mut session = Self::new(End::Client(Box::new(end)), Arc::default());
        session.take_in(&mut [], 0, outgoing)?;
        Ok(session)
    }

    fn new(end: End, user_ids: Arc<UserIds>) -> Self {
        Self { end, user_ids, part: Vec::new(), established: false, closed: false, failed: false }
    }

    /// Whether the handshake is done: only then is there something to be sent.
    pub fn is_established(&self) -> bool {
        self.established
    }

    /// Reads once with `read`, which is given a place for encrypted bytes, into a buffer of at least [`Session::BUFFER`] bytes;
    /// what they say is left at the buffer's front. What is to be answered is added to `outgoing`.
    ///
    /// # Errors
    /// Those of `read`; of kind [`io::ErrorKind::InvalidData`] if the peer breaks the protocol or is not trusted. Then
    /// `outgoing` has an alert that tells it so.
    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        outgoing: &mut Vec<u8>,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Received> {
        if self.closed || self.failed {
            return Ok(Received { count: 0, more: false, end: true });
        }
        let kept = self.part.len();
        let start = AHEAD + kept;
        let Some(free) = buffer.get_mut(start..).filter(|free| !free.is_empty()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the buffer is too small for TLS"));
        };
        let room = free.len();
        let count = read(free)?;
        if count == 0 {
            return Ok(Received { count: 0, more: false, end: true });
        }
        let more = count == room;
        let filled = start + count;
        let part = std::mem::take(&mut self.part);
        if let Some(place) = buffer.get_mut(AHEAD..start) {
            place.copy_from_slice(&part);
        }
        let taken = self.take_in(buffer, filled, outgoing).map_err(|error| invalid(&error))?;
        // What came before the end is taken first; then this is called again.
        Ok(Received { count: taken, more: more || self.closed, end: self.closed && taken == 0 })
    }

    /// Takes in the encrypted bytes between [`AHEAD`] and `filled`. Returns how many plain bytes are at the front.
    fn take_in(&mut self, buffer: &mut [u8], filled: usize, outgoing: &mut Vec<u8>) -> Result<usize, Error> {
        let Self { end, established, closed, .. } = self;
        let mut taking = Taking { buffer, start: AHEAD.min(filled), filled, taken: 0, outgoing };
        let result = match end {
            End::Server(end) => taking.run(end.as_mut(), process_server, established, closed),
            End::Client(end) => taking.run(end.as_mut(), process_client, established, closed),
        };
        let Taking { start, taken, .. } = taking;
        if let Err(error) = result {
            self.failed = true;
            return Err(error);
        }
        let rest = buffer.get(start..filled).unwrap_or_default();
        if rest.len() > LARGEST_PART {
            self.failed = true;
            return Err(Error::General("the peer's handshake message is too large".to_owned()));
        }
        self.part = rest.to_vec();
        Ok(taken)
    }

    /// Encrypts some of these bytes, to the end of `outgoing`. Returns how many.
    ///
    /// # Errors
    /// If the session is at its end, or not established yet.
    pub fn send(&mut self, plain: &[u8], outgoing: &mut Vec<u8>) -> Result<usize, Error> {
        if self.failed {
            return Err(Error::HandshakeNotComplete);
        }
        let plain = &plain[..plain.len().min(SEND_MAX)];
        match &mut self.end {
            End::Server(end) => {
                with_traffic(end.as_mut(), process_server, &mut self.part, outgoing, |mut traffic, outgoing| {
                    encrypt(outgoing, plain.len(), |room| traffic.encrypt(plain, room))
                })
            }
            End::Client(end) => {
                with_traffic(end.as_mut(), process_client, &mut self.part, outgoing, |mut traffic, outgoing| {
                    encrypt(outgoing, plain.len(), |room| traffic.encrypt(plain, room))
                })
            }
        }?;
        Ok(plain.len())
    }

    /// Encrypts some of these bytes into `room`, which has at least [`Session::ROOM`] bytes, after what is added to
    /// `outgoing`. Returns how many were encrypted, and how many they have come to.
    ///
    /// # Errors
    /// As [`Session::send`].
    pub fn send_into(
        &mut self,
        plain: &[u8],
        room: &mut [u8],
        outgoing: &mut Vec<u8>,
    ) -> Result<(usize, usize), Error> {
        if self.failed {
            return Err(Error::HandshakeNotComplete);
        }
        let plain = &plain[..plain.len().min(SEND_MAX)];
        let part = &mut self.part;
        let general = |error: EncryptError| Error::General(error.to_string());
        let written = match &mut self.end {
            End::Server(end) => with_traffic(end.as_mut(), process_server, part, outgoing, |mut traffic, _| {
                traffic.encrypt(plain, room).map_err(general)
            }),
            End::Client(end) => with_traffic(end.as_mut(), process_client, part, outgoing, |mut traffic, _| {
                traffic.encrypt(plain, room).map_err(general)
            }),
        };
        Ok((plain.len(), written?))
    }

    /// Says that nothing more comes from this end, at the end of `outgoing`.
    pub fn close(&mut self, outgoing: &mut Vec<u8>) {
        if self.failed {
            return;
        }
        let part = &mut self.part;
        // A session that is not established has nothing to close.
        let _ = match &mut self.end {
            End::Server(end) => with_traffic(end.as_mut(), process_server, part, outgoing, |mut traffic, outgoing| {
                encrypt(outgoing, 0, |room| traffic.queue_close_notify(room))
            }),
            End::Client(end) => with_traffic(end.as_mut(), process_client, part, outgoing, |mut traffic, outgoing| {
                encrypt(outgoing, 0, |room| traffic.queue_close_notify(room))
            }),
        };
    }

    /// What the session has come to; of use once it is established.
    pub fn info(&self) -> PeerInfo {
        match &self.end {
            End::Server(end) => {
                let certificate = end.peer_certificates().and_then(|chain| chain.first());
                PeerInfo::new(
                    end,
                    certificate.and_then(|certificate| self.user_ids.of(certificate)),
                    self.user_ids.unknown_letter(),
                )
            }
            End::Client(end) => PeerInfo::new(end, None, None),
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("established", &self.established).field("closed", &self.closed).finish()
    }
}

/// In the words of OpenSSL where scripts look for them, with the reason behind.
fn invalid(error: &Error) -> io::Error {
    let text = match error {
        Error::InvalidCertificate(_) => format!("certificate verify failed: {error}"),
        _ => error.to_string(),
    };
    io::Error::new(io::ErrorKind::InvalidData, text)
}

type Process<Data> =
    for<'c, 'i> fn(&'c mut UnbufferedConnectionCommon<Data>, &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Data>;

fn process_server<'c, 'i>(
    end: &'c mut UnbufferedConnectionCommon<ServerConnectionData>,
    bytes: &'i mut [u8],
) -> UnbufferedStatus<'c, 'i, ServerConnectionData> {
    end.process_tls_records(bytes)
}

fn process_client<'c, 'i>(
    end: &'c mut UnbufferedConnectionCommon<ClientConnectionData>,
    bytes: &'i mut [u8],
) -> UnbufferedStatus<'c, 'i, ClientConnectionData> {
    end.process_tls_records(bytes)
}

/// Encrypted bytes on their way to being plain ones.
struct Taking<'b> {
    buffer: &'b mut [u8],
    /// Where the encrypted bytes begin that are not taken in yet.
    start: usize,
    /// Where they end.
    filled: usize,
    /// Plain bytes at the front.
    taken: usize,
    outgoing: &'b mut Vec<u8>,
}

impl Taking<'_> {
    fn run<Data>(
        &mut self,
        end: &mut UnbufferedConnectionCommon<Data>,
        process: Process<Data>,
        established: &mut bool,
        closed: &mut bool,
    ) -> Result<(), Error> {
        loop {
            let (front, encrypted) = self.buffer.split_at_mut(self.start);
            let encrypted = encrypted.get_mut(..self.filled - self.start).unwrap_or_default();
            let UnbufferedStatus { mut discard, state } = process(end, encrypted);
            let waits = match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record?;
                        discard += record.discard;
                        // It was taken from behind `start`, which is at least `AHEAD` behind the front.
                        let place = front.get_mut(self.taken..self.taken + record.payload.len());
                        place
                            .ok_or_else(|| Error::General("a record is too large".to_owned()))?
                            .copy_from_slice(record.payload);
                        self.taken += record.payload.len();
                    }
                    false
                }
                Ok(ConnectionState::EncodeTlsData(data)) => {
                    encode(data, self.outgoing)?;
                    false
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    false
                }
                Ok(ConnectionState::WriteTraffic(_)) => {
                    *established = true;
                    true
                }
                Ok(ConnectionState::PeerClosed) => {
                    *closed = true;
                    false
                }
                Ok(ConnectionState::Closed) => {
                    *closed = true;
                    true
                }
                // Early data is not accepted, so there is none.
                Ok(_) => true,
                Err(error) => {
                    // The library has to see the rest of the bytes whenever it is called: it remembers places in them.
                    let rest = encrypted.get_mut(discard..).unwrap_or_default();
                    tell(end, process, rest, self.outgoing);
                    return Err(error);
                }
            };
            self.start = self.filled.min(self.start + discard);
            if waits {
                return Ok(());
            }
        }
    }
}

/// Adds the alert that tells the peer of an error, if there is one. It is the only thing that waits to be said: everything
/// else was, before the bytes that led to the error were looked at. The library must not look at them again.
fn tell<Data>(
    end: &mut UnbufferedConnectionCommon<Data>,
    process: Process<Data>,
    rest: &mut [u8],
    outgoing: &mut Vec<u8>,
) {
    if end.wants_write()
        && let UnbufferedStatus { state: Ok(ConnectionState::EncodeTlsData(data)), .. } = process(end, rest)
    {
        // Without it the peer sees only that the connection ends.
        let _ = encode(data, outgoing);
    }
}

fn encode<Data>(mut data: EncodeTlsData<'_, Data>, outgoing: &mut Vec<u8>) -> Result<(), Error> {
    let at = outgoing.len();
    let mut room = RECORD_OVERHEAD;
    loop {
        outgoing.resize(at + room, 0);
        match data.encode(&mut outgoing[at..]) {
            Ok(written) => {
                outgoing.truncate(at + written);
                return Ok(());
            }
            Err(EncodeError::InsufficientSize(needed)) if needed.required_size > room => room = needed.required_size,
            Err(error) => {
                outgoing.truncate(at);
                return Err(Error::General(error.to_string()));
            }
        }
    }
}

/// Calls `write` once the session has nothing else to say.
fn with_traffic<Data, R>(
    end: &mut UnbufferedConnectionCommon<Data>,
    process: Process<Data>,
    part: &mut [u8],
    outgoing: &mut Vec<u8>,
    write: impl FnOnce(WriteTraffic<'_, Data>, &mut Vec<u8>) -> Result<R, Error>,
) -> Result<R, Error> {
    loop {
        let UnbufferedStatus { discard: 0, state } = process(end, part) else {
            return Err(Error::HandshakeNotComplete);
        };
        match state? {
            ConnectionState::WriteTraffic(traffic) => return write(traffic, outgoing),
            ConnectionState::EncodeTlsData(data) => encode(data, outgoing)?,
            ConnectionState::TransmitTlsData(mut data) => match data.may_encrypt_app_data() {
                Some(traffic) => return write(traffic, outgoing),
                None => data.done(),
            },
            // The peer says no more, but listens.
            ConnectionState::PeerClosed => {}
            _ => return Err(Error::HandshakeNotComplete),
        }
    }
}

/// Has `encrypt` write to the end of `outgoing`.
fn encrypt(
    outgoing: &mut Vec<u8>,
    plain: usize,
    mut encrypt: impl FnMut(&mut [u8]) -> Result<usize, EncryptError>,
) -> Result<(), Error> {
    let at = outgoing.len();
    let mut room = plain + (plain / RECORD_MAX + 1) * RECORD_OVERHEAD;
    loop {
        outgoing.resize(at + room, 0);
        match encrypt(&mut outgoing[at..]) {
            Ok(written) => {
                outgoing.truncate(at + written);
                return Ok(());
            }
            Err(EncryptError::InsufficientSize(needed)) if needed.required_size > room => room = needed.required_size,
            Err(error) => {
                outgoing.truncate(at);
                return Err(Error::General(error.to_string()));
            }
        }
    }
}
