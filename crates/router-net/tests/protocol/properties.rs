//! Whatever happens to a network, once it stops happening all routers agree.

use crate::network::{Network, SECOND};
use proptest::prelude::*;
use std::time::Duration;

const KEYS: [&str; 4] = ["M0one", "M1two", "Clinks", "Hedge"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_network_converges_after_any_faults(seed in 1u64.., size in 2usize..9, loss in 0u64..100) {
        faults(seed, size, loss, 0);
    }

    #[test]
    fn a_network_of_routers_that_share_converges_after_any_faults(seed in 1u64.., size in 2usize..9, loss in 0u64..100) {
        faults(seed, size, loss, u64::MAX);
    }

    #[test]
    fn a_network_in_which_some_routers_share_converges_after_any_faults(
        seed in 1u64.., size in 2usize..9, loss in 0u64..100, sharing in 0u64..512,
    ) {
        faults(seed, size, loss, sharing);
    }

    #[test]
    fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut network = Network::of(&[("A", "B", 1)]);
        network.run(SECOND);
        let now = network.now;
        let link = router_net::LinkRef(network.wire("A", "B"));
        network.routers.get_mut("A").unwrap().engine.receive(now, Some(link), &bytes);
        network.run(SECOND);
        network.assert_converged();
    }
}

fn pick(network: &mut Network, count: usize) -> usize {
    usize::try_from(network.random()).unwrap() % count
}

fn join_somewhere(network: &mut Network, ids: &[String], who: usize) {
    let others: Vec<String> = (ids.iter().enumerate())
        .filter(|(at, id)| *at != who && network.routers.contains_key(*id))
        .map(|(_, id)| id.clone())
        .collect();
    if others.is_empty() {
        return;
    }
    let other = others[pick(network, others.len())].clone();
    let cost = 1 + u32::try_from(network.random() % 4).unwrap();
    network.join(&ids[who], &other, cost);
}

/// Costs are the same in both directions where all connections are.
fn assert_costs_agree(network: &Network, at: &str, of: &str) {
    let cost = |at: &str, of: &str| {
        network.index(at, of).and_then(|index| network.routers[at].routes.get(&index)).map(|route| route.1)
    };
    assert_eq!(cost(at, of), cost(of, at), "between {at} and {of}");
}

/// `sharing`: by bit, which routers share what they know.
fn faults(seed: u64, size: usize, loss: u64, sharing: u64) {
    let mut network = Network::new(seed);
    network.loss = loss;
    network.delay = 1 + network.random() % 200;
    let ids: Vec<String> = (0..size).map(|at| format!("r{at}")).collect();
    let shares = |(at, _): &(usize, &String)| sharing >> at & 1 == 1;
    network.sharing = ids.iter().enumerate().filter(shares).map(|(_, id)| id.clone()).collect();
    let mut instance = 1_000;
    for (at, id) in ids.iter().enumerate() {
        network.start(id, instance);
        if at > 0 {
            join_somewhere(&mut network, &ids, at);
        }
    }
    for _ in 0..30 {
        let who = pick(&mut network, size);
        match network.random() % 8 {
            0 => {
                // Killed, and back with a clock that may run backwards.
                network.kill(&ids[who], true);
                let pause = Duration::from_millis(network.random() % 3_000);
                network.run(pause);
                instance += 1;
                let instance = if network.one_in(4) { 2_000_000_000 - instance } else { instance };
                network.start(&ids[who], instance);
                if sharing < 512 && network.one_in(4) && !network.sharing.remove(&ids[who]) {
                    // One kind in the place of the other.
                    network.sharing.insert(ids[who].clone());
                }
                join_somewhere(&mut network, &ids, who);
            }
            1 => {
                let wires: Vec<u64> = network.wires.keys().copied().collect();
                if !wires.is_empty() {
                    let wire = wires[pick(&mut network, wires.len())];
                    network.cut(wire);
                }
            }
            2 => {
                let wires: Vec<u64> = network.wires.keys().copied().collect();
                if !wires.is_empty() {
                    let wire = wires[pick(&mut network, wires.len())];
                    let stalled = [network.one_in(2), network.one_in(2)];
                    network.wires.get_mut(&wire).unwrap().stalled = stalled;
                }
            }
            3 => join_somewhere(&mut network, &ids, who),
            _ => {
                let key = KEYS[pick(&mut network, KEYS.len())];
                let present = network.one_in(2);
                network.address(&ids[who], key, present);
            }
        }
        let pause = Duration::from_millis(network.random() % 2_000);
        network.run(pause);
    }
    network.loss = 0;
    // The longest timer that may have to run out is that between two advertisements in a quiet network; nearly always it is
    // a hello age and the time between two advertisements in flux.
    network.run(SECOND * 40);
    network.assert_converged();
    for at in &ids {
        for of in ids.iter().filter(|of| *of != at) {
            assert_costs_agree(&network, at, of);
        }
    }
}
