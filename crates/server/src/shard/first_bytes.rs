//! A listener that takes TLS, and a peer that has not shown yet whether it speaks TLS: what the listener asks for, and what
//! comes of it.

use std::io::{self, Write};
use std::sync::Arc;

use amqp::frame::TLS_HEADER;
use mio::net::TcpStream;
use security::tls::Spoken;

use super::settings::ListenerTls;
use super::tls_layer::TlsLayer;

/// A connection on which nothing has been decided.
pub(super) struct FirstBytes {
    bytes: security::tls::FirstBytes<TcpStream>,
    tls: Arc<ListenerTls>,
    fault: Option<String>,
}

/// What a peer speaks.
pub(super) enum Kind {
    /// AMQP without TLS; all that has come lies in the buffer.
    Plain(TcpStream, usize),
    /// TLS, and what has come of it already.
    Tls(Box<TlsLayer>, Vec<u8>),
}

impl FirstBytes {
    pub(super) fn new(stream: TcpStream, tls: Arc<ListenerTls>) -> Self {
        Self { bytes: security::tls::FirstBytes::new(stream), tls, fault: None }
    }

    pub(super) fn stream(&self) -> Option<&TcpStream> {
        self.bytes.beneath()
    }

    pub(super) fn stream_mut(&mut self) -> Option<&mut TcpStream> {
        self.bytes.beneath_mut()
    }

    /// Why it cannot go on: condition and description.
    pub(super) fn fault(&self) -> Option<String> {
        self.fault.clone()
    }

    /// Reads once. An error of kind [`io::ErrorKind::WouldBlock`] while it is not clear what the peer speaks.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Kind> {
        match self.bytes.read(buffer)? {
            Spoken::Plain { beneath, count } if !self.tls.required => Ok(Kind::Plain(beneath, count)),
            Spoken::Plain { mut beneath, .. } => {
                // What the peer should have said, as AMQP wants it (part 2, section 2.2); whether it hears does not matter.
                let _ = beneath.write(&TLS_HEADER);
                self.fail("amqp:connection:policy-error Client connection unencrypted - forbidden".to_owned())
            }
            Spoken::Tls { beneath, greeting, bytes } => match (self.tls.current)() {
                Ok(server) => Ok(Kind::Tls(Box::new(TlsLayer::accept(beneath, &server, greeting)?), bytes)),
                Err(reason) => self.fail(format!("amqp:internal-error {reason}")),
            },
        }
    }

    fn fail(&mut self, fault: String) -> io::Result<Kind> {
        self.fault = Some(fault);
        Err(io::ErrorKind::ConnectionAborted.into())
    }
}
