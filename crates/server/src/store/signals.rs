//! What other threads tell the store: entries are on disk, messages are read, some time has come. They leave a note and
//! wake a shard, which pumps the store.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use queue_log::{Notice, Watcher};

use super::bodies::Fetched;
use super::large::Done;
use crate::shard::{LinkRef, Wake};

/// Notes from other threads.
pub(super) struct Signals {
    /// There may be something to do.
    busy: AtomicBool,
    /// Every entry of the log up to this one is on disk.
    durable: AtomicU64,
    /// The log has said something that concerns credit: it is full, has room again, or has failed.
    condition: AtomicBool,
    /// Whether each checkpoint that has ended stands, in their order.
    checkpoints: Mutex<VecDeque<bool>>,
    /// What readers have read.
    fetched: Mutex<Vec<Fetched>>,
    /// What was done with files.
    done: Mutex<Vec<Done>>,
    grown: Wake<LinkRef>,
    /// The shard that has spoken to the store last.
    shard: AtomicU16,
    wake: Wake<u16>,
    timer: Mutex<Timer>,
    timer_set: Condvar,
}

#[derive(Default)]
struct Timer {
    due: Option<Instant>,
    over: bool,
}

impl Signals {
    pub(super) fn new((wake, grown): (Wake<u16>, Wake<LinkRef>)) -> Self {
        Self {
            busy: AtomicBool::new(true),
            durable: AtomicU64::new(0),
            condition: AtomicBool::new(false),
            checkpoints: Mutex::default(),
            fetched: Mutex::default(),
            done: Mutex::default(),
            grown,
            shard: AtomicU16::new(0),
            wake,
            timer: Mutex::default(),
            timer_set: Condvar::new(),
        }
    }

    /// Whether there may be something to do.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// There is something to do; whoever says so is about to pump.
    #[inline]
    pub(super) fn set_busy(&self) {
        self.busy.store(true, Ordering::Release);
    }

    /// All is done that was known of. To be called before looking for more.
    pub(super) fn set_idle(&self) {
        self.busy.store(false, Ordering::SeqCst);
    }

    /// The shard that is to be woken from now on.
    pub(super) fn set_shard(&self, shard: u16) {
        self.shard.store(shard, Ordering::Relaxed);
    }

    /// There is something to do, and nobody about to do it.
    pub(super) fn call(&self) {
        self.set_busy();
        (self.wake)(self.shard.load(Ordering::Relaxed));
    }

    /// Up to where entries are on disk.
    pub(super) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// Whether the log's condition has changed since this was last asked.
    pub(super) fn take_condition(&self) -> bool {
        self.condition.swap(false, Ordering::AcqRel)
    }

    /// Whether the next checkpoint that has ended stands.
    pub(super) fn take_checkpoint(&self) -> Option<bool> {
        self.checkpoints.lock().pop_front()
    }

    /// A reader has read these.
    pub(super) fn fetched(&self, fetched: &mut Vec<Fetched>) {
        self.fetched.lock().append(fetched);
        self.call();
    }

    /// Takes what readers have read.
    pub(super) fn take_fetched(&self, into: &mut Vec<Fetched>) {
        into.append(&mut self.fetched.lock());
    }

    /// Something was done with a file.
    pub(super) fn done(&self, done: Done) {
        self.done.lock().push(done);
        self.call();
    }

    /// Takes what was done with files.
    pub(super) fn take_done(&self, into: &mut Vec<Done>) {
        into.append(&mut self.done.lock());
    }

    /// What a link sends has grown.
    pub(super) fn grown(&self, link: LinkRef) {
        (self.grown)(link);
    }

    /// When the store is to be pumped, if nothing else happens.
    pub(super) fn set_timer(&self, after: Option<Duration>) {
        let due = after.map(|after| Instant::now() + after);
        let mut timer = self.timer.lock();
        // One that goes off too early is only looked at in vain.
        let sooner = match (due, timer.due) {
            (Some(due), Some(known)) => due < known,
            (due, _) => due.is_some(),
        };
        if sooner {
            timer.due = due;
            self.timer_set.notify_one();
        }
    }

    /// The timer's thread, until [`Signals::end`].
    pub(super) fn keep_time(self: Arc<Self>) {
        let mut timer = self.timer.lock();
        while !timer.over {
            match timer.due {
                Some(due) if due <= Instant::now() => {
                    timer.due = None;
                    parking_lot::MutexGuard::unlocked(&mut timer, || self.call());
                }
                Some(due) => drop(self.timer_set.wait_until(&mut timer, due)),
                None => self.timer_set.wait(&mut timer),
            }
        }
    }

    /// Ends the timer's thread.
    pub(super) fn end(&self) {
        self.timer.lock().over = true;
        self.timer_set.notify_one();
    }
}

impl Watcher for Signals {
    fn durable(&self, up_to: u64) {
        self.durable.store(up_to, Ordering::Release);
        self.call();
    }

    fn notice(&self, notice: Notice) {
        match &notice {
            Notice::Failed { .. } => logging::log!(ROUTER_CORE, Critical, "{notice}"),
            Notice::Full { .. } | Notice::DamagedSnapshot { .. } | Notice::CheckpointFailed { .. } => {
                logging::log!(ROUTER_CORE, Error, "{notice}");
            }
            Notice::TornTail { .. } => logging::log!(ROUTER_CORE, Warning, "{notice}"),
            Notice::Checkpoint { .. } => logging::log!(ROUTER_CORE, Debug, "{notice}"),
            _ => logging::log!(ROUTER_CORE, Notice, "{notice}"),
        }
        if let Notice::Checkpoint { .. } | Notice::CheckpointFailed { .. } = notice {
            self.checkpoints.lock().push_back(matches!(notice, Notice::Checkpoint { .. }));
            self.call();
        }
        if matches!(notice, Notice::Failed { .. } | Notice::Full { .. } | Notice::Room { .. }) {
            self.condition.store(true, Ordering::Release);
            self.call();
        }
    }
}
