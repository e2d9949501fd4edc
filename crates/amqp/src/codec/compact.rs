//! Reading composites in the one encoding that nearly all of them have on the wire, at the least cost.
//!
//! [`CompactFields`] understands a list with a one-byte size and the fields that are frequent in transfers, flows and
//! dispositions. What it meets beside that, malformed input too, it leaves to [`super::Fields`], which does everything
//! and explains what is wrong.

use super::format::*;
use super::read_fields::ReadFields;
use crate::{DeliveryState, Map, descriptor};

/// The composite is not in the encoding that is read here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotCompact;

/// The fields of a composite, in order.
pub(crate) struct CompactFields<'a> {
    rest: &'a [u8],
    left: u8,
}

impl<'a> CompactFields<'a> {
    /// The composite with which `bytes` begin: the number of its descriptor, its fields, and what follows it.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8]) -> Result<(u8, Self, &'a [u8]), NotCompact> {
        let [DESCRIBED, SMALL_ULONG, code, LIST8, size, left, rest @ ..] = bytes else { return Err(NotCompact) };
        // The size counts the byte of the count too.
        let Some(size) = size.checked_sub(1) else { return Err(NotCompact) };
        let Some((fields, behind)) = rest.split_at_checked(size.into()) else { return Err(NotCompact) };
        Ok((*code, Self { rest: fields, left: *left }, behind))
    }

    /// To be called after the last field.
    #[inline(always)]
    pub(crate) fn finish(self) -> Result<(), NotCompact> {
        if self.left == 0 && self.rest.is_empty() { Ok(()) } else { Err(NotCompact) }
    }

    /// Whether there is a next field. It may be null all the same.
    #[inline(always)]
    fn next(&mut self) -> bool {
        let more = self.left > 0;
        self.left -= u8::from(more);
        more
    }
}

impl<'a> ReadFields<'a> for CompactFields<'a> {
    type Error = NotCompact;

    #[inline(always)]
    fn uint(&mut self) -> Result<Option<u32>, NotCompact> {
        if !self.next() {
            return Ok(None);
        }
        let (value, rest) = match self.rest {
            [NULL, rest @ ..] => (None, rest),
            [UINT_0, rest @ ..] => (Some(0), rest),
            [SMALL_UINT, value, rest @ ..] => (Some((*value).into()), rest),
            [UINT, a, b, c, d, rest @ ..] => (Some(u32::from_be_bytes([*a, *b, *c, *d])), rest),
            _ => return Err(NotCompact),
        };
        self.rest = rest;
        Ok(value)
    }

    #[inline(always)]
    fn boolean(&mut self) -> Result<Option<bool>, NotCompact> {
        if !self.next() {
            return Ok(None);
        }
        let (value, rest) = match self.rest {
            [NULL, rest @ ..] => (None, rest),
            [TRUE, rest @ ..] => (Some(true), rest),
            [FALSE, rest @ ..] => (Some(false), rest),
            _ => return Err(NotCompact),
        };
        self.rest = rest;
        Ok(value)
    }

    #[inline(always)]
    fn ubyte(&mut self) -> Result<Option<u8>, NotCompact> {
        if !self.next() {
            return Ok(None);
        }
        let (value, rest) = match self.rest {
            [NULL, rest @ ..] => (None, rest),
            [UBYTE, value, rest @ ..] => (Some(*value), rest),
            _ => return Err(NotCompact),
        };
        self.rest = rest;
        Ok(value)
    }

    #[inline(always)]
    fn binary(&mut self) -> Result<Option<&'a [u8]>, NotCompact> {
        if !self.next() {
            return Ok(None);
        }
        let (value, rest) = match self.rest {
            [NULL, rest @ ..] => (None, rest),
            [BINARY8, size, rest @ ..] => {
                let Some((value, rest)) = rest.split_at_checked((*size).into()) else { return Err(NotCompact) };
                (Some(value), rest)
            }
            _ => return Err(NotCompact),
        };
        self.rest = rest;
        Ok(value)
    }

    #[inline(always)]
    fn state(&mut self) -> Result<Option<DeliveryState>, NotCompact> {
        const ACCEPTED: u8 = descriptor::ACCEPTED as u8;
        const RELEASED: u8 = descriptor::RELEASED as u8;
        if !self.next() {
            return Ok(None);
        }
        let (value, rest) = match self.rest {
            [NULL, rest @ ..] => (None, rest),
            [DESCRIBED, SMALL_ULONG, ACCEPTED, LIST_0, rest @ ..] => (Some(DeliveryState::Accepted), rest),
            [DESCRIBED, SMALL_ULONG, RELEASED, LIST_0, rest @ ..] => (Some(DeliveryState::Released), rest),
            _ => return Err(NotCompact),
        };
        self.rest = rest;
        Ok(value)
    }

    #[inline(always)]
    fn map(&mut self) -> Result<Option<Map>, NotCompact> {
        match (self.next(), self.rest) {
            (false, _) => Ok(None),
            (true, [NULL, rest @ ..]) => {
                self.rest = rest;
                Ok(None)
            }
            _ => Err(NotCompact),
        }
    }

    #[inline(always)]
    fn missing(&self, _field: &'static str) -> NotCompact {
        NotCompact
    }

    #[inline(always)]
    fn out_of_range(&self, _field: &'static str) -> NotCompact {
        NotCompact
    }
}
