//! Two endpoints whose owners do anything they may, in any order, over a slow line: against a model of what must arrive.

use proptest::prelude::*;

use crate::world::World;

/// How many links there are: two in each direction, two in each of two sessions.
pub(crate) const LINKS: usize = 4;

/// What happens next.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send {
        link: usize,
        size: usize,
        settled: bool,
    },
    Begin {
        link: usize,
        size: usize,
        settled: bool,
    },
    /// Gives some more of the delivery in progress to the endpoint.
    Continue {
        link: usize,
        size: usize,
    },
    Abort {
        link: usize,
    },
    Credit {
        link: usize,
        credit: u32,
    },
    Drain {
        link: usize,
    },
    Drained {
        link: usize,
    },
    Settle {
        link: usize,
        nth: usize,
        state: usize,
    },
    SenderSettles {
        link: usize,
        nth: usize,
    },
    Hold {
        link: usize,
        hold: bool,
    },
    Flush {
        client: bool,
    },
    Deliver {
        to_server: bool,
        bytes: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let link = || 0..LINKS;
    let size = || prop_oneof![4 => 0usize..200, 1 => 0usize..3000];
    prop_oneof![
        6 => (link(), size(), any::<bool>()).prop_map(|(link, size, settled)| Step::Send { link, size, settled }),
        3 => (link(), size(), any::<bool>()).prop_map(|(link, size, settled)| Step::Begin { link, size, settled }),
        5 => (link(), size()).prop_map(|(link, size)| Step::Continue { link, size }),
        1 => link().prop_map(|link| Step::Abort { link }),
        6 => (link(), 0u32..5).prop_map(|(link, credit)| Step::Credit { link, credit }),
        1 => link().prop_map(|link| Step::Drain { link }),
        3 => link().prop_map(|link| Step::Drained { link }),
        6 => (link(), 0usize..10, 0usize..4).prop_map(|(link, nth, state)| Step::Settle { link, nth, state }),
        1 => (link(), 0usize..10).prop_map(|(link, nth)| Step::SenderSettles { link, nth }),
        1 => (link(), any::<bool>()).prop_map(|(link, hold)| Step::Hold { link, hold }),
        12 => any::<bool>().prop_map(|client| Step::Flush { client }),
        16 => (any::<bool>(), prop_oneof![0usize..50, 0usize..5000])
            .prop_map(|(to_server, bytes)| Step::Deliver { to_server, bytes }),
    ]
}

proptest! {
    #[test]
    fn whatever_two_owners_do_all_arrives_in_order_and_is_settled_once(
        steps in proptest::collection::vec(step(), 0..300),
    ) {
        let mut world = World::new();
        for step in steps {
            world.take(step);
            world.check_credit();
        }
        world.finish();
        world.check_deliveries();
        world.check_outcomes();
        world.check_agreement();
    }
}
