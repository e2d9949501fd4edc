//! A security layer that SASL has negotiated (AMQP 1.0, part 5, section 5.3), over the transport beneath: from the moment
//! on that the exchange is over, all bytes pass through it, both ways.

use std::io;

use amqp_endpoint::SecurityLayer;
use security::tls::Session;

use super::transport::Transport;

/// Bytes that are read from beneath at once: as many as TLS needs.
const PIECE: usize = Session::BUFFER;
/// Bytes that are encoded at once.
const PLAIN: usize = 32 * 1024;
/// How often the transport beneath is read for one read of ours when no packet becomes whole.
const READS: usize = 8;

/// The layer, and what waits on either side of it.
pub(super) struct SaslLayer {
    beneath: Transport,
    layer: Box<dyn SecurityLayer>,
    /// Bytes from the peer that are not decoded yet.
    wire: Vec<u8>,
    /// Decoded bytes that nobody has read yet.
    plain: Vec<u8>,
    /// Bytes for the peer that beneath has not taken yet.
    out: Vec<u8>,
    /// How many of these it has.
    written: usize,
    fault: Option<String>,
    /// There may be more to read without an event.
    more: bool,
}

impl SaslLayer {
    /// Over this transport. The last words of the exchange are still to be written, and bytes that came after the peer's
    /// were read already.
    pub(super) fn new(beneath: Transport, layer: Box<dyn SecurityLayer>, last_words: Vec<u8>, early: Vec<u8>) -> Self {
        let more = !early.is_empty();
        Self { beneath, layer, wire: early, plain: Vec::new(), out: last_words, written: 0, fault: None, more }
    }

    pub(super) fn beneath(&self) -> &Transport {
        &self.beneath
    }

    pub(super) fn beneath_mut(&mut self) -> &mut Transport {
        &mut self.beneath
    }

    /// In bits.
    pub(super) fn strength(&self) -> u32 {
        self.layer.strength()
    }

    /// Reads what packets contain.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.more = false;
        let mut filled = false;
        for _ in 0..READS {
            if !self.plain.is_empty() {
                let count = self.plain.len().min(buffer.len());
                buffer[..count].copy_from_slice(&self.plain[..count]);
                self.plain.drain(..count);
                self.more = filled || !self.plain.is_empty() || self.beneath.has_more();
                return Ok(count);
            }
            if self.wire.is_empty() || !self.decode()? {
                let mut piece = [0; PIECE];
                let count = match self.beneath.read(&mut piece) {
                    Ok(0) => return Ok(0),
                    Ok(count) => count,
                    Err(error) => {
                        self.more = self.beneath.has_more();
                        return Err(error);
                    }
                };
                filled = count == PIECE;
                self.wire.extend_from_slice(&piece[..count]);
                self.decode()?;
            }
        }
        self.more = true;
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Decodes what is there; false: nothing came of it.
    fn decode(&mut self) -> io::Result<bool> {
        match self.layer.decode(&self.wire, &mut self.plain) {
            Ok(used) => {
                self.wire.drain(..used.min(self.wire.len()));
                Ok(!self.plain.is_empty())
            }
            Err(error) => Err(self.fail(error)),
        }
    }

    fn fail(&mut self, error: String) -> io::Error {
        let text = format!("amqp:connection:framing-error the SASL security layer failed: {error}");
        self.fault = Some(text);
        io::Error::from(io::ErrorKind::InvalidData)
    }

    pub(super) fn has_more(&self) -> bool {
        self.more
    }

    /// Takes bytes for the peer, once those before them are written.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_out()?;
        let plain = bytes.get(..PLAIN).unwrap_or(bytes);
        if let Err(error) = self.layer.encode(plain, &mut self.out) {
            return Err(self.fail(error));
        }
        match self.write_out() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            // What is left goes out when there is room.
            _ => Ok(plain.len()),
        }
    }

    fn write_out(&mut self) -> io::Result<()> {
        while let Some(rest) = self.out.get(self.written..).filter(|rest| !rest.is_empty()) {
            match self.beneath.write(rest)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => self.written += count,
            }
        }
        self.written = 0;
        self.out.clear();
        self.out.shrink_to(PLAIN);
        Ok(())
    }

    pub(super) fn wants_write(&self) -> bool {
        !self.out.is_empty() || self.beneath.wants_write()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.beneath.flush()
    }

    /// The layer has no way to end of its own.
    pub(super) fn close(&mut self) -> bool {
        let _ = self.write_out();
        self.out.is_empty() && self.beneath.close()
    }

    pub(super) fn fault(&self) -> Option<String> {
        self.fault.clone().or_else(|| self.beneath.fault())
    }
}
