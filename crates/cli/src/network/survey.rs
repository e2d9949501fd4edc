//! Asking all routers of a network.

use std::collections::BTreeMap;

use amqp::Value;
use management::Attributes;
use management::client::Request;

use super::picture::{Link, Path, Picture, Router};
use crate::client::{Client, ClientError, Node};
use crate::qdstat::source::Source;

/// Costs that one end says its connections to one other router have, in order.
type Seen = BTreeMap<(String, String), Vec<Connection>>;

/// A connection to another router, as one end tells of it.
#[derive(Clone, Copy)]
struct Connection {
    /// What the other end says it costs.
    cost: i64,
    edge: bool,
}

/// Asks the router that has its management node at `address`, and then all others that it knows of.
///
/// # Errors
/// If the first one does not answer.
pub(super) fn ask(client: &mut Client, address: &str) -> Result<Picture, ClientError> {
    let mut source = source(client, address)?;
    let asked = source.router()?.text("id").unwrap_or_default().to_owned();
    let members = members(&mut source)?;
    let mut picture = Picture { asked: asked.clone(), ..Picture::default() };
    let mut seen = Seen::new();
    ask_one(&mut picture, &mut seen, &mut source, &asked)?;
    for id in members.into_iter().filter(|id| *id != asked) {
        ask_other(&mut picture, &mut seen, client, &id, &format!("_topo/0/{id}/$management"))?;
    }
    // Interior routers alone know of edge routers.
    let edges: Vec<String> =
        seen.iter().filter(|(_, there)| there.iter().any(|it| it.edge)).map(|(pair, _)| pair.1.clone()).collect();
    for id in edges {
        if !picture.routers.contains_key(&id) {
            ask_other(&mut picture, &mut seen, client, &id, &format!("_edge/{id}/$management"))?;
        }
    }
    picture.links = links(&seen);
    Ok(picture)
}

fn source<'c>(client: &'c mut Client, address: &str) -> Result<Source<'c>, ClientError> {
    let node = Node::attach(client, address)?;
    Ok(Source { client, node, limit: 0, verbose: true })
}

/// The ids of all interior routers.
fn members(source: &mut Source<'_>) -> Result<Vec<String>, ClientError> {
    let answer = match source.node.call(source.client, Request::node("GET-MGMT-NODES")) {
        Err(ClientError::Refused(_)) => Value::Null,
        answer => answer?,
    };
    // `amqp:/_topo/0/<id>/$management`
    let id = |address: &str| Some(address.strip_prefix("amqp:/_topo/0/")?.strip_suffix("/$management")?.to_owned());
    Ok(answer.as_sequence().unwrap_or_default().iter().filter_map(Value::as_text).filter_map(id).collect())
}

/// Asks a router that may have gone meanwhile.
fn ask_other(
    picture: &mut Picture,
    seen: &mut Seen,
    client: &mut Client,
    id: &str,
    address: &str,
) -> Result<(), ClientError> {
    let asked = source(client, address).and_then(|mut source| ask_one(picture, seen, &mut source, id));
    match asked {
        Err(error @ ClientError::Disconnected { .. }) => Err(error),
        Err(error) => {
            let reason = match &error {
                ClientError::Timeout { .. } => "timed out".to_owned(),
                other => other.advice(),
            };
            picture.routers.insert(id.to_owned(), Router { silent: Some(reason), ..Router::default() });
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn ask_one(picture: &mut Picture, seen: &mut Seen, source: &mut Source<'_>, id: &str) -> Result<(), ClientError> {
    let of_router = source.router()?;
    let nodes = source.all_entities("router.node")?;
    let connections = source.all_entities("connection")?;
    let is_peer = |role: Option<&str>| matches!(role, Some("inter-router" | "edge"));
    for connection in connections.iter().filter(|connection| is_peer(connection.text("role"))) {
        let peer = connection.text("container").unwrap_or_default().to_owned();
        seen.entry((id.to_owned(), peer)).or_default().push(Connection::of(connection));
    }
    let router = Router {
        mode: of_router.text("mode").unwrap_or_default().to_owned(),
        version: of_router.text("version").unwrap_or_default().to_owned(),
        silent: None,
        clients: connections.iter().filter(|connection| !is_peer(connection.text("role"))).count(),
        paths: nodes.iter().filter_map(|node| path(id, node)).collect(),
    };
    picture.routers.insert(id.to_owned(), router);
    Ok(())
}

/// The way to another router.
fn path(own: &str, node: &Attributes) -> Option<(String, Path)> {
    let id = node.text("id").filter(|id| *id != own)?;
    // A neighbour has a link of its own, other routers that are reached have a next hop.
    let hop = node.text("nextHop").map(str::to_owned);
    let reached = hop.is_some() || node.contains("routerLink");
    let cost = node.integer("cost").filter(|_| reached);
    Some((id.to_owned(), Path { cost, next_hop: hop.filter(|hop| hop != id) }))
}

impl Connection {
    fn of(connection: &Attributes) -> Self {
        let properties = match connection.get("properties") {
            Some(Value::Map(map)) => map.get("qd.inter-router-cost").and_then(Value::as_i64),
            _ => None,
        };
        Self { cost: properties.unwrap_or(1).max(1), edge: connection.text("role") == Some("edge") }
    }
}

/// What connects two routers is what both ends tell of it.
fn links(seen: &Seen) -> BTreeMap<(String, String), Link> {
    let mut links = BTreeMap::new();
    for ((from, to), connections) in seen {
        let pair = if from < to { (from.clone(), to.clone()) } else { (to.clone(), from.clone()) };
        let cheapest = connections.iter().map(|connection| connection.cost).min().unwrap_or(1);
        let link = links.entry(pair).or_insert(Link { cost: 1, connections: 0, edge: false });
        link.cost = link.cost.max(cheapest);
        link.connections = link.connections.max(connections.len());
        link.edge |= connections.iter().any(|connection| connection.edge);
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(pairs: &[(&str, &str, i64)]) -> Seen {
        let mut seen = Seen::new();
        for (from, to, cost) in pairs {
            let connection = Connection { cost: *cost, edge: false };
            seen.entry(((*from).to_owned(), (*to).to_owned())).or_default().push(connection);
        }
        seen
    }

    #[test]
    fn a_connection_costs_the_larger_of_what_both_ends_say() {
        let links = links(&seen(&[("A", "B", 1), ("B", "A", 7)]));
        assert_eq!(links.into_values().collect::<Vec<_>>(), [Link { cost: 7, connections: 1, edge: false }]);
    }

    #[test]
    fn a_router_that_does_not_answer_is_connected_all_the_same() {
        let links = links(&seen(&[("B", "A", 2)]));
        assert_eq!(links.into_keys().collect::<Vec<_>>(), [("A".to_owned(), "B".to_owned())]);
    }

    #[test]
    fn a_neighbour_is_reached_by_its_own_link() {
        let node = Attributes::new().with("id", "B".into()).with("routerLink", 0_i64.into()).with("cost", 3_i64.into());
        assert_eq!(path("A", &node), Some(("B".to_owned(), Path { cost: Some(3), next_hop: None })));
    }

    #[test]
    fn a_router_without_hop_and_link_is_not_reached() {
        let node = Attributes::new().with("id", "B".into()).with("cost", 3_i64.into());
        assert_eq!(path("A", &node).unwrap().1.label(), "unreachable");
    }
}
