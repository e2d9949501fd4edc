//! Name look-ups on behalf of listeners, connectors and the policy, whose results come back as events.

use crate::control::resolve::HostPort;
use crate::shard::{ConnectorId, ListenerId};
use std::net::SocketAddr;
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
pub(crate) struct Lookups(mpsc::UnboundedSender<LookedUp>);

impl Lookups {
    /// The starter, and where the results come. What waits there is bounded: each asker asks for one thing at a time.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<LookedUp>) {
        let (results, receiver) = mpsc::unbounded_channel();
        (Lookups(results), receiver)
    }

    /// Starts one. Must be called on the control plane's runtime.
    pub(crate) fn start(&self, asker: Asker, target: HostPort) {
        let results = self.0.clone();
        tokio::spawn(async move {
            let found = target.resolve().await;
            // If the control plane has ended, nobody asks any more.
            let _ = results.send(LookedUp { asker, found });
        });
    }
}
