//! One bit for each slot of a chunk.

use super::chunk::CHUNK;

const WORDS: usize = CHUNK / 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Bits {
    words: [u64; WORDS],
    /// How many are set.
    count: u16,
}

impl Bits {
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> bool {
        self.words[slot / 64] >> (slot % 64) & 1 != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: usize) {
        let (word, bit) = (&mut self.words[slot / 64], 1 << (slot % 64));
        self.count += u16::from(*word & bit == 0);
        *word |= bit;
    }

    #[inline]
    pub(crate) fn clear(&mut self, slot: usize) {
        let (word, bit) = (&mut self.words[slot / 64], 1 << (slot % 64));
        self.count -= u16::from(*word & bit != 0);
        *word &= !bit;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count.into()
    }

    /// How many are set before a slot.
    #[inline]
    pub(crate) fn rank(&self, slot: usize) -> usize {
        let word = slot / 64;
        let before: usize = self.words[..word].iter().map(|word| word.count_ones() as usize).sum();
        before + (self.words[word] & ((1 << (slot % 64)) - 1)).count_ones() as usize
    }

    /// The first slot from this one on that is set.
    #[inline]
    pub(crate) fn first_from(&self, slot: usize) -> Option<usize> {
        let mut at = slot / 64;
        let mut word = *self.words.get(at)? & (u64::MAX << (slot % 64));
        loop {
            if word != 0 {
                return Some(at * 64 + word.trailing_zeros() as usize);
            }
            at += 1;
            word = *self.words.get(at)?;
        }
    }

    /// The last slot that is set.
    pub(crate) fn last(&self) -> Option<usize> {
        let at = self.words.iter().rposition(|word| *word != 0)?;
        Some(at * 64 + 63 - self.words[at].leading_zeros() as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let slot = self.first_from(from)?;
            from = slot + 1;
            Some(slot)
        })
    }

    pub(crate) fn to_bytes(self) -> [u8; CHUNK / 8] {
        let mut bytes = [0; CHUNK / 8];
        for (to, word) in bytes.chunks_exact_mut(8).zip(self.words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// `None` if the bytes are not of the right number.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bits = Self::default();
        if bytes.len() != CHUNK / 8 {
            return None;
        }
        for (word, from) in bits.words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*from);
            bits.count += word.count_ones() as u16;
        }
        Some(bits)
    }
}
