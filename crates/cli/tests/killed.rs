//! Queues of the real program, which is killed while messages come and go.

#[path = "support/ports.rs"]
mod ports;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use amqp::DeliveryState;
use amqp::message::{Body, Message};
use amqp::performative::SenderSettleMode;
use cli::client::{Client, ConnectOptions, ReceiverOptions, Url};

use ports::free_port;

/// How long anything in these tests may take before it is taken to hang.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the program is killed. `STORE_KILLS` names another number.
const KILLS: u32 = 4;

/// A directory that goes with the test.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A router that is killed in the end.
struct Router(Child);

impl Router {
    fn start(config: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_waystation"));
        command.arg("run").arg("--config").arg(config).stdout(Stdio::null()).stderr(Stdio::null());
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
    let url = Url::parse(&format!("127.0.0.1:{port}")).expect("it is a URL");
    let options = ConnectOptions { timeout: PATIENCE, ..ConnectOptions::new(url) };
    let begun = Instant::now();
    loop {
        match Client::connect(&options) {
            Ok(client) => return client,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "the router cannot be connected to: {error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn message(id: u64) -> Vec<u8> {
    Message::new(Body::Data(vec![id.to_be_bytes().to_vec(), vec![b'x'; 500]])).to_bytes()
}

fn id_of(bytes: &[u8]) -> u64 {
    let Ok(Message { body: Body::Data(parts), .. }) = Message::decode(bytes) else { panic!("no message of ours") };
    u64::from_be_bytes(parts[0].as_slice().try_into().expect("an id"))
}

/// What a client has done before its connection ended.
#[derive(Default)]
struct Book {
    /// Those that were confirmed.
    accepted: BTreeSet<u64>,
    /// Those that came back.
    received: BTreeSet<u64>,
    next: u64,
}

impl Book {
    /// Sends, and takes every third message, until the connection is lost. Errors are what is waited for.
    fn work(&mut self, port: u16) {
        let mut client = connect(port);
        let Ok(sender) = client.sender(Some("orders"), SenderSettleMode::Unsettled) else { return };
        let options = ReceiverOptions { address: Some("orders".to_owned()), credit: 10, ..ReceiverOptions::default() };
        let Ok(receiver) = client.receiver(&options) else { return };
        let mut under_way = std::collections::BTreeMap::new();
        loop {
            let Ok(key) = client.send(&sender, &message(self.next), false) else { return };
            under_way.insert(key, self.next);
            self.next += 1;
            for outcome in client.take_outcomes() {
                assert_eq!(outcome.state, DeliveryState::Accepted);
                self.accepted.extend(under_way.remove(&outcome.key));
            }
            if self.next.is_multiple_of(3) {
                match client.receive(&receiver, Some(Instant::now())) {
                    Ok(Some(came)) => {
                        self.received.insert(id_of(&came.bytes));
                        client.settle(&receiver, came.delivery_id, DeliveryState::Accepted);
                        client.grant(&receiver, 1);
                    }
                    Ok(None) => {}
                    Err(_) => return,
                }
            }
        }
    }
}

#[test]
fn whatever_was_accepted_is_there_after_the_program_was_killed_again_and_again() {
    let directory = Directory(std::env::temp_dir().join(format!("waystation-kill-{}", std::process::id())));
    std::fs::create_dir_all(&directory.0).expect("the temporary folder takes directories");
    let (port, config) = (free_port(), directory.0.join("router.conf"));
    let store = directory.0.join("store");
    let text = format!(
        "router {{\n mode: standalone\n id: R\n}}\n\
         listener {{\n host: 127.0.0.1\n port: {port}\n saslMechanisms: ANONYMOUS\n authenticatePeer: no\n}}\n\
         log {{\n module: DEFAULT\n enable: error+\n}}\n\
         store {{\n path: {}\n segmentBytes: 4194304\n}}\nqueue {{\n address: orders\n}}\n",
        store.display()
    );
    std::fs::write(&config, text).expect("the directory takes files");
    let kills = std::env::var("STORE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let mut book = Book::default();
    for round in 0..kills {
        let mut router = Router::start(&config);
        let killer = std::thread::spawn(move || {
            drop(connect(port));
            std::thread::sleep(Duration::from_millis(400 + u64::from(round * 37 % 400)));
            router.kill();
        });
        book.work(port);
        killer.join().expect("the router was killed");
    }
    let _router = Router::start(&config);
    let mut client = connect(port);
    let options = ReceiverOptions { address: Some("orders".to_owned()), credit: 1000, ..ReceiverOptions::default() };
    let receiver = client.receiver(&options).expect("there is a queue");
    let mut missing: BTreeSet<u64> = book.accepted.difference(&book.received).copied().collect();
    let mut before = None;
    while !missing.is_empty() {
        let deadline = Instant::now() + PATIENCE;
        let came = client.receive(&receiver, Some(deadline)).expect("the router serves");
        let came = came.unwrap_or_else(|| panic!("{} of {} are lost", missing.len(), book.accepted.len()));
        let id = id_of(&came.bytes);
        assert!(before.is_none_or(|before| before < id), "{id} came after {before:?}");
        before = Some(id);
        missing.remove(&id);
        client.settle(&receiver, came.delivery_id, DeliveryState::Accepted);
        client.grant(&receiver, 1);
    }
    assert!(book.accepted.len() > 100, "only {} were accepted: nothing was proved", book.accepted.len());
}
