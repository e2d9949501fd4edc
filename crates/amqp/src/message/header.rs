//! The header section (section 3.2.1).

use crate::codec::{Decoder, ListEncoder, encode};
use crate::{DecodeError, descriptor};

/// How a message is to be transferred. The default is what an absent header means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// It must survive the loss of an intermediary.
    pub durable: bool,
    /// From 0 to 255; what is above 9 the old router treats as 9. 4 when absent.
    pub priority: u8,
    /// Milliseconds to live.
    pub ttl: Option<u32>,
    /// No other link has acquired it before.
    pub first_acquirer: bool,
    /// Unsuccessful attempts to deliver it.
    pub delivery_count: u32,
}

impl Default for Header {
    fn default() -> Self {
        Self { durable: false, priority: 4, ttl: None, first_acquirer: false, delivery_count: 0 }
    }
}

impl Header {
    /// Reads the value of a header section.
    ///
    /// # Errors
    /// If it is not a well-formed one.
    #[inline]
    pub fn decode(value: &[u8]) -> Result<Self, DecodeError> {
        let mut decoder = Decoder::new(value);
        let mut fields = decoder.read_fields("header", 5)?;
        let default = Self::default();
        let header = Self {
            durable: fields.optional(Decoder::read_bool)?.unwrap_or(default.durable),
            priority: fields.optional(Decoder::read_ubyte)?.unwrap_or(default.priority),
            ttl: fields.optional(Decoder::read_uint)?,
            first_acquirer: fields.optional(Decoder::read_bool)?.unwrap_or(default.first_acquirer),
            delivery_count: fields.optional(Decoder::read_uint)?.unwrap_or(default.delivery_count),
        };
        fields.finish()?;
        Ok(header)
    }

    /// Appends the section, descriptor included.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let default = Self::default();
        let mut list = ListEncoder::described(out, descriptor::HEADER);
        list.flag(self.durable);
        list.optional((self.priority != default.priority).then_some(self.priority), encode::ubyte);
        list.optional(self.ttl, encode::uint);
        list.flag(self.first_acquirer);
        list.optional((self.delivery_count != 0).then_some(self.delivery_count), encode::uint);
        list.finish();
    }
}
