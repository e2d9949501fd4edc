//! The end of a turn: what endpoints have to say is written, once for each connection.

use std::io;

use super::conn::Conn;
use super::host::ShardHost;
use super::outgoing::OUTPUT_LOW;
use super::timers::Timers;

/// Bytes of output with which a connection is not read any more: its peer asks much and listens little.
const OUTPUT_STOP: usize = 1024 * 1024;

impl ShardHost {
    /// Writes what the connections touched in this turn have to say. The core is not needed.
    pub(super) fn flush(&mut self, timers: &mut Timers) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for slot in dirty.drain(..) {
            self.flush_one(slot, timers);
        }
        // What was touched meanwhile has its turn next time.
        dirty.append(&mut self.dirty);
        self.dirty = dirty;
    }

    fn flush_one(&mut self, slot: u32, timers: &mut Timers) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        conn.flags.dirty = false;
        if conn.flags.connecting {
            return;
        }
        if !conn.flags.preparing {
            conn.endpoint.flush(self.now);
            conn.write_traces();
        }
        if conn.flags.securing {
            conn.secure();
        }
        conn.write();
        conn.weigh();
        if let Some(when) = conn.next_look()
            && conn.timer.is_none_or(|timer| when < timer)
        {
            conn.timer = Some(when);
            timers.add(when, conn.at);
        }
        if conn.flags.attention {
            self.attention.push(slot);
            self.queue_read(slot);
        } else if conn.endpoint.output().len() <= OUTPUT_LOW {
            self.caught_up(slot);
        }
        self.reap(slot);
    }

    /// A connection's output is nearly written.
    fn caught_up(&mut self, slot: u32) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        if conn.flags.choked {
            self.unchoke.push(slot);
        }
        if !conn.sending.is_empty() {
            self.pump(slot);
        }
        self.queue_read(slot);
    }
}

impl Conn {
    /// Puts the security layer in place that SASL has negotiated: what was said so far goes out plain, and what came
    /// since the end of the exchange came through it.
    fn secure(&mut self) {
        self.flags.securing = false;
        let Some(layer) = self.endpoint.take_security_layer() else { return };
        let last_words = self.endpoint.output().to_vec();
        self.endpoint.consume_output(last_words.len());
        self.transport.secure(layer, last_words, std::mem::take(&mut self.leftover));
        self.flags.attention = true;
        self.flags.readable = true;
    }

    /// Writes output until it is all gone or the socket is full.
    fn write(&mut self) {
        if !self.flags.broken
            && self.transport.wants_write()
            && let Err(error) = self.transport.flush()
        {
            if error.kind() != io::ErrorKind::WouldBlock {
                self.lose();
            }
            return;
        }
        while !self.flags.broken && !self.flags.preparing && !self.endpoint.output().is_empty() {
            match self.transport.write(self.endpoint.output()) {
                Ok(0) => self.lose(),
                Ok(count) => self.endpoint.consume_output(count),
                // The kernel tells when there is room again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.lose(),
            }
        }
    }

    /// The transport is of no use any more.
    pub(super) fn lose(&mut self) {
        if !self.flags.broken {
            self.flags.broken = true;
            self.flags.attention = true;
            self.endpoint.transport_closed();
        }
    }

    /// Whether it is to be read now.
    pub(super) fn may_read(&self) -> bool {
        !self.flags.paused
            && !self.flags.broken
            && self.endpoint.output().len() < OUTPUT_STOP
            && !self.endpoint.awaits_owner()
    }

    /// When a timer of it is due.
    pub(super) fn next_look(&self) -> Option<amqp_endpoint::Now> {
        match (self.endpoint.next_timeout(), self.deadline) {
            (Some(timeout), Some(deadline)) => Some(timeout.min(deadline)),
            (timeout, deadline) => timeout.or(deadline),
        }
    }
}
