//! Entries as bytes: what they differ in from the one before. A plain message takes a few bytes. It is the form of chunks
//! that are far from both ends of their queue, and of those in snapshots.

use super::entry::{Entry, Extra, NEVER};
use crate::body::BodyRef;
use crate::ids::DEFAULT_PRIORITY;
use crate::overlay::Overlay;
use crate::wire::{CodecError, Put, Reader};
use std::sync::Arc;

/// The usual ones are within one byte.
mod flag {
    /// The body is the next part of the same entry of the log.
    pub(super) const NEXT_PART: u64 = 1;
    pub(super) const SAME_TIME: u64 = 2;
    pub(super) const SAME_SIZE: u64 = 4;
    pub(super) const DURABLE: u64 = 8;
    pub(super) const EXPIRES: u64 = 16;
    pub(super) const EXTRA: u64 = 32;
    pub(super) const PRIORITY: u64 = 64;
    pub(super) const FAILED: u64 = 128;
    pub(super) const SHARED: u64 = 256;
}

/// What the next entry is compared with.
struct Before {
    body: u64,
    part: u32,
    arrived: u64,
    size: u64,
}

const START: Before = Before { body: 0, part: 0, arrived: 0, size: 0 };

/// Appends entries.
pub(crate) fn pack<'a>(entries: impl Iterator<Item = &'a Entry>, out: &mut Vec<u8>) {
    let mut before = START;
    for entry in entries {
        before = one(entry, &before, out);
    }
}

fn one(entry: &Entry, before: &Before, out: &mut Vec<u8>) -> Before {
    let (body, part) = entry.body().parts();
    let size = entry.size();
    let next_part = body == before.body && Some(part) == before.part.checked_add(1);
    let flags = [
        (entry.durable, flag::DURABLE),
        (entry.shared, flag::SHARED),
        (entry.priority != DEFAULT_PRIORITY, flag::PRIORITY),
        (entry.failed > 0, flag::FAILED),
        (entry.extra.is_some(), flag::EXTRA),
        (entry.expires != NEVER, flag::EXPIRES),
        (next_part, flag::NEXT_PART),
        (entry.arrived == before.arrived, flag::SAME_TIME),
        (size == before.size, flag::SAME_SIZE),
    ];
    out.number(flags.iter().filter(|(set, _)| *set).fold(0, |flags, (_, flag)| flags | flag));
    if !next_part {
        out.step(body, before.body);
        out.number(part.into());
    }
    if entry.arrived != before.arrived {
        out.step(entry.arrived, before.arrived);
    }
    if size != before.size {
        out.number(size);
    }
    if entry.priority != DEFAULT_PRIORITY {
        out.byte(entry.priority);
    }
    if entry.failed > 0 {
        out.number(entry.failed.into());
    }
    if entry.expires != NEVER {
        out.step(entry.expires, entry.arrived);
    }
    if let Some(extra) = &entry.extra {
        pack_extra(extra, out);
    }
    Before { body, part, arrived: entry.arrived, size }
}

fn pack_extra(extra: &Extra, out: &mut Vec<u8>) {
    out.optional(extra.deliver_at);
    out.optional_bytes(extra.group.as_deref().map(str::as_bytes));
    out.optional_bytes(extra.key.as_deref());
    out.flag(extra.overlay.is_some());
    if let Some(overlay) = &extra.overlay {
        overlay.encode(out);
    }
}

/// Reads so many entries.
pub(crate) fn unpack(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Entry>, CodecError> {
    let mut entries = Vec::with_capacity(count.min(super::CHUNK));
    let mut before = START;
    for _ in 0..count {
        let entry = unpack_one(reader, &before)?;
        let (body, part) = entry.body().parts();
        before = Before { body, part, arrived: entry.arrived, size: entry.size() };
        entries.push(entry);
    }
    Ok(entries)
}

fn unpack_one(reader: &mut Reader<'_>, before: &Before) -> Result<Entry, CodecError> {
    let flags = reader.number()?;
    let has = |flag: u64| flags & flag != 0;
    let (body, part) = if has(flag::NEXT_PART) {
        (before.body, before.part.checked_add(1).ok_or(reader.wrong("part of an entry"))?)
    } else {
        (reader.step(before.body)?, reader.small()?)
    };
    let arrived = if has(flag::SAME_TIME) { before.arrived } else { reader.step(before.arrived)? };
    let size = if has(flag::SAME_SIZE) { before.size } else { reader.number()? };
    let mut entry = Entry::new(BodyRef::of(body, part), size, arrived);
    entry.durable = has(flag::DURABLE);
    entry.shared = has(flag::SHARED);
    if has(flag::PRIORITY) {
        entry.priority = reader.byte()?;
    }
    if has(flag::FAILED) {
        entry.failed = reader.small()?;
    }
    if has(flag::EXPIRES) {
        entry.expires = reader.step(arrived)?;
    }
    if has(flag::EXTRA) {
        let extra = unpack_extra(reader)?;
        let size = entry.extra.as_ref().and_then(|extra| extra.size);
        entry.extra = Some(Arc::new(Extra { size, ..extra }));
    }
    Ok(entry)
}

fn unpack_extra(reader: &mut Reader<'_>) -> Result<Extra, CodecError> {
    Ok(Extra {
        size: None,
        deliver_at: reader.optional()?,
        group: reader.optional_text()?,
        key: reader.optional_bytes()?.map(Arc::from),
        overlay: if reader.flag()? { Some(Arc::new(Overlay::decode(reader)?)) } else { None },
    })
}
