//! The first bytes on a connection to a listener that takes TLS: they say what the peer speaks. A TLS handshake begins
//! with a byte that no AMQP header has; the header of AMQP for TLS (part 5, section 5.2.1) is answered, and then TLS
//! begins.

use std::io::{self, Read, Write};
use std::sync::Arc;

use amqp::frame::TLS_HEADER;
use mio::net::TcpStream;

use super::settings::ListenerTls;
use super::tls_layer::TlsLayer;
use super::transport::retry;

/// The type of a record of TLS's handshake (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

/// What has come so far: the beginning of the header for TLS.
pub(super) struct FirstBytes {
    /// Gone once it is decided what the peer speaks.
    stream: Option<TcpStream>,
    tls: Arc<ListenerTls>,
    seen: Vec<u8>,
    fault: Option<String>,
}

/// What a peer speaks.
pub(super) enum Kind {
    /// AMQP without TLS; all that has come lies in the buffer.
    Plain(TcpStream, usize),
    /// TLS, and what has come of it already.
    Tls(Box<TlsLayer>, Vec<u8>),
}

/// What the bytes so far say.
#[derive(Debug, PartialEq, Eq)]
enum Guess {
    /// More are needed.
    Nothing,
    Plain,
    /// TLS begins at once.
    Direct,
    /// TLS begins after a header.
    Header,
}

impl FirstBytes {
    pub(super) fn new(stream: TcpStream, tls: Arc<ListenerTls>) -> Self {
        Self { stream: Some(stream), tls, seen: Vec::new(), fault: None }
    }

    pub(super) fn stream(&self) -> Option<&TcpStream> {
        self.stream.as_ref()
    }

    pub(super) fn stream_mut(&mut self) -> Option<&mut TcpStream> {
        self.stream.as_mut()
    }

    /// Why it cannot go on: condition and description.
    pub(super) fn fault(&self) -> Option<String> {
        self.fault.clone()
    }

    /// Reads once. An error of kind [`io::ErrorKind::WouldBlock`] while it is not clear what the peer speaks.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Kind> {
        let mut stream = self.stream.take().ok_or(io::ErrorKind::NotConnected)?;
        let result = self.look(&mut stream, buffer);
        match result {
            Ok((Guess::Plain, count)) if !self.tls.required => Ok(Kind::Plain(stream, count)),
            Ok((Guess::Plain, _)) => {
                // What the peer should have said, as AMQP wants it (part 2, section 2.2); whether it hears does not matter.
                let _ = stream.write(&TLS_HEADER);
                self.fail("amqp:connection:policy-error Client connection unencrypted - forbidden".to_owned())
            }
            Ok((Guess::Direct, count)) => self.begin(stream, &[], &buffer[..count]),
            Ok((Guess::Header, count)) => self.begin(stream, &TLS_HEADER, &buffer[TLS_HEADER.len()..count]),
            Ok((Guess::Nothing, count)) => {
                self.seen = buffer[..count].to_vec();
                self.stream = Some(stream);
                Err(io::ErrorKind::WouldBlock.into())
            }
            Err(error) => {
                self.stream = Some(stream);
                Err(error)
            }
        }
    }

    /// What has come, all of it in the buffer.
    fn look(&self, stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<(Guess, usize)> {
        let kept = self.seen.len();
        let (front, room) = buffer.split_at_mut_checked(kept).ok_or(io::ErrorKind::InvalidInput)?;
        front.copy_from_slice(&self.seen);
        match retry(|| stream.read(room))? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok((guess(&buffer[..kept + count]), kept + count)),
        }
    }

    fn begin(&mut self, stream: TcpStream, greeting: &[u8], bytes: &[u8]) -> io::Result<Kind> {
        let server = match (self.tls.current)() {
            Ok(server) => server,
            Err(reason) => return self.fail(format!("amqp:internal-error {reason}")),
        };
        Ok(Kind::Tls(Box::new(TlsLayer::accept(stream, &server, greeting)?), bytes.to_vec()))
    }

    fn fail(&mut self, fault: String) -> io::Result<Kind> {
        self.fault = Some(fault);
        Err(io::ErrorKind::ConnectionAborted.into())
    }
}

fn guess(bytes: &[u8]) -> Guess {
    let shared = bytes.len().min(TLS_HEADER.len());
    match bytes.first() {
        None => Guess::Nothing,
        Some(&HANDSHAKE) => Guess::Direct,
        Some(_) if bytes[..shared] != TLS_HEADER[..shared] => Guess::Plain,
        Some(_) if shared < TLS_HEADER.len() => Guess::Nothing,
        Some(_) => Guess::Header,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_is_told_by_its_first_byte() {
        assert_eq!(guess(&[22]), Guess::Direct);
    }

    #[test]
    fn the_header_for_tls_has_to_be_whole() {
        assert_eq!(guess(b"AMQP"), Guess::Nothing);
        assert_eq!(guess(b"AMQP\x02\x01\x00\x00"), Guess::Header);
    }

    #[test]
    fn other_headers_and_anything_else_are_for_amqp_to_judge() {
        assert_eq!(guess(b"AMQP\x03"), Guess::Plain);
        assert_eq!(guess(b"G"), Guess::Plain);
    }
}
