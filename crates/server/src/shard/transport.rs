//! What carries a connection's bytes. Whatever the layers are, the rest of the shard sees plain bytes come and go.
//!
//! A layer may have bytes to give without an event, and bytes of its own to write: [`Transport::has_more`] and
//! [`Transport::wants_write`] say so.

use std::io::{self, IoSlice, Read, Write};

use mio::event::Source;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use security::Underneath;

use super::websocket::WebSocket;

/// The bytes' carrier.
pub(super) enum Transport {
    /// Nothing between the socket and AMQP.
    Plain(TcpStream),
    /// A WebSocket over another transport.
    WebSocket(Box<WebSocket>),
}

impl Transport {
    /// Reads what is there, up to the buffer's size.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => retry(|| stream.read(buffer)),
            Self::WebSocket(socket) => socket.read(buffer),
        }
    }

    /// Whether a read may find something though there is no event to tell of it, even if the last one would have blocked.
    pub(super) fn has_more(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::WebSocket(socket) => socket.has_more(),
        }
    }

    /// Writes what fits.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => retry(|| stream.write(bytes)),
            Self::WebSocket(socket) => socket.write(bytes),
        }
    }

    /// Writes what fits of one and then of the other.
    pub(super) fn write_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => retry(|| stream.write_vectored(&[IoSlice::new(first), IoSlice::new(second)])),
            Self::WebSocket(socket) => socket.write(if first.is_empty() { second } else { first }),
        }
    }

    /// Whether a layer has something to write of its own.
    pub(super) fn wants_write(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::WebSocket(socket) => socket.wants_write(),
        }
    }

    /// Writes what layers have to write of their own.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::WebSocket(socket) => socket.flush(),
        }
    }

    /// Ends the layers in their own ways. False: the peer has to be heard first.
    pub(super) fn close(&mut self) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::WebSocket(socket) => socket.close(),
        }
    }

    /// Why a layer cannot go on.
    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::Plain(_) => None,
            Self::WebSocket(socket) => socket.fault(),
        }
    }

    /// Edge triggered for both directions at once: the kernel tells of room to write only after a write has found none,
    /// so this costs no wake-ups, and no call to change it.
    pub(super) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.register(registry, token, Interest::READABLE | Interest::WRITABLE),
            Self::WebSocket(socket) => socket.beneath_mut().register(registry, token),
        }
    }

    /// Small frames must not wait for an acknowledgement; where that cannot be had they do, no more.
    pub(super) fn set_nodelay(&self) {
        match self {
            Self::Plain(stream) => drop(stream.set_nodelay(true)),
            Self::WebSocket(socket) => socket.beneath().set_nodelay(),
        }
    }

    /// What it shows of the connection, for SASL to rest on.
    pub(super) fn underneath(&self) -> Underneath {
        match self {
            Self::Plain(stream) => {
                Underneath { peer: stream.peer_addr().ok(), local: stream.local_addr().ok(), ..Underneath::default() }
            }
            Self::WebSocket(socket) => socket.beneath().underneath(),
        }
    }

    /// How an attempt to connect went: `None` while it has not ended.
    pub(super) fn connected(&self) -> Option<io::Result<()>> {
        match self {
            Self::Plain(stream) => match (stream.take_error(), stream.peer_addr()) {
                (Err(error), _) | (Ok(Some(error)), _) => Some(Err(error)),
                (Ok(None), Ok(_)) => Some(Ok(())),
                (Ok(None), Err(error)) if error.kind() == io::ErrorKind::NotConnected => None,
                (Ok(None), Err(error)) => Some(Err(error)),
            },
            Self::WebSocket(socket) => socket.beneath().connected(),
        }
    }
}

fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
