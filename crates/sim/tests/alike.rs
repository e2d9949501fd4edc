//! Multicasts that look alike: the same bytes sent again are another message, also where the way changes between them.

use std::time::Duration;

use sim::{Does, Fate, World, check, topology};

const ADDRESS: &str = "multicast/ticks";

/// A ring of four: from the first to the third router lead two ways, of which one is taken and then the other.
#[test]
fn the_same_bytes_sent_again_while_the_way_changes_are_no_copy() {
    for seed in 0..10 {
        let mut world = World::new(seed);
        let network = topology::ring(&mut world, 4);
        let receiver = world.add_client(network.routers[2]);
        world.add_link(receiver, Does::Receives(ADDRESS.to_owned()));
        let sender = world.add_client(network.routers[0]);
        let link = world.add_link(sender, Does::Sends(Some(ADDRESS.to_owned())));
        let homes = [network.routers[2]].into();
        let at_rest = |world: &World| {
            check::what_is_wrong(world).is_none() && check::what_is_wrong_with(world, ADDRESS, &homes).is_none()
        };
        world.run_until(Duration::from_secs(10), at_rest).expect("the network comes to rest");
        for round in 0..40 {
            let mut sent = vec![world.send_alike(sender, link, ADDRESS)];
            world.run(Duration::from_millis(100));
            // One of the two connections of the first router: the way that was taken, or the other one.
            world.cut_trunk(network.trunks[if round % 2 == 0 { 0 } else { 3 }], true);
            world.run(Duration::from_millis(200));
            sent.extend((0..3).map(|_| world.send_alike(sender, link, ADDRESS)));
            world.run(Duration::from_millis(100));
            network.trunks.iter().for_each(|trunk| world.cut_trunk(*trunk, false));
            world.run_until(Duration::from_secs(10), at_rest).expect("the network comes to rest");
            for id in sent {
                let entry = world.ledger.get(id);
                // What was refused because nobody knew the way is no loss: its sender knows.
                if entry.fate == Some(Fate::Accepted) {
                    assert_eq!(entry.receivers.len(), 1, "seed {seed}, round {round}: message {id}: {entry:?}");
                }
            }
        }
        let accepted = world.ledger.iter().filter(|(_, entry)| entry.fate == Some(Fate::Accepted)).count();
        assert!(accepted > 120, "seed {seed}: only {accepted} of 160 messages were accepted");
    }
}
