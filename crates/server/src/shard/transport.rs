//! What carries a connection's bytes. Whatever the layers are, the rest of the shard sees plain bytes come and go.
//!
//! A layer may have bytes to give without an event, and bytes of its own to write: [`Transport::has_more`] and
//! [`Transport::wants_write`] say so.

use std::io::{self, IoSlice, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use amqp_endpoint::SecurityLayer;
use mio::event::Source;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use security::Underneath;
use security::tls::PeerInfo;

use super::arrival::Listener;
use super::first_bytes::{FirstBytes, Kind};
use super::sasl_layer::SaslLayer;
use super::settings::ConnectorAttempt;
use super::tls_layer::TlsLayer;
use super::websocket::WebSocket;

/// The bytes' carrier.
pub(super) enum Transport {
    /// Nothing between the socket and AMQP.
    Plain(TcpStream),
    /// Nothing yet: the peer's first bytes decide between the one before and the one after.
    Undecided(Box<FirstBytes>),
    /// TLS over a socket.
    Tls(Box<TlsLayer>),
    /// A WebSocket over another transport.
    WebSocket(Box<WebSocket>),
    /// A security layer of SASL's over another transport.
    Sasl(Box<SaslLayer>),
    /// Nothing at all, for the moment in which a layer is put over another.
    Gone,
}

impl Transport {
    /// A socket that a listener has accepted. If the listener takes TLS, the peer's first bytes decide.
    pub(super) fn accepted(stream: TcpStream, listener: &Listener) -> Self {
        match &listener.tls {
            None => Self::Plain(stream),
            Some(tls) => Self::Undecided(Box::new(FirstBytes::new(stream, Arc::clone(tls)))),
        }
    }

    /// Begins to connect to one of a connector's addresses.
    pub(super) fn to_server(address: SocketAddr, attempt: &ConnectorAttempt) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        Ok(match &attempt.tls {
            None => Self::Plain(stream),
            Some(tls) => Self::Tls(Box::new(TlsLayer::connect(stream, tls, &attempt.hostname)?)),
        })
    }

    /// Reads what is there, up to the buffer's size.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => retry(|| stream.read(buffer)),
            Self::Undecided(first) => {
                let kind = first.read(buffer)?;
                self.decided(kind, buffer)
            }
            Self::Tls(tls) => tls.read(buffer),
            Self::WebSocket(socket) => socket.read(buffer),
            Self::Sasl(layer) => layer.read(buffer),
            Self::Gone => Ok(0),
        }
    }

    /// The peer's first bytes have come.
    fn decided(&mut self, kind: Kind, buffer: &mut [u8]) -> io::Result<usize> {
        match kind {
            Kind::Plain(stream, count) => {
                *self = Self::Plain(stream);
                Ok(count)
            }
            Kind::Tls(mut tls, bytes) => {
                let result =
                    if bytes.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { tls.take(buffer, &bytes) };
                *self = Self::Tls(tls);
                result
            }
        }
    }

    /// Whether a read may find something though there is no event to tell of it, even if the last one would have blocked.
    pub(super) fn has_more(&self) -> bool {
        match self {
            Self::Plain(_) | Self::Undecided(_) | Self::Gone => false,
            Self::Tls(tls) => tls.has_more(),
            Self::WebSocket(socket) => socket.has_more(),
            Self::Sasl(layer) => layer.has_more(),
        }
    }

    /// Writes what fits.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => retry(|| stream.write(bytes)),
            Self::Undecided(_) => Err(io::ErrorKind::WouldBlock.into()),
            Self::Tls(tls) => tls.write(bytes),
            Self::WebSocket(socket) => socket.write(bytes),
            Self::Sasl(layer) => layer.write(bytes),
            Self::Gone => Ok(0),
        }
    }

    /// Writes what fits of one and then of the other.
    pub(super) fn write_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => retry(|| stream.write_vectored(&[IoSlice::new(first), IoSlice::new(second)])),
            Self::Undecided(_) => Err(io::ErrorKind::WouldBlock.into()),
            Self::Tls(tls) => tls.write_both(first, second),
            Self::WebSocket(socket) => socket.write(if first.is_empty() { second } else { first }),
            Self::Sasl(layer) => layer.write(if first.is_empty() { second } else { first }),
            Self::Gone => Ok(0),
        }
    }

    /// Whether a layer has something to write of its own.
    pub(super) fn wants_write(&self) -> bool {
        match self {
            Self::Plain(_) | Self::Undecided(_) | Self::Gone => false,
            Self::Tls(tls) => tls.wants_write(),
            Self::WebSocket(socket) => socket.wants_write(),
            Self::Sasl(layer) => layer.wants_write(),
        }
    }

    /// Writes what layers have to write of their own.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) | Self::Undecided(_) | Self::Gone => Ok(()),
            Self::Tls(tls) => tls.flush(),
            Self::WebSocket(socket) => socket.flush(),
            Self::Sasl(layer) => layer.flush(),
        }
    }

    /// Ends the layers in their own ways. False: the peer has to be heard first.
    pub(super) fn close(&mut self) -> bool {
        match self {
            Self::Plain(_) | Self::Undecided(_) | Self::Gone => true,
            Self::Tls(tls) => tls.close(),
            Self::WebSocket(socket) => socket.close(),
            Self::Sasl(layer) => layer.close(),
        }
    }

    /// Why a layer cannot go on: condition and description.
    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::Plain(_) | Self::Gone => None,
            Self::Undecided(first) => first.fault(),
            Self::Tls(tls) => tls.fault(),
            Self::WebSocket(socket) => socket.fault(),
            Self::Sasl(layer) => layer.fault(),
        }
    }

    /// Puts a security layer over it: see [`SaslLayer::new`].
    pub(super) fn secure(&mut self, layer: Box<dyn SecurityLayer>, last_words: Vec<u8>, early: Vec<u8>) {
        let beneath = std::mem::replace(self, Self::Gone);
        *self = Self::Sasl(Box::new(SaslLayer::new(beneath, layer, last_words, early)));
    }

    /// Strength of SASL's security layer in bits; 0 without one.
    pub(super) fn sasl_strength(&self) -> u32 {
        match self {
            Self::Sasl(layer) => layer.strength(),
            _ => 0,
        }
    }

    /// Whether AMQP can be spoken over it.
    pub(super) fn is_ready(&self) -> bool {
        match self {
            Self::Plain(_) | Self::Sasl(_) => true,
            Self::Undecided(_) | Self::Gone => false,
            Self::Tls(tls) => tls.is_ready(),
            Self::WebSocket(socket) => socket.beneath().is_ready(),
        }
    }

    /// What is known of its TLS, if it has any.
    pub(super) fn tls(&self) -> Option<&PeerInfo> {
        match self {
            Self::Plain(_) | Self::Undecided(_) | Self::Gone => None,
            Self::Tls(tls) => tls.info(),
            Self::WebSocket(socket) => socket.beneath().tls(),
            Self::Sasl(layer) => layer.beneath().tls(),
        }
    }

    /// Edge triggered for both directions at once: the kernel tells of room to write only after a write has found none,
    /// so this costs no wake-ups, and no call to change it.
    pub(super) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.stream_mut().ok_or(io::ErrorKind::NotConnected)?.register(registry, token, interest)
    }

    /// Small frames must not wait for an acknowledgement; where that cannot be had they do, no more.
    pub(super) fn set_nodelay(&self) {
        if let Some(stream) = self.stream() {
            let _ = stream.set_nodelay(true);
        }
    }

    /// What it shows of the connection, for SASL to rest on.
    pub(super) fn underneath(&self) -> Underneath {
        match self {
            Self::Plain(stream) => addresses(stream),
            Self::Undecided(first) => first.stream().map(addresses).unwrap_or_default(),
            Self::Tls(tls) => tls.underneath(),
            Self::WebSocket(socket) => socket.beneath().underneath(),
            Self::Sasl(layer) => layer.beneath().underneath(),
            Self::Gone => Underneath::default(),
        }
    }

    /// How an attempt to connect went: `None` while it has not ended.
    pub(super) fn connected(&self) -> Option<io::Result<()>> {
        let stream = self.stream()?;
        match (stream.take_error(), stream.peer_addr()) {
            (Err(error), _) | (Ok(Some(error)), _) => Some(Err(error)),
            (Ok(None), Ok(_)) => Some(Ok(())),
            (Ok(None), Err(error)) if error.kind() == io::ErrorKind::NotConnected => None,
            (Ok(None), Err(error)) => Some(Err(error)),
        }
    }

    /// The socket below all layers.
    fn stream(&self) -> Option<&TcpStream> {
        match self {
            Self::Plain(stream) => Some(stream),
            Self::Undecided(first) => first.stream(),
            Self::Tls(tls) => Some(tls.beneath()),
            Self::WebSocket(socket) => socket.beneath().stream(),
            Self::Sasl(layer) => layer.beneath().stream(),
            Self::Gone => None,
        }
    }

    fn stream_mut(&mut self) -> Option<&mut TcpStream> {
        match self {
            Self::Plain(stream) => Some(stream),
            Self::Undecided(first) => first.stream_mut(),
            Self::Tls(tls) => Some(tls.beneath_mut()),
            Self::WebSocket(socket) => socket.beneath_mut().stream_mut(),
            Self::Sasl(layer) => layer.beneath_mut().stream_mut(),
            Self::Gone => None,
        }
    }
}

/// What a socket shows of the connection.
pub(super) fn addresses(stream: &TcpStream) -> Underneath {
    Underneath { peer: stream.peer_addr().ok(), local: stream.local_addr().ok(), ..Underneath::default() }
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
