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

/// What is wrong with what routers know of each other; `None`: each knows each that can be reached, at the right cost, and
/// no other.
pub fn what_is_wrong(world: &World) -> Option<String> {
    let costs = costs(world);
    for (&at, reached) in &costs {
        let router = world.router(at)?;
        let known: BTreeMap<&str, Option<u32>> = router.engine.nodes().map(|node| (node.id, node.cost)).collect();
        for other in 0..world.routers() {
            let id = world.id(other);
            let cost = known.get(id).copied().flatten();
            let expected = reached.get(&other).copied().filter(|_| other != at);
            if cost != expected {
                return Some(format!("{} has cost {cost:?} for {id} instead of {expected:?}", router.id));
            }
        }
        if let Some(wrong) = next_hops(world, at, reached) {
            return Some(wrong);
        }
    }
    None
}

/// Follows the next hops from one router to each other.
fn next_hops(world: &World, from: RouterNo, reached: &BTreeMap<RouterNo, u32>) -> Option<String> {
    let number = |id: &str| (0..world.routers()).find(|router| world.id(*router) == id);
    for &to in reached.keys().filter(|to| **to != from) {
        let (mut at, mut hops) = (from, 0);
        while at != to {
            let router = world.router(at)?;
            let Some(node) = router.engine.nodes().find(|node| node.id == world.id(to)) else {
                return Some(format!("{} does not know {}", router.id, world.id(to)));
            };
            let next = node.next_hop.unwrap_or(node.id);
            hops += 1;
            if hops > world.routers() {
                return Some(format!("the way from {} to {} is a loop", world.id(from), world.id(to)));
            }
            at = number(next)?;
        }
    }
    None
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
