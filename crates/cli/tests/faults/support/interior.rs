//! Routers of a network.

use std::ops::{Deref, DerefMut};

use management::Attributes;

use super::router::{Router, Setup};
use super::wait_for;
use crate::ports::free_port;

/// What stands in the configuration of every router of a network.
const COMMON: &str = "\
address {
 prefix: closest
 distribution: closest
}
address {
 prefix: multicast
 distribution: multicast
}
";

/// An interior router: the router, and where others connect to.
pub(crate) struct Interior {
    router: Router,
    id: String,
    pub(crate) port_for_routers: u16,
}

/// A section of the configuration: a connector to a router, at a cost.
pub(crate) fn connector_to(port: u16, cost: u32) -> String {
    format!("connector {{\n name: to-{port}\n host: 127.0.0.1\n port: {port}\n role: inter-router\n cost: {cost}\n}}\n")
}

impl Interior {
    /// A router with connectors to these others, each at a cost.
    pub(crate) fn start(id: &str, others: &[(&Self, u32)]) -> Self {
        Self::configured(id, "", others)
    }

    /// The same with more sections in its configuration.
    pub(crate) fn configured(id: &str, sections: &str, others: &[(&Self, u32)]) -> Self {
        let port_for_routers = free_port();
        let connectors: String =
            others.iter().map(|(other, cost)| connector_to(other.port_for_routers, *cost)).collect();
        let sections = format!(
            "{COMMON}{sections}{connectors}listener {{\nname: routers\nhost: 127.0.0.1\nport: {port_for_routers}\nrole: \
             inter-router\nsaslMechanisms: ANONYMOUS\nauthenticatePeer: no\n}}\n"
        );
        // The clients of these tests say nothing while they wait.
        let listener = "idleTimeoutSeconds: 0";
        let router = format!("mode: interior\nid: {id}\nworkerThreads: 2");
        let router = Setup { router: &router, sections: &sections, listener, ..Setup::default() }.start();
        Self { router, id: id.to_owned(), port_for_routers }
    }

    /// When it was started, in seconds since 1970, as it tells the others.
    pub(crate) fn instance(&self) -> i64 {
        let nodes = self.management().query("router.node");
        let own = nodes.iter().find(|node| node.text("nextHop") == Some("(self)"));
        own.and_then(|node| node.integer("instance")).expect("it knows of itself")
    }

    /// Waits until it reaches all of these routers.
    pub(crate) fn reaches(&self, others: &[&str]) {
        let mut management = self.management();
        wait_for(&format!("{} to reach {others:?}", self.id), || {
            let nodes = management.query("router.node");
            let reached = |id: &&str| nodes.iter().any(|node| node.text("id") == Some(*id) && node.contains("cost"));
            others.iter().all(reached).then_some(())
        });
    }

    /// Waits until it does not reach a router.
    pub(crate) fn loses(&self, other: &str) {
        let mut management = self.management();
        wait_for(&format!("{} to lose {other}", self.id), || {
            let nodes = management.query("router.node");
            let reached = nodes.iter().any(|node| node.text("id") == Some(other) && node.contains("cost"));
            (!reached).then_some(())
        });
    }

    /// Waits until it knows nothing of a router.
    pub(crate) fn forgets(&self, other: &str) {
        let mut management = self.management();
        wait_for(&format!("{} to forget {other}", self.id), || {
            let nodes = management.query("router.node");
            nodes.iter().all(|node| node.text("id") != Some(other)).then_some(())
        });
    }

    /// Waits until what it sends to a router goes through this neighbour; through none: straight to it.
    pub(crate) fn goes_through(&self, other: &str, neighbour: Option<&str>) {
        goes_through(&self.router, other, neighbour);
    }

    /// Waits until it knows so many consumers of an address: on this router, and routers with some.
    pub(crate) fn knows(&self, address: &str, local: i64, remote: i64) {
        let key = format!("M0{address}");
        let mut management = self.management();
        wait_for(&format!("{} to know {local} and {remote} consumers of {address}", self.id), || {
            let addresses = management.query("router.address");
            let found = addresses.iter().find(|row| row.text("key") == Some(&key));
            let count = |name: &str| found.and_then(|row| row.integer(name)).unwrap_or(0);
            ((count("subscriberCount"), count("remoteCount")) == (local, remote)).then_some(())
        });
    }

    /// Connections with a router: those on which it has said who it is.
    pub(crate) fn connections_with(&self, id: &str) -> usize {
        let connections = self.management().query("connection");
        let with = |row: &&Attributes| row.text("role") == Some("inter-router") && row.text("container") == Some(id);
        connections.iter().filter(with).count()
    }
}

/// Waits until what a router sends to another goes through this neighbour; through none: straight to it.
pub(crate) fn goes_through(router: &Router, other: &str, neighbour: Option<&str>) {
    let mut management = router.management();
    wait_for(&format!("a way to {other} through {neighbour:?}"), || {
        let nodes = management.query("router.node");
        let node = nodes.iter().find(|node| node.text("id") == Some(other) && node.contains("cost"))?;
        (node.text("nextHop") == neighbour).then_some(())
    });
}

impl Deref for Interior {
    type Target = Router;

    fn deref(&self) -> &Router {
        &self.router
    }
}

impl DerefMut for Interior {
    fn deref_mut(&mut self) -> &mut Router {
        &mut self.router
    }
}
