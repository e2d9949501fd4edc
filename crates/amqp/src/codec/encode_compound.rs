//! Writing lists, maps and arrays, whose size and count are known only when their members are written.

use super::encode::{descriptor, length};
use super::format::*;

/// Room for the small form of a compound value: format code, size, count.
const SMALL_HEAD: usize = 3;
/// The same for the large form.
const LARGE_HEAD: usize = 9;

/// Writes a list, member by member. Nulls at its end are left out, as absent fields of a composite may be.
#[derive(Debug)]
pub struct ListEncoder<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    count: usize,
    pending_nulls: usize,
}

impl<'o> ListEncoder<'o> {
    /// Begins a list at the end of `out`.
    #[inline]
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; SMALL_HEAD]);
        Self { out, start, count: 0, pending_nulls: 0 }
    }

    /// Begins a composite: a list with this descriptor, see [`crate::descriptor`].
    #[inline]
    pub fn described(out: &'o mut Vec<u8>, code: u64) -> Self {
        descriptor(out, code);
        Self::new(out)
    }

    /// Adds a member; `write` must append exactly one value.
    #[inline]
    pub fn field(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        self.count += self.pending_nulls + 1;
        for _ in 0..std::mem::take(&mut self.pending_nulls) {
            self.out.push(NULL);
        }
        write(self.out);
        self
    }

    /// Adds a null.
    #[inline]
    pub fn null(&mut self) -> &mut Self {
        self.pending_nulls += 1;
        self
    }

    /// Adds a member, or null for `None`.
    #[inline]
    pub fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Vec<u8>, T)) -> &mut Self {
        match value {
            Some(value) => self.field(|out| write(out, value)),
            None => self.null(),
        }
    }

    /// Adds a boolean, or null if it has its default, false.
    #[inline]
    pub fn flag(&mut self, value: bool) -> &mut Self {
        self.optional(value.then_some(true), super::encode::boolean)
    }

    /// As [`ListEncoder::symbols`], but a single symbol stands for itself (1.3.2): the old router knows what a link
    /// between routers is for only if it does.
    pub fn symbol_or_symbols(&mut self, values: &[crate::Symbol]) -> &mut Self {
        match values {
            [one] => self.field(|out| super::encode::symbol(out, one.as_str())),
            _ => self.symbols(values),
        }
    }

    /// Adds an array of symbols, or null if there are none.
    pub fn symbols(&mut self, values: &[crate::Symbol]) -> &mut Self {
        self.optional((!values.is_empty()).then_some(values), super::encode::symbols)
    }

    /// Adds members that are encoded already: `raw` must hold `count` values.
    pub fn raw_members(&mut self, count: usize, raw: &[u8]) -> &mut Self {
        if count > 0 {
            self.field(|out| out.extend_from_slice(raw));
            self.count += count - 1;
        }
        self
    }

    /// Ends the list.
    #[inline]
    pub fn finish(self) {
        if self.count == 0 {
            self.out.truncate(self.start);
            self.out.push(LIST_0);
        } else {
            patch(self.out, self.start, self.count, LIST8, LIST32);
        }
    }
}

/// Writes a map, entry by entry.
#[derive(Debug)]
pub struct MapEncoder<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    members: usize,
}

impl<'o> MapEncoder<'o> {
    /// Begins a map at the end of `out`.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; SMALL_HEAD]);
        Self { out, start, members: 0 }
    }

    /// Adds an entry; both functions must append exactly one value.
    pub fn entry(&mut self, key: impl FnOnce(&mut Vec<u8>), value: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        key(self.out);
        value(self.out);
        self.members += 2;
        self
    }

    /// Adds entries that are encoded already: `raw` must hold `pairs` keys and values in turn.
    pub fn raw_entries(&mut self, pairs: usize, raw: &[u8]) -> &mut Self {
        self.out.extend_from_slice(raw);
        self.members += 2 * pairs;
        self
    }

    /// Ends the map.
    pub fn finish(self) {
        patch(self.out, self.start, self.members, MAP8, MAP32);
    }
}

/// Writes an array of `count` members; `write` appends the constructor and the members.
pub(super) fn array(out: &mut Vec<u8>, count: usize, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; SMALL_HEAD]);
    write(out);
    patch(out, start, count, ARRAY8, ARRAY32);
}

/// Fills in the head that was left open at `start`, in the small form if the members allow it.
#[inline]
fn patch(out: &mut Vec<u8>, start: usize, count: usize, small: u8, large: u8) {
    let size = out.len() - start - SMALL_HEAD;
    match (u8::try_from(size + 1), u8::try_from(count)) {
        (Ok(size), Ok(count)) => {
            if let Some(head) = out.get_mut(start..start + SMALL_HEAD) {
                head.copy_from_slice(&[small, size, count]);
            }
        }
        _ => widen(out, start, size, count, large),
    }
}

#[cold]
fn widen(out: &mut Vec<u8>, start: usize, size: usize, count: usize, large: u8) {
    let mut head = [0; LARGE_HEAD];
    head[0] = large;
    head[1..5].copy_from_slice(&length(size + 4).to_be_bytes());
    head[5..].copy_from_slice(&length(count).to_be_bytes());
    out.splice(start..start + SMALL_HEAD, head);
}
