//! A broker that does as a test wants, on fe2o3-amqp's acceptor: queues, browsing, transactions, misbehaviour on demand.
//!
//! What the acceptor cannot do: it refuses a link by closing it once it is attached, never by an attach without a terminus;
//! a transaction is known only to the session that it was declared on. What is tried within a transaction that is rolled
//! back stays unsettled, and is back in its queue once its link is gone. The scripted broker of `interop/python` does the
//! first otherwise, and is the one to take for whatever hangs on single frames.

mod connection;
mod gate;
mod links;

use fe2o3_amqp::types::definitions::{Error, Fields};
use fe2o3_amqp::types::messaging::{Body, Message, Modified};
use fe2o3_amqp::types::primitives::Value;
use gate::Gates;
use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::net::TcpListener;
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinHandle;

/// A message as the broker keeps it.
pub type Kept = Message<Body<Value>>;

/// What the broker answers to a message that is sent to it.
#[derive(Clone, Debug, Default)]
pub enum Answer {
    /// It is kept.
    #[default]
    Accept,
    Release,
    Reject(Error),
    Modify(Modified),
}

/// How the broker behaves. What is not said here it does as a broker should.
#[derive(Default)]
pub struct Script {
    /// Addresses at which links are closed with an error as soon as they are attached.
    pub refused: HashMap<String, Error>,
    /// Answers to what is sent to an address.
    pub answers: HashMap<String, Answer>,
    /// Addresses at which senders get no credit.
    pub without_credit: HashSet<String>,
    /// Properties of the open, such as a list of servers to fail over to.
    pub properties: Fields,
}

/// What is asked of what is running.
#[derive(Clone, Debug)]
enum Order {
    /// All links of an address are closed.
    CloseLinks(String, Error),
    /// All connections are closed.
    CloseConnections(Error),
}

/// What the tasks of a broker share.
struct Shared {
    queues: Mutex<HashMap<String, VecDeque<Kept>>>,
    /// Something came into a queue.
    filled: Notify,
    script: Mutex<Script>,
    orders: broadcast::Sender<Order>,
    gates: Gates,
}

impl Shared {
    fn queues(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Kept>>> {
        self.queues.lock().expect("no test fails while it holds the queues")
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("no test fails while it holds the script")
    }

    fn keep(&self, address: &str, message: Kept) {
        self.queues().entry(address.to_owned()).or_default().push_back(message);
        self.filled.notify_waiters();
    }

    fn put_back(&self, address: &str, message: Kept) {
        self.queues().entry(address.to_owned()).or_default().push_front(message);
        self.filled.notify_waiters();
    }
}

/// A running broker, ended when dropped.
pub struct Broker {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Broker {
    /// Starts one on a free port of the loopback interface.
    pub async fn start() -> Self {
        Self::scripted(Script::default()).await
    }

    /// Starts one that behaves like this from its first connection on.
    pub async fn scripted(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let shared = Arc::new(Shared {
            queues: Mutex::default(),
            filled: Notify::new(),
            script: Mutex::new(script),
            orders: broadcast::channel(16).0,
            gates: Gates::default(),
        });
        let address = listener.local_addr().expect("it is bound");
        let accepting = tokio::spawn(connection::accept(listener, Arc::clone(&shared)));
        Broker { address, shared, accepting }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Changes how it behaves from now on.
    pub fn script(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.shared.script());
    }

    /// How many messages are in a queue.
    pub fn depth(&self, address: &str) -> usize {
        self.shared.queues().get(address).map_or(0, VecDeque::len)
    }

    /// Closes all links of an address with this error.
    pub fn close_links(&self, address: &str, error: Error) {
        // Without a connection there is nobody to tell.
        let _ = self.shared.orders.send(Order::CloseLinks(address.to_owned(), error));
    }

    /// Closes all connections with this error; new ones are taken.
    pub fn close_connections(&self, error: Error) {
        let _ = self.shared.orders.send(Order::CloseConnections(error));
    }

    /// Reads nothing more from any connection, until it is told to go on.
    pub fn stop_reading(&self) {
        self.shared.gates.shut();
    }

    /// Goes on reading.
    pub fn go_on_reading(&self) {
        self.shared.gates.open();
    }

    /// Ends it like a broker that is killed: nothing is said, its connections are dropped, its port is free.
    pub fn kill(&self) {
        self.accepting.abort();
        self.shared.gates.cut();
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}
