//! A message on its way out of a file: it is read as its receiver takes it.

use std::sync::{Arc, Weak};

use queue_core::{Assignment, Millis};
use queue_log::{LargeReader, ReadError};

use super::jobs::{Cell, Job, Jobs, Step};
use super::{Done, PIECE, beginning};
use crate::content::{Feed, Head, Layout, Origin, Reader, stream};
use crate::shard::LinkRef;
use crate::store::opaque;

/// Bytes that wait for the receiver beyond which nothing is read.
const AHEAD: usize = 512 * 1024;

/// A message on its way out of a file.
pub(super) struct Leaving {
    file: u64,
    link: u32,
    id: u32,
    assignment: Assignment,
    now: Millis,
    feed: Feed<LinkRef>,
    reader: Option<LargeReader>,
    /// Bytes of the message that are through.
    at: u64,
}

/// Has the job go on when the receiver has taken what there was.
struct Resume {
    jobs: Weak<Jobs>,
    cell: Arc<Cell>,
}

impl Origin for Resume {
    fn resume(&self) {
        if let Some(jobs) = self.jobs.upgrade() {
            jobs.schedule(&self.cell);
        }
    }
}

/// Begins to read a message of this format.
pub(super) fn begin(
    jobs: &Arc<Jobs>,
    file: u64,
    link: u32,
    id: u32,
    assignment: Assignment,
    now: Millis,
    format: u32,
) -> Reader<LinkRef> {
    let cell = Jobs::empty();
    let origin = Box::new(Resume { jobs: Arc::downgrade(jobs), cell: Arc::clone(&cell) });
    let (feed, reader) = stream(Head { layout: Layout::plain(format), ..Head::default() }, &[], origin);
    jobs.begin(&cell, Job::Send(Leaving { file, link, id, assignment, now, feed, reader: None, at: 0 }));
    reader
}

impl Leaving {
    /// Reads as much as the receiver can take.
    pub(super) fn step(&mut self, jobs: &Jobs) -> Step {
        let (step, complete) = match self.read(jobs) {
            Ok(Step::Over) => (Step::Over, true),
            Ok(step) => (step, false),
            Err(error) => {
                logging::log!(ROUTER_CORE, Error, "A large message cannot be read: {error}");
                self.feed.abort();
                (Step::Over, false)
            }
        };
        let mut listeners = Vec::new();
        self.feed.listeners_into(&mut listeners);
        listeners.into_iter().for_each(|link| jobs.signals.grown(link));
        if step == Step::Over {
            jobs.signals.done(Done::Sent { link: self.link, id: self.id, complete });
        }
        step
    }

    fn read(&mut self, jobs: &Jobs) -> Result<Step, ReadError> {
        if !self.feed.is_read() {
            // Nobody wants it any more.
            self.feed.abort();
            return Ok(Step::Over);
        }
        if self.reader.is_none() {
            self.begin(jobs)?;
        }
        let Some(reader) = &mut self.reader else { return Ok(Step::Over) };
        while self.feed.held() < AHEAD {
            let bytes = reader.read(self.at, PIECE)?;
            if bytes.is_empty() {
                self.feed.finish();
                return Ok(Step::Over);
            }
            self.feed.append(bytes);
            self.at += bytes.len() as u64;
        }
        // If little is held again already, nobody will call.
        Ok(if self.feed.wait() { Step::Waits } else { Step::Yields })
    }

    /// What the message begins with is written anew.
    fn begin(&mut self, jobs: &Jobs) -> Result<(), ReadError> {
        let mut reader = jobs.log.open_large(self.file)?;
        let beginning = beginning(&mut reader)?;
        let mut head = Vec::new();
        let end = match opaque::format_of(&beginning) {
            // It was well-formed when it came.
            (_, 0) => self.assignment.write_head(&beginning, self.now, &mut head).unwrap_or(0),
            (_, before) => before,
        };
        self.feed.append(&head);
        self.at = end as u64;
        self.reader = Some(reader);
        Ok(())
    }
}
