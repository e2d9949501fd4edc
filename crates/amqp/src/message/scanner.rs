//! Walking through the sections of a message without copying, as far as its bytes are there.

use super::section::{Section, SectionKind};
use crate::codec::Decoder;
use crate::codec::format::*;
use crate::{DecodeError, DecodeErrorKind};

/// What a scanner came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan<'a> {
    /// The next section.
    Section(Section<'a>),
    /// The bytes end inside a section, or between two, and more are to come. Call again, on a new scanner, with more.
    Incomplete {
        /// The section that has begun, if its descriptor is there. All sections that go before it have then been seen.
        begun: Option<SectionKind>,
    },
    /// The message has ended.
    End,
}

/// Walks through the sections of a message in wire order. Of each it checks the order, the type, and that size and
/// count agree with each other and with the bytes at hand; it does not look at the members inside.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    decoder: Decoder<'a>,
    complete: bool,
    last: Option<SectionKind>,
}

impl<'a> Scanner<'a> {
    /// Starts at the first byte of a message. `complete`: all its bytes are there.
    #[inline]
    pub fn new(bytes: &'a [u8], complete: bool) -> Self {
        Self { decoder: Decoder::new(bytes), complete, last: None }
    }

    /// Bytes of the sections seen so far: where the next one begins.
    #[inline]
    pub fn position(&self) -> usize {
        self.decoder.position()
    }

    /// Goes on to the next section. After an error or anything but a section, the same is returned again.
    ///
    /// # Errors
    /// If what follows is not a section that can stand there, or is cut short in a complete message.
    #[expect(clippy::should_implement_trait, reason = "an iterator's end is not what Incomplete and an error are")]
    #[inline]
    pub fn next(&mut self) -> Result<Scan<'a>, DecodeError> {
        if self.decoder.is_empty() {
            return Ok(if self.complete { Scan::End } else { Scan::Incomplete { begun: None } });
        }
        if let Some(section) = self.read_compact() {
            self.decoder.advance(section.raw.len());
            self.last = Some(section.kind);
            return Ok(Scan::Section(section));
        }
        self.next_any()
    }

    /// The next section, if it is all there, in order, and in an encoding that is usual.
    #[inline(always)]
    fn read_compact(&self) -> Option<Section<'a>> {
        const DESCRIPTOR: usize = 3;
        let bytes = self.decoder.rest();
        let [DESCRIBED, SMALL_ULONG, code, value @ ..] = bytes else { return None };
        let kind = SectionKind::from_code((*code).into())?;
        if !self.is_in_order(kind) || kind.accepts(*value.first()?).is_err() {
            return None;
        }
        let size = match value {
            [LIST_0, ..] => 1,
            // The size counts the byte of the count too, and each member has at least one.
            [LIST8 | MAP8, size, count, ..] if count < size => 2 + usize::from(*size),
            [BINARY8 | STRING8, size, ..] => 2 + usize::from(*size),
            [BINARY32 | STRING32, a, b, c, d, ..] => (u32::from_be_bytes([*a, *b, *c, *d]) as usize).saturating_add(5),
            _ => return None,
        };
        let raw = bytes.get(..size.saturating_add(DESCRIPTOR))?;
        Some(Section { kind, raw, value: raw.get(DESCRIPTOR..)?, start: self.decoder.position() })
    }

    fn next_any(&mut self) -> Result<Scan<'a>, DecodeError> {
        let mut ahead = self.decoder.clone();
        let mut begun = None;
        match self.read_section(&mut ahead, &mut begun) {
            Ok(section) => {
                self.decoder = ahead;
                self.last = Some(section.kind);
                Ok(Scan::Section(section))
            }
            Err(error) => match error.kind() {
                DecodeErrorKind::Truncated { .. } if !self.complete => Ok(Scan::Incomplete { begun }),
                _ => Err(error),
            },
        }
    }

    #[inline]
    fn is_in_order(&self, kind: SectionKind) -> bool {
        self.last.is_none_or(|last| kind.can_follow(last))
    }

    fn read_section(
        &self,
        ahead: &mut Decoder<'a>,
        begun: &mut Option<SectionKind>,
    ) -> Result<Section<'a>, DecodeError> {
        let start = ahead.position();
        let from_start = ahead.rest();
        let found = ahead.read_descriptor()?;
        let Some(kind) = found.code().and_then(SectionKind::from_code) else {
            return Err(DecodeError::unknown_descriptor(found));
        };
        if !self.is_in_order(kind) {
            return Err(DecodeErrorKind::SectionOrder { section: kind.name(), at: start }.into());
        }
        *begun = Some(kind);
        if let Some(code) = ahead.peek_code()
            && let Err(expected) = kind.accepts(code)
        {
            return Err(DecodeError::wrong_type(expected, code, ahead.position()));
        }
        let value = ahead.read_raw()?;
        let raw = from_start.get(..ahead.position() - start).unwrap_or_default();
        Ok(Section { kind, raw, value, start })
    }
}
