//! What is known of a network when all its routers were asked.

use std::collections::BTreeMap;

/// A network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Picture {
    /// The router that was asked first.
    pub(super) asked: String,
    /// All routers, by id.
    pub(super) routers: BTreeMap<String, Router>,
    /// What connects two routers, by their ids, the lower one first.
    pub(super) links: BTreeMap<(String, String), Link>,
}

/// A router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Router {
    /// `interior`, `edge` or `standalone`; empty if it did not answer.
    pub(super) mode: String,
    /// Its version; empty if it did not answer.
    pub(super) version: String,
    /// Why nothing more is known of it.
    pub(super) silent: Option<String>,
    /// Connections of clients and brokers.
    pub(super) clients: usize,
    /// How it reaches other routers, by their ids.
    pub(super) paths: BTreeMap<String, Path>,
}

/// A way to another router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    /// The sum of the costs; `None`: it is not reached.
    pub(super) cost: Option<i64>,
    /// The neighbour that is next on the way; `None`: the other router itself is.
    pub(super) next_hop: Option<String>,
}

/// What connects two routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The larger of what both ends say that the cheapest connection costs.
    pub(super) cost: i64,
    /// How many connections there are.
    pub(super) connections: usize,
    /// One of the two is an edge router, which costs have no part in.
    pub(super) edge: bool,
}

impl Link {
    /// What stands beside it: its cost, and how many connections there are if there is more than one.
    pub(super) fn label(&self) -> String {
        let cost = if self.edge { "edge".to_owned() } else { self.cost.to_string() };
        if self.connections > 1 { format!("{cost} ({} connections)", self.connections) } else { cost }
    }
}

impl Router {
    /// What stands beside its id.
    pub(super) fn description(&self) -> String {
        match (&self.silent, self.clients) {
            (Some(reason), _) => format!("does not answer: {reason}"),
            (None, 1) => format!("{}, {}, 1 client", self.mode, self.version),
            (None, clients) => format!("{}, {}, {clients} clients", self.mode, self.version),
        }
    }
}

impl Path {
    /// Its cost, and through whom it leads.
    pub(super) fn label(&self) -> String {
        match (self.cost, &self.next_hop) {
            (None, _) => "unreachable".to_owned(),
            (Some(cost), None) => cost.to_string(),
            (Some(cost), Some(hop)) => format!("{cost} via {hop}"),
        }
    }
}

/// A network of three in a line and an edge router, for the tests of what is drawn.
#[cfg(test)]
pub(super) fn example() -> Picture {
    let path = |cost, hop: Option<&str>| Path { cost, next_hop: hop.map(str::to_owned) };
    let router = |mode: &str, clients, paths: &[(&str, Path)]| Router {
        mode: mode.to_owned(),
        version: "1.19.0".to_owned(),
        silent: None,
        clients,
        paths: paths.iter().map(|(id, path)| ((*id).to_owned(), path.clone())).collect(),
    };
    let link = |cost, connections, edge| Link { cost, connections, edge };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let silent = Router { silent: Some("timed out".to_owned()), ..Router::default() };
    Picture {
        asked: "A".to_owned(),
        routers: BTreeMap::from([
            ("A".to_owned(), router("interior", 1, &[("B", path(Some(1), None)), ("C", path(Some(4), Some("B")))])),
            ("B".to_owned(), router("interior", 2, &[("A", path(Some(1), None)), ("C", path(Some(3), None))])),
            ("C".to_owned(), silent),
            ("E<1>".to_owned(), router("edge", 0, &[])),
        ]),
        links: BTreeMap::from([
            (pair("A", "B"), link(1, 2, false)),
            (pair("A", "E<1>"), link(1, 1, true)),
            (pair("B", "C"), link(3, 1, false)),
        ]),
    }
}
