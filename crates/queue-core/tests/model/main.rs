//! Random commands and consumers, every feature combined, against a model of queues that is simple enough to be seen to
//! be right: lists of messages that are searched from the start.
//!
//! The model predicts what each command does, to the last message. It does not predict who is given what, but knows what
//! may be given: whoever gets a message must be entitled to it, and nobody who is may be left without. `PROPTEST_CASES=n` tells more stories.

#![allow(clippy::unwrap_used, reason = "tests")]

mod apply;
mod consumers;
mod queues;
mod steps;
mod world;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn queues_do_what_the_model_does(
        settings in steps::all_settings(),
        steps in prop::collection::vec(steps::step(), 1..100),
    ) {
        let mut world = world::World::new(settings);
        for step in steps {
            world.step(&step);
        }
        world.end();
    }
}
