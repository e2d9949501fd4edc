//! What the routing protocol would tell each router: ways, costs, and where consumers are.

use super::*;

impl Mesh {
    /// What the routing protocol would tell each router now.
    pub(crate) fn converge(&mut self) {
        for record in &mut self.routers {
            for event in std::mem::take(&mut record.host.events) {
                match event {
                    Event::Here(key, treatment) => drop(record.announced.insert(key, treatment)),
                    Event::NotHere(key) => drop(record.announced.remove(&key)),
                    Event::Up(..) | Event::Lost(..) => {}
                }
            }
        }
        let costs = self.costs();
        for router in 0..self.routers.len() {
            let interior = |router: &usize| !self.routers[*router].host.is_edge;
            if !interior(&router) {
                continue;
            }
            let others: Vec<_> = (0..self.routers.len()).filter(|other| *other != router && interior(other)).collect();
            for other in others {
                self.inform(router, other, &costs);
            }
            let hops = (0..self.routers.len()).filter_map(|other| Some(self.path(router, other, &costs)?.len() - 1));
            let radius = hops.max().unwrap_or(0) as u32;
            self.routers[router].core.set_radius(radius);
        }
        self.settle();
    }

    pub(super) fn inform(&mut self, router: usize, other: usize, costs: &[Vec<Option<u32>>]) {
        let index = self.index(router, other);
        let route = self.path(router, other, costs).map(|path| {
            let origins = (0..self.routers.len()).filter(|origin| {
                *origin == router || self.path(*origin, other, costs).is_some_and(|path| path.contains(&router))
            });
            let valid_origins = origins
                .map(|origin| if origin == router { RouterIndex::SELF } else { self.index(router, origin) })
                .collect();
            let cost = costs[router][other].expect("there is a path");
            let back = self.path(other, router, costs).expect("connections go both ways");
            let comes_by = Some(self.index(router, back[back.len() - 2]));
            Route { next_hop: self.connection(router, path[1]), cost, comes_by, valid_origins }
        });
        let (announced, id) = (self.routers[other].announced.clone(), self.routers[other].host.id.clone());
        let Router { core, host, heard, .. } = &mut self.routers[router];
        let heard = heard.entry(other).or_insert_with(|| {
            core.add_router(self.now, host, index, &id);
            BTreeSet::new()
        });
        core.set_route(self.now, host, index, route.clone());
        if route.is_none() {
            return;
        }
        for key in heard.iter().filter(|key| !announced.contains_key(*key)) {
            core.remove_remote_address(self.now, host, index, key);
        }
        for (key, treatment) in announced.iter().filter(|(key, _)| !heard.contains(*key)) {
            core.add_remote_address(self.now, host, index, key, Some(*treatment));
        }
        *heard = announced.into_keys().collect();
    }

    /// Costs of the ways between all routers.
    pub(super) fn costs(&self) -> Vec<Vec<Option<u32>>> {
        let count = self.routers.len();
        let mut costs = vec![vec![None; count]; count];
        for (router, record) in self.routers.iter().enumerate() {
            costs[router][router] = Some(0);
            for wire in
                record.wires.values().filter(|wire| !record.host.is_edge && !self.routers[wire.peer].host.is_edge)
            {
                costs[router][wire.peer] = Some(wire.cost);
            }
        }
        for over in 0..count {
            for from in 0..count {
                for to in 0..count {
                    if let (Some(first), Some(second)) = (costs[from][over], costs[over][to])
                        && costs[from][to].is_none_or(|cost| first + second < cost)
                    {
                        costs[from][to] = Some(first + second);
                    }
                }
            }
        }
        costs
    }

    /// The way between two routers, both included: the first neighbour in order among equals.
    pub(super) fn path(&self, from: usize, to: usize, costs: &[Vec<Option<u32>>]) -> Option<Vec<usize>> {
        let mut path = vec![from];
        let mut at = from;
        while at != to {
            let left = costs[at][to]?;
            let wires = self.routers[at].wires.values();
            let next = wires.filter(|wire| costs[wire.peer][to].is_some_and(|cost| cost + wire.cost == left));
            at = next.map(|wire| wire.peer).min()?;
            path.push(at);
        }
        Some(path)
    }
}
