//! Routers of a network, and what a test does with them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use amqp::DeliveryState;
use amqp::message::{Body, Message};
use amqp::performative::SenderSettleMode;
use cli::client::{Client, ClientError, ConnectOptions, Node, Receiver, ReceiverOptions, Sender, Url};
use management::Attributes;
use management::client::Request;

use crate::ports::free_port;

/// How long anything in these tests may take before it is taken to hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// What stands in the configuration of every router.
const COMMON: &str = "\
address {
 prefix: closest
 distribution: closest
}
address {
 prefix: multicast
 distribution: multicast
}
log {
 module: DEFAULT
 enable: warning+
}
";

/// A router of a network.
pub(crate) struct Router {
    process: Process,
    pub(crate) id: String,
    pub(crate) clients: u16,
    /// Where other routers connect to.
    pub(crate) routers: u16,
    /// Where edge routers connect to.
    edges: u16,
    config: Scratch,
}

/// A process that is ended at the end.
struct Process(Child);

/// A file that is removed at the end.
struct Scratch(PathBuf);

impl Router {
    /// Starts an interior router with connectors to these others, each at a cost.
    pub(crate) fn start(id: &str, others: &[(&Router, u32)]) -> Self {
        let (routers, edges) = (free_port(), free_port());
        let mut sections = listener(routers, "inter-router") + &listener(edges, "edge");
        for (other, cost) in others {
            sections += &connector(other.routers, "inter-router", *cost);
        }
        Self { routers, edges, ..Self::with(id, "interior", &sections) }
    }

    /// Starts an edge router that connects to these interior routers.
    pub(crate) fn start_edge(id: &str, interiors: &[&Router]) -> Self {
        Self::with(id, "edge", &interiors.iter().map(|router| connector(router.edges, "edge", 1)).collect::<String>())
    }

    fn with(id: &str, mode: &str, sections: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let clients = free_port();
        let head = format!("router {{\n mode: {mode}\n id: {id}\n workerThreads: 2\n}}\n{COMMON}");
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let config =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("network-{}-{number}.conf", std::process::id()));
        std::fs::write(&config, head + &listener(clients, "normal") + sections)
            .expect("the folder for tests can be written to");
        Self {
            process: Process(begin(&config)),
            id: id.to_owned(),
            clients,
            routers: 0,
            edges: 0,
            config: Scratch(config),
        }
    }

    /// Ends the process without notice.
    pub(crate) fn kill(&mut self) {
        self.process.0.kill().expect("it is running");
        self.process.0.wait().expect("it was killed");
    }

    /// Starts it again after [`Router::kill`].
    pub(crate) fn start_again(&mut self) {
        self.process = Process(begin(&self.config.0));
    }

    /// A client of it.
    pub(crate) fn client(&self) -> Client {
        self.client_at(self.clients)
    }

    /// A client that connects to it as an edge router would.
    pub(crate) fn edge_client(&self) -> Client {
        self.client_at(self.edges)
    }

    fn client_at(&self, port: u16) -> Client {
        let url = Url::parse(&format!("127.0.0.1:{port}")).expect("it is a URL");
        let options = ConnectOptions { timeout: PATIENCE, ..ConnectOptions::new(url) };
        let begun = Instant::now();
        loop {
            match Client::connect(&options) {
                Ok(client) => return client,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{} cannot be connected to: {error}", self.id),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The entities of a type, by its short name.
    pub(crate) fn entities(&self, short_type: &str) -> Vec<Attributes> {
        let mut client = self.client();
        let mut node = Node::attach(&mut client, "$management").expect("there is management");
        let entity_type = format!("org.apache.qpid.dispatch.{short_type}");
        node.query(&mut client, Some(&entity_type), &[], 0).expect("a query is answered").into_entities()
    }

    /// Waits until it reaches all of these routers.
    pub(crate) fn reaches(&self, others: &[&str]) {
        let reached = || {
            let nodes = self.entities("router.node");
            let is_reached = |id: &&str| nodes.iter().any(|node| node.text("id") == Some(*id) && node.contains("cost"));
            others.iter().all(is_reached).then_some(())
        };
        wait_for(&format!("{} reaches {others:?}", self.id), reached);
    }

    /// Waits until it knows of so many routers, itself among them, of which each is a neighbour of all others.
    pub(crate) fn sees_mesh_of(&self, count: usize) {
        let seen = || {
            let nodes = self.entities("router.node");
            let neighbors =
                |node: &Attributes| node.get("linkState").and_then(|list| Some(list.as_sequence()?.len())).unwrap_or(0);
            (nodes.len() == count && nodes.iter().all(|node| neighbors(node) == count - 1)).then_some(())
        };
        wait_for(&format!("{} sees a mesh", self.id), seen);
    }

    /// Waits until it does not reach this router.
    pub(crate) fn loses(&self, other: &str) {
        let lost = || {
            let nodes = self.entities("router.node");
            nodes.iter().all(|node| node.text("id") != Some(other) || !node.contains("cost")).then_some(())
        };
        wait_for(&format!("{} does not reach {other}", self.id), lost);
    }

    /// Waits until it knows so many consumers of an address: on this router, and on others.
    pub(crate) fn knows(&self, address: &str, local: i64, remote: i64) {
        let key = format!("M0{address}");
        let known = || {
            let addresses = self.entities("router.address");
            let count = |name: &str| {
                let found = addresses.iter().find(|row| row.text("key") == Some(&key));
                found.and_then(|row| row.integer(name)).unwrap_or(0)
            };
            (count("subscriberCount") == local && count("remoteCount") == remote).then_some(())
        };
        wait_for(&format!("{} knows {local} and {remote} consumers of {address}", self.id), known);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn listener(port: u16, role: &str) -> String {
    format!(
        "listener {{\n host: 127.0.0.1\n port: {port}\n role: {role}\n saslMechanisms: ANONYMOUS\n \
         authenticatePeer: no\n}}\n"
    )
}

fn connector(port: u16, role: &str, cost: u32) -> String {
    format!("connector {{\n host: 127.0.0.1\n port: {port}\n role: {role}\n cost: {cost}\n}}\n")
}

fn begin(config: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qdrouterd"));
    command.arg("-c").arg(config).stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().expect("the program can be started")
}

/// Waits until a function has a result.
pub(crate) fn wait_for<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(result) = attempt() {
            return result;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A client that receives.
pub(crate) struct Receiving {
    client: Client,
    receiver: Receiver,
}

impl Receiving {
    pub(crate) fn from(router: &Router, address: &str) -> Self {
        let mut client = router.client();
        let options = ReceiverOptions { address: Some(address.to_owned()), credit: 100, ..ReceiverOptions::default() };
        let receiver = client.receiver(&options).expect("the address can be received from");
        client.pump(Duration::ZERO).expect("the connection is there");
        Self { client, receiver }
    }

    /// The next message, which is accepted.
    pub(crate) fn next(&mut self) -> Message {
        let deadline = Some(Instant::now() + PATIENCE);
        let incoming = self.client.receive(&self.receiver, deadline).expect("the link is there");
        let incoming = incoming.expect("a message comes");
        if !incoming.settled {
            self.client.settle(&self.receiver, incoming.delivery_id, DeliveryState::Accepted);
        }
        self.client.grant(&self.receiver, 1);
        self.client.pump(Duration::ZERO).expect("the connection is there");
        Message::decode(&incoming.bytes).expect("it is a message")
    }

    /// Rejects the next message.
    pub(crate) fn reject_next(&mut self) {
        let incoming = self.client.receive(&self.receiver, Some(Instant::now() + PATIENCE)).expect("the link is there");
        let id = incoming.expect("a message comes").delivery_id;
        self.client.settle(&self.receiver, id, DeliveryState::Rejected(None));
        self.client.pump(Duration::ZERO).expect("the connection is there");
    }

    /// Waits for a message, and leaves it unsettled.
    pub(crate) fn wait_for_one(&mut self) {
        let incoming = self.client.receive(&self.receiver, Some(Instant::now() + PATIENCE)).expect("the link is there");
        incoming.expect("a message comes");
    }

    /// Takes and accepts the messages that are to come, and further ones until nothing comes for a moment; how many.
    pub(crate) fn rest(&mut self, to_come: usize) -> usize {
        let mut count = 0;
        loop {
            let wait = if count < to_come { PATIENCE } else { Duration::from_millis(500) };
            match self.client.receive(&self.receiver, Some(Instant::now() + wait)).expect("the link is there") {
                None => return count,
                Some(incoming) => {
                    self.client.settle(&self.receiver, incoming.delivery_id, DeliveryState::Accepted);
                    self.client.grant(&self.receiver, 1);
                    count += 1;
                }
            }
        }
    }
}

/// A client that sends.
pub(crate) struct Sending {
    pub(crate) client: Client,
    sender: Sender,
}

impl Sending {
    pub(crate) fn to(router: &Router, address: &str) -> Self {
        Self::on(router.client(), address)
    }

    /// The same on a connection that there is.
    pub(crate) fn on(mut client: Client, address: &str) -> Self {
        let sender = client.sender(Some(address), SenderSettleMode::Mixed).expect("the address can be sent to");
        Self { client, sender }
    }

    /// Sends a message, unsettled.
    pub(crate) fn send(&mut self, message: &Message) -> u64 {
        let key = self.client.send(&self.sender, &message.to_bytes(), false).expect("there is credit");
        self.client.pump(Duration::ZERO).expect("the connection is there");
        key
    }

    /// So many outcomes.
    pub(crate) fn outcomes(&mut self, count: usize) -> Vec<(u64, DeliveryState)> {
        let mut outcomes = Vec::new();
        let begun = Instant::now();
        while outcomes.len() < count {
            assert!(begun.elapsed() < PATIENCE, "{} of {count} outcomes came", outcomes.len());
            self.client.pump(Duration::from_millis(5)).expect("the connection is there");
            outcomes.extend(self.client.take_outcomes().into_iter().map(|outcome| (outcome.key, outcome.state)));
        }
        outcomes
    }
}

/// A message with a body of so many bytes, which tell one message from another.
pub(crate) fn message(number: usize, size: usize) -> Message {
    let bytes = (0..size).map(|index| (index.wrapping_mul(31) ^ number) as u8).collect();
    Message::new(Body::Data(vec![bytes]))
}

/// Runs one of the programs with the words of a line.
pub(crate) fn run(program: &str, line: &str) -> Output {
    Command::new(program).args(line.split_whitespace()).output().expect("the program is there")
}

/// What it prints; it must succeed.
pub(crate) fn printed(program: &str, line: &str) -> String {
    let output = run(program, line);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{line}: {text}");
    text
}

/// Asks the management node of a router through another one.
pub(crate) fn ask_through(router: &Router, address: &str, request: Request) -> Result<amqp::Value, ClientError> {
    let mut client = router.client();
    let mut node = Node::attach(&mut client, address)?;
    node.call(&mut client, request)
}
