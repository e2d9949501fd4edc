//! The interior router's side.

use router_net::LinkRef;
use router_net::edge::wire::Tracking;
use router_net::edge::{Destinations, Interior, InteriorOutput};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const ONE: LinkRef = LinkRef(1);
const TWO: LinkRef = LinkRef(2);

fn drain(interior: &mut Interior) -> Vec<InteriorOutput> {
    std::iter::from_fn(|| interior.poll_output()).collect()
}

/// What edge routers were told: which one, and whether the address has consumers.
fn told(interior: &mut Interior) -> Vec<(LinkRef, bool)> {
    let tracking = |output| match output {
        InteriorOutput::Track { on, content } => Some((on, Tracking::decode(&content).unwrap().has_destinations)),
        _ => None,
    };
    drain(interior).into_iter().filter_map(tracking).collect()
}

#[test]
fn an_edge_router_that_goes_silent_is_dropped() {
    let mut interior = Interior::new();
    interior.heartbeat_link(SECOND, ONE, "E", true);
    interior.heartbeat(SECOND * 3, ONE);
    interior.handle_timeout(SECOND * 11);
    assert_eq!(drain(&mut interior), []);
    interior.handle_timeout(interior.next_timeout().unwrap());
    let outputs = drain(&mut interior);
    assert!(
        matches!(&outputs[0], InteriorOutput::Log { text, .. } if text == "Lost heartbeat from container E, closing connection")
    );
    assert_eq!(outputs[1..], [InteriorOutput::Drop { on: ONE }]);
    assert_eq!(interior.next_timeout(), None);
}

#[test]
fn an_edge_router_is_told_when_an_address_gets_and_loses_consumers() {
    let mut interior = Interior::new();
    interior.tracking_link(ONE, true);
    interior.producer_attached(ONE, "M0a", Destinations::None);
    interior.destinations("M0a", Destinations::Elsewhere);
    interior.destinations("M0a", Destinations::Elsewhere);
    interior.destinations("M0a", Destinations::None);
    assert_eq!(told(&mut interior), [(ONE, true), (ONE, false)]);
}

#[test]
fn an_edge_routers_own_consumers_do_not_count_for_it_but_for_others() {
    let mut interior = Interior::new();
    for edge in [ONE, TWO] {
        interior.tracking_link(edge, true);
        interior.producer_attached(edge, "M0a", Destinations::None);
    }
    interior.destinations("M0a", Destinations::Only(ONE));
    assert_eq!(told(&mut interior), [(TWO, true)]);
}

#[test]
fn what_is_true_already_is_told_when_the_producer_comes_or_the_tracking_link() {
    let mut interior = Interior::new();
    interior.producer_attached(ONE, "M0a", Destinations::Elsewhere);
    assert_eq!(told(&mut interior), []);
    interior.tracking_link(ONE, true);
    assert_eq!(told(&mut interior), [(ONE, true)]);
    interior.producer_attached(ONE, "M0b", Destinations::Elsewhere);
    assert_eq!(told(&mut interior), [(ONE, true)]);
}

#[test]
fn an_address_is_forgotten_with_its_last_producer() {
    let mut interior = Interior::new();
    interior.producer_attached(ONE, "M0a", Destinations::None);
    interior.producer_attached(TWO, "M0a", Destinations::None);
    interior.producer_detached(ONE, "M0a");
    assert!(interior.is_tracked("M0a"));
    interior.connection_lost(TWO);
    assert!(!interior.is_tracked("M0a"));
}
