//! Commands as bytes, as they stand in the log.

use super::{Adopt, Command, Enqueue, Orphans, Outcome, Selection, Settle, Target};
use crate::body::{Body, BodyRef};
use crate::facts::Facts;
use crate::ids::{QueueId, Seq, TopicId};
use crate::overlay::Overlay;
use crate::ranges::Ranges;
use crate::settings::QueueSettings;
use crate::wire::{CodecError, Put, Reader};

/// The version of what is written here. Others are refused.
const VERSION: u8 = 1;

/// Appends commands as one entry of the log holds them: a version, how many there are, and each of them.
pub fn encode_batch(batch: &[Command], out: &mut Vec<u8>) {
    out.byte(VERSION);
    out.number(batch.len() as u64);
    batch.iter().for_each(|command| command.encode(out));
}

/// Reads what [`encode_batch`] wrote. Also tells how many bytes that was: what follows belongs to the caller.
///
/// # Errors
/// If it is anything else, or of another version.
pub fn decode_batch(bytes: &[u8]) -> Result<(Vec<Command>, usize), CodecError> {
    let mut reader = Reader::new(bytes);
    if reader.byte()? != VERSION {
        return Err(CodecError { at: 0, what: "version of commands" });
    }
    let commands = list(&mut reader, |reader| Command::read(reader, true))?;
    Ok((commands, reader.position()))
}

/// What each command begins with. A number is never given to another command, whatever becomes of the one that had it.
mod tag {
    pub(super) const CREATE_QUEUE: u8 = 1;
    pub(super) const CHANGE_QUEUE: u8 = 2;
    pub(super) const DELETE_QUEUE: u8 = 3;
    /// As it was before topics had settings: an address. Read, and not written any more.
    pub(super) const CREATE_PLAIN_TOPIC: u8 = 4;
    pub(super) const DELETE_TOPIC: u8 = 5;
    pub(super) const ENQUEUE: u8 = 6;
    pub(super) const SETTLE: u8 = 7;
    pub(super) const EXPIRE: u8 = 8;
    pub(super) const PURGE: u8 = 9;
    pub(super) const MOVE: u8 = 10;
    pub(super) const RETRY: u8 = 11;
    pub(super) const TRANSACTION: u8 = 12;
    pub(super) const RELOCATE: u8 = 13;
    pub(super) const CREATE_TOPIC: u8 = 14;
    pub(super) const CHANGE_TOPIC: u8 = 15;
    pub(super) const SET_TEMPLATE: u8 = 16;
    pub(super) const DELETE_TEMPLATE: u8 = 17;
    pub(super) const SWEEP: u8 = 18;
    pub(super) const ADOPT: u8 = 19;
    pub(super) const SPREAD: u8 = 20;
}

impl Command {
    /// Appends the command, without a version.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.byte(self.tag());
        match self {
            Self::CreateQueue(settings) | Self::CreateTopic(settings) => settings.encode(out),
            Self::ChangeQueue { queue, settings } => {
                out.number(queue.0);
                settings.encode(out);
            }
            Self::DeleteQueue { queue, if_empty, orphans } => {
                out.number(queue.0);
                out.byte(u8::from(*if_empty) | u8::from(*orphans == Orphans::DeadLetter) << 1);
            }
            Self::ChangeTopic { topic, settings } => {
                out.number(topic.0);
                settings.encode(out);
            }
            Self::DeleteTopic { topic } => out.number(topic.0),
            Self::SetTemplate { settings, is_new } => {
                out.flag(*is_new);
                settings.encode(out);
            }
            Self::DeleteTemplate { pattern } => out.text(pattern),
            Self::Sweep { queue, most } => {
                out.number(queue.0);
                out.number(*most);
            }
            Self::Spread { from, item, to } => {
                out.number(from.0);
                out.number(item.raw());
                to.encode(out);
            }
            Self::Enqueue(enqueue) => enqueue.encode(out),
            Self::Adopt(adopt) => adopt.encode(out),
            Self::Settle(settle) => settle.encode(out),
            Self::Expire { queue, items } => {
                out.number(queue.0);
                items.encode(out);
            }
            Self::Purge { queue, what } | Self::Retry { queue, what } => {
                out.number(queue.0);
                what.encode(out);
            }
            Self::Move { from, to, what } => {
                out.number(from.0);
                out.number(to.0);
                what.encode(out);
            }
            Self::Transaction(commands) => {
                out.number(commands.len() as u64);
                commands.iter().for_each(|command| command.encode(out));
            }
            Self::Relocate { from, of } => {
                from.encode(out);
                out.number(of.len() as u64);
                for (queue, seq) in of {
                    out.number(queue.0);
                    out.number(seq.raw());
                }
            }
        }
    }

    fn tag(&self) -> u8 {
        match self {
            Self::CreateQueue(_) => tag::CREATE_QUEUE,
            Self::ChangeQueue { .. } => tag::CHANGE_QUEUE,
            Self::DeleteQueue { .. } => tag::DELETE_QUEUE,
            Self::CreateTopic(_) => tag::CREATE_TOPIC,
            Self::ChangeTopic { .. } => tag::CHANGE_TOPIC,
            Self::DeleteTopic { .. } => tag::DELETE_TOPIC,
            Self::SetTemplate { .. } => tag::SET_TEMPLATE,
            Self::DeleteTemplate { .. } => tag::DELETE_TEMPLATE,
            Self::Enqueue(_) => tag::ENQUEUE,
            Self::Adopt(_) => tag::ADOPT,
            Self::Settle(_) => tag::SETTLE,
            Self::Expire { .. } => tag::EXPIRE,
            Self::Purge { .. } => tag::PURGE,
            Self::Move { .. } => tag::MOVE,
            Self::Retry { .. } => tag::RETRY,
            Self::Spread { .. } => tag::SPREAD,
            Self::Sweep { .. } => tag::SWEEP,
            Self::Transaction(_) => tag::TRANSACTION,
            Self::Relocate { .. } => tag::RELOCATE,
        }
    }

    /// Reads what [`encode`](Self::encode) wrote. There may be nothing behind it.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        let mut reader = Reader::new(bytes);
        let command = Self::read(&mut reader, true)?;
        reader.end()?;
        Ok(command)
    }

    fn read(reader: &mut Reader<'_>, outermost: bool) -> Result<Self, CodecError> {
        let wrong = reader.wrong("command");
        Ok(match reader.byte()? {
            tag::CREATE_QUEUE => Self::CreateQueue(Box::new(QueueSettings::decode(reader)?)),
            tag::CHANGE_QUEUE => {
                Self::ChangeQueue { queue: queue(reader)?, settings: Box::new(QueueSettings::decode(reader)?) }
            }
            tag::DELETE_QUEUE => {
                let queue = queue(reader)?;
                let flags = flags(reader)?;
                let orphans = if flags & 2 != 0 { Orphans::DeadLetter } else { Orphans::Drop };
                Self::DeleteQueue { queue, if_empty: flags & 1 != 0, orphans }
            }
            tag::CREATE_PLAIN_TOPIC => Self::CreateTopic(Box::new(QueueSettings::new(reader.shared_text()?))),
            tag::CREATE_TOPIC => Self::CreateTopic(Box::new(QueueSettings::decode(reader)?)),
            tag::CHANGE_TOPIC => {
                let topic = TopicId(reader.number()?);
                Self::ChangeTopic { topic, settings: Box::new(QueueSettings::decode(reader)?) }
            }
            tag::SET_TEMPLATE => {
                let is_new = reader.flag()?;
                Self::SetTemplate { is_new, settings: Box::new(QueueSettings::decode(reader)?) }
            }
            tag::DELETE_TEMPLATE => Self::DeleteTemplate { pattern: reader.shared_text()? },
            tag::SWEEP => Self::Sweep { queue: queue(reader)?, most: reader.number()? },
            tag::SPREAD => {
                let (from, item) = (queue(reader)?, Seq::from_raw(reader.number()?));
                Self::Spread { from, item, to: Target::decode(reader)? }
            }
            tag::DELETE_TOPIC => Self::DeleteTopic { topic: TopicId(reader.number()?) },
            tag::ENQUEUE => Self::Enqueue(Box::new(Enqueue::decode(reader)?)),
            tag::ADOPT => Self::Adopt(Box::new(Adopt::decode(reader)?)),
            tag::SETTLE => Self::Settle(Box::new(Settle::decode(reader)?)),
            tag::EXPIRE => Self::Expire { queue: queue(reader)?, items: Ranges::decode(reader)? },
            tag::PURGE => Self::Purge { queue: queue(reader)?, what: Selection::decode(reader)? },
            tag::MOVE => Self::Move { from: queue(reader)?, to: queue(reader)?, what: Selection::decode(reader)? },
            tag::RETRY => Self::Retry { queue: queue(reader)?, what: Selection::decode(reader)? },
            // A transaction within a transaction is none: nothing nests.
            tag::TRANSACTION if outermost => Self::Transaction(list(reader, |reader| Self::read(reader, false))?),
            tag::RELOCATE => Self::Relocate {
                from: BodyRef::decode(reader)?,
                of: list(reader, |reader| Ok((queue(reader)?, Seq::from_raw(reader.number()?))))?,
            },
            _ => return Err(wrong),
        })
    }
}

fn queue(reader: &mut Reader<'_>) -> Result<QueueId, CodecError> {
    reader.number().map(QueueId)
}

/// A byte of two flags.
fn flags(reader: &mut Reader<'_>) -> Result<u8, CodecError> {
    let wrong = reader.wrong("byte of two flags");
    Some(reader.byte()?).filter(|flags| *flags <= 3).ok_or(wrong)
}

/// Members behind their number. Room is made only as they turn out to be there.
fn list<T>(
    reader: &mut Reader<'_>,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<T, CodecError>,
) -> Result<Vec<T>, CodecError> {
    let count = reader.count()?;
    let mut members = Vec::new();
    for _ in 0..count {
        members.push(read(reader)?);
    }
    Ok(members)
}

impl Enqueue {
    fn encode(&self, out: &mut Vec<u8>) {
        out.number(self.to.len() as u64);
        self.to.iter().for_each(|target| target.encode(out));
        self.facts.encode(out);
        self.body.encode(out);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let to = list(reader, Target::decode)?;
        let facts = Facts::decode(reader)?;
        Ok(Self { to: to.into(), facts, body: Body::decode(reader)? })
    }
}

impl Target {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            // Mostly one queue: its number, made even.
            Self::Queue(queue) => out.number(queue.0 << 1),
            Self::Topic { topic, except } => {
                out.number(topic.0 << 1 | 1);
                out.number(except.len() as u64);
                except.iter().for_each(|queue| out.number(queue.0));
            }
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let target = reader.number()?;
        Ok(match target & 1 {
            0 => Self::Queue(QueueId(target >> 1)),
            _ => Self::Topic { topic: TopicId(target >> 1), except: list(reader, queue)? },
        })
    }
}

impl Body {
    fn encode(self, out: &mut Vec<u8>) {
        match self {
            Self::Here => out.optional(None),
            Self::Large { file } => out.optional(Some(file)),
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok(reader.optional()?.map_or(Self::Here, |file| Self::Large { file }))
    }
}

impl Adopt {
    fn encode(&self, out: &mut Vec<u8>) {
        self.to.encode(out);
        out.byte(u8::from(self.if_room) | u8::from(self.durable) << 1);
        out.byte(self.priority);
        out.number(self.size);
        out.optional_bytes(self.group.as_deref().map(str::as_bytes));
        out.optional_bytes(self.key.as_deref());
        out.flag(self.overlay.is_some());
        self.overlay.iter().for_each(|overlay| overlay.encode(out));
        self.body.encode(out);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let to = Target::decode(reader)?;
        let flags = flags(reader)?;
        Ok(Self {
            to,
            if_room: flags & 1 != 0,
            durable: flags & 2 != 0,
            priority: reader.byte()?,
            size: reader.number()?,
            group: reader.optional_text()?,
            key: reader.optional_bytes()?.map(Into::into),
            overlay: reader.flag()?.then(|| Overlay::decode(reader)).transpose()?.map(Into::into),
            body: Body::decode(reader)?,
        })
    }
}

impl Settle {
    fn encode(&self, out: &mut Vec<u8>) {
        out.number(self.queue.0);
        self.items.encode(out);
        match &self.outcome {
            Outcome::Accepted => out.byte(0),
            Outcome::Released => out.byte(1),
            Outcome::Rejected { error } => {
                out.byte(2);
                out.optional_bytes(error.as_deref().map(str::as_bytes));
            }
            Outcome::Modified { failed, undeliverable_here, annotations } => {
                out.byte(4 | u8::from(*failed) | u8::from(*undeliverable_here) << 1);
                out.optional_bytes(annotations.as_deref());
            }
        }
        out.optional_bytes(self.by.as_deref().map(str::as_bytes));
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let queue = queue(reader)?;
        let items = Ranges::decode(reader)?;
        let wrong = reader.wrong("outcome");
        let outcome = match reader.byte()? {
            0 => Outcome::Accepted,
            1 => Outcome::Released,
            2 => Outcome::Rejected { error: reader.optional_text()? },
            flags @ 4..=7 => Outcome::Modified {
                failed: flags & 1 != 0,
                undeliverable_here: flags & 2 != 0,
                annotations: reader.optional_bytes()?.map(Into::into),
            },
            _ => return Err(wrong),
        };
        Ok(Self { queue, items, outcome, by: reader.optional_text()? })
    }
}

impl Selection {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::All => out.byte(0),
            Self::First(count) => {
                out.byte(1);
                out.number(*count);
            }
            Self::These(items) => {
                out.byte(2);
                items.encode(out);
            }
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let wrong = reader.wrong("selection of messages");
        Ok(match reader.byte()? {
            0 => Self::All,
            1 => Self::First(reader.number()?),
            2 => Self::These(Ranges::decode(reader)?),
            _ => return Err(wrong),
        })
    }
}
