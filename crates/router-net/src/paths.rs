//! Shortest paths, as the old router counts them.
//!
//! Every router computes not only its own tree but that of every other router, to know whose messages pass through it.
//! This works only if all routers come to the same trees: of routers equally far away the one whose id is first in byte
//! order is visited first, and a way that is no shorter than the one found before does not replace it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who is joined with whom. Routers are numbered in the byte order of their ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// Of each router: neighbours, and what the way there costs.
    pub(crate) edges: Vec<Vec<(usize, u32)>>,
    /// Which routers are of the old kind.
    pub(crate) old: Vec<bool>,
}

/// How a router is reached from the one at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reached {
    cost: u32,
    hops: u32,
    /// The first router after the root.
    first: usize,
    /// The last router before it; the root itself for the root.
    last: usize,
    /// The way leads through the router asked for, or begins there.
    through: bool,
    /// The way leads through a router of the old kind.
    through_old: bool,
}

/// What the router at the root has to know of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// The neighbour that is next on the way.
    pub(crate) next_hop: usize,
    /// Sum of the costs.
    pub(crate) cost: u32,
    /// Number of connections on the way.
    pub(crate) hops: u32,
    /// The neighbour from which its messages come here: the last one on its own shortest way. `None`: there is no way back.
    pub(crate) comes_by: Option<usize>,
    /// The other routers whose shortest way there leads through the root. Ascending.
    pub(crate) valid_origins: Vec<usize>,
    /// The way leads through a router of the old kind.
    pub(crate) through_old: bool,
}

impl Path {
    /// Takes the way of before instead, if only this one leads through a router of the old kind. Others may go by either, so
    /// the origins of both are valid.
    pub(crate) fn keep(&mut self, before: Self) {
        self.valid_origins.extend(before.valid_origins);
        self.valid_origins.sort_unstable();
        self.valid_origins.dedup();
        if self.through_old && !before.through_old {
            let Self { next_hop, cost, hops, through_old, .. } = before;
            (self.next_hop, self.cost, self.hops, self.through_old) = (next_hop, cost, hops, through_old);
        }
    }
}

impl Graph {
    /// The paths from `own` to every router; `None`: there is none, or it is `own` itself.
    pub(crate) fn paths(&self, own: usize) -> Vec<Option<Path>> {
        let mut work = Work::default();
        self.tree(own, own, &mut work);
        let path = |(to, reached): (usize, &Option<Reached>)| {
            let Reached { first, cost, hops, through_old, .. } = (*reached).filter(|_| to != own)?;
            Some(Path { next_hop: first, cost, hops, comes_by: None, valid_origins: Vec::new(), through_old })
        };
        let mut paths: Vec<Option<Path>> = work.reached.iter().enumerate().map(path).collect();
        for origin in (0..self.edges.len()).filter(|origin| *origin != own) {
            if paths[origin].is_none() {
                continue;
            }
            self.tree(origin, own, &mut work);
            if let (Some(path), Some(here)) = (&mut paths[origin], work.reached[own]) {
                path.comes_by = Some(here.last);
            }
            for (to, reached) in work.reached.iter().enumerate() {
                if let (Some(path), Some(Reached { through: true, .. })) = (&mut paths[to], reached) {
                    path.valid_origins.push(origin);
                }
            }
        }
        paths
    }

    /// The tree of shortest paths from `root`, and which of them lead through `own`: as far as it has to be known for that.
    fn tree(&self, root: usize, own: usize, work: &mut Work) {
        work.reset(self.edges.len());
        let through = root == own;
        let at_root = Reached { cost: 0, hops: 0, first: root, last: root, through, through_old: false };
        work.reached[root] = Some(at_root);
        work.open.push(Reverse((0, root)));
        // Routers to which the best way so far leads through `own`, and may lead on.
        let mut through_open = usize::from(root == own);
        while let Some(Reverse((cost, from))) = work.open.pop() {
            // A router is in the heap once for each time that a shorter way was found.
            if std::mem::replace(&mut work.visited[from], true) {
                continue;
            }
            let Some(via) = work.reached[from] else { continue };
            through_open -= usize::from(via.through);
            let through_old = via.through_old || from != root && self.old[from];
            for &(to, more) in &self.edges[from] {
                let cost = cost.saturating_add(more);
                if work.reached[to].is_some_and(|known| known.cost <= cost) {
                    continue;
                }
                let first = if from == root { to } else { via.first };
                let through = via.through || to == own;
                through_open -= usize::from(work.reached[to].is_some_and(|known| known.through));
                through_open += usize::from(through);
                work.reached[to] = Some(Reached { cost, hops: via.hops + 1, first, last: from, through, through_old });
                work.open.push(Reverse((cost, to)));
            }
            if through_open == 0 && work.visited[own] {
                return;
            }
        }
    }
}

/// Memory that is used again for each tree.
#[derive(Default)]
struct Work {
    reached: Vec<Option<Reached>>,
    visited: Vec<bool>,
    open: BinaryHeap<Reverse<(u32, usize)>>,
}

impl Work {
    fn reset(&mut self, size: usize) {
        self.reached.clear();
        self.reached.resize(size, None);
        self.visited.clear();
        self.visited.resize(size, false);
        self.open.clear();
    }
}
