//! How the router fares: what the control plane tells other threads that ask.

use std::sync::atomic::Ordering;
use std::time::Duration;

use security::tls::Validity;
use tokio::sync::{mpsc, oneshot};

use crate::control::listener::Stand;
use crate::entities::Entities;

/// Questions that may wait: who asks is one of a bounded number of HTTP connections.
const WAITING: usize = 64;

/// Somebody wants a report.
#[derive(Debug)]
pub(crate) struct Question(oneshot::Sender<Report>);

/// Where the control plane is asked.
#[derive(Clone, Debug)]
pub(crate) struct Questions(mpsc::Sender<Question>);

impl Questions {
    /// Where to ask, and where the questions come.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Question>) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Self(sender), receiver)
    }

    /// A report, if the control plane gives one in time.
    pub(crate) async fn ask(&self, patience: Duration) -> Option<Report> {
        let (question, answer) = oneshot::channel();
        let asked = async {
            self.0.send(Question(question)).await.ok()?;
            answer.await.ok()
        };
        tokio::time::timeout(patience, asked).await.ok().flatten()
    }
}

impl Question {
    /// Answers it.
    pub(crate) fn answer(self, entities: &Entities) {
        // Who has waited too long does not want to know any more.
        let _ = self.0.send(Report::of(entities));
    }
}

/// How the router fares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// The router's id.
    pub(crate) router_id: String,
    /// What it is in the network.
    pub(crate) mode: String,
    /// The listeners.
    pub(crate) listeners: Vec<ListenerReport>,
    /// The connectors.
    pub(crate) connectors: Vec<ConnectorReport>,
    /// Until when certificates are valid, by the name of their profile.
    pub(crate) certificates: Vec<(String, Validity)>,
    /// How many other routers of the network are reached.
    pub(crate) reached: usize,
}

/// How a listener fares.
#[derive(Clone, Debug)]
pub(crate) struct ListenerReport {
    /// Its name, or its identity.
    pub(crate) name: String,
    /// `host:port` as configured.
    pub(crate) host_port: String,
    /// What its connections are for.
    pub(crate) role: config::Role,
    /// It serves HTTP.
    pub(crate) http: bool,
    /// Connections that came in by it; over HTTP, those of AMQP.
    pub(crate) accepted: u64,
    /// How far it has come.
    pub(crate) stand: Stand,
}

/// How a connector fares.
#[derive(Clone, Debug)]
pub(crate) struct ConnectorReport {
    /// Its name, or its identity.
    pub(crate) name: String,
    /// `host:port` as configured.
    pub(crate) host_port: String,
    /// What its connection is for.
    pub(crate) role: config::Role,
    /// It has a connection.
    pub(crate) connected: bool,
    /// What its last attempt came to.
    pub(crate) message: String,
}

impl Report {
    fn of(entities: &Entities) -> Self {
        let listeners = entities.listeners.iter().map(|listener| ListenerReport {
            name: listener.name().to_owned(),
            host_port: listener.target().text(),
            role: listener.config.connection.role,
            http: listener.config.is_http(),
            accepted: listener.accepted.load(Ordering::Relaxed),
            stand: listener.stand.clone(),
        });
        let connectors = entities.connectors.iter().map(|connector| ConnectorReport {
            name: connector.attributes.text("name").unwrap_or_default().to_owned(),
            host_port: connector.target().text(),
            role: connector.config.connection.role,
            connected: connector.status() == "SUCCESS",
            message: connector.message().to_owned(),
        });
        let network = entities.network.as_ref();
        let reached = network.map_or(0, |network| network.nodes().filter(|node| node.cost.is_some()).count());
        let router = entities.router.config();
        let (router_id, mode) = (router.id.clone().unwrap_or_default(), router.mode.to_string());
        Self {
            router_id,
            mode,
            listeners: listeners.collect(),
            connectors: connectors.collect(),
            certificates: entities.profiles.validities(),
            reached,
        }
    }

    /// A sentence for each listener that does not listen.
    pub(crate) fn not_listening(&self) -> impl Iterator<Item = String> {
        self.listeners.iter().filter_map(|listener| match listener.stand {
            Stand::Listening(_) => None,
            Stand::LookingUp => Some(format!("listener {} does not listen yet", listener.host_port)),
            Stand::Failed => Some(format!("listener {} cannot listen: the log says why", listener.host_port)),
        })
    }

    /// A sentence if connectors lead to the network, none of them is connected, and no router is reached otherwise.
    pub(crate) fn not_connected(&self) -> Option<String> {
        let of_network =
            |connector: &&ConnectorReport| matches!(connector.role, config::Role::InterRouter | config::Role::Edge);
        let mut all = self.connectors.iter().filter(of_network).peekable();
        let first = *all.peek()?;
        if self.reached > 0 || all.any(|connector| connector.connected) {
            return None;
        }
        let why = if first.message.is_empty() { String::new() } else { format!(": {}", first.message) };
        Some(format!("not connected to the network, connector {}{why}", first.host_port))
    }
}
