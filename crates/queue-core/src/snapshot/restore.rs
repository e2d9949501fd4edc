//! Reading a snapshot back.

use super::{MAX_RECORD, VERSION, kind};
use crate::body::BodyRef;
use crate::broker::{Broker, Node, Topic};
use crate::ids::{EntryIndex, PRIORITIES, QueueId, Seq, TopicId};
use crate::queue::Queue;
use crate::settings::QueueSettings;
use crate::stats::Totals;
use crate::store::{Bits, CHUNK, Chunk};
use crate::wire::{CodecError, Reader};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A snapshot that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// It is damaged.
    #[error("the snapshot is damaged in the record at byte {record}: {error}")]
    Damaged {
        /// Where the record begins.
        record: u64,
        /// What is wrong in it.
        error: CodecError,
    },
    /// It was written by a newer version.
    #[error(
        "the snapshot is of version {0}, this program reads version {VERSION}: use the version that wrote it, or a newer one"
    )]
    Version(u64),
    /// It ends too early.
    #[error("the snapshot is cut off at byte {0}")]
    CutOff(u64),
}

/// Makes a broker of a snapshot's bytes, fed in pieces of any size.
#[derive(Debug, Default)]
pub struct Restore {
    broker: Broker,
    at: EntryIndex,
    /// What does not make up a record yet.
    rest: Vec<u8>,
    /// Bytes of the records before that.
    position: u64,
    /// The queue whose chunks come next.
    queue: Option<QueueId>,
    begun: bool,
    ended: bool,
}

impl Restore {
    /// Nothing fed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more bytes.
    ///
    /// # Errors
    /// If they are not those of a snapshot.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), RestoreError> {
        while !bytes.is_empty() {
            let missing = self.missing()?;
            let (some, others) = bytes.split_at(missing.min(bytes.len()));
            self.rest.extend_from_slice(some);
            bytes = others;
            if self.rest.len() > 4 && self.missing()? == 0 {
                let record = std::mem::take(&mut self.rest);
                self.record(&record[4..]).map_err(|wrong| match wrong {
                    Wrong::Version(version) => RestoreError::Version(version),
                    Wrong::Codec(error) => RestoreError::Damaged { record: self.position, error },
                })?;
                self.position += record.len() as u64;
                self.rest = record;
                self.rest.clear();
            }
        }
        Ok(())
    }

    /// How many bytes the record at hand lacks.
    fn missing(&self) -> Result<usize, RestoreError> {
        let Some(length) = self.rest.first_chunk::<4>() else { return Ok(4 - self.rest.len()) };
        let length = u32::from_le_bytes(*length) as usize;
        if length == 0 || length > MAX_RECORD {
            let error = CodecError { at: 0, what: "length of a record" };
            return Err(RestoreError::Damaged { record: self.position, error });
        }
        Ok(4 + length - self.rest.len())
    }

    /// The broker, and the last entry of the log whose effect is in it: the following ones are to be applied.
    ///
    /// # Errors
    /// If there should be more bytes.
    pub fn finish(self) -> Result<(Broker, EntryIndex), RestoreError> {
        if !self.ended || !self.rest.is_empty() {
            return Err(RestoreError::CutOff(self.position + self.rest.len() as u64));
        }
        Ok((self.broker, self.at))
    }

    fn record(&mut self, record: &[u8]) -> Result<(), Wrong> {
        let mut reader = Reader::new(record);
        let kind = reader.byte()?;
        let wrong = |what| Err(CodecError { at: 0, what }.into());
        if self.begun != (kind != kind::HEAD) || self.ended {
            return wrong("record in this place");
        }
        match kind {
            kind::HEAD => self.head(&mut reader)?,
            kind::TIME => self.broker.time = reader.number()?,
            kind::PLAIN_TOPIC => {
                let id = TopicId(reader.number()?);
                let settings = QueueSettings::new(reader.shared_text()?);
                self.topic(id, settings, &reader)?;
            }
            kind::TOPIC => {
                let id = TopicId(reader.number()?);
                let settings = QueueSettings::decode(&mut reader)?;
                self.topic(id, settings, &reader)?;
            }
            kind::TEMPLATE => {
                let settings = QueueSettings::decode(&mut reader)?;
                self.broker.templates.insert(settings.address.clone(), Arc::new(settings));
            }
            kind::SHARED => {
                for _ in 0..reader.count()? {
                    let body = BodyRef::decode(&mut reader)?;
                    let count = reader.small::<u32>()?.max(1);
                    self.broker.shared.insert(body, count);
                }
            }
            kind::QUEUE => self.queue(&mut reader)?,
            kind::KNOWN => {
                let queue = self.last_queue(&reader)?;
                for _ in 0..reader.count()? {
                    queue.known.restore(reader.number()?, reader.bytes()?.into());
                }
            }
            kind::CHUNK => self.chunk(&mut reader)?,
            kind::DOOMED => {
                let bury = reader.flag()?;
                let queue = self.last_queue(&reader)?;
                let (id, settings) = (queue.id, queue.settings.clone());
                self.broker.remove_queue(id, &settings, bury);
                self.queue = None;
            }
            kind::END => self.end(&reader)?,
            _ => return wrong("kind of record"),
        }
        reader.end()?;
        Ok(())
    }

    fn head(&mut self, reader: &mut Reader<'_>) -> Result<(), Wrong> {
        let version = reader.number()?;
        if version != VERSION {
            return Err(Wrong::Version(version));
        }
        self.at = EntryIndex(reader.number()?);
        let wrong = reader.wrong("number of a queue");
        self.broker.last_id = reader.number()?;
        if self.broker.last_id >= 1 << 60 {
            return Err(wrong.into());
        }
        self.begun = true;
        Ok(())
    }

    fn topic(&mut self, id: TopicId, settings: QueueSettings, reader: &Reader<'_>) -> Result<(), Wrong> {
        let before = self.broker.by_address.insert(settings.address.clone(), Node::Topic(id));
        let topic = Topic { settings: Arc::new(settings), queues: BTreeSet::new(), collector: None };
        match (before, self.broker.topics.insert(id, topic)) {
            (None, None) => Ok(()),
            _ => Err(reader.wrong("topic of its own").into()),
        }
    }

    fn queue(&mut self, reader: &mut Reader<'_>) -> Result<(), Wrong> {
        let wrong = reader.wrong("queue of its own");
        let id = QueueId(reader.number()?);
        let settings = QueueSettings::decode(reader)?;
        // A topic may have the address, if the queue was deleted, which is said behind its messages.
        let node = *self.broker.by_address.entry(settings.address.clone()).or_insert(Node::Queue(id));
        if self.broker.queues.contains_key(&id) || matches!(node, Node::Queue(other) if other != id) {
            return Err(wrong.into());
        }
        self.broker.bind(&settings, id);
        let mut queue = Queue::new(id, Arc::new(settings));
        queue.totals = Totals::decode(reader)?;
        for lane in 0..PRIORITIES {
            let wrong = reader.wrong("number of a message");
            if !queue.lanes.restore_lane(lane, reader.number()?) {
                return Err(wrong.into());
            }
        }
        self.broker.queues.insert(id, Box::new(queue));
        self.queue = Some(id);
        Ok(())
    }

    fn end(&mut self, reader: &Reader<'_>) -> Result<(), Wrong> {
        let is_found = |queue: &Queue| self.broker.node(&queue.settings.address) == Some(Node::Queue(queue.id));
        if !self.broker.queues.values().all(|queue| is_found(queue)) {
            return Err(reader.wrong("end where each queue has an address of its own").into());
        }
        self.ended = true;
        Ok(())
    }

    fn last_queue(&mut self, reader: &Reader<'_>) -> Result<&mut Queue, CodecError> {
        let queue = self.queue.and_then(|id| self.broker.queues.get_mut(&id));
        queue.map(|queue| &mut **queue).ok_or(reader.wrong("record of a queue"))
    }

    fn chunk(&mut self, reader: &mut Reader<'_>) -> Result<(), Wrong> {
        let wrong = reader.wrong("run of messages in this place");
        let lane = usize::from(reader.byte()?);
        let number = reader.number()?;
        let mut bits = [0; CHUNK / 8];
        for byte in &mut bits {
            *byte = reader.byte()?;
        }
        let present = Bits::from_bytes(&bits).ok_or(wrong)?;
        let at = reader.position();
        let bytes: Arc<[u8]> = reader.bytes()?.into();
        // Whatever is there can be unpacked later: it is looked at now.
        let mut inner = Reader::new(&bytes);
        crate::store::packed::unpack(&mut inner, present.count())
            .and_then(|_| inner.end())
            .map_err(|error| CodecError { at: at + error.at, what: error.what })?;
        let queue = self.last_queue(reader)?;
        if !queue.lanes.restore_chunk(lane, number, Chunk::restored(present, bytes)) {
            return Err(wrong.into());
        }
        let places = queue.lanes.places(lane, number);
        if let Some(first) = places.first() {
            queue.lanes.note_body(*first);
        }
        places.into_iter().for_each(|seq| self.settle_in(seq));
        Ok(())
    }

    /// What follows from a message that is there.
    fn settle_in(&mut self, seq: Seq) {
        let Some(queue) = self.queue.and_then(|id| self.broker.queues.get_mut(&id)) else { return };
        let Some(entry) = queue.lanes.get(seq) else { return };
        let (size, expires) = (entry.size(), entry.expires);
        let key = entry.key().cloned();
        self.broker.written += entry.written();
        queue.count += 1;
        queue.bytes = queue.bytes.saturating_add(size);
        if let Some(key) = key.filter(|key| queue.goes_by(key)) {
            queue.last_values.insert(key, seq);
        }
        // By the earliest of clocks: what was delayed is due when the clock says so.
        queue.offer(seq, 0, &mut self.broker.consumers);
        queue.expect_expiry(seq, expires);
        let id = queue.id;
        self.broker.retime(id);
    }
}

/// What is wrong with a record.
enum Wrong {
    Version(u64),
    Codec(CodecError),
}

impl From<CodecError> for Wrong {
    fn from(error: CodecError) -> Self {
        Self::Codec(error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Record;
    use super::*;
    use crate::wire::Put;

    /// A record's kind, and what writes it.
    type Written<'a> = (u8, &'a dyn Fn(&mut Vec<u8>));

    /// A snapshot of these records, and of a head before and an end behind them.
    fn read(records: &[Written<'_>]) -> Result<(), RestoreError> {
        let mut record = Record { bytes: Vec::new() };
        let mut bytes =
            record.of(kind::HEAD, |out| [VERSION, 0, 2].into_iter().for_each(|number| out.number(number))).to_vec();
        for (kind, write) in records {
            bytes.extend_from_slice(record.of(*kind, write));
        }
        bytes.extend_from_slice(record.of(kind::END, |_| {}));
        let mut restore = Restore::new();
        restore.feed(&bytes)?;
        restore.finish().map(drop)
    }

    /// A queue whose messages have numbers before this one.
    fn queue(id: u64, next: u64) -> impl Fn(&mut Vec<u8>) {
        move |out| {
            out.number(id);
            QueueSettings::new("a").encode(out);
            Totals::default().encode(out);
            (0..PRIORITIES).for_each(|_| out.number(next));
        }
    }

    fn topic(id: u64) -> impl Fn(&mut Vec<u8>) {
        move |out| {
            out.number(id);
            QueueSettings::new("a").encode(out);
        }
    }

    fn is_damaged(read: Result<(), RestoreError>) -> bool {
        matches!(read, Err(RestoreError::Damaged { .. }))
    }

    #[test]
    fn a_number_that_no_message_can_have_is_refused() {
        assert_eq!(read(&[(kind::QUEUE, &queue(1, 5))]), Ok(()));
        assert!(is_damaged(read(&[(kind::QUEUE, &queue(1, 1 << 60))])));
    }

    #[test]
    fn an_address_is_one_nodes_only() {
        assert!(is_damaged(read(&[(kind::QUEUE, &queue(1, 0)), (kind::QUEUE, &queue(2, 0))])));
        assert!(is_damaged(read(&[(kind::TOPIC, &topic(1)), (kind::TOPIC, &topic(2))])));
        assert!(is_damaged(read(&[(kind::TOPIC, &topic(1)), (kind::QUEUE, &queue(2, 0))])));
        let deleted = |out: &mut Vec<u8>| out.flag(false);
        let records: [Written<'_>; 3] =
            [(kind::TOPIC, &topic(1)), (kind::QUEUE, &queue(2, 0)), (kind::DOOMED, &deleted)];
        assert_eq!(read(&records), Ok(()));
    }
}
