//! Clients and a broker around one router, in random order: credit is never exceeded, and whoever has some gets what there is.
//!
//! Every connection is two queues of frames, from which one at a time is taken, so that whatever can cross does cross.
//! `SEED=n` tells one story alone.

mod host;
mod peers;
mod world;

use world::World;

/// How many stories are told.
const STORIES: u64 = 300;
/// How many steps each has.
const STEPS: usize = 600;

/// Says which story failed.
struct Telling(u64);

impl Drop for Telling {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to tell this story alone: SEED={}", self.0);
        }
    }
}

fn tell(seed: u64) {
    let _telling = Telling(seed);
    let mut world = World::new(seed);
    for step in 0..STEPS {
        world.step();
        if step % 200 == 199 {
            world.come_to_rest();
            world.check_rest();
        }
    }
    world.end();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a developer names one story to be told")]
fn credit_is_kept_and_nothing_stalls_whatever_clients_and_broker_do() {
    match std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => tell(seed),
        None => (0..STORIES).for_each(tell),
    }
}
