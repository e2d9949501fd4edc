//! The first bytes on a connection to a listener that takes TLS: they say what the peer speaks. A TLS handshake begins
//! with a byte that no AMQP header has; the header of AMQP for TLS (part 5, section 5.2.1) is answered, and then TLS
//! begins.

use std::io::{self, Read};

use amqp::frame::TLS_HEADER;

/// The type of a record of TLS's handshake (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

/// What has come so far: nothing, or the beginning of the header for TLS.
pub struct FirstBytes<S> {
    /// Gone once it is known what the peer speaks.
    beneath: Option<S>,
    seen: Vec<u8>,
}

/// What a peer speaks.
pub enum Spoken<S> {
    /// No TLS.
    Plain {
        /// What it speaks over.
        beneath: S,
        /// How many bytes have come; they lie at the front of the buffer.
        count: usize,
    },
    /// TLS.
    Tls {
        /// What it speaks over.
        beneath: S,
        /// What it is to be told before TLS begins.
        greeting: &'static [u8],
        /// What has come of TLS already.
        bytes: Vec<u8>,
    },
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

impl<S: Read> FirstBytes<S> {
    /// For a connection on which nothing has come yet.
    pub fn new(beneath: S) -> Self {
        Self { beneath: Some(beneath), seen: Vec::new() }
    }

    /// What the peer speaks over, until it is known what it speaks.
    pub fn beneath(&self) -> Option<&S> {
        self.beneath.as_ref()
    }

    /// The same, to be registered somewhere.
    pub fn beneath_mut(&mut self) -> Option<&mut S> {
        self.beneath.as_mut()
    }

    /// Reads once, into a buffer of more bytes than the header has.
    ///
    /// # Errors
    /// Of kind [`io::ErrorKind::WouldBlock`] while it is not clear what the peer speaks, of kind
    /// [`io::ErrorKind::UnexpectedEof`] if it goes without having said so; those of what it speaks over.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Spoken<S>> {
        let mut beneath = self.beneath.take().ok_or(io::ErrorKind::NotConnected)?;
        let (greeting, from, count): (&[u8], _, _) = match self.look(&mut beneath, buffer) {
            Ok((Guess::Plain, count)) => return Ok(Spoken::Plain { beneath, count }),
            Ok((Guess::Direct, count)) => (&[], 0, count),
            Ok((Guess::Header, count)) => (&TLS_HEADER, TLS_HEADER.len(), count),
            Ok((Guess::Nothing, count)) => {
                self.seen = buffer.get(..count).unwrap_or_default().to_vec();
                self.beneath = Some(beneath);
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Err(error) => {
                self.beneath = Some(beneath);
                return Err(error);
            }
        };
        Ok(Spoken::Tls { beneath, greeting, bytes: buffer.get(from..count).unwrap_or_default().to_vec() })
    }

    /// What has come, all of it in the buffer.
    fn look(&self, beneath: &mut S, buffer: &mut [u8]) -> io::Result<(Guess, usize)> {
        let kept = self.seen.len();
        let (front, room) = buffer.split_at_mut_checked(kept).ok_or(io::ErrorKind::InvalidInput)?;
        front.copy_from_slice(&self.seen);
        match super::stream::retry(|| beneath.read(room))? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok((guess(buffer.get(..kept + count).unwrap_or_default()), kept + count)),
        }
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
