//! Messages between routers: any bytes at all are one, or an error; what was read says the same when it is written again;
//! and an engine that hears them holds memory in proportion to them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use router_net::edge::wire::{LookupReply, LookupRequest, Tracking};
use router_net::edge::{ManagementReply, answer_lookup};
use router_net::wire::ControlMessage;
use router_net::{Config, LinkRef, PathEngine};
use std::time::Duration;

/// Bytes of memory that an input byte may cost: a neighbour in a link state is a few bytes, and becomes a router.
const FACTOR: usize = 2_000;

fuzz_target!(|data: &[u8]| {
    let (_, peak) = fuzz::peak(|| hear(data));
    assert!(peak < 256 * 1024 + FACTOR * data.len(), "{peak} bytes held for an input of {}", data.len());
});

fn hear(data: &[u8]) {
    if let Ok(message) = ControlMessage::decode(data) {
        let again = ControlMessage::decode(&message.encode("to")).expect("what was written can be read");
        assert_eq!(again.encode("to"), message.encode("to"));
    }
    if let Ok(tracking) = Tracking::decode(data) {
        assert_eq!(Tracking::decode(&tracking.encode()).as_ref(), Ok(&tracking));
    }
    if let Ok(request) = LookupRequest::decode(data) {
        assert!(LookupRequest::decode(&request.encode()).is_ok());
    }
    if let Ok(reply) = LookupReply::decode(data) {
        assert!(LookupReply::decode(&reply.encode()).is_ok());
    }
    let _ = ManagementReply::decode(data);
    let _ = answer_lookup(data, |_, _| Some((true, true)));
    [false, true].into_iter().for_each(|shares| hear_as_neighbor(data, shares));
}

/// What comes from a neighbour, which shares what it knows or does not.
fn hear_as_neighbor(data: &[u8], shares: bool) {
    let start = Duration::from_secs(1);
    let mut engine = PathEngine::new(Config::new("A", 1), start);
    if shares {
        engine.neighbor_shares(LinkRef(1));
    }
    engine.neighbor_up(start, LinkRef(1), 1);
    for second in 1..4 {
        engine.receive(Duration::from_secs(second), Some(LinkRef(1)), data);
        engine.handle_timeout(Duration::from_secs(second));
        while engine.poll_output().is_some() {}
    }
}
