//! The table of addresses: by index for what is bound to one, by key for everyone else.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use super::Address;
use crate::arena::{Arena, index_of};

/// Makes hashers that depend on a secret, so that peers, who choose addresses, cannot choose colliding ones.
#[derive(Clone)]
pub(crate) struct Keyed {
    start: u64,
    factor: u64,
}

impl Keyed {
    /// Hashers for this secret.
    pub(crate) fn new(secret: u128) -> Self {
        // An odd factor keeps every bit of what it is multiplied with.
        Self { start: secret as u64, factor: (secret >> 64) as u64 | 1 }
    }
}

impl BuildHasher for Keyed {
    type Hasher = FoldedHasher;

    fn build_hasher(&self) -> FoldedHasher {
        FoldedHasher { state: self.start, factor: self.factor }
    }
}

/// Hashes by multiplying to twice the width and folding the halves together, sixteen bytes at a time: short keys, such as
/// addresses, cost a few multiplications.
pub(crate) struct FoldedHasher {
    state: u64,
    factor: u64,
}

impl FoldedHasher {
    fn mix(&mut self, low: u64, high: u64) {
        let product = u128::from(low ^ self.state) * u128::from(high ^ self.factor);
        self.state = (product as u64) ^ (product >> 64) as u64;
    }
}

impl Hasher for FoldedHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(16);
        for chunk in &mut chunks {
            let number = u128::from_le_bytes(chunk.try_into().unwrap_or_default());
            self.mix(number as u64, (number >> 64) as u64);
        }
        let mut rest = [0; 16];
        rest[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        let number = u128::from_le_bytes(rest);
        self.mix(number as u64, (number >> 64) as u64 ^ bytes.len() as u64);
    }

    fn write_u8(&mut self, byte: u8) {
        self.state ^= u64::from(byte);
    }

    fn finish(&self) -> u64 {
        let product = u128::from(self.state) * u128::from(self.factor);
        (product as u64) ^ (product >> 64) as u64
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
        Self { entries: Arena::default(), by_key: HashMap::with_hasher(Keyed::new(secret)) }
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

    /// The arena's key of the address at this index, by which it is noticed when it is gone.
    pub(crate) fn key_at(&self, index: u32) -> u64 {
        self.entries.key_at(index)
    }

    /// The address with this key of the arena.
    pub(crate) fn get(&self, key: u64) -> Option<&Address> {
        self.entries.get(key)
    }

    /// The address with this key of the arena.
    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut Address> {
        self.entries.get_mut(key)
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

    #[inline(always)] // Everywhere on the way of a delivery, and two instructions.
    fn index(&self, index: u32) -> &Address {
        &self.entries[index]
    }
}

impl IndexMut<u32> for Addresses {
    #[inline(always)]
    fn index_mut(&mut self, index: u32) -> &mut Address {
        &mut self.entries[index]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn hash(secret: u128, key: &str) -> u64 {
        Keyed::new(secret).hash_one(key)
    }

    const SECRET: u128 = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;

    #[test]
    fn keys_that_differ_hash_differently() {
        let keys: Vec<_> = (0..10_000).map(|number| format!("M0address/{number}")).collect();
        let hashes: BTreeSet<_> = keys.iter().map(|key| hash(SECRET, key)).collect();
        let low_bits: BTreeSet<_> = keys.iter().map(|key| hash(SECRET, key) & 0xffff).collect();
        assert_eq!(hashes.len(), keys.len());
        assert!(low_bits.len() > 8_000, "{} of 65536 buckets are used by 10000 keys", low_bits.len());
    }

    #[test]
    fn keys_that_differ_in_length_or_in_zeros_hash_differently() {
        let keys = ["", "\0", "\0\0", "M0", "M0\0", "aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa\0"];
        let hashes: BTreeSet<_> = keys.iter().map(|key| hash(SECRET, key)).collect();
        assert_eq!(hashes.len(), keys.len());
    }

    #[test]
    fn the_secret_decides() {
        assert_ne!(hash(SECRET, "M0foo"), hash(SECRET + 1, "M0foo"));
    }
}
