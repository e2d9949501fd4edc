//! Since when routers say to be neighbours.
//!
//! A router of the old kind looks for its ways once a second only. Until it has found a new one, it lets no message pass that
//! comes by it. So this router takes a new way through such a router only after a while, as long as there is one without.

use crate::NodeIndex;
use crate::paths::Graph;
use std::collections::BTreeMap;
use std::time::Duration;

/// The connections of a network, as each router says them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trunks {
    known: BTreeMap<(NodeIndex, NodeIndex), Trunk>,
}

#[derive(Clone, Copy, Debug)]
struct Trunk {
    cost: u32,
    /// Since when it is there, at this cost.
    since: Duration,
    /// What it cost before; `None`: it was not there.
    before: Option<u32>,
}

/// A network without what has changed for the better not long ago.
pub(crate) struct Before {
    pub(crate) graph: Graph,
    /// When the oldest of these changes is old enough.
    pub(crate) until: Duration,
}

impl Trunks {
    /// Takes the network as it is now; `order`: its routers. Returns what is left of the network of `age` ago, if that is
    /// another.
    pub(crate) fn update(
        &mut self,
        now: Duration,
        age: Duration,
        order: &[NodeIndex],
        graph: &Graph,
    ) -> Option<Before> {
        let mut known = BTreeMap::new();
        let mut until: Option<Duration> = None;
        let mut edges = Vec::with_capacity(graph.edges.len());
        for (from, neighbors) in order.iter().zip(&graph.edges) {
            let mut left = Vec::with_capacity(neighbors.len());
            for &(to, cost) in neighbors {
                let at = (*from, order[to]);
                let trunk = match self.known.get(&at) {
                    None => Trunk { cost, since: now, before: None },
                    Some(trunk) if trunk.cost == cost => *trunk,
                    Some(trunk) if trunk.since + age <= now => Trunk { cost, since: now, before: Some(trunk.cost) },
                    Some(trunk) => Trunk { cost, since: now, before: trunk.before },
                };
                known.insert(at, trunk);
                if trunk.since + age <= now {
                    left.push((to, cost));
                } else {
                    let due = trunk.since + age;
                    until = Some(until.map_or(due, |until| until.min(due)));
                    left.extend(trunk.before.map(|cost| (to, cost)));
                }
            }
            edges.push(left);
        }
        self.known = known;
        until.map(|until| Before { graph: Graph { edges, old: graph.old.clone() }, until })
    }
}
