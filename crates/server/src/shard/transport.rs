//! What carries a connection's bytes. Further layers (TLS, WebSocket) will be further variants: whatever they are, the
//! rest of the shard sees plain bytes come and go.

use std::io::{self, Read, Write};

use mio::event::Source;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use security::Underneath;

/// The bytes' carrier.
#[derive(Debug)]
pub(super) enum Transport {
    /// Nothing between the socket and AMQP.
    Plain(TcpStream),
}

impl Transport {
    /// Reads what is there, up to the buffer's size.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => retry(|| stream.read(buffer)),
        }
    }

    /// Writes what fits.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => retry(|| stream.write(bytes)),
        }
    }

    /// Edge triggered for both directions at once: the kernel tells of room to write only after a write has found none,
    /// so this costs no wake-ups, and no call to change it.
    pub(super) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.register(registry, token, Interest::READABLE | Interest::WRITABLE),
        }
    }

    /// Small frames must not wait for an acknowledgement; where that cannot be had they do, no more.
    pub(super) fn set_nodelay(&self) {
        match self {
            Self::Plain(stream) => drop(stream.set_nodelay(true)),
        }
    }

    /// What it shows of the connection, for SASL to rest on.
    pub(super) fn underneath(&self) -> Underneath {
        match self {
            Self::Plain(stream) => {
                Underneath { peer: stream.peer_addr().ok(), local: stream.local_addr().ok(), ..Underneath::default() }
            }
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
