//! Reading the fields of a described list (part 1, section 1.4: composite types).

use super::{DecodeError, DecodeErrorKind, Decoder};

/// The fields of a composite, in order. Fields that are absent at the end and fields that are null are the same.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    decoder: Decoder<'a>,
    left: usize,
    composite: &'static str,
}

impl<'a> Decoder<'a> {
    /// The list of a composite whose descriptor has been read; it has at most `max` fields.
    ///
    /// # Errors
    /// If it is not a well-formed list, or has more fields than `max`.
    #[inline]
    pub fn read_fields(&mut self, composite: &'static str, max: usize) -> Result<Fields<'a>, DecodeError> {
        let (left, decoder) = self.read_list()?;
        if left > max {
            return Err(DecodeErrorKind::TooManyFields { composite, count: left }.into());
        }
        Ok(Fields { decoder, left, composite })
    }

    /// The list of a composite whose descriptor is next and has been looked at already.
    ///
    /// # Errors
    /// As [`Decoder::read_fields`].
    #[inline]
    pub(crate) fn described_fields(&mut self, composite: &'static str, max: usize) -> Result<Fields<'a>, DecodeError> {
        self.read_descriptor()?;
        self.read_fields(composite, max)
    }
}

impl<'a> Fields<'a> {
    /// The next field, `None` if it is absent or null.
    ///
    /// # Errors
    /// Those of `read`.
    #[inline]
    pub fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Decoder<'a>) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if self.decoder.take_null() { Ok(None) } else { read(&mut self.decoder).map(Some) }
    }

    /// The next field, which must have a value.
    ///
    /// # Errors
    /// [`DecodeErrorKind::MissingField`] if it has none, and those of `read`.
    #[inline]
    pub fn mandatory<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&mut Decoder<'a>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        match self.optional(read)? {
            Some(value) => Ok(value),
            None => Err(DecodeErrorKind::MissingField { composite: self.composite, field }.into()),
        }
    }

    /// The next field, which has several symbols or none.
    ///
    /// # Errors
    /// As [`Decoder::read_symbols`].
    pub fn symbols(&mut self) -> Result<Vec<crate::Symbol>, DecodeError> {
        Ok(self.optional(Decoder::read_symbols)?.unwrap_or_default())
    }

    /// The name of the composite, for errors.
    pub(super) fn composite(&self) -> &'static str {
        self.composite
    }

    /// To be called after the last field: checks that the list's size ends with them.
    ///
    /// # Errors
    /// [`DecodeErrorKind::TrailingBytes`].
    #[inline]
    pub fn finish(mut self) -> Result<(), DecodeError> {
        while self.left > 0 {
            self.decoder.skip_value()?;
            self.left -= 1;
        }
        self.decoder.expect_end()
    }
}
