//! The threads that write and read files, and the jobs that they do in turns: a job that has to wait for somebody is put aside
//! until it is called.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use queue_log::Log;

use super::leaving::Leaving;
use super::writing::Writing;
use crate::content::Reader;
use crate::shard::LinkRef;
use crate::store::links::Arrival;
use crate::store::signals::Signals;

/// Threads.
const THREADS: usize = 2;

/// A job.
pub(super) enum Job {
    Write(Writing),
    Send(Leaving),
    Remove(u64),
}

/// Whether a job is through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing is left to be done.
    Over,
    /// It waits to be called.
    Waits,
    /// It goes on after others had their turn.
    Yields,
}

/// A job and whether it is in the queue.
pub(super) struct Cell {
    job: Mutex<Option<Job>>,
    scheduled: AtomicBool,
}

/// All jobs.
pub(super) struct Jobs {
    pub(super) log: Arc<Log>,
    pub(super) signals: Arc<Signals>,
    queue: Mutex<Queue>,
    called: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    cells: VecDeque<Arc<Cell>>,
    over: bool,
}

impl Jobs {
    /// Starts the threads.
    pub(super) fn start(log: Arc<Log>, signals: &Arc<Signals>) -> Arc<Self> {
        let jobs = Arc::new(Self {
            log,
            signals: Arc::clone(signals),
            queue: Mutex::default(),
            called: Condvar::new(),
            threads: Mutex::default(),
        });
        for number in 0..THREADS {
            let own = Arc::clone(&jobs);
            let thread = std::thread::Builder::new().name(format!("store-file-{number}"));
            match thread.spawn(move || own.run()) {
                Ok(thread) => jobs.threads.lock().push(thread),
                Err(error) => logging::log!(ROUTER_CORE, Error, "A thread for large messages: {error}"),
            }
        }
        jobs
    }

    /// Has a message written to a file.
    pub(super) fn write(&self, arrival: Arrival, begun: Vec<u8>, reader: Reader<LinkRef>) -> Arc<Cell> {
        self.add(Job::Write(Writing::new(arrival, begun, reader)))
    }

    /// Has a file removed.
    pub(super) fn remove(&self, file: u64) {
        self.add(Job::Remove(file));
    }

    pub(super) fn add(&self, job: Job) -> Arc<Cell> {
        let cell = Arc::new(Cell { job: Mutex::new(Some(job)), scheduled: AtomicBool::new(false) });
        self.schedule(&cell);
        cell
    }

    /// A job without anything to do yet.
    pub(super) fn empty() -> Arc<Cell> {
        Arc::new(Cell { job: Mutex::new(None), scheduled: AtomicBool::new(false) })
    }

    /// Gives an empty cell its job.
    pub(super) fn begin(&self, cell: &Arc<Cell>, job: Job) {
        *cell.job.lock() = Some(job);
        self.schedule(cell);
    }

    /// A job may go on.
    pub(super) fn schedule(&self, cell: &Arc<Cell>) {
        if !cell.scheduled.swap(true, Ordering::AcqRel) {
            self.queue.lock().cells.push_back(Arc::clone(cell));
            self.called.notify_one();
        }
    }

    fn run(&self) {
        while let Some(cell) = self.next() {
            cell.scheduled.store(false, Ordering::Release);
            let mut place = cell.job.lock();
            let Some(job) = place.as_mut() else { continue };
            let step = match job {
                Job::Write(writing) => writing.step(self),
                Job::Send(leaving) => leaving.step(self),
                Job::Remove(file) => {
                    if let Err(error) = self.log.remove_large(*file) {
                        logging::log!(ROUTER_CORE, Warning, "The file of a large message stays: {error}");
                    }
                    Step::Over
                }
            };
            if step == Step::Over {
                *place = None;
            }
            drop(place);
            if step == Step::Yields {
                self.schedule(&cell);
            }
        }
    }

    fn next(&self) -> Option<Arc<Cell>> {
        let mut queue = self.queue.lock();
        loop {
            if queue.over {
                return None;
            }
            if let Some(cell) = queue.cells.pop_front() {
                return Some(cell);
            }
            self.called.wait(&mut queue);
        }
    }

    /// Ends the threads; jobs that are not through are dropped.
    pub(super) fn stop(&self) {
        self.queue.lock().over = true;
        self.called.notify_all();
        // One that panicked has ended, too.
        self.threads.lock().drain(..).for_each(|thread| drop(thread.join()));
    }
}
