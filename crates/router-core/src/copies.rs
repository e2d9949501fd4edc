//! Copies of one multicast message that come by several ways, while routes change and nobody can say which way is right.
//!
//! At rest each router takes what comes along the tree of cheapest paths, and nothing else. After a change routers see that
//! tree differently for a while, and old routers send copies to everybody at all times. Then the first copy of a message is
//! taken, whatever way it came, and those that come by other ways are not.
//!
//! Our routers stamp each message where it comes to the network, and tell each other the stamp: what has another one is another
//! message, whatever way it comes.
//!
//! What has passed an old router has no stamp. Such messages are told apart by their bytes, so that a sender may well send the
//! same again: the second one comes by a way by which the first one came already, and that makes it another message. (If the way
//! changes just then, and the same bytes are sent again within [`MEMORY`], the second one is taken for a copy: nothing that
//! old routers pass on tells the two apart.) The ways by which stamped messages come count as one.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use smallvec::SmallVec;

use crate::Now;

/// A copy that comes later than this after the first one is another message.
const MEMORY: Now = Now::from_secs(5);
/// How many messages are remembered.
const MOST: usize = 4096;
/// How many ways of one message.
const WAYS: usize = 16;

/// The way by which all stamped messages come.
pub(crate) const STAMPED: u64 = 0;

/// What tells a message from others: its bytes, where it goes, where it came to the network.
pub(crate) type Identity = (u64, u32, u16);

/// Multicast messages that came from other routers lately.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    known: BTreeMap<Identity, Known>,
    order: VecDeque<(Now, Identity)>,
    /// Stamps and addresses.
    stamps: BTreeSet<(u64, u32)>,
    stamped: VecDeque<(Now, (u64, u32))>,
}

#[derive(Debug, Default)]
struct Known {
    /// So many messages like this were taken.
    taken: u32,
    /// How many came by each way.
    ways: SmallVec<[(u64, u32); 4]>,
}

impl Copies {
    /// A message with a stamp has come. Whether it has come before.
    pub(crate) fn is_stamped_double(&mut self, now: Now, stamp: (u64, u32)) -> bool {
        while let Some(&(came, old)) = self.stamped.front()
            && (self.stamped.len() >= MOST || came + MEMORY <= now)
        {
            self.stamped.pop_front();
            self.stamps.remove(&old);
        }
        let new = self.stamps.insert(stamp);
        if new {
            self.stamped.push_back((now, stamp));
        }
        !new
    }

    /// A message has come by a way. Whether it is a copy of one that was taken.
    pub(crate) fn is_double(&mut self, now: Now, message: Identity, way: u64) -> bool {
        while let Some(&(came, old)) = self.order.front()
            && (self.order.len() >= MOST || came + MEMORY <= now)
        {
            self.order.pop_front();
            self.known.remove(&old);
        }
        let known = match self.known.entry(message) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                self.order.push_back((now, message));
                new.insert(Known::default())
            }
        };
        let count = match known.ways.iter_mut().find(|(other, _)| *other == way) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                if known.ways.len() < WAYS {
                    known.ways.push((way, 1));
                }
                1
            }
        };
        let double = count <= known.taken;
        known.taken += u32::from(!double);
        double
    }
}

/// A number for the routers that a message has passed.
pub(crate) fn way<'a>(trace: impl Iterator<Item = &'a str>) -> u64 {
    // FNV-1a: whoever could send what collides could as well send nothing.
    let bytes = trace.flat_map(|router| router.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now::from_secs(100);
    const MESSAGE: Identity = (1, 2, 3);

    #[test]
    fn the_first_copy_is_taken_and_those_that_come_by_other_ways_are_not() {
        let mut copies = Copies::default();
        assert!(!copies.is_double(NOW, MESSAGE, 1));
        assert!(copies.is_double(NOW, MESSAGE, 2) && copies.is_double(NOW, MESSAGE, 3));
    }

    #[test]
    fn the_same_sent_again_is_taken_again_whatever_copies_of_it_come() {
        let mut copies = Copies::default();
        let ways = [1, 2, 1, 1, 2, 3, 2, 3, 3];
        let taken = ways.iter().filter(|way| !copies.is_double(NOW, MESSAGE, **way)).count();
        assert_eq!(taken, 3, "three messages by three ways");
    }

    #[test]
    fn the_same_bytes_for_another_address_or_of_another_origin_are_another_message() {
        let mut copies = Copies::default();
        let others = [(1, 2, 3), (2, 2, 3), (1, 9, 3), (1, 2, 9)];
        assert!(others.iter().enumerate().all(|(way, message)| !copies.is_double(NOW, *message, way as u64)));
    }

    #[test]
    fn a_stamped_message_is_known_by_its_stamp() {
        let mut copies = Copies::default();
        assert!(!copies.is_stamped_double(NOW, (7, 2)) && copies.is_stamped_double(NOW, (7, 2)));
        assert!(!copies.is_stamped_double(NOW, (8, 2)) && !copies.is_stamped_double(NOW, (7, 3)));
    }

    #[test]
    fn the_same_bytes_with_another_stamp_are_another_message_whatever_way_they_come() {
        let mut copies = Copies::default();
        assert!((0..5).all(|_| !copies.is_double(NOW, MESSAGE, STAMPED)));
    }

    #[test]
    fn a_copy_that_lost_its_stamp_on_its_way_is_still_a_copy() {
        let mut copies = Copies::default();
        assert!(!copies.is_double(NOW, MESSAGE, STAMPED) && copies.is_double(NOW, MESSAGE, 1));
        let mut copies = Copies::default();
        assert!(!copies.is_double(NOW, MESSAGE, 1) && copies.is_double(NOW, MESSAGE, STAMPED));
    }

    #[test]
    fn memory_is_bounded_and_short() {
        let mut copies = Copies::default();
        for number in 0..2 * MOST as u64 {
            copies.is_double(NOW, (number, 0, 0), number);
        }
        (0..1_000).for_each(|way| _ = copies.is_double(NOW, MESSAGE, way));
        assert!(copies.known.len() <= MOST && copies.order.len() <= MOST);
        (1..2 * MOST as u64).for_each(|stamp| _ = copies.is_stamped_double(NOW, (stamp, 0)));
        assert!(copies.stamps.len() <= MOST && copies.stamped.len() <= MOST);
        assert_eq!(copies.known[&MESSAGE].ways.len(), WAYS);
        assert!(!copies.is_double(NOW + MEMORY, MESSAGE, 1));
    }

    #[test]
    fn ways_differ_by_their_routers_and_their_order() {
        let ways = [way(["a", "b"].into_iter()), way(["b", "a"].into_iter()), way(["ab"].into_iter())];
        assert!(ways[0] != ways[1] && ways[0] != ways[2] && ways[1] != ways[2]);
    }
}
