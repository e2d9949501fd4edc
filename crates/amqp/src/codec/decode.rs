//! The cursor: where reading stands, whole values, compound values.

use super::format::{self, Width};
use super::{DecodeError, DecodeErrorKind};
use crate::descriptor::Descriptor;

/// A cursor over encoded bytes. Every `read_*` advances over exactly one value or fails; none of them panics, and none
/// does more work than the bytes at hand justify. After an error the position is unspecified.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Decoder<'a> {
    /// Starts at the first of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, depth: 0 }
    }

    /// Bytes from the start of what was given to [`Decoder::new`]; also within lists and maps.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The bytes that are left.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        // `at` never passes the end, so this is the tail, not the default.
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Whether nothing is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The format code of the next value.
    #[inline]
    pub fn peek_code(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Advances over the next value if it is null, and says whether it was.
    #[inline]
    pub fn take_null(&mut self) -> bool {
        let null = self.peek_code() == Some(format::NULL);
        self.at += usize::from(null);
        null
    }

    /// Advances over `count` bytes, which must be there.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.remaining());
        self.at = self.bytes.len().min(self.at + count);
    }

    /// Succeeds if nothing is left.
    ///
    /// # Errors
    /// [`DecodeErrorKind::TrailingBytes`] otherwise.
    pub fn expect_end(&self) -> Result<(), DecodeError> {
        match self.remaining() {
            0 => Ok(()),
            count => Err(DecodeErrorKind::TrailingBytes { count, at: self.at }.into()),
        }
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, DecodeError> {
        let Some(&byte) = self.bytes.get(self.at) else { return Err(DecodeError::truncated(self.bytes.len())) };
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let Some((taken, _)) = self.rest().split_at_checked(count) else {
            return Err(DecodeError::truncated(self.bytes.len()));
        };
        self.at += count;
        Ok(taken)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let Some(taken) = self.rest().first_chunk::<N>() else {
            return Err(DecodeError::truncated(self.bytes.len()));
        };
        self.at += N;
        Ok(*taken)
    }

    /// A size or count, in one byte or in four.
    #[inline]
    pub(super) fn prefix(&mut self, wide: bool) -> Result<usize, DecodeError> {
        if wide { Ok(u32::from_be_bytes(self.array()?) as usize) } else { Ok(self.byte()?.into()) }
    }

    /// The bytes of a value of variable width, after its format code.
    #[inline]
    pub(super) fn variable(&mut self, wide: bool) -> Result<&'a [u8], DecodeError> {
        let size = self.prefix(wide)?;
        self.take(size)
    }

    /// A decoder over the next `size` bytes, one level deeper; this one goes on behind them.
    pub(super) fn nested(&mut self, size: usize) -> Result<Self, DecodeError> {
        let start = self.at;
        self.take(size)?;
        let depth = deeper(self.depth, start)?;
        // `take` has proved that the end is within the bytes.
        Ok(Self { bytes: self.bytes.get(..self.at).unwrap_or_default(), at: start, depth })
    }

    pub(super) fn descend(&mut self) -> Result<(), DecodeError> {
        self.depth = deeper(self.depth, self.at)?;
        Ok(())
    }

    pub(super) fn ascend(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Size and count of a compound value, after its format code: the count, and a decoder over the members.
    pub(super) fn members(&mut self, what: &'static str, wide: bool) -> Result<(usize, Self), DecodeError> {
        let start = self.at;
        let size = self.prefix(wide)?;
        let mut members = self.nested(size)?;
        let Ok(count) = members.prefix(wide) else {
            return Err(DecodeError::bad_count(what, 0, size, start));
        };
        Ok((count, members))
    }

    /// Like [`Decoder::members`], for lists and maps, each member of which has at least one byte.
    pub(super) fn list_members(&mut self, what: &'static str, wide: bool) -> Result<(usize, Self), DecodeError> {
        let (count, members) = self.members(what, wide)?;
        if count > members.remaining() {
            return Err(DecodeError::bad_count(what, count, members.remaining(), members.at));
        }
        Ok((count, members))
    }

    /// A list: how many members it has, and a decoder over them.
    ///
    /// # Errors
    /// If it is not a list, is cut short, or has a count that its size cannot hold.
    #[inline]
    pub fn read_list(&mut self) -> Result<(usize, Decoder<'a>), DecodeError> {
        let at = self.at;
        match self.byte()? {
            format::LIST_0 => Ok((0, self.nested(0)?)),
            format::LIST8 => self.list_members("list", false),
            format::LIST32 => self.list_members("list", true),
            code => Err(DecodeError::wrong_type("list", code, at)),
        }
    }

    /// A map: how many pairs it has, and a decoder over keys and values in turn.
    ///
    /// # Errors
    /// If it is not a map, is cut short, or has a count that is odd or that its size cannot hold.
    pub fn read_map(&mut self) -> Result<(usize, Decoder<'a>), DecodeError> {
        let at = self.at;
        let (count, members) = match self.byte()? {
            format::MAP8 => self.list_members("map", false)?,
            format::MAP32 => self.list_members("map", true)?,
            code => return Err(DecodeError::wrong_type("map", code, at)),
        };
        if count % 2 != 0 {
            return Err(DecodeError::bad_count("map", count, members.remaining(), members.at));
        }
        Ok((count / 2, members))
    }

    /// The descriptor of a described value, which is then next.
    ///
    /// # Errors
    /// If the next value is not described, or its descriptor is neither an unsigned long nor a symbol.
    #[inline]
    pub fn read_descriptor(&mut self) -> Result<Descriptor<'a>, DecodeError> {
        let at = self.at;
        match self.byte()? {
            format::DESCRIBED => {}
            code => return Err(DecodeError::wrong_type("described value", code, at)),
        }
        // The usual encoding of the specification's own descriptors.
        if let Some(&[format::SMALL_ULONG, code]) = self.rest().first_chunk() {
            self.at += 2;
            return Ok(Descriptor::Code(code.into()));
        }
        match self.peek_code() {
            Some(format::SYMBOL8 | format::SYMBOL32) => Ok(Descriptor::from_symbol(self.read_symbol()?)),
            _ => Ok(Descriptor::Code(self.read_ulong()?)),
        }
    }

    /// Advances over one value of any type. The inside of lists, maps and arrays is passed by, not looked at.
    ///
    /// # Errors
    /// If the bytes end inside the value, or its format code is unknown.
    pub fn skip_value(&mut self) -> Result<(), DecodeError> {
        let mut values = 1;
        let mut described = self.depth;
        while values > 0 {
            let at = self.at;
            let code = self.byte()?;
            if code == format::DESCRIBED {
                described = deeper(described, at)?;
                values += 1;
            } else {
                self.skip_content(code, at)?;
                values -= 1;
            }
        }
        Ok(())
    }

    fn skip_content(&mut self, code: u8, at: usize) -> Result<(), DecodeError> {
        match code {
            format::LIST8 | format::LIST32 => self.list_members("list", code == format::LIST32).map(drop),
            format::MAP8 | format::MAP32 => self.list_members("map", code == format::MAP32).map(drop),
            format::ARRAY8 | format::ARRAY32 => self.members("array", code == format::ARRAY32).map(drop),
            _ => match format::width(code) {
                Some(Width::Fixed(size)) => self.take(size).map(drop),
                Some(Width::Prefix8) => self.variable(false).map(drop),
                Some(Width::Prefix32) => self.variable(true).map(drop),
                None => Err(DecodeErrorKind::UnknownFormat { code, at }.into()),
            },
        }
    }

    /// Advances over the beginning of one value of any type: all that says how long it is. Returns how many bytes of it follow.
    ///
    /// # Errors
    /// As [`Decoder::skip_value`], but for bytes that follow.
    pub(crate) fn read_extent(&mut self) -> Result<u64, DecodeError> {
        let mut values = 1;
        let mut described = self.depth;
        loop {
            let at = self.at;
            match self.byte()? {
                format::DESCRIBED => {
                    described = deeper(described, at)?;
                    values += 1;
                }
                code if values > 1 => {
                    self.skip_content(code, at)?;
                    values -= 1;
                }
                code => return self.content_extent(code, at),
            }
        }
    }

    fn content_extent(&mut self, code: u8, at: usize) -> Result<u64, DecodeError> {
        let wide = match format::width(code) {
            Some(Width::Fixed(size)) => return Ok(size as u64),
            Some(width) => width == Width::Prefix32,
            None => return Err(DecodeErrorKind::UnknownFormat { code, at }.into()),
        };
        let (what, least) = match code {
            format::LIST8 | format::LIST32 => ("list", 1),
            format::MAP8 | format::MAP32 => ("map", 1),
            format::ARRAY8 | format::ARRAY32 => ("array", 0),
            _ => return Ok(self.prefix(wide)? as u64),
        };
        let start = self.at;
        let size = self.prefix(wide)?;
        let Some(members) = size.checked_sub(if wide { 4 } else { 1 }) else {
            return Err(DecodeError::bad_count(what, 0, size, start));
        };
        let count = self.prefix(wide)?;
        if count * least > members {
            return Err(DecodeError::bad_count(what, count, members, self.at));
        }
        Ok(members as u64)
    }

    /// Advances over one value of any type and gives its encoding, descriptors included.
    ///
    /// # Errors
    /// As [`Decoder::skip_value`].
    pub fn read_raw(&mut self) -> Result<&'a [u8], DecodeError> {
        let start = self.at;
        self.skip_value()?;
        // Skipping moved from `start` towards the end, never past it.
        Ok(self.bytes.get(start..self.at).unwrap_or_default())
    }
}

fn deeper(depth: usize, at: usize) -> Result<usize, DecodeError> {
    if depth >= crate::MAX_DEPTH { Err(DecodeError::too_deep(at)) } else { Ok(depth + 1) }
}
