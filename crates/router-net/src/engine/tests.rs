//! What a message costs, counted in routers that are looked at.

use super::PathEngine;
use crate::wire::{ALL_ROUTERS_ADDRESS, Body, ControlMessage, HELLO_ADDRESS};
use crate::{Config, Hint, LinkRef, LinkState, Output};
use std::time::Duration;

const LINK: LinkRef = LinkRef(1);

/// An engine with one neighbour, which is one of so many routers that are joined with it.
fn engine_beside(routers: usize) -> (PathEngine, Duration) {
    let mut now = Duration::from_secs(100);
    let config = Config { max_routers: u16::MAX, ..Config::new("own", 1) };
    let mut engine = PathEngine::new(config, now);
    engine.neighbor_up(now, LINK, 1);
    say(&mut engine, now, "r0", Body::Hello { instance: 1, seen: vec!["own".to_owned()] });
    let peers = (1..routers).map(|at| (format!("r{at}"), 1)).collect();
    let state = LinkState { id: "r0".to_owned(), ls_seq: 1, peers };
    say(&mut engine, now, "r0", Body::LinkState { instance: 1, state });
    for at in 1..routers {
        let id = format!("r{at}");
        let state = LinkState { id: id.clone(), ls_seq: 1, peers: [("r0".to_owned(), 1)].into() };
        say(&mut engine, now, &id, Body::LinkState { instance: 1, state });
        say(&mut engine, now, &id, Body::Advertisement { instance: 1, ls_seq: 1, mobile_seq: 0 });
    }
    // Until routes are computed and everything that was asked for is there.
    now += Duration::from_secs(2);
    for at in 0..routers {
        say(&mut engine, now, &format!("r{at}"), Body::Advertisement { instance: 1, ls_seq: 1, mobile_seq: 0 });
    }
    engine.handle_timeout(now);
    (engine, now)
}

fn say(engine: &mut PathEngine, now: Duration, id: &str, body: Body) {
    let message = ControlMessage { id: id.to_owned(), body }.encode(ALL_ROUTERS_ADDRESS);
    engine.receive(now, Some(LINK), &message);
    while engine.poll_output().is_some() {}
}

/// How many routers are looked at for some messages of daily life.
fn looked_at(routers: usize) -> usize {
    let (mut engine, now) = engine_beside(routers);
    let before = engine.nodes.looked_at.get();
    for at in 0..10 {
        let id = format!("r{at}");
        say(&mut engine, now, &id, Body::Advertisement { instance: 1, ls_seq: 1, mobile_seq: 0 });
        say(&mut engine, now, &id, Body::LinkStateRequest);
        say(&mut engine, now, &id, Body::AddressRequest { have_seq: 0 });
        engine.local_address(now, &format!("M0{at}"), Hint::Balanced, true);
        say(&mut engine, now, "r0", Body::Hello { instance: 1, seen: vec!["own".to_owned()] });
        assert!(engine.next_timeout().is_some());
    }
    engine.nodes.looked_at.get() - before
}

#[test]
fn a_message_costs_the_same_however_many_routers_there_are() {
    assert_eq!(looked_at(1_000), looked_at(20));
}

#[test]
fn greetings_go_out_when_they_are_due_however_many_advertisements_have_come() {
    let (mut engine, mut now) = engine_beside(100);
    let (end, mut greetings) = (now + Duration::from_secs(10), 0);
    while now < end {
        for at in 0..100 {
            let body = Body::Advertisement { instance: 1, ls_seq: 1, mobile_seq: 0 };
            let message = ControlMessage { id: format!("r{at}"), body }.encode(ALL_ROUTERS_ADDRESS);
            engine.receive(now, Some(LINK), &message);
        }
        now += Duration::from_millis(10);
        if engine.next_timeout().is_some_and(|due| due <= now) {
            engine.handle_timeout(now);
        }
        let sent = std::iter::from_fn(|| engine.poll_output());
        greetings += sent.filter(|output| matches!(output, Output::Send { to, .. } if to == HELLO_ADDRESS)).count();
    }
    assert!((9..=11).contains(&greetings), "{greetings}");
}
