//! Security layers: the bytes of a connection, encrypted or signed by what its mechanism negotiated.

use std::ptr;

use crate::Failure;
use crate::connection::{Connection, length, pointer};

/// Wire bytes that are decoded at once.
const WIRE_PIECE: usize = 16 * 1024;

/// A security layer. Its calls do not block.
pub struct Layer {
    connection: Connection,
    /// The most that is encoded at once, in bytes.
    piece: usize,
    strength: u32,
}

impl Layer {
    /// The layer of a connection that has been authenticated; `None` if it has none.
    pub(crate) fn new(mut connection: Connection, excess: usize) -> Option<Self> {
        let strength = connection.strength();
        if strength == 0 {
            return None;
        }
        let piece = connection.max_plain().saturating_sub(excess).max(1);
        Some(Self { connection, piece, strength })
    }

    /// Its strength in bits; 1 for one that signs and does not encrypt.
    pub fn strength(&self) -> u32 {
        self.strength
    }

    /// Appends packets with these bytes to `out`.
    ///
    /// # Errors
    /// If the library fails; the connection cannot go on.
    pub fn encode(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        for piece in plain.chunks(self.piece) {
            let length = length(Some(piece))?;
            let (mut start, mut count) = (ptr::null(), 0);
            let (api, raw) = (&self.connection.cyrus.api, self.connection.raw());
            // SAFETY: the connection is alive, the piece has that length, and there is room for what is given out.
            let result =
                unsafe { (api.sasl_encode)(raw, pointer(Some(piece)), length, &raw mut start, &raw mut count) };
            self.connection.check(result)?;
            append(out, start, count);
        }
        Ok(())
    }

    /// Takes wire bytes, however they are cut into pieces, and appends what whole packets contain to `out`.
    ///
    /// # Errors
    /// If they are no packets of the peer's; the connection cannot go on.
    pub fn decode(&mut self, wire: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        for piece in wire.chunks(WIRE_PIECE) {
            let length = length(Some(piece))?;
            let (mut start, mut count) = (ptr::null(), 0);
            let (api, raw) = (&self.connection.cyrus.api, self.connection.raw());
            // SAFETY: the connection is alive, the piece has that length, and there is room for what is given out.
            let result =
                unsafe { (api.sasl_decode)(raw, pointer(Some(piece)), length, &raw mut start, &raw mut count) };
            self.connection.check(result)?;
            append(out, start, count);
        }
        Ok(())
    }
}

/// Appends what the library gave out.
fn append(out: &mut Vec<u8>, start: *const std::ffi::c_char, count: std::ffi::c_uint) {
    if !start.is_null() {
        // SAFETY: the library has given out that many bytes, which stay until its next call.
        out.extend_from_slice(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), count as usize) });
    }
}
