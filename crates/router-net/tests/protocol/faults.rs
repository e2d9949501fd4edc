//! What may go wrong in a network, and what must come of it.

use crate::network::{Network, SECOND};
use router_net::wire::{Body, ControlMessage, HELLO_ADDRESS};
use router_net::{Config, Hint, Level, LinkRef, LinkState, Output, PathEngine};
use std::time::Duration;

fn ring() -> Network {
    let mut network = Network::of(&[("A", "B", 1), ("B", "C", 1), ("C", "D", 1), ("D", "A", 1)]);
    for id in ["A", "B", "C", "D"] {
        network.address(id, &format!("M0{id}"), true);
    }
    network.run(SECOND * 5);
    network
}

#[test]
fn a_network_finds_together_within_a_second() {
    let mut network = Network::of(&[("A", "B", 1), ("B", "C", 1), ("C", "D", 1), ("D", "A", 1)]);
    network.address("C", "M0x", true);
    network.run(SECOND);
    network.assert_converged();
}

#[test]
fn a_new_address_is_known_everywhere_within_a_second() {
    let mut network = ring();
    network.address("A", "M0new", true);
    network.run(SECOND);
    assert!(network.known("C", "A").contains("M0new"));
}

#[test]
fn the_first_change_after_a_quiet_time_is_announced_at_once_and_those_that_follow_together() {
    let mut network = ring();
    network.run(SECOND);
    network.address("A", "M0first", true);
    network.run(Duration::from_millis(10));
    assert!(network.known("B", "A").contains("M0first"));
    let before = network.routers["A"].sent;
    (0..100).for_each(|number| network.address("A", &format!("M0{number}"), true));
    assert_eq!(network.routers["A"].sent, before);
    network.run(SECOND);
    assert_eq!(network.known("C", "A").len(), 102);
}

/// How long after a neighbour has greeted back an address that then becomes known here is announced, if the neighbour took
/// so many milliseconds to greet back.
fn announced_after(took: u64) -> Duration {
    let (begun, greeted) = (SECOND, SECOND + Duration::from_millis(took));
    let mut engine = PathEngine::new(Config::new("A", 1_000), begun);
    engine.neighbor_up(begun, LinkRef(1), 1);
    let greeting = Body::Hello { instance: 1, seen: vec!["A".to_owned()] };
    let greeting = ControlMessage { id: "B".to_owned(), body: greeting }.encode(HELLO_ADDRESS);
    engine.receive(greeted, Some(LinkRef(1)), &greeting);
    engine.local_address(greeted, "M0new", Hint::Balanced, true);
    let announced = |message: &[u8]| {
        let body = ControlMessage::decode(message).map(|message| message.body);
        matches!(body, Ok(Body::AddressChange { .. }))
    };
    let mut now = greeted;
    loop {
        while let Some(output) = engine.poll_output() {
            if let Output::Send { content, .. } = output
                && announced(&content)
            {
                return now - greeted;
            }
        }
        now = engine.next_timeout().unwrap().max(now);
        engine.handle_timeout(now);
    }
}

#[test]
fn a_neighbour_that_greets_back_late_is_given_time_to_find_the_way_here_before_it_is_told_of_new_addresses() {
    assert!(announced_after(10) < SECOND / 10);
    assert_eq!(announced_after(900), SECOND * 5 / 4);
}

#[test]
fn traffic_goes_the_other_way_at_once_when_a_connection_is_closed() {
    let mut network = ring();
    network.cut(network.wire("A", "B"));
    network.run(Duration::from_millis(100));
    assert_eq!(network.next_hop("A", "B").as_deref(), Some("D"));
    network.run(SECOND * 5);
    network.assert_converged();
}

#[test]
fn a_connection_that_stalls_in_one_direction_is_given_up_by_both_ends() {
    let mut network = ring();
    let wire = network.wire("A", "B");
    network.wires.get_mut(&wire).unwrap().stalled = [true, false];
    network.run(SECOND * 6);
    network.assert_converged();
    assert_eq!(network.next_hop("A", "B").as_deref(), Some("D"));
    assert_eq!(network.next_hop("B", "A").as_deref(), Some("C"));
}

#[test]
fn a_router_that_stops_without_a_word_is_gone_after_the_hello_age_and_forgotten_soon_after() {
    let mut network = ring();
    network.kill("C", false);
    network.run(SECOND * 4);
    assert!(!network.reaches("A", "C"));
    network.run(SECOND * 3);
    assert_eq!(network.index("A", "C"), None);
    network.assert_converged();
}

#[test]
fn a_router_back_within_a_second_is_in_use_within_two_and_lacks_no_address() {
    let mut network = ring();
    network.kill("B", true);
    network.run(SECOND / 2);
    network.start("B", 1_001);
    network.address("B", "M0other", true);
    network.join("A", "B", 1);
    network.join("B", "C", 1);
    network.run(SECOND * 2);
    network.assert_converged();
    assert_eq!(network.known("D", "B").into_iter().collect::<Vec<_>>(), ["M0other"]);
}

#[test]
fn a_router_back_on_new_connections_before_the_old_ones_are_missed_is_in_use_within_two_seconds() {
    let mut network = ring();
    network.kill("B", false);
    network.run(SECOND / 2);
    network.start("B", 1_001);
    network.address("B", "M0other", true);
    network.join("A", "B", 1);
    network.join("B", "C", 1);
    network.run(SECOND * 2);
    assert_eq!(network.next_hop("A", "B").as_deref(), Some("B"));
    network.run(SECOND * 5);
    network.assert_converged();
}

#[test]
fn a_router_whose_clock_was_set_back_is_known_for_restarted() {
    let mut network = ring();
    network.kill("B", true);
    network.start("B", 500);
    network.address("B", "M0other", true);
    network.join("A", "B", 1);
    network.join("B", "C", 1);
    network.run(SECOND * 3);
    network.assert_converged();
    assert!(network.routers["D"].log.iter().any(|(_, line)| line == "Detected Restart of Router Node B"));
}

#[test]
fn a_router_that_starts_twice_in_one_second_is_asked_for_everything_again() {
    let mut network = ring();
    network.kill("B", true);
    network.run(SECOND / 10);
    network.start("B", 1_000);
    network.address("B", "M0other", true);
    network.join("A", "B", 1);
    network.join("B", "C", 1);
    network.run(SECOND * 5);
    network.assert_converged();
}

#[test]
fn a_router_that_starts_twice_in_one_second_has_its_new_neighbours_known() {
    let mut network = Network::of(&[("A", "B", 1), ("B", "C", 1), ("C", "D", 1), ("D", "A", 1), ("C", "FAR", 1)]);
    network.run(SECOND * 5);
    network.kill("B", false);
    // With as many neighbours as before its link state has changed as often as before, and FAR knows a way all the time.
    network.start_at("B", Config::new("B", 1_000).started_at(1_000_001));
    network.join("A", "B", 1);
    network.join("B", "D", 1);
    network.run(SECOND * 40);
    let known = network.routers["FAR"].engine.nodes().find(|node| node.id == "B").map(|node| node.link_state);
    assert_eq!(known, Some(vec![("A", 1), ("D", 1)]));
}

#[test]
fn a_partition_heals() {
    let mut network = ring();
    let wires = [network.wire("A", "B"), network.wire("C", "D")];
    wires.into_iter().for_each(|wire| network.cut(wire));
    network.address("B", "M0second", true);
    network.run(SECOND * 10);
    network.assert_converged();
    network.join("A", "B", 1);
    network.run(SECOND * 2);
    network.assert_converged();
}

#[test]
fn a_link_state_from_before_a_change_does_not_hide_a_router() {
    // D is moved from one end of a line to the other, while A cannot hear of it.
    let mut network = Network::of(&[("A", "B", 1), ("B", "C", 1), ("B", "D", 1)]);
    network.run(SECOND * 5);
    let wire = network.wire("A", "B");
    network.wires.get_mut(&wire).unwrap().stalled = [true, true];
    network.cut(network.wire("B", "D"));
    network.join("C", "D", 1);
    network.run(SECOND * 2);
    network.wires.get_mut(&wire).unwrap().stalled = [false, false];
    // The next advertisements come within the interval of a network in flux.
    network.run(SECOND * 5);
    network.assert_converged();
}

#[test]
fn a_router_that_was_forgotten_is_found_again_though_no_link_state_has_changed() {
    let mut network = Network::of(&[("A", "B", 1), ("B", "C", 1)]);
    network.run(SECOND * 5);
    // A still hears B, and so keeps its link state, but forgets C.
    let wire = network.wire("A", "B");
    network.wires.get_mut(&wire).unwrap().stalled = [true, false];
    network.run(SECOND * 20);
    network.wires.get_mut(&wire).unwrap().stalled = [false, false];
    network.run(SECOND * 3);
    network.assert_converged();
}

/// The number of requests for addresses that an engine sends to a neighbour that never answers one, in 20 seconds.
fn unanswered_requests(mobile_seq: i64) -> usize {
    let mut engine = PathEngine::new(Config::new("A", 1_000), SECOND);
    engine.neighbor_up(SECOND, LinkRef(1), 1);
    let mut requests = 0;
    for now in (1..=20).map(|second| SECOND * second) {
        let says = [
            Body::Hello { instance: 7, seen: vec!["A".to_owned()] },
            Body::Advertisement { instance: 7, ls_seq: 1, mobile_seq },
        ];
        for body in says {
            let message = ControlMessage { id: "old".to_owned(), body };
            engine.receive(now, Some(LinkRef(1)), &message.encode(HELLO_ADDRESS));
        }
        engine.handle_timeout(now);
        while let Some(output) = engine.poll_output() {
            if let Output::Send { content, .. } = output {
                let body = ControlMessage::decode(&content).unwrap().body;
                requests += usize::from(matches!(body, Body::AddressRequest { have_seq: 0 }));
            }
        }
    }
    requests
}

#[test]
fn a_router_that_has_never_announced_an_address_is_not_asked_for_any_again() {
    // An old router does not answer a request when it has nothing to say.
    assert_eq!(unanswered_requests(0), 1);
}

#[test]
fn a_request_for_addresses_is_repeated_until_it_is_answered() {
    assert!(unanswered_requests(3) > 5);
}

#[test]
fn a_newcomer_with_the_id_of_a_neighbour_is_refused_and_the_log_names_both() {
    let mut network = ring();
    let twin = network.join("A", "twin", 1);
    network.start("X", 1);
    // The twin says that it is B.
    let hello = ControlMessage { id: "B".to_owned(), body: Body::Hello { instance: 77, seen: vec!["A".to_owned()] } };
    for _ in 0..8 {
        let bytes = hello.encode(HELLO_ADDRESS);
        let now = network.now;
        let router = network.routers.get_mut("A").unwrap();
        router.engine.receive(now, Some(LinkRef(twin)), &bytes);
        network.run(SECOND / 2);
    }
    assert_eq!(network.next_hop("A", "B").as_deref(), Some("B"));
    let critical: Vec<_> = network.routers["A"].log.iter().filter(|(level, _)| *level == Level::Critical).collect();
    assert_eq!(critical.len(), 1, "{critical:?}");
    let line = &critical[0].1;
    assert!(line.starts_with("Detected Neighbor Router with a Duplicate ID - B"), "{line}");
    assert!(line.contains("instance=1000") && line.contains("instance=77") && line.contains("link_tag=2"), "{line}");
}

#[test]
fn two_routers_of_an_id_far_from_each_other_are_told_of_once_in_a_line_that_names_both() {
    let mut network = ring();
    let body = Body::Advertisement { instance: 77, ls_seq: 1, mobile_seq: 0 };
    let twin = ControlMessage { id: "B".to_owned(), body }.encode("amqp:/_topo/0/all/qdrouter");
    for _ in 0..6 {
        let now = network.now;
        network.routers.get_mut("A").unwrap().engine.receive(now, None, &twin);
        network.run(SECOND * 4);
    }
    let critical: Vec<_> = network.routers["A"].log.iter().filter(|(level, _)| *level == Level::Critical).collect();
    assert_eq!(critical.len(), 1, "{critical:?}");
    let line = &critical[0].1;
    assert!(line.starts_with("Detected Router with a Duplicate ID - B"), "{line}");
    assert!(line.contains("instance=1000") && line.contains("instance=77"), "{line}");
}

#[test]
fn a_neighbour_with_this_routers_own_id_is_refused() {
    let mut network = Network::new(1);
    network.start("A", 1_000);
    let link = network.join("A", "elsewhere", 1);
    let body = Body::Hello { instance: 77, seen: vec!["A".to_owned()] };
    let hello = ControlMessage { id: "A".to_owned(), body }.encode(HELLO_ADDRESS);
    let now = network.now;
    let router = network.routers.get_mut("A").unwrap();
    router.engine.receive(now, Some(LinkRef(link)), &hello);
    network.run(SECOND);
    let router = &network.routers["A"];
    assert!(router.engine.nodes().next().unwrap().link_state.is_empty());
    assert!(router.log.iter().any(|(_, line)| line.starts_with("Detected Neighbor Router with a Duplicate ID - A")));
}

#[test]
fn of_two_connections_to_a_neighbour_the_cheaper_is_used_and_the_other_when_it_is_lost() {
    let mut network = Network::of(&[("A", "B", 5), ("A", "B", 2)]);
    network.run(SECOND * 2);
    let index = network.index("A", "B").unwrap();
    let (cheap, cost, _) = network.routers["A"].routes[&index].clone();
    assert_eq!(cost, 2);
    network.cut(cheap.0);
    network.run(Duration::from_millis(50));
    let (other, cost, _) = network.routers["A"].routes[&index].clone();
    assert!(other != cheap && cost == 5);
}

#[test]
fn a_quiet_network_says_little() {
    let mut network = ring();
    network.run(SECOND * 60);
    let before = network.routers["A"].sent;
    network.run(SECOND * 300);
    // Two greetings a second, and an advertisement every 30 seconds.
    assert_eq!(network.routers["A"].sent - before, 600 + 10);
}

#[test]
fn a_network_larger_than_the_limit_says_so_and_works_as_far_as_it_goes() {
    let mut network = Network::new(1);
    network.max_routers = 4;
    let ids = ["A", "B", "C", "D", "E", "F"];
    ids.iter().for_each(|id| network.start(id, 1_000));
    ids.windows(2).for_each(|pair| _ = network.join(pair[0], pair[1], 1));
    network.run(SECOND * 5);
    assert_eq!(network.routers["A"].ids.len(), 3);
    assert!(network.routers["A"].log.iter().any(|(level, line)| *level == Level::Error && line.contains("4 routers")));
}

#[test]
fn a_full_network_is_told_of_once_however_many_routers_come_and_go() {
    let mut network = Network::new(1);
    network.max_routers = 3;
    ["A", "B", "C"].iter().for_each(|id| network.start(id, 1_000));
    network.join("A", "B", 1);
    network.join("A", "C", 1);
    network.run(SECOND * 5);
    for number in 0..5 {
        let id = format!("D{number}");
        network.start(&id, 1_000);
        network.join("A", &id, 1);
        network.run(SECOND * 5);
        network.kill(&id, true);
        // One that was known goes and comes back, which makes room for a while.
        network.kill("C", true);
        network.run(SECOND * 5);
        network.start("C", 1_001 + number);
        network.join("A", "C", 1);
        network.run(SECOND * 5);
    }
    let told = network.routers["A"].log.iter().filter(|(_, text)| text.contains("are ignored")).count();
    assert_eq!(told, 1);
}

#[test]
fn addresses_beyond_the_limit_are_told_of_once() {
    let now = SECOND;
    let mut engine = PathEngine::new(Config { max_addresses: 2, ..Config::new("A", 1) }, now);
    let said = |body| ControlMessage { id: "B".to_owned(), body }.encode(HELLO_ADDRESS);
    engine.neighbor_up(now, LinkRef(1), 1);
    engine.receive(now, Some(LinkRef(1)), &said(Body::Hello { instance: 1, seen: vec!["A".to_owned()] }));
    for mobile_seq in 1..5 {
        let exist = (0..100).map(|key| (format!("M0{key}"), None)).collect();
        engine.receive(now, Some(LinkRef(1)), &said(Body::Addresses { mobile_seq, exist }));
    }
    let outputs: Vec<Output> = std::iter::from_fn(|| engine.poll_output()).collect();
    let lines = outputs.iter().filter(|it| matches!(it, Output::Log { text, .. } if text.contains("left out"))).count();
    let taken = outputs.iter().filter(|it| matches!(it, Output::RemoteAddress { .. })).count();
    assert_eq!((lines, taken), (1, 2));
}

#[test]
fn a_connection_that_leads_back_is_told_of_once() {
    let mut engine = PathEngine::new(Config::new("A", 1), SECOND);
    engine.neighbor_up(SECOND, LinkRef(1), 1);
    let greeting = ControlMessage { id: "A".to_owned(), body: Body::Hello { instance: 1, seen: Vec::new() } };
    for _ in 0..3 {
        engine.receive(SECOND, Some(LinkRef(1)), &greeting.encode(HELLO_ADDRESS));
    }
    let outputs = std::iter::from_fn(|| engine.poll_output());
    let told: Vec<Output> = outputs.filter(|output| matches!(output, Output::LeadsHere { .. })).collect();
    assert_eq!(told, [Output::LeadsHere { link: LinkRef(1) }]);
}

/// What an engine has sent since the last time: on which connection, to which address.
fn sent(engine: &mut PathEngine) -> Vec<(Option<LinkRef>, String, ControlMessage)> {
    let outputs = std::iter::from_fn(|| engine.poll_output());
    let sent = outputs.filter_map(|output| match output {
        Output::Send { to, on, content } => Some((on, to, ControlMessage::decode(&content).unwrap())),
        _ => None,
    });
    sent.collect()
}

/// An engine with the neighbours B and C, which have said nothing of their link states.
fn between_two() -> PathEngine {
    let mut engine = PathEngine::new(Config::new("A", 1), SECOND);
    for (link, id) in [(1, "B"), (2, "C")] {
        engine.neighbor_up(SECOND, LinkRef(link), 1);
        let body = Body::Hello { instance: 1, seen: vec!["A".to_owned()] };
        let greeting = ControlMessage { id: id.to_owned(), body };
        engine.receive(SECOND, Some(LinkRef(link)), &greeting.encode(HELLO_ADDRESS));
    }
    sent(&mut engine);
    engine
}

#[test]
fn a_changed_link_state_is_told_to_everybody_unasked() {
    let mut network = ring();
    let sent = |network: &Network| ["B", "D"].map(|id| network.routers[id].sent);
    let before = sent(&network);
    network.join("A", "C", 1);
    network.run(Duration::from_millis(500));
    network.assert_converged();
    let others = network.routers["B"].engine.nodes().filter(|node| node.link_state.len() == 3).count();
    assert_eq!(others, 2, "A and C have three neighbours each");
    // They greet their neighbours, and ask for nothing.
    let after = sent(&network);
    assert!(after.iter().zip(before).all(|(after, before)| after - before <= 2), "{before:?}, {after:?}");
}

#[test]
fn a_link_state_that_had_to_be_asked_for_is_passed_on_to_the_other_neighbours_once() {
    let mut engine = between_two();
    let state = LinkState { id: "B".to_owned(), ls_seq: 1, peers: [("A".to_owned(), 1)].into() };
    let body = Body::LinkState { instance: 1, state };
    let update = ControlMessage { id: "B".to_owned(), body };
    for _ in 0..2 {
        engine.receive(SECOND, Some(LinkRef(1)), &update.encode("amqp:/_topo/0/A/qdrouter"));
    }
    let passed: Vec<_> = sent(&mut engine).into_iter().filter(|(.., message)| message.id == "B").collect();
    assert_eq!(passed, [(Some(LinkRef(2)), "amqp:/_topo/0/C/qdrouter".to_owned(), update)]);
}
