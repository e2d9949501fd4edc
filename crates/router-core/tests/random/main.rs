//! Random operations, with everything that must always hold checked at every step.

mod host;
mod world;

use proptest::prelude::*;
use world::{Step, World};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_everything_is_settled_once_and_nothing_is_left(
        steps in prop::collection::vec(any::<Step>(), 1..250),
    ) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
            world.check();
        }
        world.end();
    }
}
