//! A whole router but for its control plane, on the thread of whoever takes its turns: the same every time, for those who
//! count what a message costs. The turns are [`Shard::turn`](crate::shard), the work of the log's own threads is not in them.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use queue_core::QueueSettings;
use router_core::{Mode, RouterSettings, Treatment};
use security::ServerMechanisms;

use crate::shard::{ConnectionSettings, ListenerId, ListenerSpec, Shards, Stepping};
use crate::store::{StoreHandle, StoreSettings};

/// How long a turn waits for what other threads do.
const PATIENCE: Duration = Duration::from_millis(20);

/// A router.
pub struct Measured {
    shards: Shards,
    shard: Stepping,
    store: Option<StoreHandle>,
    address: SocketAddr,
}

impl Measured {
    /// One with a listener on the loopback interface.
    ///
    /// # Errors
    /// The system has no descriptor or port left.
    pub fn start() -> io::Result<Self> {
        let (events, _) = tokio::sync::mpsc::unbounded_channel();
        let mut draws = 0;
        let settings = RouterSettings {
            router_id: "perf".to_owned(),
            mode: Mode::Standalone,
            default_treatment: Treatment::Balanced,
            test_hooks: false,
            allow_resumable_link_route: true,
            random: Box::new(move || {
                draws += 1;
                draws
            }),
        };
        let (shards, shard) = Shards::start_still(settings, events)?;
        let addresses = shards.listen(ListenerSpec {
            id: ListenerId(0),
            host_port: "127.0.0.1:0".to_owned(),
            addresses: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
            settings: Arc::new(ConnectionSettings::default()),
            tls: None,
            sasl: Arc::new(|_, _| Box::new(ServerMechanisms::new().anonymous())),
            sasl_required: false,
            accepted: Arc::default(),
        })?;
        let address = addresses.into_iter().next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Self { shards, shard, store: None, address })
    }

    /// Makes a store in this directory, and a queue in it.
    ///
    /// # Errors
    /// The directory cannot be used, or there is a store.
    pub fn make_queue(&mut self, path: &Path, address: &str, durable: bool) -> io::Result<()> {
        let store = StoreHandle::open(&self.shards, &StoreSettings::at(path)).map_err(io::Error::other)?;
        self.store = Some(store.clone());
        let settings = QueueSettings { durable, ..QueueSettings::new(address) };
        let making = std::thread::spawn(move || store.create_queue(settings));
        while !making.is_finished() {
            self.shard.step(PATIENCE)?;
        }
        making.join().map_err(|_| io::ErrorKind::Other)?.map_err(io::Error::other)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes turns until there is nothing to do. If there is nothing at once, waits a little for what other threads do.
    ///
    /// # Errors
    /// The system cannot wait.
    pub fn turns(&mut self) -> io::Result<()> {
        let mut patience = PATIENCE;
        while self.shard.step(patience)? {
            patience = Duration::ZERO;
        }
        Ok(())
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        self.shards.shutdown();
        if let Some(store) = self.store.take() {
            store.close();
        }
    }
}
