//! The bytes of messages in queues, as far as they are in memory: those of the newest entries of the log, those that were
//! read back because they are about to leave, and those that are nowhere else.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use queue_core::BodyRef;
use slab::Slab;
use smallvec::SmallVec;

use crate::content::{OVERHEAD, Whole};

/// Entries of the log that are looked after at most, beside their bytes.
const MOST_ENTRIES: usize = 64 * 1024;
/// Entries from here on are in no log: what is in them lives as long as the process.
pub(super) const TRANSIENT: u64 = 1 << 62;
/// Bytes of beginnings of messages with files that are kept at most.
const MOST_BEGINNINGS: u64 = 16 * 1024 * 1024;
/// Messages that cannot be read and are known by that at most.
const MOST_UNREADABLE: usize = 4096;
/// Of the bytes that may stay in memory, the share of those that were read back.
const FETCHED_SHARE: u64 = 4;

/// The messages of one entry.
#[derive(Default)]
struct Parts {
    /// `None`: not in memory, or needed no more.
    messages: SmallVec<[Option<Arc<Whole>>; 1]>,
    /// How many there are.
    left: usize,
}

impl Parts {
    fn new(messages: impl ExactSizeIterator<Item = Arc<Whole>>) -> Self {
        Self { left: messages.len(), messages: messages.map(Some).collect() }
    }

    fn get(&self, part: u32) -> Option<&Arc<Whole>> {
        self.messages.get(part as usize)?.as_ref()
    }

    /// Takes one out; its bytes.
    fn take(&mut self, part: u32) -> u64 {
        let gone = self.messages.get_mut(part as usize).and_then(Option::take);
        self.left -= usize::from(gone.is_some());
        gone.as_ref().map_or(0, size)
    }
}

/// The messages of an entry that is in no log: mostly one.
enum Transient {
    One(Arc<Whole>),
    Several(Parts),
}

impl Transient {
    fn get(&self, part: u32) -> Option<&Arc<Whole>> {
        match self {
            Self::One(message) => (part == 0).then_some(message),
            Self::Several(parts) => parts.get(part),
        }
    }
}

/// What a reader has read.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) body: BodyRef,
    /// The message, or why there is none.
    pub(super) read: Result<Arc<Whole>, String>,
}

/// Messages in memory.
pub(super) struct Bodies {
    /// Those of the entries from `first` on.
    tail: VecDeque<Parts>,
    first: u64,
    tail_bytes: u64,
    /// Those that were read back, by entry, and in which order.
    fetched: BTreeMap<u64, BTreeMap<u32, Arc<Whole>>>,
    order: VecDeque<u64>,
    fetched_bytes: u64,
    /// Those that are in no log: the numbers of their entries are places here. They are given again.
    transient: Slab<Transient>,
    transient_bytes: u64,
    /// Beginnings of messages that have a file of their own.
    beginnings: HashMap<u64, Arc<Whole>>,
    beginnings_bytes: u64,
    /// What readers were asked for.
    asked: BTreeSet<BodyRef>,
    /// What they could not read.
    unreadable: BTreeSet<BodyRef>,
    limit: u64,
}

impl Bodies {
    /// Keeps up to so many bytes of messages that can be read back.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            tail: VecDeque::new(),
            first: 0,
            tail_bytes: 0,
            fetched: BTreeMap::new(),
            order: VecDeque::new(),
            fetched_bytes: 0,
            transient: Slab::new(),
            transient_bytes: 0,
            beginnings: HashMap::new(),
            beginnings_bytes: 0,
            asked: BTreeSet::new(),
            unreadable: BTreeSet::new(),
            limit,
        }
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> u64 {
        self.tail_bytes + self.fetched_bytes + self.transient_bytes
    }

    /// Bytes of messages that are in no log.
    pub(super) fn transient_bytes(&self) -> u64 {
        self.transient_bytes
    }

    /// Keeps the messages of an entry just appended to the log, which is later than all before.
    pub(super) fn append(&mut self, entry: u64, parts: Vec<Arc<Whole>>) {
        if self.tail.is_empty() {
            self.first = entry;
        }
        while self.first + (self.tail.len() as u64) < entry {
            self.tail.push_back(Parts::default());
        }
        self.tail_bytes += parts.iter().map(size).sum::<u64>();
        self.tail.push_back(Parts::new(parts.into_iter()));
        while self.tail_bytes > self.limit || self.tail.len() > MOST_ENTRIES {
            self.evict();
        }
    }

    /// The log has taken back its entries from this one on.
    pub(super) fn taken_back(&mut self, first: u64) {
        while self.first + self.tail.len() as u64 > first
            && let Some(parts) = self.tail.pop_back()
        {
            self.tail_bytes -= parts.messages.iter().flatten().map(size).sum::<u64>();
        }
    }

    /// Keeps messages that are in no log. The number of their entry, which is another's when all are gone.
    pub(super) fn keep(&mut self, parts: Vec<Arc<Whole>>) -> u64 {
        if parts.is_empty() {
            return u64::MAX;
        }
        self.transient_bytes += parts.iter().map(size).sum::<u64>();
        TRANSIENT + self.transient.insert(Transient::Several(Parts::new(parts.into_iter()))) as u64
    }

    /// As [`Bodies::keep`], with one message.
    pub(super) fn keep_one(&mut self, message: Arc<Whole>) -> u64 {
        self.transient_bytes += size(&message);
        TRANSIENT + self.transient.insert(Transient::One(message)) as u64
    }

    fn evict(&mut self) {
        let Some(parts) = self.tail.pop_front() else { return };
        self.first += 1;
        self.tail_bytes -= parts.messages.iter().flatten().map(size).sum::<u64>();
    }

    /// A message, if it is in memory.
    pub(super) fn get(&self, body: BodyRef) -> Option<&Arc<Whole>> {
        let BodyRef::Log { entry, part } = body else { return None };
        if entry >= TRANSIENT {
            return self.transient.get(place(entry))?.get(part);
        }
        if let Some(at) = entry.checked_sub(self.first)
            && let Some(parts) = self.tail.get(usize::try_from(at).ok()?)
        {
            return parts.get(part);
        }
        self.fetched.get(&entry)?.get(&part)
    }

    /// A message, or the beginning of one that has a file of its own, if it is in memory.
    pub(super) fn beginning(&self, body: BodyRef) -> Option<&Arc<Whole>> {
        match body {
            BodyRef::Log { .. } => self.get(body),
            BodyRef::Large { file } => self.beginnings.get(&file),
        }
    }

    /// Keeps the beginning of a message that has a file of its own.
    pub(super) fn keep_beginning(&mut self, file: u64, beginning: &[u8]) {
        self.asked.remove(&BodyRef::Large { file });
        let beginning = Whole::plain(beginning.to_vec());
        if self.beginnings_bytes + size(&beginning) > MOST_BEGINNINGS {
            // They can be read again.
            self.beginnings.clear();
            self.beginnings_bytes = 0;
        }
        self.beginnings_bytes += size(&beginning);
        let before = self.beginnings.insert(file, beginning);
        self.beginnings_bytes -= before.as_ref().map_or(0, size);
    }

    /// Whether a reader has to be asked for it; if so, it has been from now on.
    pub(super) fn ask(&mut self, body: BodyRef) -> bool {
        self.asked.insert(body)
    }

    /// A message was read back.
    pub(super) fn arrived(&mut self, entry: u64, part: u32, whole: Arc<Whole>) {
        self.asked.remove(&BodyRef::Log { entry, part });
        let known = self.fetched.entry(entry).or_insert_with(|| {
            self.order.push_back(entry);
            BTreeMap::new()
        });
        self.fetched_bytes += size(&whole);
        if let Some(before) = known.insert(part, whole) {
            self.fetched_bytes -= size(&before);
        }
    }

    /// Those read back that nobody has asked for lately go, if there are too many.
    pub(super) fn trim(&mut self) {
        while self.fetched_bytes > self.limit / FETCHED_SHARE && self.order.len() > 1 {
            let Some(parts) = self.order.pop_front().and_then(|entry| self.fetched.remove(&entry)) else { continue };
            self.fetched_bytes -= parts.values().map(size).sum::<u64>();
        }
    }

    /// From time to time the order forgets those that are gone.
    fn forget_order(&mut self) {
        if self.order.len() > 2 * self.fetched.len() + 64 {
            self.order.retain(|entry| self.fetched.contains_key(entry));
        }
    }

    /// A reader could not read it.
    pub(super) fn failed(&mut self, body: BodyRef) {
        self.asked.remove(&body);
        if self.unreadable.len() >= MOST_UNREADABLE {
            // They are found out again.
            self.unreadable.clear();
        }
        self.unreadable.insert(body);
    }

    /// Whether a reader could not read a message when it was asked last.
    pub(super) fn is_unreadable(&self, body: BodyRef) -> bool {
        self.unreadable.contains(&body)
    }

    /// A message of an entry that is in no log is needed no more.
    #[inline]
    fn transient_gone(&mut self, at: usize, part: u32) {
        match self.transient.get_mut(at) {
            Some(Transient::One(message)) if part == 0 => {
                self.transient_bytes -= size(message);
                if let Transient::One(message) = self.transient.remove(at) {
                    Whole::recycle(message);
                }
            }
            Some(Transient::Several(parts)) => {
                self.transient_bytes -= parts.take(part);
                if parts.left == 0 {
                    self.transient.remove(at);
                }
            }
            _ => {}
        }
    }

    /// A message is in no queue any more.
    pub(super) fn gone(&mut self, body: BodyRef) {
        if !self.unreadable.is_empty() {
            self.unreadable.remove(&body);
        }
        let (entry, part) = match body {
            BodyRef::Log { entry, part } => (entry, part),
            BodyRef::Large { file } => {
                let gone = self.beginnings.remove(&file);
                self.beginnings_bytes -= gone.as_ref().map_or(0, size);
                return;
            }
        };
        if entry >= TRANSIENT {
            self.transient_gone(place(entry), part);
        } else if let Some(at) = entry.checked_sub(self.first)
            && let Some(parts) = self.tail.get_mut(usize::try_from(at).unwrap_or(usize::MAX))
        {
            self.tail_bytes -= parts.take(part);
            while self.tail.front().is_some_and(|parts| parts.left == 0) {
                self.evict();
            }
        } else if let Some(parts) = self.fetched.get_mut(&entry) {
            self.fetched_bytes -= parts.remove(&part).as_ref().map_or(0, size);
            if parts.is_empty() {
                self.fetched.remove(&entry);
                self.forget_order();
            }
        }
    }
}

/// The place of a number that [`Bodies::keep`] gave.
fn place(entry: u64) -> usize {
    (entry - TRANSIENT) as usize
}

fn size(whole: &Arc<Whole>) -> u64 {
    whole.bytes().len() as u64 + OVERHEAD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Content, Layout};
    use crate::shard::LinkRef;

    /// What two messages of 40 bytes take.
    const TWO: u64 = 2 * (40 + OVERHEAD);

    fn whole(bytes: usize) -> Arc<Whole> {
        match Content::<LinkRef>::whole(&vec![0; bytes], Layout::plain(0)) {
            Content::Whole(whole) => whole,
            Content::Stream(_) => unreachable!("it was made whole"),
        }
    }

    fn body(entry: u64, part: u32) -> BodyRef {
        BodyRef::Log { entry, part }
    }

    #[test]
    fn the_oldest_messages_leave_memory_when_there_are_too_many() {
        let mut bodies = Bodies::new(TWO);
        (1..=3).for_each(|entry| bodies.append(entry, vec![whole(40)]));
        assert!(bodies.get(body(1, 0)).is_none() && bodies.get(body(2, 0)).is_some());
        assert_eq!(bodies.bytes(), TWO);
    }

    #[test]
    fn what_is_in_no_log_stays_until_it_is_gone() {
        let mut bodies = Bodies::new(10);
        let entry = bodies.keep(vec![whole(40), whole(40)]);
        bodies.gone(body(entry, 0));
        assert!(bodies.get(body(entry, 0)).is_none() && bodies.get(body(entry, 1)).is_some());
        bodies.gone(body(entry, 1));
        assert_eq!(bodies.bytes(), 0);
    }

    #[test]
    fn what_was_read_back_is_there_until_it_is_gone_or_others_take_its_room() {
        let mut bodies = Bodies::new(TWO * FETCHED_SHARE);
        for entry in 1..=3 {
            assert!(bodies.ask(body(entry, 7)) && !bodies.ask(body(entry, 7)));
            bodies.arrived(entry, 7, whole(40));
            bodies.trim();
        }
        assert!(bodies.get(body(1, 7)).is_none() && bodies.get(body(3, 7)).is_some());
        bodies.gone(body(3, 7));
        bodies.gone(body(2, 7));
        assert_eq!(bodies.bytes(), 0);
    }
}
