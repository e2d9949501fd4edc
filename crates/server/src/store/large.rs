//! Messages that come in pieces: those that are small enough are put together, the others get a file of their own, which
//! is written while they come. Threads of their own do it, for as many messages as there are, in turns.

mod jobs;
mod leaving;
mod writing;

use std::collections::HashMap;
use std::sync::Arc;

use amqp::condition::names;
use amqp::{DecodeError, DeliveryState, ErrorCondition};
use queue_core::{Assignment, Body, Command, Malformed, Millis};
use queue_log::{LargeReader, Log, ReadError};
use router_core::{LinkKey, Now, OutKey};

use super::acquisition::Acquired;
use super::links::Arrival;
use super::node::Node;
use super::opaque;
use super::receive::{Bytes, Said};
use super::say::Say;
use super::seldom::Seldom;
use super::signals::Signals;
use crate::content::{Coming, Content, Layout, Reader, ReaderState, Taken, Whole};
use crate::shard::LinkRef;
use jobs::{Cell, Jobs};

/// Bytes in which the sections before the body of a large message end. What is in later ones is not known to selectors.
const BEGINNING: usize = 256 * 1024;
/// Bytes that are read from a file at once.
const PIECE: usize = 64 * 1024;

/// The beginning of a message in a file.
pub(super) fn beginning(file: &mut LargeReader) -> Result<Vec<u8>, ReadError> {
    let mut beginning = Vec::new();
    while beginning.len() < BEGINNING {
        let bytes = file.read(beginning.len() as u64, PIECE)?;
        if bytes.is_empty() {
            break;
        }
        beginning.extend_from_slice(bytes);
    }
    Ok(beginning)
}

/// A message that is coming.
struct Incoming {
    arrival: Arrival,
    said: Said,
    progress: Progress,
}

enum Progress {
    /// It is put together in memory.
    Gathering { reader: Reader<LinkRef>, bytes: Vec<u8>, edit: Option<Box<[u8]>> },
    /// It is written to a file.
    Writing { cell: Arc<Cell>, coming: Coming<LinkRef> },
}

/// Whether messages that are part of a transaction are not in it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// There is none.
    No,
    /// All of each has come, and is on its way into its file, or waits for filters.
    Here,
    /// Not all of one has come.
    Coming,
}

/// What a thread has done.
pub(super) enum Done {
    /// All of a message is in its file, and on disk.
    Written { link: u32, key: OutKey, file: u64, size: u64, beginning: Arc<[u8]> },
    /// It cannot be written.
    Unwritten { link: u32, key: OutKey, error: String },
    /// It is none.
    Malformed { link: u32, key: OutKey, error: DecodeError },
    /// Its sender has given it up.
    GivenUp,
    /// All of a message has been read for a receiver, or it cannot be.
    Sent { link: u32, id: u32, complete: bool },
}

/// Messages that come or leave in pieces.
pub(super) struct Large {
    jobs: Option<Arc<Jobs>>,
    /// By link: one at a time.
    incoming: HashMap<u32, Incoming>,
    /// Links whose message has grown.
    grown: Vec<u32>,
    /// Bytes from which on a message gets a file.
    threshold: u64,
    /// Files that are needed more than once, as by messages on both sides, and how often they still are.
    pub(super) shared: HashMap<u64, usize>,
    /// What waited on a link behind one that was coming may come in the next round of work.
    lets_others_come: bool,
    /// That one could not be written is said seldom: clients send them again at once.
    unwritten: Seldom,
}

impl Large {
    pub(super) fn new(log: Option<Arc<Log>>, threshold: u64, signals: &Arc<Signals>) -> Self {
        let jobs = log.map(|log| Jobs::start(log, signals));
        Self {
            jobs,
            incoming: HashMap::new(),
            grown: Vec::new(),
            threshold,
            shared: HashMap::new(),
            lets_others_come: false,
            unwritten: Seldom::default(),
        }
    }

    /// A message of this format out of a file, to be read while it is being read. `None`: there are no files.
    pub(super) fn begin_sending(
        &self,
        file: u64,
        link: u32,
        id: u32,
        next: &Assignment,
        now: u64,
        format: u32,
    ) -> Option<Content<LinkRef>> {
        let jobs = self.jobs.as_ref()?;
        Some(Content::Stream(leaving::begin(jobs, file, link, id, next.clone(), now, format)))
    }

    /// So many commands are about the message in a file.
    pub(super) fn used(&mut self, file: u64, times: usize) {
        match times {
            0 => self.remove(file),
            1 => {}
            times => drop(self.shared.insert(file, times)),
        }
    }

    /// One more command is about the message in a file.
    pub(super) fn used_once_more(&mut self, file: u64) {
        *self.shared.entry(file).or_insert(1) += 1;
    }

    /// A message with a file is in no queue of one side any more, or not needed.
    pub(super) fn remove(&mut self, file: u64) {
        if let Some(sides) = self.shared.get_mut(&file) {
            *sides -= 1;
            if *sides > 0 {
                return;
            }
            self.shared.remove(&file);
        }
        if let Some(jobs) = &self.jobs {
            jobs.remove(file);
        }
    }

    /// More of the message on a link is there.
    pub(super) fn grown(&mut self, link: u32) {
        match self.incoming.get(&link).map(|incoming| &incoming.progress) {
            Some(Progress::Gathering { .. }) => self.grown.push(link),
            Some(Progress::Writing { cell, .. }) => {
                if let Some(jobs) = &self.jobs {
                    jobs.schedule(cell);
                }
            }
            None => {}
        }
    }

    /// The sender of a delivery waits for nothing any more.
    pub(super) fn forget_arrival(&mut self, key: OutKey) {
        if let Some(incoming) = self.incoming.values_mut().find(|incoming| incoming.arrival.key == key) {
            incoming.arrival.settled = true;
        }
    }

    /// Ends the threads.
    pub(super) fn stop(&mut self) {
        if let Some(jobs) = self.jobs.take() {
            jobs.stop();
        }
    }
}

impl Node {
    /// A message of which not all is there.
    /// `edit`: what stands in the place of its message annotations.
    pub(super) fn begin_large(
        &mut self,
        arrival: Arrival,
        mut reader: Reader<LinkRef>,
        edit: Option<Box<[u8]>>,
        said: Said,
    ) {
        reader.listen(LinkRef::of_store(arrival.link));
        let progress = Progress::Gathering { reader, bytes: Vec::new(), edit };
        self.large.incoming.insert(arrival.link, Incoming { arrival, said, progress });
        self.large.grown.push(arrival.link);
    }

    /// Its sender has given a message up.
    pub(super) fn aborted(&mut self, link: u32, key: OutKey) {
        if let Some(Incoming { said, .. }) = self.take_incoming(link, key) {
            self.large.lets_others_come = true;
            if let Some(sender) = self.sender_mut(link) {
                sender.pending = sender.pending.saturating_sub(1);
                self.give_credit(link);
            }
            self.no_longer_unfinished(&said);
        }
    }

    /// Whether messages may wait on their links behind others that are coming; links on which some are.
    pub(super) fn links_with_large(&mut self) -> Vec<LinkKey> {
        self.large.lets_others_come = false;
        self.large.incoming.keys().filter_map(|link| Some(self.links.get(*link as usize)?.key)).collect()
    }

    /// What of a transaction is not in it yet. What has come is put together first. `alone`: no message of it waits behind another.
    pub(super) fn unfinished_in(&mut self, txn: &[u8], alone: bool) -> Unfinished {
        let of_it = |incoming: &Incoming| incoming.said.txn.as_deref() == Some(txn);
        let links: Vec<u32> = self.large.incoming.iter().filter(|(_, it)| of_it(it)).map(|(link, _)| *link).collect();
        let time = self.clock();
        links.into_iter().for_each(|link| self.gather(time, link));
        let mut left = self.large.incoming.values().filter(|incoming| of_it(incoming)).peekable();
        if left.peek().is_none() {
            let may_wait = !alone && !self.large.incoming.is_empty() || self.large.lets_others_come;
            let waits = may_wait || self.admissions.has_of(txn) || self.transactions.is_awaited_early(txn);
            return if waits { Unfinished::Here } else { Unfinished::No };
        }
        let is_here = |it: &Incoming| matches!(&it.progress, Progress::Writing { coming, .. } if coming.is_complete());
        if left.all(is_here) { Unfinished::Here } else { Unfinished::Coming }
    }

    /// A link is gone, and with it what was coming on it.
    pub(super) fn nothing_comes_on(&mut self, link: u32) {
        if let Some(Incoming { said, .. }) = self.large.incoming.remove(&link) {
            self.never_in_its_transaction(&said, "its link was closed before all of it was stored");
            self.no_longer_unfinished(&said);
        }
    }

    /// A message that was to be part of a transaction is not.
    fn never_in_its_transaction(&mut self, said: &Said, why: &str) {
        if let Some(txn) = said.txn.as_ref().and_then(|name| self.transactions.number(name)) {
            let text = format!("Nothing of it was done: a message that is part of it is lost, {why}");
            self.spoil(txn, ErrorCondition::new(names::TRANSACTION_ROLLBACK, text));
        }
    }

    fn no_longer_unfinished(&mut self, said: &Said) {
        if let Some(txn) = &said.txn {
            self.go_on_ending(txn, false);
        }
    }

    /// Goes on with what has grown, and with what threads have done.
    pub(super) fn take_large(&mut self, now: Now) {
        for link in std::mem::take(&mut self.large.grown) {
            self.gather(self.time(now), link);
        }
        let mut done = Vec::new();
        self.signals.take_done(&mut done);
        for done in done {
            self.large_done(now, done);
        }
    }

    /// Puts a message together, as far as it is there.
    fn gather(&mut self, time: Millis, link: u32) {
        let Large { incoming, jobs, threshold, .. } = &mut self.large;
        let Some(Incoming { arrival, progress, .. }) = incoming.get_mut(&link) else { return };
        let Progress::Gathering { reader, bytes, edit } = progress else { return };
        let annotations = reader.head().layout.annotations_range();
        loop {
            let state = reader.read(|parts, end| {
                let before = bytes.len();
                parts.iter().for_each(|part| bytes.extend_from_slice(part));
                Taken { bytes: bytes.len() - before, end }
            });
            if bytes.len() >= annotations.end
                && let Some(edit) = edit.take()
            {
                bytes.splice(annotations.clone(), edit.iter().copied());
            }
            match state {
                ReaderState::Finished => break,
                // The core says so itself.
                ReaderState::Aborted => return,
                ReaderState::More | ReaderState::Waiting
                    if bytes.len() as u64 > *threshold && edit.is_none() && jobs.is_some() =>
                {
                    let Some(jobs) = jobs else { return };
                    let (bytes, reader) = (std::mem::take(bytes), reader.clone());
                    let mut reader = reader;
                    reader.listen(LinkRef::of_store(link));
                    let coming = reader.coming();
                    *progress = Progress::Writing { cell: jobs.write(*arrival, bytes, reader), coming };
                    return;
                }
                ReaderState::More => {}
                ReaderState::Waiting => return,
            }
        }
        let format = reader.head().layout.message_format;
        let Some(Incoming { arrival, said, progress: Progress::Gathering { bytes, .. } }) = incoming.remove(&link)
        else {
            return;
        };
        self.has_come(arrival.key);
        let whole = opaque::kept(Whole::with_layout(bytes, Layout::plain(format)));
        self.arrived_late(time, arrival, Bytes::Whole(whole), said);
    }

    fn large_done(&mut self, now: Now, done: Done) {
        match done {
            Done::GivenUp => {}
            Done::Written { link, key, file, size, beginning } => {
                let Some(Incoming { arrival, said, .. }) = self.take_incoming(link, key) else {
                    return self.large.remove(file);
                };
                self.has_come(key);
                let time = self.time(now);
                self.arrived_late(time, arrival, Bytes::File { file, size, beginning }, said.clone());
                self.no_longer_unfinished(&said);
            }
            Done::Unwritten { link, key, error } => {
                if let Some(unsaid) = self.large.unwritten.speaks(self.time(now)) {
                    logging::log!(
                        ROUTER_CORE,
                        Error,
                        "A large message is not stored: {error}; not stored since this was said last: {unsaid}"
                    );
                }
                let text = format!("Not stored: {error}");
                self.refuse_large(link, key, ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, text));
            }
            Done::Malformed { link, key, error } => {
                let text = Malformed::from(error).to_string();
                self.refuse_large(link, key, ErrorCondition::new(names::DECODE_ERROR, text));
            }
            Done::Sent { link, id, complete } => self.large_sent(link, id, complete),
        }
    }

    /// All of a message has come: the next on its link may.
    fn has_come(&mut self, key: OutKey) {
        self.large.lets_others_come = true;
        self.say(Say::Transmitted { key });
    }

    /// A message does not come into its file.
    fn refuse_large(&mut self, link: u32, key: OutKey, error: ErrorCondition) {
        let Some(Incoming { arrival, said, .. }) = self.take_incoming(link, key) else { return };
        self.refuse(arrival, error);
        self.has_come(key);
        self.never_in_its_transaction(&said, "as it cannot be stored");
        self.no_longer_unfinished(&said);
    }

    /// A command will not be: the files of messages in it are not needed.
    pub(super) fn forget_files(&mut self, command: &Command) {
        match command {
            Command::Enqueue(enqueue) if let Body::Large { file } = enqueue.body => self.large.remove(file),
            Command::Adopt(adopt) if let Body::Large { file } = adopt.body => self.large.remove(file),
            Command::Transaction(commands) => commands.iter().for_each(|command| self.forget_files(command)),
            _ => {}
        }
    }

    fn take_incoming(&mut self, link: u32, key: OutKey) -> Option<Incoming> {
        let is_it = self.large.incoming.get(&link).is_some_and(|incoming| incoming.arrival.key == key);
        if is_it { self.large.incoming.remove(&link) } else { None }
    }

    /// All of a message has gone into the stream to its receiver.
    fn large_sent(&mut self, link: u32, id: u32, complete: bool) {
        let Some(receiver) = self.receiver_mut(link) else { return };
        let (side, settled) = (receiver.place.side, receiver.settled);
        let key = receiver.streaming.remove(&id).flatten();
        let of = receiver.unsettled.get(id as usize);
        let of = of.and_then(|of| Some((of.acquisition?, of.acquired_in, of.taken_back)));
        if let Some(key) = key {
            self.say(if complete { Say::Received { key } } else { Say::Aborted { key } });
        }
        // Only now can its file go.
        match of {
            Some((acquisition, _, true)) => {
                self.give_back_acquired(acquisition, Acquired { side, link, id: Some(id) });
            }
            Some((acquisition, Some(txn), false)) if settled && complete => {
                self.forget_delivery(link, id);
                self.retire_settled(txn, side, acquisition, link);
            }
            Some((acquisition, _, false)) if settled => {
                self.forget_delivery(link, id);
                let state = if complete { DeliveryState::Accepted } else { DeliveryState::Released };
                let time = self.clock();
                self.apply_outcome(side, acquisition, &state, None, time);
            }
            _ => {}
        }
    }
}
