//! TLS over a socket.

use std::io::{self, Read, Write};

use mio::net::TcpStream;
use security::Underneath;
use security::tls::{ClientTls, PeerInfo, Received, ServerTls, Session};

use super::transport::{addresses, retry};

/// An empty buffer with more room than this is freed, so that an idle connection is small.
const KEPT_ROOM: usize = 1024;
/// Bytes of a record (RFC 8446, 5.1).
const RECORD_MAX: usize = 16 * 1024;

/// A session over a socket, and what it has to say that the socket has not taken yet.
pub(super) struct TlsLayer {
    stream: TcpStream,
    session: Session,
    /// Encrypted bytes: at most what one call of [`TlsLayer::write`] makes, and answers of the session's own.
    outgoing: Vec<u8>,
    /// Bytes at the start of them that the socket has taken.
    written: usize,
    /// From the end of the handshake on.
    info: Option<Box<PeerInfo>>,
    /// This end can show a certificate, if it is the client.
    shows_certificate: bool,
    closed: bool,
    /// The socket may have more without an event.
    more: bool,
    fault: Option<String>,
}

impl TlsLayer {
    /// For a connection that was accepted; `greeting` is said before TLS begins.
    pub(super) fn accept(stream: TcpStream, tls: &ServerTls, greeting: &[u8]) -> io::Result<Self> {
        let session = Session::accept(tls).map_err(io::Error::other)?;
        Ok(Self::new(stream, session, greeting.to_vec(), false))
    }

    /// For a connection that was made to this host.
    pub(super) fn connect(stream: TcpStream, tls: &ClientTls, host: &str) -> io::Result<Self> {
        let mut outgoing = Vec::new();
        let session = Session::connect(tls, host, &mut outgoing).map_err(io::Error::other)?;
        Ok(Self::new(stream, session, outgoing, tls.has_certificate()))
    }

    /// For a connection whose handshake others have done; these encrypted bytes are to be sent first.
    pub(super) fn resume(stream: TcpStream, session: Session, outgoing: Vec<u8>) -> Self {
        let info = session.is_established().then(|| Box::new(session.info()));
        Self { info, ..Self::new(stream, session, outgoing, false) }
    }

    fn new(stream: TcpStream, session: Session, outgoing: Vec<u8>, shows_certificate: bool) -> Self {
        let (info, fault) = (None, None);
        Self { stream, session, outgoing, written: 0, info, shows_certificate, closed: false, more: false, fault }
    }

    /// Reads once from the socket. Without plain bytes it would block, and there may be more all the same: see
    /// [`TlsLayer::has_more`].
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { stream, session, outgoing, .. } = self;
        let result = session.receive(buffer, outgoing, |room| retry(|| stream.read(room)));
        self.after_reading(result)
    }

    /// Takes bytes that were read already.
    pub(super) fn take(&mut self, buffer: &mut [u8], bytes: &[u8]) -> io::Result<usize> {
        let result = self.session.receive(buffer, &mut self.outgoing, |room| {
            let count = bytes.len().min(room.len());
            room[..count].copy_from_slice(&bytes[..count]);
            Ok(count)
        });
        // There was no limit to what could be read but the buffer, so the socket may have more.
        self.after_reading(result.map(|received| Received { more: true, ..received }))
    }

    fn after_reading(&mut self, result: io::Result<Received>) -> io::Result<usize> {
        if self.info.is_none() && self.session.is_established() {
            self.info = Some(Box::new(self.session.info()));
        }
        self.more = result.as_ref().is_ok_and(|received| received.more);
        match result {
            Ok(Received { count: 0, end: false, .. }) => Err(io::ErrorKind::WouldBlock.into()),
            Ok(Received { count, .. }) => Ok(count),
            Err(error) => {
                if error.kind() == io::ErrorKind::InvalidData {
                    self.fault = Some(format!("amqp:connection:framing-error SSL Failure: {error}"));
                    // The peer is told why, if it can be: nobody writes any more after this.
                    let _ = self.flush();
                }
                Err(error)
            }
        }
    }

    /// Whether [`TlsLayer::read`] may find more without an event.
    pub(super) fn has_more(&self) -> bool {
        self.more
    }

    /// Encrypts and writes what fits. The bytes that it reports are taken, if not all written: what is left is written
    /// first the next time.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush()?;
        let count = self.session.send(bytes, &mut self.outgoing).map_err(io::Error::other)?;
        match self.flush() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            // What is left of it is written next.
            _ => Ok(count),
        }
    }

    /// Writes what fits of one and then of the other.
    pub(super) fn write_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        if first.is_empty() {
            return self.write(second);
        }
        // One record for both.
        let rest = second.get(..second.len().min(RECORD_MAX)).unwrap_or_default();
        self.write(&[first, rest].concat())
    }

    /// Writes what there is, as far as it fits.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.wants_write() {
            let rest = self.outgoing.get(self.written..).unwrap_or_default();
            match retry(|| self.stream.write(rest))? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => self.written += count,
            }
        }
        self.outgoing.clear();
        self.written = 0;
        if self.outgoing.capacity() > KEPT_ROOM {
            self.outgoing = Vec::new();
        }
        Ok(())
    }

    pub(super) fn wants_write(&self) -> bool {
        self.written < self.outgoing.len()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.info.is_some()
    }

    /// Says, once, that nothing more comes. False: that is not written yet.
    pub(super) fn close(&mut self) -> bool {
        if !std::mem::replace(&mut self.closed, true) {
            self.session.close(&mut self.outgoing);
        }
        // A peer that has hung up does without.
        !self.flush().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Why it cannot go on: condition and description.
    pub(super) fn fault(&self) -> Option<String> {
        self.fault.clone()
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub(super) fn stream_mut(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    pub(super) fn info(&self) -> Option<&PeerInfo> {
        self.info.as_deref()
    }

    /// What SASL can rest on.
    pub(super) fn underneath(&self) -> Underneath {
        let Some(info) = &self.info else { return addresses(&self.stream) };
        let identity = info.user.clone().or_else(|| self.shows_certificate.then(String::new));
        Underneath { encrypted: true, strength: info.strength, identity, ..addresses(&self.stream) }
    }
}
