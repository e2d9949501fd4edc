//! A router in this process, without a control plane.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use router_core::{Mode, RouterSettings, Treatment};
use security::ServerMechanisms;
use tokio::sync::mpsc::UnboundedReceiver;

use super::client::Client;
use crate::shard::{ConnectionSettings, ListenerId, ListenerSpec, ShardEvent, Shards};

/// How long anything in these tests may take before it is taken to hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A running router with one listener.
pub(crate) struct Router {
    pub(crate) shards: Shards,
    pub(crate) address: SocketAddr,
    pub(crate) events: UnboundedReceiver<ShardEvent>,
}

impl Router {
    pub(crate) fn start() -> Self {
        Self::with(1, ConnectionSettings::default())
    }

    pub(crate) fn with(workers: usize, settings: ConnectionSettings) -> Self {
        let (sender, events) = tokio::sync::mpsc::unbounded_channel();
        let mut last = 0;
        let core = RouterSettings {
            router_id: "QDR".to_owned(),
            mode: Mode::Standalone,
            default_treatment: Treatment::Balanced,
            test_hooks: false,
            allow_resumable_link_route: true,
            random: Box::new(move || {
                last += 1;
                last
            }),
        };
        let shards = Shards::start(core, workers, sender).expect("a thread can be started");
        let address = listen(&shards, ListenerId(0), settings);
        Self { shards, address, events }
    }

    /// One more listener.
    pub(crate) fn listen(&self, settings: ConnectionSettings) -> SocketAddr {
        listen(&self.shards, ListenerId(1), settings)
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// A client that has sent these bytes and reads what comes until the router closes.
    pub(crate) fn answer_to(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.socket();
        stream.write_all(bytes).expect("the router reads");
        let mut answer = Vec::new();
        // A reset ends it as well as a close.
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    pub(crate) fn socket(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the router listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("the option can be set");
        stream
    }

    /// Waits until something is so.
    pub(crate) fn wait_until(&self, what: &str, mut so: impl FnMut(&Shards) -> bool) {
        let start = std::time::Instant::now();
        while !so(&self.shards) {
            assert!(start.elapsed() < PATIENCE, "still not: {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        self.shards.shutdown();
    }
}

fn listen(shards: &Shards, id: ListenerId, settings: ConnectionSettings) -> SocketAddr {
    let spec = ListenerSpec {
        id,
        host_port: "127.0.0.1:0".to_owned(),
        addresses: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
        settings: Arc::new(settings),
        tls: None,
        sasl: Arc::new(|_, _| Box::new(ServerMechanisms::new().anonymous())),
        sasl_required: false,
        accepted: Arc::default(),
    };
    shards.listen(spec).expect("some port is free")[0]
}
