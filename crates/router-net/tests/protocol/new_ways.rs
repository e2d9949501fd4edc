//! Routers of the old kind look for their ways once a second, and let no message pass that comes by a way they have not found.

use crate::network::{Network, SECOND};
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(500);

/// A line whose ends are going to meet; the ways between A and D are equally long then, and by order of ids the one
/// through B is taken.
fn line(old: &[&str]) -> Network {
    let mut network = Network::sharing(&[("A", "C", 1), ("C", "D", 1), ("D", "B", 1)], old);
    network.run(SECOND * 10);
    assert_eq!(network.next_hop("A", "D").unwrap(), "C");
    network
}

#[test]
fn a_new_way_through_an_old_router_is_taken_when_that_has_had_time_to_find_it() {
    let mut network = line(&["B"]);
    network.join("A", "B", 1);
    network.run(MOMENT);
    assert_eq!(network.next_hop("A", "D").unwrap(), "C");
    assert_eq!(network.next_hop("A", "B").unwrap(), "B", "no message passes it on its way to itself");
    network.run(SECOND * 3);
    assert_eq!(network.next_hop("A", "D").unwrap(), "B");
    network.assert_converged();
}

#[test]
fn until_then_both_ways_are_right() {
    let mut network = line(&["B"]);
    network.join("A", "B", 1);
    network.run(MOMENT);
    let valid = |network: &Network| {
        let (_, _, origins) = &network.routers["C"].routes[&network.index("C", "D").unwrap()];
        origins.contains(&network.index("C", "A").unwrap())
    };
    assert!(valid(&network), "what A sends to D passes C");
    network.run(SECOND * 3);
    assert!(!valid(&network), "it passes B");
}

#[test]
fn a_cheaper_way_through_an_old_router_is_not_taken_at_once_either() {
    let mut network = Network::sharing(&[("A", "C", 1), ("C", "D", 1), ("D", "B", 1), ("A", "B", 5)], &["B"]);
    network.run(SECOND * 10);
    assert_eq!(network.next_hop("A", "D").unwrap(), "C");
    network.join("A", "B", 1);
    network.run(MOMENT);
    assert_eq!(network.next_hop("A", "D").unwrap(), "C");
    network.run(SECOND * 3);
    assert_eq!(network.next_hop("A", "D").unwrap(), "B");
}

#[test]
fn a_new_way_through_routers_that_find_theirs_at_once_is_taken_at_once() {
    let mut network = line(&[]);
    network.join("A", "B", 1);
    network.run(MOMENT);
    assert_eq!(network.next_hop("A", "D").unwrap(), "B");
}

#[test]
fn the_only_way_is_taken_at_once() {
    let mut network = line(&["B"]);
    network.join("A", "B", 1);
    network.run(MOMENT);
    network.cut(network.wire("A", "C"));
    network.run(MOMENT);
    assert_eq!(network.next_hop("A", "D").unwrap(), "B");
}
