//! What a composite's fields are read from: one description of a composite serves both the general and the compact
//! reader.

use super::{DecodeError, DecodeErrorKind, Decoder, Fields};
use crate::{DeliveryState, Map};

/// The fields of a composite, in order. Each method reads the next one; `None` if it is absent or null.
pub(crate) trait ReadFields<'a> {
    type Error;

    fn uint(&mut self) -> Result<Option<u32>, Self::Error>;
    fn boolean(&mut self) -> Result<Option<bool>, Self::Error>;
    fn ubyte(&mut self) -> Result<Option<u8>, Self::Error>;
    fn binary(&mut self) -> Result<Option<&'a [u8]>, Self::Error>;
    fn state(&mut self) -> Result<Option<DeliveryState>, Self::Error>;
    fn map(&mut self) -> Result<Option<Map>, Self::Error>;

    /// The error for a mandatory field without a value.
    fn missing(&self, field: &'static str) -> Self::Error;
    /// The error for a field whose value is of the right type but not one that is defined.
    fn out_of_range(&self, field: &'static str) -> Self::Error;

    /// A boolean that is false when absent.
    #[inline(always)]
    fn flag(&mut self) -> Result<bool, Self::Error> {
        Ok(self.boolean()?.unwrap_or(false))
    }

    /// A uint that must be there.
    #[inline(always)]
    fn mandatory_uint(&mut self, field: &'static str) -> Result<u32, Self::Error> {
        match self.uint()? {
            Some(value) => Ok(value),
            None => Err(self.missing(field)),
        }
    }
}

impl<'a> ReadFields<'a> for Fields<'a> {
    type Error = DecodeError;

    fn uint(&mut self) -> Result<Option<u32>, DecodeError> {
        self.optional(Decoder::read_uint)
    }

    fn boolean(&mut self) -> Result<Option<bool>, DecodeError> {
        self.optional(Decoder::read_bool)
    }

    fn ubyte(&mut self) -> Result<Option<u8>, DecodeError> {
        self.optional(Decoder::read_ubyte)
    }

    fn binary(&mut self) -> Result<Option<&'a [u8]>, DecodeError> {
        self.optional(Decoder::read_binary)
    }

    fn state(&mut self) -> Result<Option<DeliveryState>, DecodeError> {
        self.optional(DeliveryState::decode)
    }

    fn map(&mut self) -> Result<Option<Map>, DecodeError> {
        self.optional(Decoder::read_owned_map)
    }

    fn missing(&self, field: &'static str) -> DecodeError {
        DecodeErrorKind::MissingField { composite: self.composite(), field }.into()
    }

    fn out_of_range(&self, field: &'static str) -> DecodeError {
        DecodeErrorKind::OutOfRange { composite: self.composite(), field }.into()
    }
}
