//! Networks with routers that send multicasts as old ones do: a copy to each neighbour that leads to consumers. Receivers at
//! ours get each message once all the same, from the first moment on.

use std::time::Duration;

use sim::{ClientNo, Does, Fate, World, check, topology};

const ADDRESS: &str = "multicast/news";

/// A full mesh in which some routers are old. All have receivers and senders.
struct Mesh {
    world: World,
    network: topology::Network,
    senders: Vec<(ClientNo, usize)>,
}

impl Mesh {
    fn new(seed: u64, count: usize, old: impl Fn(usize) -> bool) -> Self {
        let mut world = World::new(seed);
        (0..count).filter(|at| old(*at)).for_each(|at| world.make_old(&format!("R{at}")));
        let network = topology::mesh(&mut world, count);
        let mut mesh = Self { world, network, senders: Vec::new() };
        for at in 0..count {
            let client = mesh.world.add_client(mesh.network.routers[at]);
            mesh.world.add_link(client, Does::Receives(ADDRESS.to_owned()));
            if old(at) {
                mesh.world.ledger.tolerate_doubles(client);
            }
            let client = mesh.world.add_client(mesh.network.routers[at]);
            let link = mesh.world.add_link(client, Does::Sends(Some(ADDRESS.to_owned())));
            mesh.senders.push((client, link));
        }
        mesh
    }

    /// Until all know the ways to each other and where the receivers are.
    fn until_known(&mut self) {
        let homes = self.network.routers.iter().copied().collect();
        let known = |world: &World| {
            check::what_is_wrong(world).is_none() && check::what_is_wrong_with(world, ADDRESS, &homes).is_none()
        };
        self.world.run_until(Duration::from_secs(20), known).expect("the network comes to rest");
    }

    /// Each router's client sends one message; a moment passes.
    fn send_from_all(&mut self) -> Vec<u64> {
        let senders = self.senders.clone();
        let sent = senders.into_iter().map(|(client, link)| self.world.send(client, link, ADDRESS, 4, false)).collect();
        self.world.run(Duration::from_millis(300));
        sent
    }
}

/// The ledger of the world finds what is doubled by itself.
fn everybody_got_each(mesh: &Mesh, sent: &[u64], what: &str) {
    for id in sent {
        let entry = mesh.world.ledger.get(*id);
        assert_eq!(entry.receivers.len(), mesh.network.routers.len(), "{what}: message {id}: {entry:?}");
        assert_eq!(entry.fate, Some(Fate::Accepted), "{what}: message {id}: {entry:?}");
    }
}

#[test]
fn ours_get_each_multicast_once_in_a_mesh_with_old_routers_from_the_first_moment_on() {
    for mix in 0..16u32 {
        let old = |at: usize| mix >> at & 1 == 1;
        if mix == 15 {
            continue;
        }
        let mut mesh = Mesh::new(u64::from(mix), 4, old);
        mesh.until_known();
        // Through the seconds in which routes have just changed, their end, and some time at rest.
        let sent: Vec<u64> = (0..40).flat_map(|_| mesh.send_from_all()).collect();
        mesh.world.run(Duration::from_secs(2));
        everybody_got_each(&mesh, &sent, &format!("mix {mix:04b}"));
    }
}

#[test]
fn nothing_is_doubled_for_ours_while_connections_and_old_routers_fail_and_return() {
    for seed in 0..8 {
        let old = |at: usize| at % 2 == 1;
        let mut mesh = Mesh::new(seed, 5, old);
        mesh.until_known();
        for _ in 0..12 {
            let trunk = mesh.network.trunks[mesh.world.random.below(mesh.network.trunks.len())];
            match mesh.world.random.below(4) {
                0 => mesh.world.break_trunk(trunk),
                1 => mesh.world.cut_trunk(trunk, true),
                2 => mesh.world.cut_trunk(trunk, false),
                _ => {
                    mesh.world.kill(mesh.network.routers[1]);
                    mesh.send_from_all();
                    mesh.world.start(mesh.network.routers[1]);
                }
            }
            (0..4).for_each(|_| _ = mesh.send_from_all());
        }
        mesh.network.trunks.clone().into_iter().for_each(|trunk| mesh.world.cut_trunk(trunk, false));
        mesh.world.run(Duration::from_secs(5));
        mesh.until_known();
        let sent: Vec<u64> = (0..30).flat_map(|_| mesh.send_from_all()).collect();
        mesh.world.run(Duration::from_secs(2));
        everybody_got_each(&mesh, &sent, &format!("seed {seed}"));
    }
}
