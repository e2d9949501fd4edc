//! How much memory a connection needs, counted byte by byte, and that what happens for each message needs none.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use amqp::frame::{AMQP_HEADER, write_performative, write_transfer};
use amqp::performative::{Detach, Disposition, End, Performative, Role, Transfer};
use amqp::{DeliveryState, Map, Value};
use amqp_endpoint::{Connection, ConnectionConfig, Event, Input, LinkId, Side};

use crate::mechanisms::Anonymous;
use crate::pair::{acceptor, config, sasl_acceptor, unsettled};
use crate::scripted::{attach, begin, credit, open, whole};

/// The system's allocator, and for each thread (each test has its own) what it has taken.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that is about to end allocates without being counted.
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
    if bytes > 0 {
        let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
    }
}

#[allow(unsafe_code, reason = "an allocator cannot be written without; it passes all calls on to the system's")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of this very method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the pointer came from `alloc`, which took it from the system.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that this thread has taken and not given back.
pub(crate) fn live() -> isize {
    LIVE.with(Cell::get)
}

fn allocations() -> usize {
    ALLOCATIONS.with(Cell::get)
}

/// An acceptor whose owner accepts everything and keeps nothing.
struct Endpoint {
    connection: Connection,
    /// Bytes of the heap that were taken before it was made.
    before: isize,
}

impl Endpoint {
    /// The configuration is made here, so that its bytes count.
    fn new(make: impl FnOnce() -> (ConnectionConfig, Side)) -> Self {
        let before = live();
        let (config, side) = make();
        Self { connection: Connection::new(config, side, Duration::ZERO), before }
    }

    /// A connection whose peer is open, too.
    fn open(properties: Option<Map>) -> Self {
        let mut endpoint =
            Self::new(|| (ConnectionConfig { properties: properties.clone(), ..config("a router") }, acceptor()));
        drop(properties);
        endpoint.reads(&AMQP_HEADER);
        endpoint.reads(&bytes(Performative::Open(Box::new(open()))));
        endpoint
    }

    /// A session, and a link in it on which the peer has this role.
    fn attached(role: Role) -> Self {
        let mut endpoint = Self::open(None);
        endpoint.reads(&bytes(Performative::Begin(begin())));
        endpoint.reads(&bytes(Performative::Attach(Box::new(attach("a link with a name", 0, role)))));
        endpoint
    }

    /// Reads bytes, writes what comes of it, and gives what was written.
    fn reads(&mut self, bytes: &[u8]) {
        let mut input = Input::new(bytes);
        while let Some(event) = self.connection.poll(Duration::ZERO, &mut input) {
            match event {
                Event::Opened(_) => self.connection.open(None),
                Event::Attached(link, attach) => {
                    self.connection.attach_answer(link, attach.source, attach.target, None);
                    self.connection.add_credit(link, 250);
                }
                Event::Transfer(transfer) => {
                    self.connection.add_credit(transfer.link, 1);
                    let accepted = Some(DeliveryState::Accepted);
                    self.connection.update_incoming(transfer.link, transfer.delivery_id, accepted, true);
                }
                Event::Detached { link, answer: false, .. } => self.connection.detach(link, true, None),
                _ => {}
            }
        }
        assert_eq!(input.consumed(), bytes.len());
        self.writes();
    }

    fn writes(&mut self) {
        self.connection.flush(Duration::ZERO);
        self.connection.consume_output(self.connection.output().len());
    }

    /// Bytes that it needs.
    fn size(&self) -> isize {
        live() - self.before + size_of::<Connection>() as isize
    }

    /// Bytes that it needs when it has been idle for a while.
    fn idle_size(&mut self) -> isize {
        drop(self.connection.take_remote_open());
        self.connection.trim();
        self.size()
    }
}

fn bytes(performative: Performative<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_performative(&mut bytes, 0, &performative);
    bytes
}

/// This many deliveries of one frame, with ids from `first` on.
fn deliveries(first: u32, count: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for id in first..first + count {
        write_transfer(&mut bytes, 0, &whole(id), &[&[1; 100]]);
    }
    bytes
}

#[test]
fn an_idle_connection_with_one_link_needs_less_than_2_kib() {
    for role in [Role::Sender, Role::Receiver] {
        let size = Endpoint::attached(role).idle_size();
        assert!(size < 2048, "{size} bytes");
    }
}

#[test]
fn a_further_link_needs_less_than_300_bytes() {
    let mut endpoint = Endpoint::attached(Role::Sender);
    let before = endpoint.idle_size();
    for handle in 1..=1000 {
        let attach = attach(&format!("a link with the name {handle}"), handle, Role::Sender);
        endpoint.reads(&bytes(Performative::Attach(Box::new(attach))));
    }
    let each = (endpoint.idle_size() - before) / 1000;
    assert!(each < 300, "{each} bytes");
}

#[test]
fn a_handshake_leaves_nothing_behind() {
    let large = Value::Binary(vec![0; 10_000]);
    let before = live();
    let endpoint = Endpoint::open(Some(Map::from_iter([(Value::from("k"), large)])));
    assert!(live() - before < 0, "the configuration is gone, and the endpoint is smaller than it was");
    assert!(endpoint.size() < 2048, "{} bytes", endpoint.size());
}

#[test]
fn a_half_open_connection_is_small() {
    let mut endpoint = Endpoint::new(|| (config("a router"), sasl_acceptor(Anonymous)));
    endpoint.reads(&amqp::frame::SASL_HEADER);
    assert!(endpoint.size() < 2048, "{} bytes", endpoint.size());
}

#[test]
fn after_a_burst_memory_is_given_back() {
    let mut endpoint = Endpoint::attached(Role::Receiver);
    let before = endpoint.idle_size();
    endpoint
        .reads(&bytes(Performative::Flow(amqp::performative::Flow { incoming_window: 100_000, ..credit(0, 100_000) })));
    for key in 0..50_000 {
        assert!(endpoint.connection.try_send(LinkId(0), &unsettled(key), &[&[1; 100]]));
    }
    endpoint.writes();
    let accepted = Some(DeliveryState::Accepted);
    let role = Role::Receiver;
    let last = Some(49_999);
    let disposition = Disposition { role, first: 0, last, settled: true, state: accepted, batchable: false };
    endpoint.reads(&bytes(Performative::Disposition(disposition)));
    let grown = endpoint.idle_size() - before;
    assert!(grown <= 256, "{grown} bytes");
}

#[test]
fn what_is_received_and_settled_in_a_turn_allocates_nothing_for_each_message() {
    let mut endpoint = Endpoint::attached(Role::Sender);
    let turns: Vec<_> = (0..20).map(|turn| deliveries(turn * 100, 100)).collect();
    turns[..10].iter().for_each(|turn| endpoint.reads(turn));
    let before = allocations();
    turns[10..].iter().for_each(|turn| endpoint.reads(turn));
    let count = allocations() - before;
    assert!(count <= 10, "{count} allocations in 10 turns of 100 messages");
}

#[test]
fn what_is_sent_and_settled_in_a_turn_allocates_nothing_for_each_message() {
    let mut endpoint = Endpoint::attached(Role::Receiver);
    endpoint
        .reads(&bytes(Performative::Flow(amqp::performative::Flow { incoming_window: 100_000, ..credit(0, 100_000) })));
    let outcomes: Vec<_> = (0..20)
        .map(|turn| {
            let (first, last) = (turn * 100, Some(turn * 100 + 99));
            let state = Some(DeliveryState::Accepted);
            let role = Role::Receiver;
            bytes(Performative::Disposition(Disposition { role, first, last, settled: true, state, batchable: false }))
        })
        .collect();
    let mut run = |turn: usize| {
        for key in 0..100 {
            assert!(endpoint.connection.try_send(LinkId(0), &unsettled(key), &[&[1; 100]]));
        }
        endpoint.writes();
        endpoint.reads(&outcomes[turn]);
    };
    (0..10).for_each(&mut run);
    let before = allocations();
    (10..20).for_each(&mut run);
    let count = allocations() - before;
    assert!(count <= 20, "{count} allocations in 10 turns of 100 messages");
}

#[test]
fn large_turns_among_small_ones_do_not_make_the_output_grow_step_by_step() {
    let mut endpoint = Endpoint::attached(Role::Receiver);
    let window = amqp::performative::Flow { incoming_window: 100_000, ..credit(0, 100_000) };
    endpoint.reads(&bytes(Performative::Flow(window)));
    let mut run = |count| {
        for _ in 0..count {
            assert!(endpoint.connection.try_send(LinkId(0), &crate::pair::presettled(), &[&[1; 100]]));
        }
        endpoint.writes();
    };
    (0..10).for_each(|_| [100, 1].into_iter().for_each(&mut run));
    let before = allocations();
    (0..10).for_each(|_| [100, 1].into_iter().for_each(&mut run));
    let count = allocations() - before;
    assert!(count <= 20, "{count} allocations in 20 turns");
}

/// Does something ten thousand times, and says by how much the endpoint has grown since the hundredth time.
fn growth(mut endpoint: Endpoint, mut step: impl FnMut(&mut Endpoint, u32)) -> isize {
    (0..100).for_each(|at| step(&mut endpoint, at));
    let before = endpoint.idle_size();
    (100..10_000).for_each(|at| step(&mut endpoint, at));
    endpoint.idle_size() - before
}

#[test]
fn sessions_that_come_and_go_leave_nothing_behind() {
    let grown = growth(Endpoint::open(None), |endpoint, _| {
        endpoint.reads(&bytes(Performative::Begin(begin())));
        endpoint.reads(&bytes(Performative::End(End { error: None })));
    });
    assert!(grown <= 0, "{grown} bytes");
}

#[test]
fn links_that_come_and_go_leave_nothing_behind() {
    let grown = growth(Endpoint::attached(Role::Sender), |endpoint, at| {
        let attach = attach(&format!("{at:05}"), 1 + at % 7, Role::Sender);
        endpoint.reads(&bytes(Performative::Attach(Box::new(attach))));
        endpoint.reads(&bytes(Performative::Detach(Detach { handle: 1 + at % 7, closed: true, error: None })));
    });
    assert!(grown <= 0, "{grown} bytes");
}

#[test]
fn refused_names_leave_nothing_behind() {
    let grown = growth(Endpoint::attached(Role::Sender), |endpoint, _| {
        let attach = attach("a link with a name", 1, Role::Sender);
        endpoint.reads(&bytes(Performative::Attach(Box::new(attach))));
        endpoint.reads(&bytes(Performative::Detach(Detach { handle: 1, closed: true, error: None })));
    });
    assert!(grown <= 0, "{grown} bytes");
}

#[test]
fn deliveries_that_come_and_are_settled_leave_nothing_behind() {
    let grown = growth(Endpoint::attached(Role::Sender), |endpoint, at| endpoint.reads(&deliveries(at, 1)));
    assert!(grown <= 0, "{grown} bytes");
}

#[test]
fn aborted_deliveries_leave_nothing_behind() {
    let grown = growth(Endpoint::attached(Role::Sender), |endpoint, at| {
        let mut frames = Vec::new();
        write_transfer(&mut frames, 0, &Transfer { more: true, ..whole(at) }, &[b"half"]);
        write_transfer(&mut frames, 0, &Transfer { aborted: true, ..Transfer::default() }, &[]);
        endpoint.reads(&frames);
    });
    assert!(grown <= 0, "{grown} bytes");
}
