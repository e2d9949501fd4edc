//! Queues, with clients that speak AMQP over real sockets.

mod acquisition;
mod admission;
mod basics;
mod behind;
mod bounds;
mod clock;
mod crossing;
mod failure;
mod full;
mod graves;
mod large;
mod passing;
mod relocation;
mod shadows;
pub(crate) mod stalling;
mod surface;
mod transactions;

use std::path::{Path, PathBuf};

use queue_core::QueueSettings;

use super::{StoreHandle, StoreSettings};
use crate::shard::tests::router::Router;

/// A directory that goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("waystation-{name}-{}", std::process::id()));
        // It is there only if a test of this name died before.
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A router with a store on disk.
struct Stored {
    router: Router,
    store: StoreHandle,
}

impl Stored {
    fn at(directory: &Directory) -> Self {
        let router = Router::start();
        let settings = StoreSettings { segment_bytes: 4 * 1024 * 1024, ..StoreSettings::at(directory.path()) };
        let store = StoreHandle::open(&router.shards, &settings).expect("the directory can be used");
        Self { router, store }
    }

    fn queue(&self, address: &str) {
        self.store.declare_queue(QueueSettings::new(address)).expect("it can be made");
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        self.router.shards.shutdown();
        self.store.close();
    }
}

/// A router with queues that outlive nothing.
fn in_memory(queues: impl IntoIterator<Item = QueueSettings>) -> (Router, StoreHandle) {
    let router = Router::start();
    let store = StoreHandle::in_memory(&router.shards);
    for settings in queues {
        store.create_queue(settings).expect("it can be made");
    }
    (router, store)
}

/// A queue that is not durable.
fn volatile(address: &str) -> QueueSettings {
    QueueSettings { durable: false, ..QueueSettings::new(address) }
}
