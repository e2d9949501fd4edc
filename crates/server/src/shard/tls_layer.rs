//! TLS over a socket, as one of the layers that carry a connection's bytes.

use std::io;
use std::ops::{Deref, DerefMut};

use mio::net::TcpStream;
use security::Underneath;
use security::tls::{ClientTls, PeerInfo, ServerTls, Session, TlsStream};

use super::transport::addresses;

/// A session, and what AMQP and SASL need to know of it.
pub(super) struct TlsLayer {
    stream: TlsStream<TcpStream>,
    /// From the end of the handshake on.
    info: Option<Box<PeerInfo>>,
    /// This end can show a certificate, if it is the client.
    shows_certificate: bool,
    fault: Option<String>,
}

impl TlsLayer {
    /// For a connection that was accepted; `greeting` is said before TLS begins.
    pub(super) fn accept(stream: TcpStream, tls: &ServerTls, greeting: &[u8]) -> io::Result<Self> {
        let stream = TlsStream::accept(stream, tls, greeting)?;
        Ok(Self { stream, info: None, shows_certificate: false, fault: None })
    }

    /// For a connection that is being made to this host.
    pub(super) fn connect(stream: TcpStream, tls: &ClientTls, host: &str) -> io::Result<Self> {
        let stream = TlsStream::connect(stream, tls, host)?;
        Ok(Self { stream, info: None, shows_certificate: tls.has_certificate(), fault: None })
    }

    /// For a connection whose handshake others have done; these encrypted bytes are to be sent first.
    pub(super) fn resume(stream: TcpStream, session: Session, outgoing: Vec<u8>) -> Self {
        let info = session.is_established().then(|| Box::new(session.info()));
        Self { stream: TlsStream::new(stream, session, outgoing), info, shows_certificate: false, fault: None }
    }

    /// Reads once from the socket.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.stream.read(buffer);
        self.after_reading(result)
    }

    /// Takes bytes that were read already.
    pub(super) fn take(&mut self, buffer: &mut [u8], bytes: &[u8]) -> io::Result<usize> {
        let result = self.stream.take(buffer, bytes);
        self.after_reading(result)
    }

    fn after_reading(&mut self, result: io::Result<usize>) -> io::Result<usize> {
        if self.info.is_none() && self.stream.is_established() {
            self.info = Some(Box::new(self.stream.info()));
        }
        if let Err(error) = &result
            && error.kind() == io::ErrorKind::InvalidData
        {
            self.fault = Some(format!("amqp:connection:framing-error SSL Failure: {error}"));
        }
        result
    }

    pub(super) fn is_ready(&self) -> bool {
        self.info.is_some()
    }

    /// Why it cannot go on: condition and description.
    pub(super) fn fault(&self) -> Option<String> {
        self.fault.clone()
    }

    pub(super) fn info(&self) -> Option<&PeerInfo> {
        self.info.as_deref()
    }

    /// What SASL can rest on.
    pub(super) fn underneath(&self) -> Underneath {
        let addresses = addresses(self.stream.beneath());
        let Some(info) = &self.info else { return addresses };
        let identity = info.user.clone().or_else(|| self.shows_certificate.then(String::new));
        Underneath { encrypted: true, strength: info.strength, identity, ..addresses }
    }
}

impl Deref for TlsLayer {
    type Target = TlsStream<TcpStream>;

    fn deref(&self) -> &Self::Target {
        &self.stream
    }
}

impl DerefMut for TlsLayer {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.stream
    }
}
