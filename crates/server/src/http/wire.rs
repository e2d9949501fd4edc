//! What an HTTP connection's bytes go over: a socket, or TLS over it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use security::tls::Session;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

use crate::shard::{ListenerTls, Unencrypted};

/// The first byte of a TLS handshake (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;
/// Bytes that one look at the socket takes in, and what TLS needs beside them.
const BUFFER: usize = 64 * 1024;
/// For who does not know that this port wants TLS.
const TLS_ONLY: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n\
                          Content-Length: 32\r\n\r\nThis port wants TLS: use https.\n";

/// A socket, or TLS over it.
pub(super) enum Wire {
    Plain(TcpStream),
    Tls(Box<Encrypted>),
}

/// TLS over a socket.
pub(super) struct Encrypted {
    stream: TcpStream,
    session: Session,
    /// Encrypted bytes that the socket has not taken yet.
    outgoing: Vec<u8>,
    /// Plain bytes that nobody has read yet.
    plain: Vec<u8>,
    end: bool,
    closed: bool,
}

impl Wire {
    /// Finds out what the client speaks, within this time. `None`: it is turned away.
    pub(super) async fn accept(
        mut stream: TcpStream,
        tls: Option<&Arc<ListenerTls>>,
        patience: Duration,
    ) -> Option<Self> {
        let Some(tls) = tls else { return Some(Self::Plain(stream)) };
        let mut first = [0];
        let count = tokio::time::timeout(patience, stream.peek(&mut first)).await.ok()?.ok()?;
        if count == 1 && first == [HANDSHAKE] {
            let session = (tls.current)().and_then(|tls| Session::accept(&tls).map_err(|error| error.to_string()));
            return match session {
                Ok(session) => Some(Self::Tls(Box::new(Encrypted {
                    stream,
                    session,
                    outgoing: Vec::new(),
                    plain: Vec::new(),
                    end: false,
                    closed: false,
                }))),
                Err(error) => {
                    logging::log!(HTTP, Error, "Cannot accept TLS: {error}");
                    None
                }
            };
        }
        if tls.required {
            // Who does not read it does not get it.
            let _ = tokio::time::timeout(patience, stream.write_all(TLS_ONLY)).await;
            return None;
        }
        Some(Self::Plain(stream))
    }

    /// Takes it apart for a shard, with the bytes that were read from it and nobody used.
    pub(super) fn into_parts(self, mut early: Vec<u8>) -> io::Result<Unencrypted> {
        Ok(match self {
            Self::Plain(stream) => Unencrypted { stream: stream.into_std()?, tls: None, early },
            Self::Tls(tls) => {
                let Encrypted { stream, session, outgoing, plain, .. } = *tls;
                early.extend(plain);
                Unencrypted { stream: stream.into_std()?, tls: Some((session, outgoing)), early }
            }
        })
    }
}

impl Encrypted {
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.outgoing.is_empty() {
            let count = ready!(Pin::new(&mut self.stream).poll_write(context, &self.outgoing))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.outgoing.drain(..count);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            let mut buffer = vec![0; BUFFER];
            let Self { stream, session, outgoing, .. } = self;
            let received = match session.receive(&mut buffer, outgoing, |room| stream.try_read(room)) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => {
                    logging::log!(HTTP, Info, "SSL Failure: {error}");
                    // The client is told why, if there is room.
                    let _ = self.poll_send(context);
                    return Poll::Ready(Err(error));
                }
            };
            self.plain.extend_from_slice(buffer.get(..received.count).unwrap_or_default());
            self.end = received.end;
            if received.count > 0 || received.end {
                return Poll::Ready(Ok(()));
            }
            // The handshake goes on only if it is answered.
            ready!(self.poll_send(context))?;
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let tls = match self.get_mut() {
            Self::Plain(stream) => return Pin::new(stream).poll_read(context, buffer),
            Self::Tls(tls) => tls,
        };
        // What was to be said first must not wait for what the client says.
        ready!(tls.poll_send(context))?;
        if tls.plain.is_empty() && !tls.end {
            ready!(tls.poll_receive(context))?;
        }
        let count = tls.plain.len().min(buffer.remaining());
        buffer.put_slice(&tls.plain[..count]);
        tls.plain.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let tls = match self.get_mut() {
            Self::Plain(stream) => return Pin::new(stream).poll_write(context, bytes),
            Self::Tls(tls) => tls,
        };
        ready!(tls.poll_send(context))?;
        let count = tls.session.send(bytes, &mut tls.outgoing).map_err(io::Error::other)?;
        // What does not fit goes out before what comes next.
        match tls.poll_send(context) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(count)),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(tls) => tls.poll_send(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(tls) => {
                if !std::mem::replace(&mut tls.closed, true) {
                    tls.session.close(&mut tls.outgoing);
                }
                ready!(tls.poll_send(context))?;
                Pin::new(&mut tls.stream).poll_shutdown(context)
            }
        }
    }
}
