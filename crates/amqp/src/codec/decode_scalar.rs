//! Reading values of one known type, in each of its encodings.

use super::format::*;
use super::{DecodeError, DecodeErrorKind, Decoder};
use crate::Symbol;

#[inline]
fn wrong<T>(expected: &'static str, code: u8, at: usize) -> Result<T, DecodeError> {
    Err(DecodeError::wrong_type(expected, code, at))
}

/// Each fails with [`DecodeErrorKind::WrongType`] if the next value is of another type, and with
/// [`DecodeErrorKind::Truncated`] if the bytes end inside it.
impl<'a> Decoder<'a> {
    /// A boolean.
    ///
    /// # Errors
    /// Wrong type, truncated, or a byte other than 0 and 1.
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, DecodeError> {
        let at = self.position();
        match self.byte()? {
            TRUE => Ok(true),
            FALSE => Ok(false),
            BOOLEAN => self.boolean_byte(),
            code => wrong("boolean", code, at),
        }
    }

    #[inline]
    pub(super) fn boolean_byte(&mut self) -> Result<bool, DecodeError> {
        let at = self.position();
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            byte => Err(DecodeErrorKind::BadBoolean { byte, at }.into()),
        }
    }

    /// An unsigned byte.
    ///
    /// # Errors
    /// Wrong type or truncated.
    #[inline]
    pub fn read_ubyte(&mut self) -> Result<u8, DecodeError> {
        let at = self.position();
        match self.byte()? {
            UBYTE => self.byte(),
            code => wrong("ubyte", code, at),
        }
    }

    /// An unsigned short.
    ///
    /// # Errors
    /// Wrong type or truncated.
    #[inline]
    pub fn read_ushort(&mut self) -> Result<u16, DecodeError> {
        let at = self.position();
        match self.byte()? {
            USHORT => Ok(u16::from_be_bytes(self.array()?)),
            code => wrong("ushort", code, at),
        }
    }

    /// An unsigned int.
    ///
    /// # Errors
    /// Wrong type or truncated.
    #[inline]
    pub fn read_uint(&mut self) -> Result<u32, DecodeError> {
        let at = self.position();
        match self.byte()? {
            UINT_0 => Ok(0),
            SMALL_UINT => Ok(self.byte()?.into()),
            UINT => Ok(u32::from_be_bytes(self.array()?)),
            code => wrong("uint", code, at),
        }
    }

    /// An unsigned long.
    ///
    /// # Errors
    /// Wrong type or truncated.
    #[inline]
    pub fn read_ulong(&mut self) -> Result<u64, DecodeError> {
        let at = self.position();
        match self.byte()? {
            ULONG_0 => Ok(0),
            SMALL_ULONG => Ok(self.byte()?.into()),
            ULONG => Ok(u64::from_be_bytes(self.array()?)),
            code => wrong("ulong", code, at),
        }
    }

    /// A signed number of any width and signedness, where the old router takes any of them (router annotations, the
    /// routing protocol).
    ///
    /// # Errors
    /// Wrong type, truncated, or an unsigned long beyond `i64::MAX`.
    pub fn read_integer(&mut self) -> Result<i64, DecodeError> {
        let at = self.position();
        let code = self.byte()?;
        Ok(match code {
            UBYTE | SMALL_UINT | SMALL_ULONG => self.byte()?.into(),
            USHORT => u16::from_be_bytes(self.array()?).into(),
            UINT => u32::from_be_bytes(self.array()?).into(),
            UINT_0 | ULONG_0 => 0,
            ULONG => match i64::try_from(u64::from_be_bytes(self.array()?)) {
                Ok(number) => number,
                Err(_) => return wrong("integer below 2^63", code, at),
            },
            BYTE | SMALL_INT | SMALL_LONG => i8::from_be_bytes(self.array()?).into(),
            SHORT => i16::from_be_bytes(self.array()?).into(),
            INT => i32::from_be_bytes(self.array()?).into(),
            LONG => i64::from_be_bytes(self.array()?),
            _ => return wrong("integer", code, at),
        })
    }

    /// A time: milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// Wrong type or truncated.
    pub fn read_timestamp(&mut self) -> Result<i64, DecodeError> {
        let at = self.position();
        match self.byte()? {
            TIMESTAMP => Ok(i64::from_be_bytes(self.array()?)),
            code => wrong("timestamp", code, at),
        }
    }

    /// Bytes.
    ///
    /// # Errors
    /// Wrong type or truncated.
    #[inline]
    pub fn read_binary(&mut self) -> Result<&'a [u8], DecodeError> {
        let at = self.position();
        match self.byte()? {
            BINARY8 => self.variable(false),
            BINARY32 => self.variable(true),
            code => wrong("binary", code, at),
        }
    }

    /// A string.
    ///
    /// # Errors
    /// Wrong type, truncated, or not UTF-8.
    #[inline]
    pub fn read_str(&mut self) -> Result<&'a str, DecodeError> {
        let at = self.position();
        match self.byte()? {
            STRING8 => self.utf8(false),
            STRING32 => self.utf8(true),
            code => wrong("string", code, at),
        }
    }

    /// A symbol.
    ///
    /// # Errors
    /// Wrong type, truncated, or not ASCII.
    #[inline]
    pub fn read_symbol(&mut self) -> Result<&'a str, DecodeError> {
        let at = self.position();
        match self.byte()? {
            SYMBOL8 => self.ascii(false),
            SYMBOL32 => self.ascii(true),
            code => wrong("symbol", code, at),
        }
    }

    /// Several symbols, as a field with `multiple="true"` has them (section 1.3): an array, a single one, or null.
    ///
    /// # Errors
    /// Wrong type, truncated, or not ASCII.
    pub fn read_symbols(&mut self) -> Result<Vec<Symbol>, DecodeError> {
        match self.peek_code() {
            Some(NULL) => {
                self.take_null();
                Ok(Vec::new())
            }
            Some(ARRAY8 | ARRAY32) => self.symbol_array(),
            _ => Ok(vec![self.read_symbol()?.into()]),
        }
    }

    fn symbol_array(&mut self) -> Result<Vec<Symbol>, DecodeError> {
        let wide = self.byte()? == ARRAY32;
        let (count, mut members) = self.members("array", wide)?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let at = members.position();
        let wide = match members.byte()? {
            SYMBOL8 => false,
            SYMBOL32 => true,
            code => return wrong("symbol", code, at),
        };
        let mut symbols = Vec::new();
        for _ in 0..count {
            symbols.push(members.ascii(wide)?.into());
        }
        members.expect_end()?;
        Ok(symbols)
    }

    #[inline]
    pub(super) fn utf8(&mut self, wide: bool) -> Result<&'a str, DecodeError> {
        let at = self.position();
        let bytes = self.variable(wide)?;
        std::str::from_utf8(bytes).map_err(|_| DecodeError::bad_text("UTF-8", at))
    }

    #[inline]
    pub(super) fn ascii(&mut self, wide: bool) -> Result<&'a str, DecodeError> {
        let at = self.position();
        let bytes = self.variable(wide)?;
        match std::str::from_utf8(bytes) {
            Ok(text) if text.is_ascii() => Ok(text),
            _ => Err(DecodeError::bad_text("ASCII", at)),
        }
    }
}
