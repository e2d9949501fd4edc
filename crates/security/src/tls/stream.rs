//! A session over anything that can be read and written: a socket of a shard, which never waits, or of a tool, which does.

use std::cell::RefCell;
use std::io::{self, Read, Write};

use super::client::ClientTls;
use super::peer::PeerInfo;
use super::server::ServerTls;
use super::session::{Received, Session};

/// An empty buffer with more room than this is freed, so that an idle connection is small.
const KEPT_ROOM: usize = 1024;
/// Bytes of a record (RFC 8446, 5.1).
const RECORD_MAX: usize = 16 * 1024;

thread_local! {
    /// Where bytes are encrypted, most of which leave at once.
    static ROOM: RefCell<Vec<u8>> = RefCell::new(vec![0; Session::ROOM]);
}

/// A session, what it stands on, and what it has to say that was not taken yet.
pub struct TlsStream<S> {
    beneath: S,
    session: Session,
    /// Encrypted bytes: at most what one call of [`TlsStream::write`] makes, and answers of the session's own.
    outgoing: Vec<u8>,
    /// Bytes at the start of them that were taken.
    written: usize,
    closed: bool,
    more: bool,
}

impl<S: Read + Write> TlsStream<S> {
    /// For a connection that was accepted; `greeting` is said before TLS begins.
    ///
    /// # Errors
    /// If the TLS library cannot begin.
    pub fn accept(beneath: S, tls: &ServerTls, greeting: &[u8]) -> io::Result<Self> {
        let session = Session::accept(tls).map_err(io::Error::other)?;
        Ok(Self::new(beneath, session, greeting.to_vec()))
    }

    /// For a connection that was made, or is being made, to this host. Nothing is written yet.
    ///
    /// # Errors
    /// If the host's name is neither a DNS name nor an address, or the TLS library cannot begin.
    pub fn connect(beneath: S, tls: &ClientTls, host: &str) -> io::Result<Self> {
        let mut outgoing = Vec::new();
        let session = Session::connect(tls, host, &mut outgoing).map_err(io::Error::other)?;
        Ok(Self::new(beneath, session, outgoing))
    }

    /// For a session that there is already; these encrypted bytes are to be written first.
    pub fn new(beneath: S, session: Session, outgoing: Vec<u8>) -> Self {
        Self { beneath, session, outgoing, written: 0, closed: false, more: false }
    }

    /// Reads once. Without plain bytes it would block, and there may be more all the same: see [`TlsStream::has_more`].
    /// The buffer must have at least [`Session::BUFFER`] bytes.
    ///
    /// # Errors
    /// Those of what it stands on; of kind [`io::ErrorKind::InvalidData`] if the peer breaks the protocol or is not
    /// trusted, and then it has been told so as far as that could be done at once.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { beneath, session, outgoing, .. } = self;
        let result = session.receive(buffer, outgoing, |room| retry(|| beneath.read(room)));
        self.after_reading(result)
    }

    /// Takes encrypted bytes that were read already.
    ///
    /// # Errors
    /// As [`TlsStream::read`].
    pub fn take(&mut self, buffer: &mut [u8], bytes: &[u8]) -> io::Result<usize> {
        let result = self.session.receive(buffer, &mut self.outgoing, |room| {
            // Not more than was read into the same buffer, but for the room that is kept free.
            let place = room.get_mut(..bytes.len()).ok_or(io::ErrorKind::InvalidData)?;
            place.copy_from_slice(bytes);
            Ok(bytes.len())
        });
        // There was no limit to what could be read but the buffer, so there may be more.
        self.after_reading(result.map(|received| Received { more: true, ..received }))
    }

    fn after_reading(&mut self, result: io::Result<Received>) -> io::Result<usize> {
        self.more = result.as_ref().is_ok_and(|received| received.more);
        match result {
            Ok(Received { count: 0, end: false, .. }) => Err(io::ErrorKind::WouldBlock.into()),
            Ok(Received { count, .. }) => Ok(count),
            Err(error) => {
                if error.kind() == io::ErrorKind::InvalidData {
                    // The peer is told why, if it can be: nobody writes any more after this.
                    let _ = self.flush();
                }
                Err(error)
            }
        }
    }

    /// Whether [`TlsStream::read`] may find more without an event.
    pub fn has_more(&self) -> bool {
        self.more
    }

    /// Encrypts and writes what fits. The bytes that it reports are taken, if not all written: what is left is written
    /// first the next time.
    ///
    /// # Errors
    /// Those of what it stands on, and if the session is not established.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush()?;
        let count = ROOM.with_borrow_mut(|room| {
            let (count, size) = self.session.send_into(bytes, room, &mut self.outgoing).map_err(io::Error::other)?;
            let sealed = room.get(..size).unwrap_or_default();
            // What the session had to say itself comes first, and is rare.
            let written = if self.outgoing.is_empty() { retry(|| self.beneath.write(sealed)) } else { Ok(0) };
            match written {
                Ok(written) => self.outgoing.extend_from_slice(sealed.get(written..).unwrap_or_default()),
                Err(error) if is_patience(&error) => self.outgoing.extend_from_slice(sealed),
                Err(error) => return Err(error),
            }
            Ok(count)
        })?;
        // Until it would block: only then there is an event when there is room again.
        match self.flush() {
            Err(error) if !is_patience(&error) => Err(error),
            _ => Ok(count),
        }
    }

    /// Writes what fits of one and then of the other.
    ///
    /// # Errors
    /// As [`TlsStream::write`].
    pub fn write_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        if first.is_empty() {
            return self.write(second);
        }
        // A record for both.
        let room = RECORD_MAX.saturating_sub(first.len());
        self.write(&[first, second.get(..second.len().min(room)).unwrap_or_default()].concat())
    }

    /// Writes what there is, as far as it fits.
    ///
    /// # Errors
    /// Those of what it stands on: of kind [`io::ErrorKind::WouldBlock`] if not all of it fits.
    pub fn flush(&mut self) -> io::Result<()> {
        while self.wants_write() {
            let rest = self.outgoing.get(self.written..).unwrap_or_default();
            match retry(|| self.beneath.write(rest))? {
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

    /// Whether there is something that was not taken yet.
    pub fn wants_write(&self) -> bool {
        self.written < self.outgoing.len()
    }

    /// Says, once, that nothing more comes. False: that is not written yet.
    pub fn close(&mut self) -> bool {
        if !std::mem::replace(&mut self.closed, true) {
            self.session.close(&mut self.outgoing);
        }
        // A peer that has hung up does without.
        !self.flush().is_err_and(|error| is_patience(&error))
    }

    /// Whether the handshake is done: only then is there something to be written.
    pub fn is_established(&self) -> bool {
        self.session.is_established()
    }

    /// What the session has come to; of use once it is established.
    pub fn info(&self) -> PeerInfo {
        self.session.info()
    }

    /// The same session over something else, such as another form of the same socket.
    pub fn map<T: Read + Write>(self, change: impl FnOnce(S) -> T) -> TlsStream<T> {
        let Self { beneath, session, outgoing, written, closed, more } = self;
        TlsStream { beneath: change(beneath), session, outgoing, written, closed, more }
    }

    /// What it stands on.
    pub fn beneath(&self) -> &S {
        &self.beneath
    }

    /// What it stands on; not to be read or written.
    pub fn beneath_mut(&mut self) -> &mut S {
        &mut self.beneath
    }
}

/// Whether it is only a matter of time.
fn is_patience(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Calls again what a signal has interrupted.
pub(super) fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
