//! Messages on their way have bounds on each link and each connection. This is the one on all of them together: above it
//! the core holds up the senders whose messages wait. They get no credit, and their sessions announce no window. What they
//! have sent before they hear of that may be much; if it is too much, it stays in the sockets of those who only send. (Who
//! receives as well is always read: others' messages may be waiting for the credit that it gives.)
//!
//! What queues have in memory is not among it: that has bounds of its own, and may stay for ever.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use amqp_endpoint::{Hold, LinkId, Now};
use router_core::Core;

use super::conn::Conn;
use super::host::ShardHost;
use crate::content;
use crate::process::memory::available;

/// Of the memory that there is, the share that messages on their way may take, if nothing else is configured.
const SHARE: u64 = 4;
/// Where the system does not say how much there is.
const UNKNOWN: u64 = 1 << 30;
/// How soon it is looked at again while memory is short: messages also go without a shard's hearing of it.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How often the log is told at most.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// The bound.
pub(super) struct MessageMemory {
    /// Bytes.
    most: AtomicU64,
    short: AtomicBool,
    /// So much more that not even what is on its way can be taken.
    very_short: AtomicBool,
    /// When the log was told last that it is reached, in milliseconds of the shards' time; 0: never.
    told: AtomicU64,
}

impl MessageMemory {
    pub(super) fn new() -> Self {
        let most = available().map_or(UNKNOWN, |all| all / SHARE);
        Self {
            most: AtomicU64::new(most),
            short: AtomicBool::new(false),
            very_short: AtomicBool::new(false),
            told: AtomicU64::new(0),
        }
    }

    /// Bytes that messages on their way may take.
    pub(super) fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    /// They may take so much.
    pub(super) fn set_most(&self, bytes: u64) {
        self.most.store(bytes, Ordering::Relaxed);
    }

    /// Whether they took more when it was looked at last.
    pub(super) fn is_short(&self) -> bool {
        self.short.load(Ordering::Relaxed)
    }

    /// Whether those who only send are not to be read.
    pub(super) fn is_very_short(&self) -> bool {
        self.very_short.load(Ordering::Relaxed)
    }

    /// Whether they take more now. Once they do, they must sink by a quarter.
    fn look(&self, stored: u64) -> bool {
        let (most, quarter) = (self.most(), self.most() / 4);
        let used = content::in_memory().saturating_sub(stored);
        let (was_short, was_very_short) = (self.is_short(), self.is_very_short());
        let short = used > if was_short { most - quarter } else { most };
        let very_short = used > if was_very_short { most } else { most.saturating_add(quarter) };
        // Not written in vain: all shards read it in each turn.
        if (short, very_short) != (was_short, was_very_short) {
            self.short.store(short, Ordering::Relaxed);
            self.very_short.store(very_short, Ordering::Relaxed);
        }
        short
    }

    fn tell(&self, now: Now) {
        let now = now.as_millis() as u64;
        let told = self.told.load(Ordering::Relaxed);
        if told == 0 || now.saturating_sub(told) >= TELL_EVERY.as_millis() as u64 {
            self.told.store(now.max(1), Ordering::Relaxed);
            let mib = self.most() / (1024 * 1024);
            logging::log!(
                ROUTER_CORE,
                Warning,
                "Messages on their way take more than {mib} MiB of memory: senders whose messages wait for slow receivers \
                 are held up (transitBytes of the router)"
            );
        }
    }
}

impl ShardHost {
    /// Tells the core whether messages take too much memory. To be called when the shard's turn is over.
    pub(super) fn look_at_memory(&mut self, core: &mut Core<Self>) {
        let stored = self.shared.store.get().map_or(0, |store| store.bytes_in_memory());
        let short = self.shared.memory.look(stored);
        if short != core.is_memory_short() {
            if short {
                self.shared.memory.tell(self.now);
            }
            core.set_memory_short(self.now, self, short);
        }
        if !self.resting.is_empty() && !self.shared.memory.is_very_short() {
            std::mem::take(&mut self.resting).into_iter().for_each(|slot| self.read_again(slot));
        }
    }

    /// Has the peer of a connection of this shard stop sending on a link, or go on.
    pub(super) fn hold_up_at(&mut self, slot: u32, link: LinkId, hold: bool) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        conn.hold_up(link, hold);
        if conn.held_up.is_empty() {
            self.read_again(slot);
        }
    }

    /// Leaves what a connection has sent in its socket, if memory is very short and the peer is one of those who must wait.
    pub(super) fn rests(&mut self, slot: u32) -> bool {
        let very_short = self.shared.memory.is_very_short();
        let Some(conn) = self.conns.get_mut(slot as usize).filter(|conn| very_short && conn.may_rest()) else {
            return false;
        };
        if !std::mem::replace(&mut conn.flags.resting, true) {
            // It may be speaking; it is not heard because we do not listen.
            conn.endpoint.hold_idle_time_out(self.now, true);
            self.resting.insert(slot);
        }
        true
    }

    /// A connection that was left to rest is read again.
    fn read_again(&mut self, slot: u32) {
        self.resting.remove(&slot);
        if let Some(conn) = self.conns.get_mut(slot as usize)
            && std::mem::take(&mut conn.flags.resting)
        {
            conn.endpoint.hold_idle_time_out(self.now, false);
            self.queue_read(slot);
        }
    }
}

impl Conn {
    /// Has the peer stop sending in the session of this link, or go on if no link of the session is held up any more. On
    /// connections of other routers, where others' messages pass, only the link's credit is withheld, by the core.
    fn hold_up(&mut self, link: LinkId, hold: bool) {
        if self.at.peer {
            return;
        }
        let session = self.endpoint.link(link).map(|link| link.session);
        let state = self.link_mut(link);
        let session = if hold { session } else { state.held_up };
        let Some(session) = session.filter(|_| hold != state.held_up.is_some()) else { return };
        state.held_up = hold.then_some(session);
        let links = self.held_up.entry(session.0).or_default();
        *links = if hold { *links + 1 } else { *links - 1 };
        let held = *links > 0;
        if !held {
            self.held_up.remove(&session.0);
        }
        self.endpoint.hold_session(session, Hold::Memory, held);
    }

    /// Whether nobody but its peer has to wait if it is not read: messages of it wait, it receives none, and has not closed
    /// the socket.
    fn may_rest(&self) -> bool {
        !self.held_up.is_empty() && !self.flags.half_closed && !self.endpoint.links().any(|(_, link)| link.sender)
    }

    /// Counts what its buffers hold.
    pub(super) fn weigh(&mut self) {
        self.buffered.set(self.endpoint.output().len() + self.gathered + self.leftover.len());
    }
}
