//! A run of about a thousand messages of one priority.

use super::bits::Bits;
use super::entry::{Entry, NEVER};
use super::packed;
use crate::body::BodyRef;
use crate::ids::Millis;
use crate::wire::Reader;
use std::sync::Arc;

/// Slots of a chunk.
pub(crate) const CHUNK: usize = 1024;

/// Below this many entries it is not worth it to give memory back.
const FEW: usize = 64;
/// Unless none of them is needed.
const FEWEST: usize = 16;

/// A run of messages. Entries are shared with snapshots that are being written, and copied only when one is changed;
/// leaving the queue is not a change.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// Replicated: which slots hold a message.
    pub(crate) present: Bits,
    /// Local: which of these may be given to any consumer.
    pub(crate) free: Bits,
    /// Local: which are held, by a consumer or by a command under way.
    pub(crate) held: Bits,
    /// Local: which were held before.
    pub(crate) returned: Bits,
    /// Local: none of those that are not held expires before.
    pub(crate) next_expiry: Millis,
    /// No body is in an entry of the log before this one, except bodies of their own file.
    pub(crate) oldest_body: u64,
    /// Nor in one after this one.
    pub(crate) newest_body: u64,
    entries: Entries,
}

#[derive(Clone, Debug)]
enum Entries {
    Open(Arc<Open>),
    Packed {
        /// Whose entries these are. Some may have left since.
        kept: Bits,
        bytes: Arc<[u8]>,
    },
}

/// Entries, in the order of their slots.
#[derive(Clone, Debug, Default)]
struct Open {
    /// Whose entries these are. Some may have left since.
    kept: Bits,
    items: Vec<Entry>,
    /// The first slot, if all slots from there to the last one are kept: mostly they are.
    row: Option<usize>,
}

impl Open {
    fn new(kept: Bits, items: Vec<Entry>) -> Self {
        let (first, last) = (kept.first_from(0).unwrap_or(0), kept.last().unwrap_or(0));
        let row = (last - first + 1 == items.len()).then_some(first);
        Self { kept, items, row }
    }

    /// Where the entry of a slot is. The slot must be kept.
    #[inline]
    fn index(&self, slot: usize) -> usize {
        match self.row {
            Some(first) => slot - first,
            None => self.kept.rank(slot),
        }
    }

    /// Forgets all entries, and keeps their memory for others.
    fn clear(&mut self) {
        self.items.clear();
        (self.kept, self.row) = (Bits::default(), None);
    }

    /// Adds the entry of a slot behind all others.
    #[inline(always)] // Each message comes by here.
    fn push(&mut self, slot: usize, entry: Entry) {
        if self.items.is_empty() {
            self.row = Some(slot);
        } else if self.row.is_some_and(|first| first + self.items.len() != slot) {
            self.row = None;
        }
        self.kept.set(slot);
        self.items.push(entry);
    }
}

impl Default for Chunk {
    fn default() -> Self {
        Self {
            present: Bits::default(),
            free: Bits::default(),
            held: Bits::default(),
            returned: Bits::default(),
            next_expiry: NEVER,
            oldest_body: u64::MAX,
            newest_body: 0,
            entries: Entries::Open(Arc::default()),
        }
    }
}

impl Chunk {
    /// A chunk of a snapshot: which slots are there, and their entries.
    pub(crate) fn restored(present: Bits, bytes: Arc<[u8]>) -> Self {
        Self { present, entries: Entries::Packed { kept: present, bytes }, ..Self::default() }
    }

    /// Puts a message into a slot behind all that have been used.
    #[inline(always)] // Each message comes by here.
    pub(crate) fn push(&mut self, slot: usize, entry: Entry) {
        if let BodyRef::Log { entry, .. } = entry.body() {
            self.oldest_body = self.oldest_body.min(entry);
            self.newest_body = self.newest_body.max(entry);
        }
        // Mostly no snapshot has them, too.
        if let Entries::Open(open) = &mut self.entries
            && let Some(open) = Arc::get_mut(open)
        {
            open.push(slot, entry);
        } else {
            self.open_mut().push(slot, entry);
        }
        self.present.set(slot);
    }

    #[inline]
    pub(crate) fn get(&mut self, slot: usize) -> Option<&Entry> {
        if !self.present.get(slot) {
            return None;
        }
        let open = self.open();
        open.items.get(open.index(slot))
    }

    /// To change an entry: copies all of them if a snapshot has them too.
    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut Entry> {
        if !self.present.get(slot) {
            return None;
        }
        let open = self.open_mut();
        let index = open.index(slot);
        open.items.get_mut(index)
    }

    /// The bytes of a message are elsewhere now: the oldest and the newest place of all are found anew.
    pub(crate) fn note_body(&mut self, slot: usize) {
        let body = |entry: &Entry| match entry.body() {
            BodyRef::Log { entry, .. } => Some(entry),
            BodyRef::Large { .. } => None,
        };
        if self.present.get(slot) {
            let present = self.present;
            let open = self.open();
            let bodies = present.iter().filter_map(|slot| open.items.get(open.index(slot))).filter_map(body);
            let range = bodies.fold((u64::MAX, 0), |(oldest, newest), body| (body.min(oldest), body.max(newest)));
            (self.oldest_body, self.newest_body) = range;
        }
    }

    /// Takes a message out.
    pub(crate) fn remove(&mut self, slot: usize) -> Option<Entry> {
        let entry = self.get(slot)?.clone();
        self.leave(slot);
        Some(entry)
    }

    /// A message that is there leaves.
    #[inline(always)] // Each message comes by here.
    pub(crate) fn leave(&mut self, slot: usize) {
        self.present.clear(slot);
        self.held.clear(slot);
        // Mostly there are none of these.
        if !self.free.is_empty() {
            self.free.clear(slot);
        }
        if !self.returned.is_empty() {
            self.returned.clear(slot);
        }
        self.shrink();
    }

    /// An entry without an extra, unless it is packed.
    #[inline]
    pub(crate) fn plain(&self, slot: usize) -> Option<&Entry> {
        match &self.entries {
            Entries::Open(open) if self.present.get(slot) => {
                open.items.get(open.index(slot)).filter(|entry| entry.extra.is_none())
            }
            _ => None,
        }
    }

    /// Gives up entries of messages that have left, if they are most.
    #[inline]
    fn shrink(&mut self) {
        let Entries::Open(open) = &mut self.entries else { return };
        if open.items.len() >= FEWEST && self.present.is_empty() {
            match Arc::get_mut(open).filter(|open| open.items.capacity() <= FEW) {
                Some(open) => open.clear(),
                None => *open = Arc::default(),
            }
            return;
        }
        if open.items.len() <= FEW || self.present.count() * 4 > open.items.len() {
            return;
        }
        let items = self.present.iter().map(|slot| open.items[open.index(slot)].clone()).collect();
        *open = Arc::new(Open::new(self.present, items));
    }

    fn open(&mut self) -> &Open {
        self.unpack();
        match &self.entries {
            Entries::Open(open) => open,
            Entries::Packed { .. } => unreachable!("it was just unpacked"),
        }
    }

    #[inline]
    fn open_mut(&mut self) -> &mut Open {
        self.unpack();
        match &mut self.entries {
            Entries::Open(open) => Arc::make_mut(open),
            Entries::Packed { .. } => unreachable!("it was just unpacked"),
        }
    }

    fn unpack(&mut self) {
        if let Entries::Packed { kept, bytes } = &self.entries {
            // What was packed here, or checked when it was read from a snapshot, can be unpacked.
            let items = packed::unpack(&mut Reader::new(bytes), kept.count()).unwrap_or_default();
            self.entries = Entries::Open(Arc::new(Open::new(*kept, items)));
        }
    }

    pub(crate) fn is_packed(&self) -> bool {
        matches!(self.entries, Entries::Packed { .. })
    }

    /// Takes up as little memory as can be, until an entry is needed again.
    pub(crate) fn pack(&mut self) {
        if !self.is_packed() {
            let (kept, bytes) = self.packed();
            self.entries = Entries::Packed { kept, bytes: bytes.into() };
        }
    }

    /// The entries as bytes, and whose they are.
    pub(crate) fn packed(&self) -> (Bits, Vec<u8>) {
        match &self.entries {
            Entries::Packed { kept, bytes } => (*kept, bytes.to_vec()),
            Entries::Open(open) => {
                let mut bytes = Vec::new();
                packed::pack(self.present.iter().map(|slot| &open.items[open.index(slot)]), &mut bytes);
                (self.present, bytes)
            }
        }
    }

    /// The entries of those that are there, and no others, as bytes.
    pub(crate) fn exact(&self) -> (Bits, Vec<u8>) {
        match &self.entries {
            Entries::Packed { kept, .. } if *kept != self.present => {
                let entries = self.entries();
                let mut bytes = Vec::new();
                packed::pack(entries.iter().map(|(_, entry)| entry), &mut bytes);
                (self.present, bytes)
            }
            _ => self.packed(),
        }
    }

    /// All messages, whether they are packed or not. Does not change which they are.
    pub(crate) fn entries(&self) -> Vec<(usize, Entry)> {
        let (kept, items) = match &self.entries {
            Entries::Packed { kept, bytes } => {
                (*kept, packed::unpack(&mut Reader::new(bytes), kept.count()).unwrap_or_default())
            }
            Entries::Open(open) => (open.kept, open.items.clone()),
        };
        kept.iter().zip(items).filter(|(slot, _)| self.present.get(*slot)).collect()
    }
}
