//! A thread with some of a run's connections: one loop over an epoll, as few calls of the system as there can be.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use amqp_endpoint::{Event, Input};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::os::fd::{AsFd, AsRawFd};

use super::Found;
use super::pace::Pacer;
use super::party::Party;
use super::shared::{Command, Shared, Window};
use super::wire::Wire;

const WAKER: Token = Token(usize::MAX);
const TIMER: Token = Token(usize::MAX - 1);
/// Room for what is read in one go.
const CHUNK: usize = 512 * 1024;
/// How often connections are asked for heartbeats that are due.
const HEARTBEATS: Duration = Duration::from_millis(250);
/// Rounds of sending and writing of one connection before the others have their turn.
const ROUNDS: usize = 8;

/// A running worker.
pub(super) struct Handle<P: Party> {
    thread: JoinHandle<Found<P>>,
    commands: Sender<Command>,
    waker: Waker,
}

impl<P: Party> Handle<P> {
    /// Tells the worker something.
    pub(super) fn tell(&self, command: Command) {
        // A worker that is gone has told why.
        let _ = self.commands.send(command);
        let _ = self.waker.wake();
    }

    /// Waits for the worker's end.
    pub(super) fn join(self) -> Option<Found<P>> {
        self.thread.join().ok()
    }
}

/// How a worker's messages are paced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Messages a second.
    pub(super) rate: f64,
    /// At most so many.
    pub(super) limit: u64,
}

/// Starts a worker. `links`: for each link that takes part in pacing, its connection and its place there.
pub(super) fn start<P: Party + 'static>(
    name: &str,
    shared: Arc<Shared>,
    wires: Vec<Wire<P>>,
    common: P::Common,
    share: Option<Share>,
    links: Vec<(usize, usize)>,
) -> std::io::Result<Handle<P>>
where
    P::Common: 'static,
{
    let poll = Poll::new()?;
    let waker = Waker::new(poll.registry(), WAKER)?;
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
    poll.registry().register(&mut SourceFd(&timer.as_fd().as_raw_fd()), TIMER, Interest::READABLE)?;
    let (commands, told) = channel();
    let mut worker = Worker {
        shared,
        poll,
        timer,
        wires,
        common,
        told,
        chunk: vec![0; CHUNK],
        active: Vec::new(),
        heartbeats_at: Duration::ZERO,
        share,
        links,
        pacer: None,
        armed: 0,
        finishing: false,
    };
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        if let Err(error) = worker.register().and_then(|()| worker.run()) {
            worker.shared.fail(error);
        }
        (worker.common, worker.wires.into_iter().map(|wire| wire.party).collect())
    })?;
    Ok(Handle { thread, commands, waker })
}

struct Worker<P: Party> {
    shared: Arc<Shared>,
    poll: Poll,
    timer: TimerFd,
    wires: Vec<Wire<P>>,
    common: P::Common,
    told: Receiver<Command>,
    chunk: Vec<u8>,
    active: Vec<usize>,
    heartbeats_at: Duration,
    share: Option<Share>,
    links: Vec<(usize, usize)>,
    pacer: Option<Pacer>,
    /// What the timer is set to.
    armed: u64,
    finishing: bool,
}

impl<P: Party> Worker<P> {
    fn register(&mut self) -> Result<(), String> {
        for (index, wire) in self.wires.iter_mut().enumerate() {
            let interest = Interest::READABLE | Interest::WRITABLE;
            let registered = self.poll.registry().register(wire.stream.socket_mut(), Token(index), interest);
            registered.map_err(|error| format!("cannot watch a socket: {error}"))?;
            wire.active = true;
        }
        self.active = (0..self.wires.len()).collect();
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        let mut events = Events::with_capacity(1024);
        while !self.finishing {
            self.pace()?;
            let patience = if self.active.is_empty() { HEARTBEATS } else { Duration::ZERO };
            match self.poll.poll(&mut events, Some(patience)) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                polled => polled.map_err(|error| format!("cannot wait for sockets: {error}"))?,
            }
            for event in &events {
                self.noticed(event);
            }
            self.pace()?;
            self.obey()?;
            self.heartbeats();
            for index in std::mem::take(&mut self.active) {
                self.wires[index].active = false;
                self.turn(index)?;
            }
            P::report(&mut self.common, &self.shared.counters, self.shared.nanos());
        }
        Ok(())
    }

    fn noticed(&mut self, event: &mio::event::Event) {
        let Token(index) = event.token();
        let Some(wire) = self.wires.get_mut(index) else { return };
        wire.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        wire.writable |= event.is_writable();
        self.activate(index);
    }

    fn activate(&mut self, index: usize) {
        if !std::mem::replace(&mut self.wires[index].active, true) {
            self.active.push(index);
        }
    }

    /// Hands out what is due, and has the timer ring for what is due next.
    fn pace(&mut self) -> Result<(), String> {
        loop {
            let now = self.shared.nanos();
            let Some(pacer) = &mut self.pacer else { return Ok(()) };
            if let Some((link, due)) = pacer.take(now) {
                let (wire, link) = self.links[link];
                self.wires[wire].party.due(&mut self.common, link, due);
                self.activate(wire);
                continue;
            }
            let Some(due) = pacer.next_due() else {
                self.pacer = None;
                return Ok(());
            };
            if due == self.armed {
                return Ok(());
            }
            if due > self.shared.nanos() {
                self.armed = due;
                let wait = TimeSpec::from_duration(Duration::from_nanos(due.saturating_sub(now).max(1)));
                let set = self.timer.set(Expiration::OneShot(wait), TimerSetTimeFlags::empty());
                return set.map_err(|error| format!("cannot set a timer: {error}"));
            }
        }
    }

    fn obey(&mut self) -> Result<(), String> {
        loop {
            match self.told.try_recv() {
                Ok(Command::Go(window)) => self.go(window),
                Ok(Command::Stop) => {
                    self.pacer = None;
                    self.each(|wire| {
                        wire.party.stop();
                        Ok(())
                    })?;
                }
                Ok(Command::Attach(count)) => self.each(|wire| wire.party.attach(&mut wire.engine, count))?,
                Ok(Command::Finish) | Err(TryRecvError::Disconnected) => return self.finish(),
                Err(TryRecvError::Empty) => return Ok(()),
            }
        }
    }

    fn each(&mut self, mut act: impl FnMut(&mut Wire<P>) -> Result<(), String>) -> Result<(), String> {
        for index in 0..self.wires.len() {
            act(&mut self.wires[index])?;
            self.activate(index);
        }
        Ok(())
    }

    fn go(&mut self, window: Window) {
        if let Some(share) = self.share {
            self.pacer = Some(Pacer::new(window, share.rate, self.links.len(), share.limit));
        }
        for index in 0..self.wires.len() {
            self.wires[index].party.go(window);
            self.activate(index);
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        self.finishing = true;
        self.each(|wire| {
            wire.engine.close(None);
            Ok(())
        })
    }

    fn heartbeats(&mut self) {
        let now = self.shared.now();
        if now < self.heartbeats_at {
            return;
        }
        self.heartbeats_at = now + HEARTBEATS;
        for index in 0..self.wires.len() {
            let engine = &mut self.wires[index].engine;
            if engine.next_timeout().is_some_and(|due| now >= due) {
                engine.handle_timeout(now);
                self.activate(index);
            }
        }
    }

    fn turn(&mut self, index: usize) -> Result<(), String> {
        self.listen(index)?;
        let Self { wires, common, shared, .. } = self;
        let wire = &mut wires[index];
        let mut more = false;
        for _ in 0..ROUNDS {
            more = wire.party.produce(common, &mut wire.engine, &|| shared.nanos());
            wire.engine.flush(shared.now());
            wire.write();
            if !more || !wire.writable {
                break;
            }
        }
        if (more && wire.writable) || wire.readable {
            self.activate(index);
        }
        Ok(())
    }

    /// Reads what came on a connection, and lets its party know.
    fn listen(&mut self, index: usize) -> Result<(), String> {
        let Self { wires, common, chunk, shared, finishing, .. } = self;
        let wire = &mut wires[index];
        let filled = if wire.readable { wire.read(chunk) } else { 0 };
        let now = shared.now();
        let mut input = Input::new(&chunk[..filled]);
        // Without input, there may still be events of time-outs and of the end of the transport.
        while let Some(event) = wire.engine.poll(now, &mut input) {
            match event {
                Event::Opened(_) => {
                    let session = wire.engine.begin_session().map_err(|error| error.to_string())?;
                    wire.party.begin(&mut wire.engine, session)?;
                }
                Event::Closed(_) | Event::Failed(_) | Event::SessionEnded(..) if *finishing => {}
                Event::Closed(error) => return Err(told("closed the connection", error.as_ref())),
                Event::SessionEnded(_, error) => return Err(told("ended the session", error.as_ref())),
                Event::Failed(error) => return Err(format!("a connection failed: {error}")),
                event => wire.party.event(common, &mut wire.engine, event, super::shared::nanos(now))?,
            }
        }
        let consumed = input.consumed();
        wire.keep(&chunk[consumed..filled]);
        Ok(())
    }
}

fn told(what: &str, error: Option<&amqp::ErrorCondition>) -> String {
    match error {
        Some(error) => format!("the peer {what}: {error}"),
        None => format!("the peer {what} without giving a reason"),
    }
}
