//! A socket, with or without TLS over it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use amqp::ErrorCondition;
use security::tls::{ClientTls, Session, TlsStream};

use super::{ClientError, Url};

/// What carries the bytes of a connection.
pub(crate) enum Stream<S> {
    /// Nothing over the socket.
    Plain(S),
    /// TLS.
    Tls(Box<TlsStream<S>>),
}

impl<S: Read + Write> Stream<S> {
    /// Reads once; the buffer must have at least [`Session::BUFFER`] bytes.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }

    /// Whether a read may find more, even if the last one would have blocked.
    pub(crate) fn has_more(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.has_more(),
        }
    }

    /// Writes what fits.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    /// Writes what TLS has left.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(tls) => tls.flush(),
        }
    }

    /// Whether TLS has something left to write.
    pub(crate) fn wants_write(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.wants_write(),
        }
    }

    /// Says that nothing more comes.
    pub(crate) fn close(&mut self) {
        if let Self::Tls(tls) = self {
            tls.close();
        }
    }

    /// The socket.
    pub(crate) fn socket(&self) -> &S {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.beneath(),
        }
    }

    /// The socket, not to be read or written.
    pub(crate) fn socket_mut(&mut self) -> &mut S {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.beneath_mut(),
        }
    }

    /// The same over another form of the socket.
    pub(crate) fn map<T: Read + Write>(self, change: impl FnOnce(S) -> T) -> Stream<T> {
        match self {
            Self::Plain(socket) => Stream::Plain(change(socket)),
            Self::Tls(tls) => Stream::Tls(Box::new(tls.map(change))),
        }
    }
}

/// What a peer that breaks TLS, or ends it with an alert, comes to.
pub(crate) fn failure(url: &Url, error: &io::Error) -> ClientError {
    let text = format!("SSL Failure: {error}");
    let error = Box::new(ErrorCondition::new(amqp::condition::names::FRAMING_ERROR, text));
    ClientError::Disconnected { url: Box::new(url.clone()), error }
}

/// Begins TLS on a socket, if it is wanted, and waits for the end of its handshake. What came along with that of AMQP is
/// returned, too.
///
/// # Errors
/// If the peer is not trusted, does not trust this end, or takes too long.
pub(crate) fn secure(
    socket: TcpStream,
    tls: Option<&ClientTls>,
    url: &Url,
    timeout: Duration,
) -> Result<(Stream<TcpStream>, Vec<u8>), ClientError> {
    let Some(tls) = tls else { return Ok((Stream::Plain(socket), Vec::new())) };
    let failed = |error: &io::Error| failure(url, error);
    let late =
        || ClientError::Timeout { url: Box::new(url.clone()), waiting_for: "Opening secure connection".to_owned() };
    let deadline = (!timeout.is_zero()).then(|| Instant::now() + timeout);
    let mut stream = TlsStream::connect(socket, tls, &url.host).map_err(|error| failed(&error))?;
    let mut buffer = vec![0; Session::BUFFER];
    let mut early = Vec::new();
    loop {
        stream.flush().map_err(|error| failed(&error))?;
        if stream.is_established() {
            return Ok((Stream::Tls(Box::new(stream)), early));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(late());
        }
        stream.beneath().set_read_timeout(left).map_err(|error| failed(&error))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Err(failed(&io::Error::other("the peer has hung up: does it speak TLS at this port?"))),
            Ok(count) => early.extend_from_slice(&buffer[..count]),
            // That nothing has come, or nothing that AMQP would see.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(failed(&error)),
        }
    }
}
