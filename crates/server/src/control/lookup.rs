//! Name look-ups on behalf of listeners, connectors and the policy, whose results come back as events.

use crate::control::resolve::{HostPort, Resolver};
use crate::shard::{ConnectorId, ListenerId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Who wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Listener(ListenerId),
    Connector(ConnectorId),
    /// The policy, about a host that it calls by this number.
    RemoteHost(u64),
}

/// The result of a look-up.
#[derive(Debug)]
pub(crate) struct LookedUp {
    pub(crate) asker: Asker,
    /// Addresses, or what is wrong with host or port.
    pub(crate) found: Result<Vec<SocketAddr>, String>,
}

/// Starts look-ups.
#[derive(Clone, Debug)]
pub(crate) struct Lookups {
    results: mpsc::UnboundedSender<LookedUp>,
    resolver: Resolver,
    /// Who waits for what is being looked up: many may wait for one name, and one thread does.
    waiting: Arc<Mutex<HashMap<HostPort, Vec<Asker>>>>,
}

impl Lookups {
    /// The starter, and where the results come. What waits there is bounded: each asker asks for one thing at a time.
    pub(crate) fn new(resolver: Resolver) -> (Self, mpsc::UnboundedReceiver<LookedUp>) {
        let (results, receiver) = mpsc::unbounded_channel();
        (Lookups { results, resolver, waiting: Arc::default() }, receiver)
    }

    /// Starts one. Must be called on the control plane's runtime.
    pub(crate) fn start(&self, asker: Asker, target: HostPort) {
        let Self { results, resolver, waiting } = self.clone();
        match waiting.lock().entry(target.clone()) {
            Entry::Occupied(mut others) => return others.get_mut().push(asker),
            Entry::Vacant(new) => new.insert(vec![asker]),
        };
        tokio::spawn(async move {
            let found = target.clone().resolve(&resolver).await;
            for asker in waiting.lock().remove(&target).unwrap_or_default() {
                // If the control plane has ended, nobody asks any more.
                let _ = results.send(LookedUp { asker, found: found.clone() });
            }
        });
    }
}
