//! What is due: heartbeats, and the end of connections that were silent for too long.
//!
//! Silence is only what a look at the socket confirms. A shard that did not get the processor for a while, or has many
//! sockets to read, finds timers due while the peers' bytes wait: a peer that has spoken must not be dropped for it.

use amqp_endpoint::Now;

use super::conn::Conn;
use super::host::{ShardHost, mark_dirty};
use super::timers::Timers;

/// What to do about a connection whose time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It has spoken in the meantime.
    Spare,
    /// Its socket has to be looked at first.
    Look,
    /// It was silent.
    GiveUp,
}

impl ShardHost {
    /// Takes up the timers that are due, before the bytes just read are looked at. Connections whose time is up are left
    /// for [`ShardHost::look_at_overdue`].
    pub(super) fn look_at_timers(&mut self, timers: &mut Timers, connecting: &mut Vec<u32>, overdue: &mut Vec<u32>) {
        let now = self.now;
        while let Some((slot, id)) = timers.take_due(now) {
            let Some(conn) = self.conns.get_mut(slot as usize).filter(|conn| conn.at.id == id) else { continue };
            conn.timer = None;
            if conn.flags.connecting {
                connecting.push(slot);
            } else if conn.endpoint.is_overdue(now) {
                overdue.push(slot);
                continue;
            } else if conn.endpoint.next_timeout().is_some_and(|when| when <= now) {
                conn.endpoint.trim();
                conn.endpoint.handle_timeout(now);
                self.attention.push(slot);
            }
            // When it is flushed the next time is found.
            mark_dirty(&mut self.dirty, conn);
        }
    }

    /// Gives up the connections whose time is up and who have said nothing, now that the bytes just read were looked at.
    pub(super) fn look_at_overdue(&mut self, overdue: &mut Vec<u32>) {
        for slot in overdue.drain(..) {
            let Some(conn) = self.conns.get_mut(slot as usize) else { continue };
            match conn.verdict(self.now) {
                Verdict::Spare => {}
                Verdict::Look => {
                    conn.flags.readable = true;
                    self.queue_read(slot);
                }
                Verdict::GiveUp => {
                    conn.endpoint.handle_timeout(self.now);
                    self.attention.push(slot);
                }
            }
            // When it is flushed it is put among the timers again, and has its turn at once.
            if let Some(conn) = self.conns.get_mut(slot as usize) {
                mark_dirty(&mut self.dirty, conn);
            }
        }
    }
}

impl Conn {
    fn verdict(&mut self, now: Now) -> Verdict {
        if !self.endpoint.is_overdue(now) {
            self.flags.suspected = false;
            Verdict::Spare
        } else if !std::mem::replace(&mut self.flags.suspected, true) || self.flags.queued {
            Verdict::Look
        } else {
            Verdict::GiveUp
        }
    }
}
