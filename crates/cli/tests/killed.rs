//! Queues of the real program, which is killed while messages come and go.

#[path = "support/ports.rs"]
mod ports;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use amqp::DeliveryState;
use amqp::Symbol;
use amqp::message::{Body, Message};
use amqp::performative::SenderSettleMode;
use amqp::terminus::{ExpiryPolicy, Source};
use cli::client::{Client, ClientError, ConnectOptions, Receiver, ReceiverOptions, Sender, Url};

use ports::free_port;

/// How long anything in these tests may take before it is taken to hang.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often the program is killed, unless `STORE_KILL_SECONDS` says how long it is to go on.
const KILLS: u32 = 4;
/// Clients at work at once, each with a queue of its own.
const CLIENTS: u64 = 3;
/// A client that has so many messages in its queue only takes, until the next kill.
const BACKLOG: usize = 20_000;
/// Each of this many messages is a large one, which the store keeps in a file of its own.
const LARGE_EVERY: u64 = 400;

/// A directory that goes with the test, unless there is something to be found out there.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// A router that is killed in the end.
struct Router(Child);

impl Router {
    fn start(config: &Path) -> Self {
        let told = std::fs::File::options().append(true).create(true).open(config.with_extension("out"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_waystation"));
        command
            .arg("run")
            .arg("--config")
            .arg(config)
            .stdout(Stdio::null())
            .stderr(told.expect("a file for its words"));
        Self(command.spawn().expect("the router is there"))
    }

    fn kill(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it was killed");
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn connect(port: u16) -> Client {
    connect_unless(port, &AtomicBool::new(false)).expect("it does not end")
}

/// `None`: the router was killed before.
fn connect_unless(port: u16, killed: &AtomicBool) -> Option<Client> {
    let url = Url::parse(&format!("127.0.0.1:{port}")).expect("it is a URL");
    let options = ConnectOptions { timeout: PATIENCE, ..ConnectOptions::new(url) };
    let begun = Instant::now();
    loop {
        match Client::connect(&options) {
            Ok(client) => return Some(client),
            Err(_) if killed.load(Ordering::Relaxed) => return None,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "the router cannot be connected to: {error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn message(id: u64) -> Vec<u8> {
    let size = if id.is_multiple_of(LARGE_EVERY) { 1_500_000 } else { 500 };
    Message::new(Body::Data(vec![id.to_be_bytes().to_vec(), vec![b'x'; size]])).to_bytes()
}

fn id_of(bytes: &[u8]) -> u64 {
    let Ok(Message { body: Body::Data(parts), .. }) = Message::decode(bytes) else { panic!("no message of ours") };
    let size: usize = parts.iter().map(Vec::len).sum();
    let bytes = parts.concat();
    let id = u64::from_be_bytes(bytes[..8].try_into().expect("an id"));
    assert_eq!(size, if id.is_multiple_of(LARGE_EVERY) { 1_500_008 } else { 508 }, "{id} is not whole");
    id
}

/// What a client knows of its queue, over all of its connections.
struct Book {
    address: String,
    /// The topic that its messages go to when they expire, of which it has a subscription; `None`: they stay in the queue.
    topic: Option<String>,
    next: u64,
    /// Confirmed, and not received yet.
    missing: BTreeSet<u64>,
    /// Received; a kill may have undone that they were settled.
    received: BTreeSet<u64>,
    /// Settled before something was sent that is confirmed: these are never to come again.
    gone: BTreeSet<u64>,
    accepted: u64,
    again: u64,
}

/// A connection of a client, until it is lost. Errors are what is waited for.
struct Connection<'a> {
    book: &'a mut Book,
    client: Client,
    sender: Sender,
    receiver: Receiver,
    /// What was sent and is not confirmed yet.
    under_way: BTreeMap<u64, u64>,
    /// What was settled and has perhaps not gone out yet.
    said: Vec<u64>,
    /// What was settled, by the id of the message that went out next.
    settled: Vec<(u64, u64)>,
    before: Option<u64>,
}

impl Book {
    fn new(number: u64) -> Self {
        let address = format!("orders/{number}");
        let (missing, received, gone) = Default::default();
        Self { address, topic: None, next: 0, missing, received, gone, accepted: 0, again: 0 }
    }

    fn of_topic(number: u64) -> Self {
        Self { topic: Some(format!("late/{number}")), ..Self::new(number) }
    }

    /// A durable subscription of its topic, beside one in memory from which nobody takes; or its queue.
    fn receiver(&self, client: &mut Client) -> Option<Receiver> {
        let mut options = ReceiverOptions { address: Some(self.address.clone()), credit: 100, ..Default::default() };
        if let Some(topic) = &self.topic {
            options.address = Some(topic.clone());
            client.receiver(&ReceiverOptions { credit: 0, ..options.clone() }).ok()?;
            options.name = Some("kept".to_owned());
            let capabilities = ["shared", "global"].map(Symbol::from).to_vec();
            options.source =
                Source { durable: 2, expiry_policy: ExpiryPolicy::Never, capabilities, ..Source::default() };
        }
        client.receiver(&options).ok()
    }

    fn connect(&mut self, mut client: Client) -> Option<Connection<'_>> {
        let sender = client.sender(Some(&self.address), SenderSettleMode::Unsettled).ok()?;
        let receiver = self.receiver(&mut client)?;
        let (under_way, said, settled) = Default::default();
        Some(Connection { book: self, client, sender, receiver, under_way, said, settled, before: None })
    }

    /// Sends, and takes every third message, until the connection is lost; takes only, if there are many.
    fn work(&mut self, port: u16, killed: &AtomicBool) {
        let only_takes = self.missing.len() > BACKLOG;
        let connection = connect_unless(port, killed).and_then(|client| self.connect(client));
        let Some(mut connection) = connection else { return };
        while connection.turn(only_takes).is_ok() {}
    }

    /// Takes all there is, until nothing is missing.
    fn finish(&mut self, port: u16) {
        let mut connection = self.connect(connect(port)).expect("there is a queue");
        while !connection.book.missing.is_empty() {
            let came = connection.take(Instant::now() + PATIENCE).expect("the router serves");
            assert!(came, "lost of {}: {:?}", connection.book.address, connection.book.missing);
        }
        connection.client.close();
    }
}

impl Connection<'_> {
    fn turn(&mut self, only_takes: bool) -> Result<(), ClientError> {
        if only_takes && !self.book.missing.is_empty() {
            return self.take(Instant::now() + Duration::from_millis(100)).map(drop);
        }
        let key = self.client.send(&self.sender, &message(self.book.next), false)?;
        self.under_way.insert(key, self.book.next);
        self.book.next += 1;
        for outcome in self.client.take_outcomes() {
            assert_eq!(outcome.state, DeliveryState::Accepted);
            let id = self.under_way.remove(&outcome.key).expect("it is under way");
            self.confirmed(id);
        }
        if self.book.next.is_multiple_of(30) {
            for _ in 0..10 {
                self.take(Instant::now())?;
            }
            self.client.pump(Duration::ZERO)?;
            let next = self.book.next;
            self.settled.extend(self.said.drain(..).map(|id| (next, id)));
        }
        Ok(())
    }

    /// A message is in the log, and so is all that was said before it.
    fn confirmed(&mut self, id: u64) {
        self.book.accepted += 1;
        if !self.book.received.contains(&id) {
            self.book.missing.insert(id);
        }
        let gone = self.settled.extract_if(.., |(next, _)| *next <= id).map(|(_, gone)| gone);
        for gone in gone {
            self.book.received.remove(&gone);
            self.book.gone.insert(gone);
        }
    }

    /// Whether a message came until `deadline`.
    fn take(&mut self, deadline: Instant) -> Result<bool, ClientError> {
        let Some(came) = self.client.receive(&self.receiver, Some(deadline))? else { return Ok(false) };
        let id = id_of(&came.bytes);
        assert!(!self.book.gone.contains(&id), "{id} of {} came again after it was settled", self.book.address);
        assert!(self.before.is_none_or(|before| before < id), "{id} came after {:?}", self.before);
        self.before = Some(id);
        self.book.missing.remove(&id);
        self.book.again += u64::from(!self.book.received.insert(id));
        self.client.settle(&self.receiver, came.delivery_id, DeliveryState::Accepted);
        self.client.grant(&self.receiver, 1);
        self.said.push(id);
        Ok(true)
    }
}

#[test]
fn whatever_was_accepted_is_there_after_the_program_was_killed_again_and_again() {
    let books = (0..CLIENTS).map(Book::new).collect();
    kill_again_and_again("kill", "queueTemplate {\n pattern: orders/#\n}\n", books);
}

#[test]
fn whatever_has_expired_is_published_once_although_the_program_was_killed_again_and_again() {
    let section = |number| {
        format!(
            "queue {{\n address: orders/{number}\n defaultTtl: 1\n expiryAddress: late/{number}\n}}\n\
             topic {{\n address: late/{number}\n}}\n"
        )
    };
    let sections: String = (0..CLIENTS).map(section).collect();
    kill_again_and_again("kill-expired", &sections, (0..CLIENTS).map(Book::of_topic).collect());
}

/// Clients send and take while the program, which is configured so, is killed; in the end nothing may be missing.
#[allow(clippy::print_stdout, reason = "what a long run came to")]
fn kill_again_and_again(name: &str, sections: &str, mut books: Vec<Book>) {
    let directory = Directory(std::env::temp_dir().join(format!("waystation-{name}-{}", std::process::id())));
    std::fs::create_dir_all(&directory.0).expect("the temporary folder takes directories");
    let (port, config) = (free_port(), directory.0.join("router.conf"));
    let store = directory.0.join("store");
    let text = format!(
        "router {{\n mode: standalone\n id: R\n}}\n\
         listener {{\n host: 127.0.0.1\n port: {port}\n saslMechanisms: ANONYMOUS\n authenticatePeer: no\n}}\n\
         log {{\n module: DEFAULT\n enable: error+\n}}\n\
         store {{\n path: {}\n segmentBytes: 4194304\n}}\n{sections}",
        store.display()
    );
    std::fs::write(&config, text).expect("the directory takes files");
    let seconds = std::env::var("STORE_KILL_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let (begun, mut kills) = (Instant::now(), 0);
    let goes_on = |kills| match seconds {
        Some(seconds) => begun.elapsed() < Duration::from_secs(seconds),
        None => kills < KILLS,
    };
    while goes_on(kills) {
        let mut router = Router::start(&config);
        let killed = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            for book in &mut books {
                scope.spawn(|| book.work(port, killed));
            }
            drop(connect(port));
            std::thread::sleep(Duration::from_millis(400 + u64::from(kills * 37 % 400)));
            router.kill();
            killed.store(true, Ordering::Relaxed);
        });
        kills += 1;
    }
    let _router = Router::start(&config);
    for book in &mut books {
        book.finish(port);
    }
    let sum = |what: fn(&Book) -> u64| books.iter().map(what).sum::<u64>();
    println!(
        "{kills} kills; {} messages accepted and received, {} of them again; {} settled for good",
        sum(|book| book.accepted),
        sum(|book| book.again),
        sum(|book| book.gone.len() as u64),
    );
    assert!(sum(|book| book.accepted) > 100, "nothing was proved");
}
