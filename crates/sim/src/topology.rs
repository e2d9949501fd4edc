//! Networks to build.

use crate::random::Random;
use crate::world::{RouterNo, TrunkNo, World};

/// A network's routers and trunks.
#[derive(Clone, Debug)]
pub struct Network {
    /// Routers.
    pub routers: Vec<RouterNo>,
    /// Trunks.
    pub trunks: Vec<TrunkNo>,
}

fn routers(world: &mut World, count: usize) -> Vec<RouterNo> {
    // Ids sort in another way than numbers do, so that whatever goes by ids is not in the order of creation.
    (0..count).map(|number| world.add_router(&format!("R{number}"))).collect()
}

fn build(world: &mut World, count: usize, trunks: impl IntoIterator<Item = (usize, usize, u32)>) -> Network {
    let routers = routers(world, count);
    let trunks = trunks.into_iter().map(|(from, to, cost)| world.add_trunk(routers[from], routers[to], cost)).collect();
    Network { routers, trunks }
}

/// Each router connected to the next.
pub fn line(world: &mut World, count: usize) -> Network {
    build(world, count, (1..count).map(|at| (at - 1, at, 1)))
}

/// A line whose ends meet.
pub fn ring(world: &mut World, count: usize) -> Network {
    build(world, count, (0..count).map(|at| (at, (at + 1) % count, 1)))
}

/// Each router connected to each.
pub fn mesh(world: &mut World, count: usize) -> Network {
    build(world, count, (0..count).flat_map(|at| (0..at).map(move |other| (at, other, 1))))
}

/// Routers connected at random, and at random costs, into one network with `extra` more trunks than a tree has.
pub fn random(world: &mut World, count: usize, extra: usize) -> Network {
    let mut chance = Random::new(world.random.number());
    let mut pairs: Vec<(usize, usize)> = (1..count).map(|at| (at, chance.below(at))).collect();
    for _ in 0..extra {
        let (one, other) = (chance.below(count), chance.below(count));
        let pair = (one.max(other), one.min(other));
        if one != other && !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let costs = [1, 1, 1, 2, 5, 10];
    let mut trunks = Vec::new();
    for (one, other) in pairs {
        let (from, to) = if chance.one_in(2) { (one, other) } else { (other, one) };
        trunks.push((from, to, *chance.pick(&costs).unwrap_or(&1)));
    }
    build(world, count, trunks)
}
