//! Routers that share what they know with their neighbours, alone and among routers of the old kind.

use crate::network::{Network, SECOND};
use router_net::wire::{Addresses, Body, ControlMessage, News, SYNC_ADDRESS, Seqs, Sync};
use router_net::{Level, LinkRef};
use std::collections::BTreeSet;
use std::time::Duration;

const RING: [(&str, &str, u32); 5] = [("A", "B", 1), ("B", "C", 1), ("C", "D", 1), ("D", "E", 1), ("E", "A", 1)];

/// A ring in which all but `old` share. Each has an address.
fn ring(old: &[&str]) -> Network {
    let mut network = Network::sharing(&RING, old);
    for id in ["A", "B", "C", "D", "E"] {
        network.address(id, &format!("M0{id}"), true);
    }
    network.run(SECOND * 5);
    network.assert_converged();
    network
}

fn opcodes(network: &Network, at: &str) -> BTreeSet<&'static str> {
    network.routers[at].said.keys().copied().collect()
}

fn said(network: &Network, at: &str, opcode: &str) -> usize {
    network.routers[at].said.get(opcode).copied().unwrap_or_default()
}

/// The address to share at, as a message.
fn shared(from: &str, sync: Sync) -> Vec<u8> {
    ControlMessage { id: from.to_owned(), body: Body::Sync(sync) }.encode(SYNC_ADDRESS)
}

#[test]
fn a_network_that_shares_finds_together_within_a_second() {
    let mut network = Network::sharing(&RING, &[]);
    network.address("C", "M0x", true);
    network.run(SECOND);
    network.assert_converged();
}

#[test]
fn neighbours_that_share_flood_nothing_and_ask_nobody_far_away() {
    let network = ring(&[]);
    for id in network.routers.keys() {
        let said = opcodes(&network, id);
        // Before its first neighbour a router speaks to nobody, and may do so in any way.
        let far: Vec<_> = said.iter().filter(|opcode| !["HELLO", "SYNC", "RA", "MAU"].contains(*opcode)).collect();
        assert!(far.is_empty(), "{id} said {far:?}");
    }
    let before: Vec<_> = network.routers.values().map(|router| router.said.get("RA").copied()).collect();
    let mut network = network;
    network.address("A", "M0more", true);
    network.join("A", "C", 1);
    network.run(SECOND * 100);
    network.assert_converged();
    let after: Vec<_> = network.routers.values().map(|router| router.said.get("RA").copied()).collect();
    assert_eq!(before, after);
}

#[test]
fn all_addresses_of_a_router_pass_each_connection_once() {
    let mut network = Network::sharing(&[("A", "B", 1), ("B", "C", 1), ("C", "D", 1)], &[]);
    network.run(SECOND * 2);
    let before = network.routers["B"].sent;
    (0..1_000).for_each(|number| network.address("A", &format!("M0{number}"), true));
    network.run(SECOND * 2);
    network.assert_converged();
    assert_eq!(network.known("D", "A").len(), 1_000);
    // Four greetings; it asks A, tells C twice that there is something new (few of them first), and answers it.
    assert!(network.routers["B"].sent - before <= 12, "{}", network.routers["B"].sent - before);
}

#[test]
fn a_router_of_the_old_kind_is_told_everything_by_the_old_protocol() {
    for old in ["A", "B", "C", "D", "E"] {
        let mut network = ring(&[old]);
        network.address("B", "M0later", true);
        network.run(SECOND * 2);
        network.assert_converged();
    }
}

#[test]
fn a_router_of_the_old_kind_that_joins_later_is_told_everything_at_once() {
    let mut network = ring(&["OLD"]);
    network.run(SECOND * 60);
    network.start("OLD", 1_000);
    network.address("OLD", "M0old", true);
    network.join("C", "OLD", 1);
    network.run(SECOND * 2);
    network.assert_converged();
    assert!(said(&network, "A", "RA") > 0, "also from afar");
}

#[test]
fn nothing_is_flooded_any_more_when_the_last_router_of_the_old_kind_is_gone() {
    let mut network = Network::sharing(&[("A", "B", 1), ("B", "C", 1), ("C", "OLD", 1)], &["OLD"]);
    network.run(SECOND * 5);
    network.kill("OLD", true);
    network.run(SECOND * 10);
    let before = ["A", "B", "C"].map(|id| said(&network, id, "RA"));
    network.address("A", "M0later", true);
    network.run(SECOND * 100);
    network.assert_converged();
    assert_eq!(before, ["A", "B", "C"].map(|id| said(&network, id, "RA")));
}

#[test]
fn a_router_of_the_old_kind_may_be_replaced_by_one_that_shares_and_back() {
    let mut network = ring(&["C"]);
    for (instance, shares) in [(2_000, true), (3_000, false), (4_000, true)] {
        network.kill("C", true);
        match shares {
            true => network.sharing.insert("C".to_owned()),
            false => network.sharing.remove("C"),
        };
        network.run(SECOND / 2);
        network.start("C", instance);
        network.address("C", &format!("M0{instance}"), true);
        network.join("B", "C", 1);
        network.join("C", "D", 1);
        network.run(SECOND * 4);
        network.assert_converged();
    }
}

#[test]
fn what_was_lost_on_its_way_is_found_when_neighbours_compare() {
    // They do so every 30 seconds, whatever they have said meanwhile.
    for pause in [10, 15, 20, 25] {
        let mut network = ring(&[]);
        network.run(SECOND * pause);
        network.cut(network.wire("D", "E"));
        network.run(SECOND);
        network.loss = 1_000;
        network.address("A", "M0lost", true);
        network.run(Duration::from_millis(500));
        network.loss = 0;
        network.run(SECOND * 31);
        network.assert_converged();
    }
}

#[test]
fn two_starts_within_one_second_are_told_apart() {
    let mut network = ring(&[]);
    network.kill("B", false);
    network.start_at("B", router_net::Config::new("B", 1_000).started_at(1_000_001));
    network.address("B", "M0other", true);
    network.join("A", "B", 1);
    network.join("B", "C", 1);
    network.run(SECOND * 8);
    network.assert_converged();
}

#[test]
fn a_namesake_far_away_is_told_of_though_nobody_advertises() {
    let mut network = ring(&[]);
    let link = LinkRef(network.wire("A", "B"));
    let seqs = Seqs { instance: 77, ls_seq: 1, mobile_seq: 0 };
    let news =
        News { id: "A".to_owned(), seqs, peers: Some([("X".to_owned(), 1)].into()), addresses: Addresses::Untold };
    let twin = shared("B", Sync { news: vec![news], ..Sync::default() });
    let now = network.now;
    network.routers.get_mut("A").unwrap().engine.receive(now, Some(link), &twin);
    network.run(SECOND * 5);
    assert!(said(&network, "A", "RA") > 0, "the other one is to hear of this one");
    let body = Body::Advertisement { instance: 77, ls_seq: 1, mobile_seq: 0 };
    let twin = ControlMessage { id: "A".to_owned(), body }.encode("amqp:/_topo/0/all/qdrouter");
    let now = network.now;
    network.routers.get_mut("A").unwrap().engine.receive(now, Some(link), &twin);
    network.run(SECOND);
    let critical = network.routers["A"].log.iter().filter(|(level, _)| *level == Level::Critical).count();
    assert_eq!(critical, 1);
}

#[test]
fn what_is_known_of_this_router_from_before_is_outdone() {
    let mut network = ring(&[]);
    let link = LinkRef(network.wire("A", "B"));
    let seqs = Seqs { instance: 1_000, ls_seq: 1 << 40, mobile_seq: 1 << 40 };
    let news = News { id: "A".to_owned(), seqs, peers: None, addresses: Addresses::Untold };
    let now = network.now;
    let old = shared("B", Sync { news: vec![news], ..Sync::default() });
    network.routers.get_mut("A").unwrap().engine.receive(now, Some(link), &old);
    network.address("A", "M0new", true);
    network.run(SECOND * 5);
    network.assert_converged();
}

#[test]
fn nobody_is_told_by_a_neighbour_that_does_not_share() {
    let mut network = ring(&["B"]);
    let link = LinkRef(network.wire("A", "B"));
    let seqs = Seqs { instance: 1, ls_seq: 1, mobile_seq: 0 };
    let news = News { id: "X".to_owned(), seqs, peers: None, addresses: Addresses::Untold };
    let now = network.now;
    let words = shared("B", Sync { news: vec![news], ..Sync::default() });
    let engine = &mut network.routers.get_mut("A").unwrap().engine;
    engine.receive(now, Some(link), &words);
    assert!(engine.nodes().all(|node| node.id != "X"));
}
