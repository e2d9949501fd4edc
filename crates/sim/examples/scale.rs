//! How large may a network grow? Builds networks of given sizes, lets them come to rest, and prints what that took.
//!
//! `cargo run --release -p sim --example scale -- [old] ROUTERS ADDRESSES [ROUTERS ADDRESSES ...]`
//!
//! `old`: routers speak the old protocol only, as they do beside old routers.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::Duration;

use sim::{ControlTraffic, Does, World, check, topology};

/// Longer than any network should need, in virtual time.
const MOST: Duration = Duration::from_secs(600);

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|number| number.parse().ok()).collect();
    println!(
        "routers addresses | to rest  messages      bytes   CPU ms | messages a minute      bytes   CPU ms | KiB each"
    );
    let old = std::env::args().any(|word| word == "old");
    for pair in numbers.chunks_exact(2) {
        measure(pair[0], pair[1], old);
    }
}

/// What all routers have sent.
fn sent(world: &World) -> ControlTraffic {
    let each = (0..world.routers()).map(|router| world.control_traffic(router));
    each.fold(ControlTraffic::default(), |sum, of| ControlTraffic {
        messages: sum.messages + of.messages,
        bytes: sum.bytes + of.bytes,
    })
}

fn measure(routers: usize, addresses: usize, old: bool) {
    let before = resident();
    let mut world = World::new(routers as u64);
    world.set_max_routers((routers + 1).try_into().unwrap_or(u16::MAX));
    if old {
        world.share_nothing();
    }
    let network = topology::random(&mut world, routers, routers / 2);
    for (number, &router) in network.routers.iter().enumerate() {
        let client = world.add_client(router);
        for address in (number..addresses).step_by(routers) {
            world.add_link(client, Does::Receives(format!("address/{address}")));
        }
    }
    let start = used();
    let known = |world: &World| {
        network.routers.iter().all(|router| {
            world.router(*router).is_some_and(|router| router.core.object_counts().addresses >= addresses as u64)
        })
    };
    let at_rest = |world: &World| known(world) && check::what_is_wrong(world).is_none();
    let Some(took) = world.run_until(MOST, at_rest) else {
        println!("{routers:7} {addresses:9} | not at rest after {MOST:?}: {:?}", check::what_is_wrong(&world));
        return;
    };
    let (each, count) = (routers as u64, sent(&world));
    let cpu = (used() - start).as_secs_f64() * 1e3 / routers as f64;
    // What follows from coming to rest is over by then.
    world.run(Duration::from_secs(60));
    let (start, quiet) = (used(), sent(&world));
    world.run(Duration::from_secs(60));
    let now = sent(&world);
    let rest_cpu = (used() - start).as_secs_f64() * 1e3 / routers as f64;
    println!(
        "{routers:7} {addresses:9} | {:6.1}s {:9} {:10} {cpu:8.1} | {:17} {:10} {rest_cpu:8.1} | {:8}",
        took.as_secs_f64(),
        count.messages / each,
        count.bytes / each,
        (now.messages - quiet.messages) / each,
        (now.bytes - quiet.bytes) / each,
        resident().saturating_sub(before) / 1024 / each,
    );
}

/// Processor time that this process has used.
fn used() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

/// Bytes of memory that this process holds.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').nth(1)?.parse().ok());
    pages.unwrap_or(0) * 4096
}
