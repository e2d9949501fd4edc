//! Writing frequent performatives, frame header included, at the least cost: into a small array whose fields cannot
//! outgrow it, from where they go to the output in one piece.

use super::format::*;
use super::write_fields::WriteFields;
use crate::{DeliveryState, Map, descriptor};

/// Where the fields begin: frame header 8, descriptor 3, list head 3.
const FIELDS: usize = 14;

/// The longest delivery tag that section 2.8.7 of part 2 allows.
const MAX_TAG: usize = 32;

/// Room for the fields of a transfer with the longest tag (60), or of a flow (43).
pub(crate) const ROOM: usize = FIELDS + 66;

/// Where a [`CompactFrame`] is written. It is a variable of its own so that the frame's counters stay in registers.
type CompactRoom = [u8; ROOM];

/// The beginning of a frame: its header and a performative.
pub(crate) struct CompactFrame<'r> {
    bytes: &'r mut CompactRoom,
    len: usize,
    count: u8,
    /// Length and count up to the last field that is not null.
    end: usize,
    end_count: u8,
    fits: bool,
}

impl<'r> CompactFrame<'r> {
    /// Begins an AMQP frame with the composite whose descriptor is `code`.
    #[inline(always)]
    pub(crate) fn new(bytes: &'r mut CompactRoom, channel: u16, code: u8) -> Self {
        let [high, low] = channel.to_be_bytes();
        bytes[4..FIELDS].copy_from_slice(&[2, 0, high, low, DESCRIBED, SMALL_ULONG, code, LIST8, 0, 0]);
        Self { bytes, len: FIELDS, count: 0, end: FIELDS, end_count: 0, fits: true }
    }

    /// Appends the frame, with the payload given in parts, to `out`. False, and nothing done, if the performative or
    /// the frame is not one that can be written here.
    #[inline(always)]
    pub(crate) fn write(self, out: &mut Vec<u8>, parts: &[&[u8]]) -> bool {
        let payload: usize = parts.iter().map(|part| part.len()).sum();
        let size = self.end + payload;
        let (Ok(frame_size), true) = (u32::try_from(size), self.fits) else { return false };
        self.bytes[..4].copy_from_slice(&frame_size.to_be_bytes());
        // The list's size counts the byte of the count; `ROOM` keeps both within a byte.
        self.bytes[FIELDS - 2..FIELDS].copy_from_slice(&[(self.end - FIELDS + 1) as u8, self.end_count]);
        out.reserve(ROOM + payload);
        let start = out.len();
        // To copy all of the room, whose size is known when this is compiled, costs less than to copy a part of it.
        out.extend_from_slice(self.bytes);
        out.truncate(start + self.end);
        for part in parts {
            out.extend_from_slice(part);
        }
        true
    }

    /// Writes `N` bytes, of which the first `used` are the field.
    #[inline(always)]
    fn put<const N: usize>(&mut self, field: [u8; N], used: usize) {
        match self.bytes.get_mut(self.len..).and_then(<[u8]>::first_chunk_mut) {
            Some(place) => *place = field,
            None => self.fits = false,
        }
        self.len += used;
        self.count += 1;
        self.end = self.len;
        self.end_count = self.count;
    }

    #[inline(always)]
    fn null(&mut self) {
        match self.bytes.get_mut(self.len) {
            Some(place) => *place = NULL,
            None => self.fits = false,
        }
        self.len += 1;
        self.count += 1;
    }
}

impl WriteFields for CompactFrame<'_> {
    #[inline(always)]
    fn uint(&mut self, value: Option<u32>) {
        let Some(value) = value else { return self.null() };
        let [a, b, c, d] = value.to_be_bytes();
        match value {
            0 => self.put([UINT_0], 1),
            1..256 => self.put([SMALL_UINT, d], 2),
            _ => self.put([UINT, a, b, c, d], 5),
        }
    }

    #[inline(always)]
    fn boolean(&mut self, value: Option<bool>) {
        match value {
            None => self.null(),
            Some(true) => self.put([TRUE], 1),
            Some(false) => self.put([FALSE], 1),
        }
    }

    #[inline(always)]
    fn ubyte(&mut self, value: Option<u8>) {
        match value {
            None => self.null(),
            Some(value) => self.put([UBYTE, value], 2),
        }
    }

    #[inline(always)]
    fn binary(&mut self, value: Option<&[u8]>) {
        let Some(value) = value else { return self.null() };
        // The router's own tags.
        if let Ok(&[a, b, c, d, e, f, g, h]) = <&[u8; 8]>::try_from(value) {
            return self.put([BINARY8, 8, a, b, c, d, e, f, g, h], 10);
        }
        let size = value.len();
        if size > MAX_TAG {
            self.fits = false;
            return;
        }
        self.put([BINARY8, size as u8], 2);
        match self.bytes.get_mut(self.len..self.len + size) {
            Some(place) => place.copy_from_slice(value),
            None => self.fits = false,
        }
        self.len += size;
        self.end = self.len;
    }

    #[inline(always)]
    fn state(&mut self, value: Option<&DeliveryState>) {
        const ACCEPTED: u8 = descriptor::ACCEPTED as u8;
        const RELEASED: u8 = descriptor::RELEASED as u8;
        match value {
            None => self.null(),
            Some(DeliveryState::Accepted) => self.put([DESCRIBED, SMALL_ULONG, ACCEPTED, LIST_0], 4),
            Some(DeliveryState::Released) => self.put([DESCRIBED, SMALL_ULONG, RELEASED, LIST_0], 4),
            Some(_) => self.fits = false,
        }
    }

    #[inline(always)]
    fn map(&mut self, value: Option<&Map>) {
        match value {
            None => self.null(),
            Some(_) => self.fits = false,
        }
    }
}
