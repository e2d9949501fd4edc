//! All of the replicated half as bytes.
//!
//! A snapshot is a run of records: a length (4 bytes, little-endian), a kind (1 byte), and what the kind says. The first one
//! names the version, the last one says that nothing is missing. See `docs/store-format.md`.

mod restore;

pub use restore::{Restore, RestoreError};

use crate::broker::{Broker, Topic};
use crate::duplicates::Duplicates;
use crate::ids::{Millis, PRIORITIES, QueueId, Seq, TopicId};
use crate::queue::Queue;
use crate::settings::QueueSettings;
use crate::stats::Totals;
use crate::store::{CHUNK, Chunk, Entry};
use crate::wire::Put;
use crate::{BodyRef, EntryIndex};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The version of what is written here.
const VERSION: u64 = 1;

/// The most bytes of a record: far more than any that is written.
const MAX_RECORD: usize = 256 * 1024 * 1024;

mod kind {
    pub(super) const HEAD: u8 = 1;
    /// As it was before topics had settings: an id and an address. Read, and not written any more.
    pub(super) const PLAIN_TOPIC: u8 = 2;
    pub(super) const SHARED: u8 = 3;
    pub(super) const QUEUE: u8 = 4;
    pub(super) const KNOWN: u8 = 5;
    pub(super) const CHUNK: u8 = 6;
    pub(super) const END: u8 = 7;
    pub(super) const TOPIC: u8 = 8;
    pub(super) const TEMPLATE: u8 = 9;
    pub(super) const DOOMED: u8 = 10;
    pub(super) const TIME: u8 = 11;
}

/// How many ids or shared bodies are in one record.
const IN_ONE: usize = 1000;

/// The replicated half as it was at one moment. Taking one is cheap: entries are shared with the broker, and copied when
/// they are changed while the snapshot is there.
#[derive(Debug)]
pub struct Snapshot {
    at: EntryIndex,
    time: Millis,
    last_id: u64,
    topics: BTreeMap<TopicId, Topic>,
    templates: BTreeMap<Arc<str>, Arc<QueueSettings>>,
    shared: Vec<(BodyRef, u32)>,
    queues: Vec<QueueSnapshot>,
}

#[derive(Debug)]
struct QueueSnapshot {
    id: QueueId,
    settings: Arc<QueueSettings>,
    totals: Totals,
    known: Duplicates,
    next: [u64; PRIORITIES],
    chunks: Vec<(u8, u64, Chunk)>,
    /// It was deleted; whether its messages go to the dead-letter address.
    doomed: Option<bool>,
}

impl QueueSnapshot {
    fn of(queue: &Queue, doomed: Option<bool>) -> Self {
        let lanes = queue.lanes.lanes();
        let chunks = lanes.flat_map(|(lane, of)| {
            let used = of.chunks.iter().filter(|(_, chunk)| !chunk.present.is_empty());
            used.map(move |(number, chunk)| (lane as u8, number, (**chunk).clone()))
        });
        Self {
            id: queue.id,
            settings: queue.settings.clone(),
            totals: queue.totals,
            known: queue.known.clone(),
            next: std::array::from_fn(|lane| queue.lanes.next_in(lane)),
            chunks: chunks.collect(),
            doomed,
        }
    }
}

impl Broker {
    /// The replicated half as it is now, `at` being the last entry that was applied.
    pub fn snapshot(&self, at: EntryIndex) -> Snapshot {
        // Those that are deleted come first: another queue may have the address by now.
        let doomed = self.doomed.values().map(|doomed| QueueSnapshot::of(&doomed.queue, Some(doomed.bury)));
        let queues = doomed.chain(self.queues.values().map(|queue| QueueSnapshot::of(queue, None)));
        Snapshot {
            at,
            time: self.time,
            last_id: self.last_id,
            topics: self.topics.clone(),
            templates: self.templates.clone(),
            shared: self.shared.iter().map(|(body, count)| (*body, *count)).collect(),
            queues: queues.collect(),
        }
    }
}

impl Snapshot {
    /// The last entry of the log whose effect is in it.
    pub fn at(&self) -> EntryIndex {
        self.at
    }

    /// Gives all of it, piece by piece, to `sink`. The same state gives the same bytes.
    ///
    /// # Errors
    /// The first one of `sink`.
    pub fn write<E>(&self, mut sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut record = Record { bytes: Vec::new() };
        sink(record.of(kind::HEAD, |out| {
            out.number(VERSION);
            out.number(self.at.0);
            out.number(self.last_id);
        }))?;
        sink(record.of(kind::TIME, |out| out.number(self.time)))?;
        for (id, topic) in &self.topics {
            sink(record.of(kind::TOPIC, |out| {
                out.number(id.0);
                topic.settings.encode(out);
            }))?;
        }
        for settings in self.templates.values() {
            sink(record.of(kind::TEMPLATE, |out| settings.encode(out)))?;
        }
        for some in self.shared.chunks(IN_ONE) {
            sink(record.of(kind::SHARED, |out| {
                out.number(some.len() as u64);
                for (body, count) in some {
                    body.encode(out);
                    out.number((*count).into());
                }
            }))?;
        }
        for queue in &self.queues {
            queue.write(&mut record, &mut sink)?;
        }
        sink(record.of(kind::END, |_| {}))
    }

    /// All of it in one piece.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let written: Result<(), std::convert::Infallible> = self.write(|piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        match written {
            Ok(()) => bytes,
        }
    }
}

/// A message that has a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFile {
    /// The number of the file.
    pub file: u64,
    /// The address of the queue that the message is in.
    pub queue: Arc<str>,
    /// Its place there.
    pub seq: Seq,
}

impl Snapshot {
    /// All messages that have a file of their own. Looks at every message.
    pub fn in_files(&self) -> impl Iterator<Item = InFile> + '_ {
        self.queues.iter().flat_map(|queue| {
            queue.chunks.iter().flat_map(move |(lane, number, chunk)| {
                let in_file = move |(slot, entry): (usize, Entry)| match entry.body() {
                    BodyRef::Large { file } => {
                        let seq = Seq::new((*lane).into(), number * CHUNK as u64 + slot as u64);
                        Some(InFile { file, queue: Arc::clone(&queue.settings.address), seq })
                    }
                    BodyRef::Log { .. } => None,
                };
                chunk.entries().into_iter().filter_map(in_file)
            })
        })
    }
}

impl QueueSnapshot {
    fn write<E>(&self, record: &mut Record, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        sink(record.of(kind::QUEUE, |out| {
            out.number(self.id.0);
            self.settings.encode(out);
            self.totals.encode(out);
            self.next.iter().for_each(|next| out.number(*next));
        }))?;
        let known: Vec<_> = self.known.iter().collect();
        for some in known.chunks(IN_ONE) {
            sink(record.of(kind::KNOWN, |out| {
                out.number(some.len() as u64);
                for (time, id) in some {
                    out.number(*time);
                    out.bytes(id);
                }
            }))?;
        }
        for (lane, number, chunk) in &self.chunks {
            sink(record.of(kind::CHUNK, |out| {
                let (present, entries) = chunk.exact();
                out.byte(*lane);
                out.number(*number);
                out.extend_from_slice(&present.to_bytes());
                out.bytes(&entries);
            }))?;
        }
        if let Some(bury) = self.doomed {
            sink(record.of(kind::DOOMED, |out| out.flag(bury)))?;
        }
        Ok(())
    }
}

/// Makes records, one after the other, in the same memory.
struct Record {
    bytes: Vec<u8>,
}

impl Record {
    fn of(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        self.bytes.clear();
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.push(kind);
        write(&mut self.bytes);
        let length = (self.bytes.len() - 4) as u32;
        self.bytes[..4].copy_from_slice(&length.to_le_bytes());
        &self.bytes
    }
}
