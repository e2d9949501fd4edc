//! Two endpoints of ours in memory, whose owners do anything in any order: neither ever breaks a rule that the other
//! enforces.
#![no_main]

use fuzz::owner::Owner;
use fuzz::script::Act;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Step {
    /// One side's owner acts.
    Act(bool, Act),
    /// Some of one side's bytes reach the other.
    Carry(bool, u16),
}

fuzz_target!(|steps: Vec<Step>| {
    let mut sides = [Owner::new(true, false), Owner::new(false, false)];
    carry_all(&mut sides);
    for step in &steps {
        match *step {
            // Losing the transport or waiting for a time-out is a failure in itself.
            Step::Act(_, Act::Lose | Act::Wait(_)) => {}
            Step::Act(side, act) => {
                let owner = &mut sides[usize::from(side)];
                owner.act(act);
                owner.feed(&[]);
            }
            Step::Carry(side, count) => {
                let bytes = sides[usize::from(side)].output(usize::from(count));
                sides[usize::from(!side)].feed(&bytes);
            }
        }
    }
    carry_all(&mut sides);
    for owner in &sides {
        assert!(owner.failed.is_none(), "{:?}", owner.failed);
        assert!(owner.faults.is_empty(), "{:?}", owner.faults);
    }
});

/// Carries bytes to and fro until neither has more.
fn carry_all(sides: &mut [Owner; 2]) {
    for _ in 0..10_000 {
        let mut quiet = true;
        for side in [0, 1] {
            let bytes = sides[side].output(usize::MAX);
            quiet &= bytes.is_empty();
            sides[1 - side].feed(&bytes);
        }
        if quiet {
            return;
        }
    }
    panic!("the two never come to rest");
}
