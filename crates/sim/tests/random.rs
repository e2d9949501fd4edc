//! Random networks, random faults: nothing settled is lost, nothing is doubled, and the network comes to rest.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sim::{ClientNo, Does, Fate, Random, RouterNo, World, check, topology};

/// Addresses in use.
const ADDRESSES: [&str; 6] = ["balanced/a", "balanced/b", "closest/a", "closest/b", "multicast/a", "multicast/b"];
/// A network has come to rest after so long without faults. Half a second is usual; what takes longest is an advertisement
/// that has to come again while the topology changes.
const REST: Duration = Duration::from_secs(10);

/// A network with clients, and what is done to it.
struct Story {
    world: World,
    chance: Random,
    network: topology::Network,
    receivers: Vec<(ClientNo, RouterNo, &'static str)>,
    senders: Vec<(ClientNo, usize, Option<&'static str>)>,
}

impl Story {
    fn new(seed: u64, most: usize) -> Self {
        let mut world = World::new(seed);
        if std::env::var_os("SIM_LOG").is_some() {
            world.print_logs(router_core::Level::Trace);
        }
        let mut chance = Random::new(world.random.number());
        let routers = 2 + chance.below(most - 1);
        let extra = chance.below(routers);
        let network = topology::random(&mut world, routers, extra);
        let mut story = Self { world, chance, network, receivers: Vec::new(), senders: Vec::new() };
        for _ in 0..3 + story.chance.below(10) {
            story.add_receiver();
        }
        for _ in 0..3 + story.chance.below(6) {
            story.add_sender();
        }
        story
    }

    fn add_receiver(&mut self) {
        let at = self.chance.below(self.network.routers.len());
        let address = ADDRESSES[self.chance.below(ADDRESSES.len())];
        let client = self.world.add_client(self.network.routers[at]);
        self.world.add_link(client, Does::Receives(address.to_owned()));
        self.receivers.push((client, self.network.routers[at], address));
    }

    fn add_sender(&mut self) {
        let at = self.chance.below(self.network.routers.len());
        let address = Some(ADDRESSES[self.chance.below(ADDRESSES.len())]).filter(|_| !self.chance.one_in(4));
        let client = self.world.add_client(self.network.routers[at]);
        let link = self.world.add_link(client, Does::Sends(address.map(str::to_owned)));
        self.senders.push((client, link, address));
    }

    fn send(&mut self) -> u64 {
        let (client, link, address) = self.senders[self.chance.below(self.senders.len())];
        let address = address.unwrap_or(ADDRESSES[self.chance.below(ADDRESSES.len())]);
        let (priority, settled) = (self.chance.below(10) as u8, self.chance.one_in(4));
        self.world.send(client, link, address, priority, settled)
    }

    fn fault(&mut self) {
        let trunk = self.network.trunks[self.chance.below(self.network.trunks.len())];
        let router = self.network.routers[self.chance.below(self.network.routers.len())];
        match self.chance.below(8) {
            0 => self.world.kill(router),
            1 => self.network.routers.iter().for_each(|router| self.world.start(*router)),
            2 => {
                // Killed, and back within a second.
                self.world.kill(router);
                let gap = self.chance.between(Duration::ZERO, Duration::from_secs(1));
                self.world.run(gap);
                self.world.start(router);
            }
            3 => self.world.cut_trunk(trunk, true),
            4 => self.world.cut_trunk(trunk, false),
            5 => self.world.break_trunk(trunk),
            6 => self.world.stall_trunk(trunk, self.chance.below(2)),
            _ => self.add_receiver(),
        }
    }

    /// Everything works again.
    fn heal(&mut self) {
        self.network.routers.iter().for_each(|router| self.world.start(*router));
        self.network.trunks.iter().for_each(|trunk| self.world.cut_trunk(*trunk, false));
    }

    fn homes(&self, address: &str) -> BTreeSet<RouterNo> {
        self.receivers.iter().filter(|(_, _, of)| *of == address).map(|(_, at, _)| *at).collect()
    }

    fn what_is_wrong(&self) -> Option<String> {
        let wrong = check::what_is_wrong(&self.world);
        wrong.or_else(|| ADDRESSES.iter().find_map(|of| check::what_is_wrong_with(&self.world, of, &self.homes(of))))
    }

    fn come_to_rest(&mut self) -> Duration {
        let Self { world, .. } = self;
        let start = world.now;
        while let Some(wrong) = self.what_is_wrong() {
            assert!(self.world.now < start + REST, "not at rest: {wrong}");
            self.world.run(Duration::from_millis(500));
        }
        self.world.now - start
    }

    /// Traffic in a network at rest: everything arrives, each message as often as it should.
    fn calm_traffic(&mut self) {
        // Long enough for routers to rely on the paths that they know.
        self.world.run(Duration::from_secs(10));
        let sent: Vec<u64> = (0..50).map(|_| self.send()).collect();
        self.world.run(Duration::from_secs(5));
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        self.receivers.iter().for_each(|(_, _, address)| *count.entry(address).or_default() += 1);
        for id in sent {
            let entry = self.world.ledger.get(id);
            let receivers = count.get(entry.address.as_str()).copied().unwrap_or(0);
            if !entry.sent {
                assert_eq!(receivers, 0, "message {id} gets no credit although there are receivers: {entry:?}");
                continue;
            }
            let expected = if entry.address.starts_with("multicast") { receivers } else { receivers.min(1) };
            assert_eq!(entry.receivers.len(), expected, "message {id}: {entry:?}");
            let fate = if expected > 0 { Fate::Accepted } else { Fate::Released };
            assert!(entry.presettled || entry.fate == Some(fate), "message {id}: {entry:?}");
        }
    }

    fn end(&mut self) {
        let clients =
            self.receivers.iter().map(|(client, ..)| *client).chain(self.senders.iter().map(|(client, ..)| *client));
        clients.for_each(|client| self.world.leave(client));
        self.world.run(Duration::from_secs(5));
        self.world.ledger.check_all_settled();
        check::nothing_is_left(&self.world);
    }
}

/// One network from its beginning to its end.
fn tell(seed: u64, most: usize, steps: usize) {
    let mut story = Story::new(seed, most);
    story.come_to_rest();
    story.calm_traffic();
    for _ in 0..steps {
        if story.chance.one_in(10) {
            story.fault();
        } else {
            story.send();
        }
        let pause = story.chance.between(Duration::ZERO, Duration::from_millis(500));
        story.world.run(pause);
    }
    story.heal();
    // Connections that are stalled are given up after a while.
    story.world.run(Duration::from_secs(20));
    story.come_to_rest();
    story.calm_traffic();
    story.end();
}

/// The seeds to run: those that the environment names, or these.
fn seeds(default: std::ops::Range<u64>) -> Vec<u64> {
    match std::env::var("SIM_SEED") {
        Ok(seed) => vec![seed.parse().expect("SIM_SEED is a number")],
        Err(_) => default.collect(),
    }
}

#[test]
fn small_networks_survive_whatever_happens_to_them() {
    for seed in seeds(0..60) {
        eprintln!("seed {seed}");
        tell(seed, 6, 200);
    }
}

#[test]
fn large_networks_survive_whatever_happens_to_them() {
    for seed in seeds(1_000..1_003) {
        eprintln!("seed {seed}");
        tell(seed, 50, 200);
    }
}
