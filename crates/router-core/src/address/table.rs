//! The table of addresses: by index for what is bound to one, by key for everyone else.

use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use super::Address;
use crate::arena::{Arena, index_of};

/// A hasher with a key, so that peers, who choose addresses, cannot choose colliding ones.
#[derive(Clone)]
pub(crate) struct Keyed(u128);

impl BuildHasher for Keyed {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u128(self.0);
        hasher
    }
}

/// All addresses.
pub(crate) struct Addresses {
    entries: Arena<Address>,
    by_key: HashMap<Arc<str>, u32, Keyed>,
}

impl Addresses {
    /// An empty table. `secret` must be unpredictable for peers.
    pub(crate) fn new(secret: u128) -> Self {
        Self { entries: Arena::default(), by_key: HashMap::with_hasher(Keyed(secret)) }
    }

    /// Number of addresses.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The index of the address with this key.
    pub(crate) fn find(&self, key: &str) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    /// Adds an address whose key is not there yet.
    pub(crate) fn insert(&mut self, address: Address) -> u32 {
        let key = Arc::clone(&address.key);
        let index = index_of(self.entries.insert(address));
        self.by_key.insert(key, index);
        index
    }

    /// Removes an address.
    pub(crate) fn remove(&mut self, index: u32) {
        if let Some(address) = self.entries.remove_at(index) {
            self.by_key.remove(&address.key);
            // After a burst of addresses the table gives its memory back.
            if self.by_key.capacity() > 64 && self.by_key.len() < self.by_key.capacity() / 8 {
                self.by_key.shrink_to(self.by_key.len() * 2);
            }
        }
    }

    /// All addresses.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Address> {
        self.entries.iter().map(|(_, address)| address)
    }
}

impl Index<u32> for Addresses {
    type Output = Address;

    fn index(&self, index: u32) -> &Address {
        &self.entries[index]
    }
}

impl IndexMut<u32> for Addresses {
    fn index_mut(&mut self, index: u32) -> &mut Address {
        &mut self.entries[index]
    }
}
