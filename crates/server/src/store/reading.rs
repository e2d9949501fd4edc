//! Messages that have left memory are read back from the log by threads of their own, with those that come after them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use queue_core::BodyRef;
use queue_log::{Log, Reader};

use super::bodies::{Fetched, TRANSIENT};
use super::node::Node;
use super::opaque;
use super::signals::Signals;
use crate::content::Whole;

/// Threads that read.
const READERS: usize = 1;
/// Bytes that are read from the log at once.
const AHEAD: usize = 1024 * 1024;
/// Messages, and bytes of them, with which a shard is woken at most.
const MOST: usize = 256;
const MOST_BYTES: usize = 1024 * 1024;

/// Those who read.
pub(super) struct Reading {
    ask: Option<Sender<BodyRef>>,
    threads: Vec<JoinHandle<()>>,
}

impl Reading {
    /// Starts the threads, if there is something to read from.
    pub(super) fn start(log: Option<Arc<Log>>, signals: &Arc<Signals>) -> Self {
        let Some(log) = log else { return Self { ask: None, threads: Vec::new() } };
        let (ask, asked) = channel();
        let asked = Arc::new(Mutex::new(asked));
        let start = |number: usize| {
            let (log, asked, signals) = (Arc::clone(&log), Arc::clone(&asked), Arc::clone(signals));
            let thread = std::thread::Builder::new().name(format!("store-read-{number}"));
            thread.spawn(move || read(&log, &mut log.reader(AHEAD), &asked, &signals))
        };
        let threads: Vec<_> = (0..READERS).filter_map(|number| start(number).ok()).collect();
        if threads.is_empty() {
            logging::log!(ROUTER_CORE, Critical, "No thread can be started that reads messages back");
        }
        Self { ask: Some(ask), threads }
    }

    /// Ends the threads.
    pub(super) fn stop(&mut self) {
        self.ask = None;
        // One that panicked has ended, too.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

fn read(log: &Log, reader: &mut Reader, asked: &Mutex<Receiver<BodyRef>>, signals: &Signals) {
    let (mut wanted, mut read) = (Vec::new(), Vec::new());
    loop {
        {
            let asked = asked.lock();
            let Ok(first) = asked.recv() else { return };
            wanted.push(first);
            wanted.extend(asked.try_iter().take(MOST - 1));
        }
        let mut bytes = 0;
        for body in wanted.drain(..) {
            let found = match body {
                // The first part is what the entry says, the messages follow.
                BodyRef::Log { entry, part } => reader.part(entry, part + 1),
                BodyRef::Large { file } => {
                    let kept = log.open_large(file).and_then(|mut file| super::large::beginning(&mut file));
                    kept.map(|kept| opaque::beginning(&kept).to_vec())
                }
            };
            bytes += found.as_ref().map_or(0, Vec::len);
            read.push(Fetched { body, read: found.map(Whole::plain).map_err(|error| error.to_string()) });
            if bytes >= MOST_BYTES {
                bytes = 0;
                signals.fetched(&mut read);
            }
        }
        if !read.is_empty() {
            signals.fetched(&mut read);
        }
    }
}

impl Node {
    /// Has a message read back.
    pub(super) fn ask_for(&mut self, body: BodyRef) {
        let is_transient = matches!(body, BodyRef::Log { entry, .. } if entry >= TRANSIENT);
        if !is_transient
            && self.bodies.ask(body)
            && let Some(ask) = &self.reading.ask
        {
            // They end only when the store does.
            let _ = ask.send(body);
        }
    }

    /// A message was read back, or cannot be.
    pub(super) fn read_back(&mut self, fetched: Fetched) {
        let Fetched { body, read } = fetched;
        match (read, body) {
            (Ok(whole), BodyRef::Log { entry, part }) => {
                self.bodies.arrived(entry, part, whole);
                self.relocate_one(body);
                self.crossing_has_read(body);
            }
            (Ok(whole), BodyRef::Large { file }) => {
                self.bodies.keep_beginning(file, whole.bytes());
                self.crossing_has_read(body);
            }
            (Err(error), _) => {
                logging::log!(ROUTER_CORE, Error, "A message cannot be read back: {error}");
                self.bodies.failed(body);
                self.not_relocated(body);
                self.crossing_has_read(body);
                self.lose(body);
            }
        }
        for (side, consumer) in self.waiting_filters.remove(&body).into_iter().flatten() {
            self.broker(side).fetched(consumer);
        }
        for link in self.waiting_links.remove(&body).into_iter().flatten() {
            self.make_ready(link);
        }
    }

    /// A message is not there any more, or not as it was: those it was chosen for do not get it, and it stays where it is
    /// until somebody looks after the disk.
    fn lose(&mut self, body: BodyRef) {
        for link in self.waiting_links.get(&body).cloned().unwrap_or_default() {
            if let Some(receiver) = self.receiver_mut(link) {
                receiver.parked.retain(|assignment| assignment.body != body);
            }
        }
    }
}
