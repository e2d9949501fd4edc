//! The engine beside the old router: what both compute for the same network, and what both write.

use crate::network::{Network, SECOND};
use amqp::message::{self, Message, Scan, Scanner, SectionKind};
use amqp::{Map, Symbol, Value};
use router_net::wire::{Body, ControlMessage, WireError};
use router_net::{Config, Hint, LinkRef, LinkState, PathEngine};

/// Networks of up to eight routers of the old kind, and the lines "Computed next hops", "costs", "valid origins" and
/// "radius" of each. If one of them came out differently here, multicasts in a mixed network would be doubled or lost.
const PATHS: &str = include_str!("golden/paths.txt");

#[test]
fn paths_costs_valid_origins_and_radius_are_those_of_the_old_router() {
    for topology in PATHS.split("topology ").skip(1) {
        let lines: Vec<Vec<&str>> = topology.lines().map(|line| line.split(' ').collect()).collect();
        let edges: Vec<(&str, &str, u32)> = (lines.iter().filter(|line| line[0] == "edge"))
            .map(|line| (line[1], line[2], line[3].parse().unwrap()))
            .collect();
        let mut network = Network::of(&edges);
        network.run(SECOND * 10);
        for line in &lines {
            match line[..] {
                ["radius", at, radius] => {
                    assert_eq!(network.routers[at].radius.to_string(), radius, "{} {line:?}", lines[0][0]);
                }
                ["path", at, of, hop, cost, origins] => {
                    let view = network.routers[at].engine.nodes().find(|view| view.id == of).unwrap();
                    let next_hop = if view.link.is_some() { Some(of) } else { view.next_hop };
                    let mut found = view.valid_origins.clone();
                    found.sort_unstable();
                    let found = if found.is_empty() { "-".to_owned() } else { found.join(",") };
                    let cost = Some(cost.parse().unwrap());
                    assert_eq!(
                        (next_hop, view.cost, found.as_str()),
                        (Some(hop), cost, origins),
                        "{} {line:?}",
                        lines[0][0]
                    );
                }
                _ => {}
            }
        }
    }
}

/// Messages that old routers sent each other, with the annotations that their core adds.
const MESSAGES: &str = include_str!("golden/messages.txt");

fn messages() -> Vec<(&'static str, Vec<u8>)> {
    let lines = MESSAGES.lines().filter(|line| !line.starts_with('#'));
    let message = |line: &'static str| {
        let (opcode, hex) = line.split_once(' ').unwrap();
        let bytes = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
        (opcode, bytes.collect())
    };
    lines.map(message).collect()
}

/// Without the section that the core adds.
fn without_annotations(message: &[u8]) -> Vec<u8> {
    let mut scanner = Scanner::new(message, true);
    let mut out = Vec::new();
    while let Scan::Section(section) = scanner.next().unwrap() {
        if section.kind != SectionKind::MessageAnnotations {
            out.extend_from_slice(section.raw);
        }
    }
    out
}

#[test]
fn what_an_old_router_sent_is_read_and_written_again_byte_for_byte() {
    for (opcode, bytes) in messages() {
        let message = ControlMessage::decode(&bytes).unwrap();
        let to = Message::decode(&bytes).unwrap().properties.to.unwrap();
        assert_eq!(message.body.opcode(), opcode);
        let (mut ours, mut theirs) = (message.encode(&to), without_annotations(&bytes));
        if opcode == "LSU" {
            // Neighbours come in no particular order there.
            ours.sort_unstable();
            theirs.sort_unstable();
        }
        assert_eq!(ours, theirs, "{message}");
    }
}

#[test]
fn what_an_old_router_sent_is_understood() {
    let found: Vec<String> =
        messages().iter().map(|(_, bytes)| ControlMessage::decode(bytes).unwrap().to_string()).collect();
    for expected in [
        "HELLO(id=B pv=1 area=0 inst=1796044119 seen=['C', 'A'])",
        "RA(id=A pv=1 area=0 inst=1796044120 ls_seq=3 mobile_seq=3)",
        "LSU(id=A pv=1 area=0 inst=1796044120 ls_seq=2 ls=LS(id=A area=0 ls_seq=2 peers={'B': 3}))",
        "LSR(id=C pv=1 area=0)",
        "MAR(id=B pv=1 area=0 have_seq=0)",
        "MAU(id=A pv=1 area=0 mobile_seq=2 add=0 del=3)",
        "MAU(id=A pv=1 area=0 mobile_seq=3 exist=1)",
    ] {
        assert!(found.iter().any(|line| line == expected), "{expected} is not among {found:#?}");
    }
}

#[test]
fn hints_go_with_the_keys_of_an_old_routers_update() {
    let (_, bytes) = messages()
        .into_iter()
        .find(|(_, bytes)| bytes.ends_with(b"\xa1\x07M0three\xa3\x03del\xd0\0\0\0\x04\0\0\0\0"))
        .unwrap();
    let Body::AddressChange { mobile_seq: 1, add, del } = ControlMessage::decode(&bytes).unwrap().body else {
        panic!()
    };
    let expected = [("M0mc.one", Hint::Multicast), ("M0cl.two", Hint::Closest), ("M0three", Hint::Balanced)];
    assert_eq!(add, expected.map(|(key, hint)| (key.to_owned(), Some(hint))));
    assert_eq!(del, [""; 0]);
}

fn message(opcode: &str, body: Map) -> Vec<u8> {
    let mut message = Message::new(message::Body::Value(body.into()));
    message.application_properties.insert("opcode", opcode);
    message.to_bytes()
}

#[test]
fn any_integer_type_and_symbols_for_strings_are_taken() {
    let mut body = Map::new();
    body.insert_symbol("mobile_seq", 7u8);
    body.insert("ls_seq", 6u64);
    body.insert("instance", Value::Short(5));
    body.insert("id", Symbol::from("X"));
    let found = ControlMessage::decode(&message("RA", body)).unwrap();
    let expected = Body::Advertisement { instance: 5, ls_seq: 6, mobile_seq: 7 };
    assert_eq!(found, ControlMessage { id: "X".to_owned(), body: expected });
}

#[test]
fn a_later_version_is_told_from_what_is_malformed() {
    let body: Map = [("id", Value::from("X")), ("pv", Value::Int(2))].into_iter().collect();
    let expected = WireError::Version { opcode: "RA".to_owned(), version: 2, id: "X".to_owned() };
    assert_eq!(ControlMessage::decode(&message("RA", body)), Err(expected));
}

#[test]
fn a_link_state_of_somebody_else_is_malformed() {
    let ls: Map =
        [("id", Value::from("Y")), ("ls_seq", Value::Int(1)), ("peers", Map::new().into())].into_iter().collect();
    let body: Map = [("id", Value::from("X")), ("ls_seq", Value::Int(1)), ("ls", ls.into())].into_iter().collect();
    assert!(matches!(ControlMessage::decode(&message("LSU", body)), Err(WireError::Member { member: "ls", .. })));
}

/// What an old router A with the neighbour F computed when F told it that these routers had these neighbours: costs, and
/// who passes through A. It asks nobody for agreement, and counts each direction by itself.
type Heard = [(&'static str, &'static [(&'static str, u32)])];
type Computed = [(&'static str, u32, &'static [&'static str])];
const ONE_SIDED: [(&Heard, &Computed); 4] = [
    (
        &[("F", &[("A", 1), ("X", 1)]), ("X", &[("Y", 1)]), ("Y", &[("X", 1)])],
        &[("F", 1, &[]), ("X", 2, &[]), ("Y", 3, &[])],
    ),
    (&[("F", &[("A", 1)]), ("X", &[("F", 1)])], &[("F", 1, &[])]),
    (&[("F", &[("A", 1), ("W", 1)]), ("W", &[("A", 1)]), ("Z", &[("A", 1)])], &[("F", 1, &["W"]), ("W", 2, &[])]),
    (
        &[("F", &[("A", 7), ("X", 1), ("Y", 5)]), ("X", &[("F", 9), ("Y", 1)]), ("Y", &[("F", 2), ("X", 1)])],
        &[("F", 1, &[]), ("X", 2, &[]), ("Y", 3, &[])],
    ),
];

#[test]
fn what_routers_say_of_their_neighbours_counts_one_sided_as_for_the_old_router() {
    let second = std::time::Duration::from_secs(1);
    for (heard, expected) in ONE_SIDED {
        let mut engine = PathEngine::new(Config::new("A", 1_000), second);
        engine.neighbor_up(second, LinkRef(1), 1);
        let mut say = |body: Body, id: &str| {
            let message = ControlMessage { id: id.to_owned(), body };
            engine.receive(second, Some(LinkRef(1)), &message.encode("amqp:/_topo/0/A/qdrouter"));
        };
        say(Body::Hello { instance: 1, seen: vec!["A".to_owned()] }, "F");
        for (id, peers) in heard {
            let peers = peers.iter().map(|(peer, cost)| ((*peer).to_owned(), *cost)).collect();
            let state = LinkState { id: (*id).to_owned(), ls_seq: 5, peers };
            say(Body::LinkState { instance: 1, state }, id);
        }
        engine.handle_timeout(second * 2);
        let mut found: Vec<(&str, u32, Vec<&str>)> =
            engine.nodes().filter_map(|view| Some((view.id, view.cost?, view.valid_origins))).collect();
        found.sort_unstable();
        let expected: Vec<_> = expected.iter().map(|(id, cost, origins)| (*id, *cost, origins.to_vec())).collect();
        assert_eq!(found, expected);
    }
}
