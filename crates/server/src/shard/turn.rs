//! A shard's loop. Each turn reads sockets without the core, lets the core act on what came with one lock for all of it,
//! and writes without the core. The work of a turn is bounded; what is left over has its turn next.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mio::{Events, Poll, Token};
use router_core::Core;

use super::accepting::{Accepted, Sockets};
use super::buffers::Buffers;
use super::host::{ShardHost, mark_dirty};
use super::load::Meter;
use super::mailbox::{Batch, Mail, Order, Post};
use super::memory::LOOK_AGAIN;
use super::reading::Piece;
use super::receiving::Orders;
use super::shared::Shared;
use super::thread;
use super::timers::Timers;

/// Token of the waker.
pub(super) const WAKER: Token = Token(usize::MAX);
/// Tokens from here on are of listeners; those below are slots of connections.
const FIRST_LISTENER: usize = usize::MAX / 2;
/// Events taken in one turn.
const EVENTS: usize = 256;

/// A shard.
pub(super) struct Shard {
    host: ShardHost,
    shared: Arc<Shared>,
    poll: Poll,
    sockets: Sockets,
    buffers: Buffers,
    timers: Timers,
    meter: Meter,
    batch: Batch,
    orders: Orders,
    pieces: Vec<Piece>,
    accepted: Vec<Accepted>,
    connecting: Vec<u32>,
    overdue: Vec<u32>,
    woken: Vec<usize>,
}

impl Shard {
    pub(super) fn new(shared: Arc<Shared>, shard: u16, poll: Poll) -> Self {
        Self {
            host: ShardHost::new(Arc::clone(&shared), shard),
            shared,
            poll,
            sockets: Sockets::new(FIRST_LISTENER),
            buffers: Buffers::default(),
            timers: Timers::default(),
            meter: Meter::default(),
            batch: Batch::default(),
            orders: Orders::new(),
            pieces: Vec::new(),
            accepted: Vec::new(),
            connecting: Vec::new(),
            overdue: Vec::new(),
            woken: Vec::new(),
        }
    }

    /// Runs until the router stops.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        while !self.shared.is_stopping() {
            let timeout = self.timeout();
            if let Err(error) = self.wait(&mut events, timeout) {
                logging::log!(SERVER, Critical, "A shard cannot wait for events: {error}");
                return;
            }
            self.turn(&events);
        }
    }

    /// Does what these events ask for. What is measured is this, so it must not be taken apart by the compiler.
    #[inline(never)]
    fn turn(&mut self, events: &Events) {
        let start = self.shared.now();
        self.host.now = start;
        self.note(events);
        self.sockets.accept(start, &self.shared, &mut self.accepted);
        self.host.read_ready(&mut self.buffers, &mut self.pieces);
        self.host.look_at_timers(&mut self.timers, &mut self.connecting, &mut self.overdue);
        self.enter_core();
        self.host.look_at_overdue(&mut self.overdue);
        self.host.wake_others(&mut self.woken);
        self.host.flush(&mut self.timers);
        if let Some(load) = self.meter.turn(start, self.shared.now())
            && let Some(post) = self.post()
        {
            post.set_load(load);
        }
    }

    /// Takes one turn on its caller's thread, which it is given in place of one of its own. Waits up to this long for
    /// something to do; false if there was nothing.
    ///
    /// # Errors
    /// The system cannot wait.
    #[cfg(feature = "measure")]
    pub(super) fn step(&mut self, events: &mut Events, patience: Duration) -> io::Result<bool> {
        let timeout = self.timeout().map_or(patience, |timeout| timeout.min(patience));
        self.wait(events, Some(timeout))?;
        if events.is_empty() && !self.host.has_work() && self.post().is_none_or(Post::may_sleep) {
            return Ok(false);
        }
        self.turn(events);
        Ok(true)
    }

    fn post(&self) -> Option<&Post> {
        self.shared.post(self.host.shard.into())
    }

    /// Waits for events.
    fn wait(&mut self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let result = self.poll.poll(events, timeout);
        if let Some(post) = self.post() {
            post.awake();
        }
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            result => result,
        }
    }

    /// How long it may wait: not at all if there is something to do.
    fn timeout(&self) -> Option<Duration> {
        let may_sleep = !self.host.has_work() && self.post().is_none_or(Post::may_sleep);
        if !may_sleep {
            return Some(Duration::ZERO);
        }
        let again = self.shared.memory.is_short().then_some(LOOK_AGAIN);
        let next = [self.timers.next(), self.sockets.next()].into_iter().flatten().min();
        let left = next.map(|next| {
            let left = next.saturating_sub(self.shared.now());
            // The system counts in milliseconds and would wake a little early, to find nothing due.
            if left.is_zero() { left } else { left + Duration::from_millis(1) }
        });
        [left, again].into_iter().flatten().min()
    }

    /// Takes note of what has happened to the sockets.
    fn note(&mut self, events: &Events) {
        for event in events {
            if event.token() == WAKER || self.sockets.note(event.token()) {
                continue;
            }
            let slot = event.token().0;
            let Some(conn) = self.host.conns.get_mut(slot) else { continue };
            if conn.flags.connecting {
                self.connecting.push(slot as u32);
                continue;
            }
            conn.flags.half_closed |= event.is_read_closed() || event.is_error();
            if event.is_writable() && (!conn.endpoint.output().is_empty() || conn.transport.wants_write()) {
                mark_dirty(&mut self.host.dirty, conn);
            }
            if event.is_readable() || conn.flags.half_closed {
                conn.flags.readable = true;
                self.host.queue_read(slot as u32);
            }
        }
    }

    /// Lets the core act on all that has come, if anything has.
    fn enter_core(&mut self) {
        if let Some(post) = self.shared.post(self.host.shard.into()) {
            post.take(&mut self.batch);
        }
        let quiet = self.batch.mail.is_empty()
            && self.pieces.is_empty()
            && self.accepted.is_empty()
            && self.connecting.is_empty()
            && !self.shared.memory.is_short()
            && !self.host.needs_core();
        if quiet {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let mut core = shared.core.lock();
        self.with_core(&mut core);
        self.host.choke(&mut core);
        self.host.deliver_mail(&mut self.woken);
    }

    fn with_core(&mut self, core: &mut Core<ShardHost>) {
        self.host.receive(core, &mut self.batch, &mut self.orders);
        // What came between taking the mail and locking the core: see the mailbox about why it has to come first.
        if let Some(post) = self.shared.post(self.host.shard.into()) {
            post.take(&mut self.batch);
        }
        self.host.receive(core, &mut self.batch, &mut self.orders);
        self.obey(core);
        self.deal_out(core);
        let mut slots = std::mem::take(&mut self.host.unchoke);
        slots.drain(..).for_each(|slot| self.host.unchoke(core, slot));
        self.host.unchoke = slots;
        let mut slots = std::mem::take(&mut self.connecting);
        slots.drain(..).for_each(|slot| self.host.connecting(core, slot, self.poll.registry()));
        self.connecting = slots;
        let mut pieces = std::mem::take(&mut self.pieces);
        for piece in pieces.drain(..) {
            let used = self.host.drive(core, piece.slot, &piece.buffer, piece.filled);
            self.host.keep_rest(piece, used, &mut self.buffers);
        }
        self.pieces = pieces;
        let mut slots = std::mem::take(&mut self.host.attention);
        slots.drain(..).for_each(|slot| self.host.attend(core, slot));
        // What needs attention since then gets it in the next turn.
        slots.append(&mut self.host.attention);
        self.host.attention = slots;
        self.host.report(core);
        self.host.open_links(core);
        self.host.pump_store(core);
        self.host.look_at_memory(core);
    }

    /// Does what the control plane has asked of the shard itself.
    fn obey(&mut self, core: &mut Core<ShardHost>) {
        while let Some(order) = self.orders.pop_front() {
            match order {
                Order::Adopt(arrival) => self.host.adopt(core, *arrival, self.poll.registry()),
                Order::Listen(listening) => self.sockets.add(*listening, self.poll.registry(), &self.shared),
                Order::StopListening(listener) => self.sockets.remove(listener),
            }
        }
    }

    /// Gives the connections just accepted to shards.
    fn deal_out(&mut self, core: &mut Core<ShardHost>) {
        let mut accepted = std::mem::take(&mut self.accepted);
        for connection in accepted.drain(..) {
            let arrival = connection.numbered(core.next_connection_id());
            let shard = thread::choose(&self.shared);
            if shard == self.host.shard {
                self.host.adopt(core, arrival, self.poll.registry());
            } else {
                self.host.post_to(shard, Mail::Order(Order::Adopt(Box::new(arrival))));
            }
        }
        self.accepted = accepted;
    }
}
