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
        "the snapshot is of version {0}, this program reads version 1: use the version that wrote it, or a newer one"
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
        if self.begun != (kind != kind::HEAD) || self.ended {
            return Err(reader.wrong("record in this place").into());
        }
        match kind {
            kind::HEAD => self.head(&mut reader)?,
            kind::TIME => self.broker.time = reader.number()?,
            kind::PLAIN_TOPIC => {
                let id = TopicId(reader.number()?);
                self.topic(id, QueueSettings::new(reader.shared_text()?));
            }
            kind::TOPIC => {
                let id = TopicId(reader.number()?);
                self.topic(id, QueueSettings::decode(&mut reader)?);
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
            kind::END => self.ended = true,
            _ => return Err(reader.wrong("kind of record").into()),
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

    fn topic(&mut self, id: TopicId, settings: QueueSettings) {
        self.broker.by_address.insert(settings.address.clone(), Node::Topic(id));
        self.broker.topics.insert(id, Topic { settings: Arc::new(settings), queues: BTreeSet::new(), collector: None });
    }

    fn queue(&mut self, reader: &mut Reader<'_>) -> Result<(), Wrong> {
        let wrong = reader.wrong("queue of its own");
        let id = QueueId(reader.number()?);
        let settings = QueueSettings::decode(reader)?;
        if self.broker.queues.contains_key(&id) || self.broker.by_address.contains_key(&settings.address) {
            return Err(wrong.into());
        }
        self.broker.by_address.insert(settings.address.clone(), Node::Queue(id));
        self.broker.bind(&settings, id);
        let mut queue = Queue::new(id, Arc::new(settings));
        queue.totals = Totals::decode(reader)?;
        for lane in 0..PRIORITIES {
            queue.lanes.restore_lane(lane, reader.number()?);
        }
        self.broker.queues.insert(id, Box::new(queue));
        self.queue = Some(id);
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
