//! Which messages have flooded this router lately: a copy that comes by a further way need not be sent on again.
//!
//! Without this, the copies of one message are as many as there are ways through the network, which grow exponentially with
//! it. (The old router sends every copy on, as far as the radius of the network allows.)

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::Now;

/// The same content after this long is another message.
const MEMORY: Duration = Duration::from_secs(1);
/// How many are remembered.
const MOST: usize = 4096;

/// The messages of the last second.
#[derive(Debug, Default)]
pub(crate) struct Floods {
    /// By digest: over how many routers a message came at best.
    hops: BTreeMap<u64, usize>,
    /// When each came first.
    order: VecDeque<(Now, u64)>,
}

impl Floods {
    /// Whether a message came before by a way that was not longer. If so it is to go no further; if not it is to be sent on,
    /// once more if need be: routers that count hops may have refused the copies that went the longer way.
    pub(crate) fn is_known(&mut self, now: Now, digest: u64, hops: usize) -> bool {
        while let Some(&(came, old)) = self.order.front()
            && (self.order.len() >= MOST || came + MEMORY <= now)
        {
            self.order.pop_front();
            self.hops.remove(&old);
        }
        match self.hops.entry(digest) {
            Entry::Occupied(known) if *known.get() <= hops => true,
            Entry::Occupied(mut known) => {
                known.insert(hops);
                false
            }
            Entry::Vacant(new) => {
                new.insert(hops);
                self.order.push_back((now, digest));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Duration::from_secs(100);

    #[test]
    fn a_message_is_known_when_it_comes_again_by_a_way_as_long() {
        let mut floods = Floods::default();
        assert!(!floods.is_known(NOW, 1, 2) && floods.is_known(NOW, 1, 2) && floods.is_known(NOW, 1, 3));
    }

    #[test]
    fn a_shorter_way_counts_anew() {
        let mut floods = Floods::default();
        floods.is_known(NOW, 1, 3);
        assert!(!floods.is_known(NOW, 1, 2) && floods.is_known(NOW, 1, 2));
    }

    #[test]
    fn another_message_is_not_known() {
        let mut floods = Floods::default();
        floods.is_known(NOW, 1, 2);
        assert!(!floods.is_known(NOW, 2, 2));
    }

    #[test]
    fn the_same_content_after_a_while_is_another_message() {
        let mut floods = Floods::default();
        floods.is_known(NOW, 1, 2);
        assert!(!floods.is_known(NOW + MEMORY, 1, 2));
    }

    #[test]
    fn memory_is_bounded() {
        let mut floods = Floods::default();
        for digest in 0..2 * MOST as u64 {
            floods.is_known(NOW, digest, 1);
        }
        assert_eq!((floods.hops.len(), floods.order.len()), (MOST, MOST));
    }
}
