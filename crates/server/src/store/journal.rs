//! What is on its way into the queues: commands gather while a shard has its turn, become one entry of the log, and take
//! effect when that is on disk. Those of queues that live in memory alone take effect at the end of the turn.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use queue_core::{AcqId, Applied, Command, Millis, Outcome, QueueId, Seq};
use queue_log::{Condition, Log, LogError, Need, Part};
use router_core::OutKey;

use super::entry;
use super::links::{Arrival, Place, Side};
use super::receive::Early;
use super::unlogged::needs_no_room;
use crate::content::Whole;

/// Bytes of messages that one entry holds at most, unless one message has more.
const MOST_IN_ENTRY: u64 = 4 * 1024 * 1024;

/// What a command takes in memory beside the bytes of a message.
pub(super) const OVERHEAD: u64 = 512;

/// Commands for which memory is kept.
const MOST_KEPT: usize = 4096;

/// Who waits for what becomes of a command.
#[derive(Debug)]
pub(super) enum Waiter {
    /// Nobody.
    Nobody,
    /// The sender of a message.
    Arrival(Arrival),
    /// The sender of a message that becomes several commands.
    Half { pair: usize },
    /// A message whose queue is being made.
    Early(Box<Early>),
    /// A receiver that has said what becomes of a delivery, which it has by this acquisition.
    Settlement { link: u32, id: u32, of: Option<AcqId> },
    /// Somebody who discharges a transaction.
    Discharge { arrival: Option<Arrival>, txn: u64 },
    /// Whoever appends old messages once more.
    Relocated,
    /// A message that goes to the other side.
    Across { crossing: usize, at: usize },
    /// Messages that have gone there leave where they were.
    Left { crossing: usize },
    /// A shadow is to be deleted.
    Shadow(Place),
    /// A link whose node is being made.
    Attach { link: u32 },
    /// Somebody outside.
    Reply(Sender<Applied>),
}

/// Commands, with the messages that go with them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) commands: Vec<Command>,
    pub(super) bodies: Vec<Arc<Whole>>,
    /// Who waits for which command.
    pub(super) waiters: Vec<(usize, Waiter)>,
    pub(super) bytes: u64,
    /// What all of it takes in memory.
    memory: u64,
    /// Bytes that it writes to messages.
    writes: u64,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Whether somebody waits for it: it is not only that receivers have accepted messages, and settled them themselves.
    fn is_awaited(&self) -> bool {
        let is_accepted =
            |command: &Command| matches!(command, Command::Settle(settle) if settle.outcome == Outcome::Accepted);
        !self.waiters.is_empty() || !self.commands.iter().all(is_accepted)
    }

    /// Adds a command; with the one before it, if they can be one.
    pub(super) fn push(&mut self, command: Command, bodies: impl IntoIterator<Item = Arc<Whole>>, waiter: Waiter) {
        for body in bodies {
            self.bytes += body.bytes().len() as u64;
            self.memory += body.bytes().len() as u64;
            self.bodies.push(body);
        }
        self.writes += writes_of(&command);
        let absorbed = self.commands.last_mut().is_some_and(|last| last.absorb(&command));
        if !absorbed {
            self.memory += OVERHEAD + writes_of(&command);
            self.commands.push(command);
        }
        self.await_last(waiter);
    }

    /// Adds that a receiver has accepted a message.
    pub(super) fn push_accepted(&mut self, queue: QueueId, seq: Seq, waiter: Waiter) {
        let absorbed = self.commands.last_mut().is_some_and(|last| last.absorb_accepted(queue, seq));
        if !absorbed {
            self.memory += OVERHEAD;
            self.commands.push(Command::accepted(queue, seq));
        }
        self.await_last(waiter);
    }

    fn await_last(&mut self, waiter: Waiter) {
        if !matches!(waiter, Waiter::Nobody) {
            self.waiters.push((self.commands.len() - 1, waiter));
        }
    }

    /// What makes the store smaller is let in when nothing else is.
    fn need(&self) -> Need {
        if self.bodies.is_empty() {
            return Need::Essential;
        }
        match self.commands.iter().all(|command| relocates(command) || needs_no_room(command)) {
            true => Need::Relocation,
            false => Need::Ordinary,
        }
    }

    /// Those of its commands that are picked, and the rest.
    pub(super) fn split(self, picks: impl Fn(&Command) -> bool) -> (Self, Self) {
        let (mut picked, mut rest) = (Self::default(), Self::default());
        let (mut bodies, mut waiters) = (self.bodies.into_iter(), self.waiters.into_iter().peekable());
        for (at, command) in self.commands.into_iter().enumerate() {
            let to = if picks(&command) { &mut picked } else { &mut rest };
            let own = bodies_of(&command);
            to.push(command, bodies.by_ref().take(own), Waiter::Nobody);
            while let Some((_, waiter)) = waiters.next_if(|(index, _)| *index == at) {
                to.await_last(waiter);
            }
        }
        (picked, rest)
    }

    /// Adds those of another one.
    fn append(&mut self, other: Self) {
        let Self { commands, mut bodies, waiters, bytes, memory, writes } = other;
        let before = self.commands.len();
        self.commands.extend(commands);
        self.bodies.append(&mut bodies);
        self.waiters.extend(waiters.into_iter().map(|(index, waiter)| (before + index, waiter)));
        self.bytes += bytes;
        self.memory += memory;
        self.writes += writes;
    }

    /// The sender of a delivery waits for nothing any more.
    fn forget_arrival(&mut self, key: OutKey) -> bool {
        forget_arrival(&mut self.waiters, key)
    }
}

fn forget_arrival(waiters: &mut [(usize, Waiter)], key: OutKey) -> bool {
    waiters.iter_mut().any(|(_, waiter)| waiter.forget_arrival(key))
}

impl Waiter {
    /// The sender of a delivery waits for nothing any more. False: it was another's.
    pub(super) fn forget_arrival(&mut self, key: OutKey) -> bool {
        let arrival = match self {
            Waiter::Arrival(arrival) | Waiter::Discharge { arrival: Some(arrival), .. } => arrival,
            Waiter::Early(early) => &mut early.arrival,
            _ => return false,
        };
        arrival.settled |= arrival.key == key;
        arrival.key == key
    }
}

/// An entry on its way to the disk.
pub(super) struct InFlight {
    pub(super) index: u64,
    pub(super) time: Millis,
    pub(super) commands: Vec<Command>,
    pub(super) waiters: Vec<(usize, Waiter)>,
    memory: u64,
    writes: u64,
}

fn relocates(command: &Command) -> bool {
    matches!(command, Command::Relocate { .. })
}

/// How many messages go with a command.
fn bodies_of(command: &Command) -> usize {
    match command {
        Command::Transaction(commands) => commands.iter().map(bodies_of).sum(),
        command => usize::from(command.carries_body()),
    }
}

/// Bytes that a command writes to messages.
fn writes_of(command: &Command) -> u64 {
    match command {
        Command::Settle(settle) => settle.outcome.writes() as u64,
        Command::Transaction(commands) => commands.iter().map(writes_of).sum(),
        _ => 0,
    }
}

/// The number of an entry just appended, and its messages.
pub(super) type Sealed = (u64, Vec<Arc<Whole>>);

/// What the log did not take.
pub(super) struct Refused {
    pub(super) batch: Batch,
    pub(super) error: LogError,
}

/// What is on its way into the queues.
#[derive(Default)]
pub(super) struct Journal {
    /// Not there: nothing outlives the process.
    pub(super) log: Option<Arc<Log>>,
    /// By side.
    pub(super) gathering: [Batch; 2],
    pub(super) flight: VecDeque<InFlight>,
    flight_memory: u64,
    flight_writes: u64,
    /// The last entry that took effect.
    pub(super) applied: u64,
    /// The entry up to which the last checkpoint goes.
    pub(super) checkpointed: u64,
    /// Bytes appended since the last checkpoint.
    pub(super) since_checkpoint: u64,
    /// The time of the last entry.
    pub(super) time: Millis,
    /// The log takes nothing now.
    pub(super) stuck: Option<String>,
    /// It has not even taken what makes the store smaller.
    pub(super) is_blocked: bool,
    /// It never will.
    pub(super) failed: Option<String>,
}

impl Journal {
    pub(super) fn new(log: Option<Arc<Log>>) -> Self {
        Self { log, ..Self::default() }
    }

    /// Whether more may come than what is on its way.
    pub(super) fn takes_more(&self, most: u64) -> bool {
        self.stuck.is_none() && self.waiting_bytes() < most
    }

    /// The memory that is taken by what is on its way to the disk.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.flight_memory + self.gathering[Side::Logged as usize].memory
    }

    /// Bytes that what is under way will write to messages.
    pub(super) fn writing(&self) -> u64 {
        self.flight_writes + self.gathering.iter().map(|batch| batch.writes).sum::<u64>()
    }

    /// Whether what has gathered is enough for an entry.
    pub(super) fn is_full(&self) -> bool {
        self.gathering[0].bytes >= MOST_IN_ENTRY
    }

    /// Appends what has gathered to the log. Returns the number of the entry, and its messages. `awaited`: somebody waits for
    /// room that settled messages leave.
    ///
    /// # Errors
    /// If the log does not take it.
    pub(super) fn seal(&mut self, time: Millis, awaited: bool) -> Result<Option<Sealed>, Box<Refused>> {
        let Some(log) = self.log.as_ref().filter(|_| !self.gathering[0].is_empty()) else { return Ok(None) };
        // Those who look at the clock themselves are a little ahead of a turn.
        let time = time.max(self.time);
        self.time = time;
        let mut batch = std::mem::take(&mut self.gathering[0]);
        if self.stuck.is_some() && batch.need() == Need::Relocation {
            // The room that is kept for what is relocated is for nothing else.
            (batch, self.gathering[0]) = batch.split(relocates);
        }
        let mut parts = Vec::with_capacity(1 + batch.bodies.len());
        parts.push(Part::Owned(entry::encode(time, &batch.commands)));
        parts.extend(batch.bodies.iter().map(|body| Part::from(Arc::clone(body))));
        let need = batch.need();
        let appended = match awaited || batch.is_awaited() {
            true => log.append(parts, batch.bytes, need),
            false => log.append_soon(parts, batch.bytes, need),
        };
        match appended {
            Ok(index) => {
                self.is_blocked = false;
                let Batch { commands, bodies, waiters, bytes, memory, writes } = batch;
                self.flight_memory += memory;
                self.flight_writes += writes;
                self.since_checkpoint += bytes + 64 * commands.len() as u64;
                self.flight.push_back(InFlight { index, time, commands, waiters, memory, writes });
                Ok(Some((index, bodies)))
            }
            Err(error) => Err(Box::new(Refused { batch, error })),
        }
    }

    /// Puts commands before those that have gathered.
    pub(super) fn put_before(&mut self, mut batch: Batch) {
        batch.append(std::mem::take(&mut self.gathering[0]));
        self.gathering[0] = batch;
    }

    /// The next entry that is on disk and has not taken effect.
    pub(super) fn landed(&mut self, durable: u64) -> Option<InFlight> {
        if self.flight.front()?.index > durable {
            return None;
        }
        let entry = self.lost()?;
        self.applied = entry.index;
        Some(entry)
    }

    /// The next entry of which nobody will know whether it is on disk.
    pub(super) fn lost(&mut self) -> Option<InFlight> {
        let entry = self.flight.pop_front()?;
        self.flight_memory -= entry.memory;
        self.flight_writes -= entry.writes;
        Some(entry)
    }

    /// What the log has [taken back](Log::take_back): the entries from this one on, as one batch.
    pub(super) fn taken_back(&mut self, first: u64) -> Batch {
        let mut all = Batch::default();
        let kept = self.flight.partition_point(|entry| entry.index < first);
        for InFlight { commands, waiters, memory, writes, .. } in self.flight.drain(kept..) {
            self.flight_memory -= memory;
            self.flight_writes -= writes;
            all.append(Batch { commands, waiters, ..Batch::default() });
        }
        all
    }

    /// When the entry was written that has been on its way to the disk for longest.
    pub(super) fn oldest_in_flight(&self) -> Option<Millis> {
        self.flight.front().map(|entry| entry.time)
    }

    /// What is over is emptied, and its memory used for what gathers next.
    pub(super) fn reuse(&mut self, side: Side, mut commands: Vec<Command>, waiters: Vec<(usize, Waiter)>) {
        let next = &mut self.gathering[side as usize];
        if next.is_empty() && commands.capacity() <= MOST_KEPT {
            commands.clear();
            (next.commands, next.waiters) = (commands, waiters);
        }
    }

    /// Looks whether the log takes entries.
    pub(super) fn look(&mut self) {
        self.stuck = match self.log.as_ref().map(|log| log.condition()) {
            None | Some(Condition::Good) => None,
            Some(Condition::Full(reason)) => Some(format!("the disk is full ({reason})")),
            Some(Condition::Failed(reason)) => {
                self.failed = Some(reason.clone());
                Some(reason)
            }
        };
    }

    /// The sender of a delivery has settled it, and waits for nothing any more.
    pub(super) fn forget_arrival(&mut self, key: OutKey) {
        let waiting = self.gathering.iter_mut().any(|batch| batch.forget_arrival(key));
        if !waiting {
            self.flight.iter_mut().any(|entry| forget_arrival(&mut entry.waiters, key));
        }
    }
}
