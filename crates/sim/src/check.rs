//! What must hold of a network that has come to rest.

use std::collections::{BTreeMap, BTreeSet};

use crate::world::{RouterNo, World};

/// What it costs to get from each running router to each that can be reached from it.
pub fn costs(world: &World) -> BTreeMap<RouterNo, BTreeMap<RouterNo, u32>> {
    let mut neighbors: BTreeMap<RouterNo, Vec<(RouterNo, u32)>> = BTreeMap::new();
    for ([one, other], cost) in world.live_trunks() {
        neighbors.entry(one).or_default().push((other, cost));
        neighbors.entry(other).or_default().push((one, cost));
    }
    let running = (0..world.routers()).filter(|router| world.router(*router).is_some());
    running.map(|router| (router, costs_from(router, &neighbors))).collect()
}

fn costs_from(router: RouterNo, neighbors: &BTreeMap<RouterNo, Vec<(RouterNo, u32)>>) -> BTreeMap<RouterNo, u32> {
    let mut found = BTreeMap::new();
    let mut open = BTreeSet::from([(0, router)]);
    while let Some((cost, at)) = open.pop_first() {
        if found.contains_key(&at) {
            continue;
        }
        found.insert(at, cost);
        open.extend(neighbors.get(&at).into_iter().flatten().map(|(next, more)| (cost + more, *next)));
    }
    found
}

/// What a router knows of each other one: what it costs to get there, and which neighbour is next.
type Table = BTreeMap<RouterNo, (Option<u32>, RouterNo)>;

fn table(world: &World, numbers: &BTreeMap<&str, RouterNo>, at: RouterNo) -> Table {
    let number = |id: &str| numbers.get(id).copied();
    let nodes = world.router(at).into_iter().flat_map(|router| router.engine.nodes());
    nodes.filter_map(|node| Some((number(node.id)?, (node.cost, number(node.next_hop.unwrap_or(node.id))?)))).collect()
}

/// What is wrong with what routers know of each other; `None`: each knows each that can be reached, at the right cost and
/// by a way that leads there, and no other.
pub fn what_is_wrong(world: &World) -> Option<String> {
    let numbers = (0..world.routers()).map(|router| (world.id(router), router)).collect();
    let costs = costs(world);
    let tables: BTreeMap<RouterNo, Table> = costs.keys().map(|at| (*at, table(world, &numbers, *at))).collect();
    for (&at, reached) in &costs {
        for other in (0..world.routers()).filter(|other| *other != at) {
            let (cost, expected) = (tables[&at].get(&other).and_then(|known| known.0), reached.get(&other).copied());
            if cost != expected {
                let (here, there) = (world.id(at), world.id(other));
                return Some(format!("{here} has cost {cost:?} for {there} instead of {expected:?}"));
            }
            if expected.is_some() && !leads_there(&tables, at, other) {
                return Some(format!("the way from {} to {} is a loop", world.id(at), world.id(other)));
            }
        }
    }
    None
}

/// Follows the next hops from one router to another.
fn leads_there(tables: &BTreeMap<RouterNo, Table>, from: RouterNo, to: RouterNo) -> bool {
    let mut at = from;
    for _ in 0..tables.len() {
        if at == to {
            return true;
        }
        match tables.get(&at).and_then(|table| table.get(&to)) {
            Some((_, next)) => at = *next,
            None => return false,
        }
    }
    at == to
}

/// What is wrong with what routers know of where an address has consumers: `homes` are the routers that have some.
pub fn what_is_wrong_with(world: &World, address: &str, homes: &BTreeSet<RouterNo>) -> Option<String> {
    let key = format!("M0{address}");
    for (at, reached) in costs(world) {
        let router = world.router(at)?;
        let expected = homes.iter().filter(|home| **home != at && reached.contains_key(home)).count() as u64;
        let known = router.core.address(&key).map_or(0, |entry| entry.remote_count);
        if known != expected {
            return Some(format!("{} knows {known} routers with consumers of {address}, not {expected}", router.id));
        }
    }
    None
}

/// Checks that nothing is left of deliveries in any router.
///
/// # Panics
/// If there is something.
pub fn nothing_is_left(world: &World) {
    for at in 0..world.routers() {
        if let Some(router) = world.router(at) {
            let counts = router.core.object_counts();
            assert_eq!(counts.deliveries, 0, "deliveries are left in {}", router.id);
        }
    }
}
