//! All messages of a queue.

use super::chunk::Chunk;
use super::entry::{Entry, Gone, NEVER};
use super::lane::{Lane, join, split};
use crate::ids::{Millis, PRIORITIES, Seq};
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// How many chunks of a queue may be unpacked that are not being filled.
const OPEN: usize = 64;

/// All messages of a queue.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lanes: [Lane; PRIORITIES],
    /// Lane and number of chunks that were opened, the oldest first: when there are too many they are packed.
    opened: VecDeque<(u8, u64)>,
    free: usize,
    /// A bit for each lane that has a free message.
    lanes_free: u16,
}

impl Lanes {
    /// Puts a message behind all others of a lane. `free`: it may be given to any consumer at once.
    #[inline]
    pub(crate) fn push(&mut self, lane: usize, entry: Entry, free: bool) -> Seq {
        let (number, at, slot) = self.push_entry(lane, entry);
        let to = &mut self.lanes[lane];
        if free && let Some(chunk) = to.chunks.last_mut() {
            if chunk.free.is_empty() {
                to.with_free.insert(at, ());
            }
            chunk.free.set(slot);
            self.free += 1;
            self.lanes_free |= 1 << lane;
        }
        Seq::new(lane, number)
    }

    /// The same for a message that is held from the beginning.
    #[inline(always)] // Each message comes by here.
    pub(crate) fn push_held(&mut self, lane: usize, entry: Entry) -> Seq {
        let (number, _, slot) = self.push_entry(lane, entry);
        if let Some(chunk) = self.lanes[lane].chunks.last_mut() {
            chunk.held.set(slot);
        }
        Seq::new(lane, number)
    }

    /// The number that it gets, and its chunk and slot.
    #[inline(always)] // Each message comes by here.
    fn push_entry(&mut self, lane: usize, entry: Entry) -> (u64, u64, usize) {
        let to = &mut self.lanes[lane];
        let number = to.next;
        to.next += 1;
        let (at, slot) = split(number);
        to.chunks.get_or_default(at).push(slot, entry);
        if slot == 0 && at > 0 {
            self.was_filled(lane, at - 1);
        }
        (number, at, slot)
    }

    /// A chunk takes no more messages. Until then it is kept even if it has none, and is never packed.
    fn was_filled(&mut self, lane: usize, at: u64) {
        match self.lanes[lane].chunks.get(at) {
            Some(chunk) if chunk.present.is_empty() => {
                self.lanes[lane].chunks.remove(at);
            }
            Some(_) => self.was_opened(lane, at),
            None => {}
        }
    }

    /// Remembers that a chunk is open which is not being filled, and packs the one that has been so for longest.
    fn was_opened(&mut self, lane: usize, at: u64) {
        self.opened.push_back((lane as u8, at));
        while self.opened.len() > OPEN
            && let Some((lane, at)) = self.opened.pop_front()
        {
            if let Some(chunk) = self.lanes[usize::from(lane)].chunks.get_mut(at) {
                chunk.pack();
            }
        }
    }

    fn is_filling(&self, lane: usize, at: u64) -> bool {
        split(self.lanes[lane].next).0 == at
    }

    pub(crate) fn chunk(&self, seq: Seq) -> Option<(&Chunk, usize)> {
        let (at, slot) = split(seq.number());
        Some((self.lanes.get(seq.lane())?.chunks.get(at)?, slot))
    }

    /// The chunk of a place, to be looked into: it is opened.
    fn open(&mut self, seq: Seq) -> Option<(&mut Chunk, usize)> {
        let (at, slot) = split(seq.number());
        let lane = seq.lane();
        let is_packed = self.lanes.get(lane)?.chunks.get(at)?.is_packed();
        if is_packed && !self.is_filling(lane, at) {
            self.was_opened(lane, at);
        }
        Some((self.lanes[lane].chunks.get_mut(at)?, slot))
    }

    /// The chunk of a place, for its bits only.
    fn bits(&mut self, seq: Seq) -> Option<(&mut Lane, u64, usize)> {
        let (at, slot) = split(seq.number());
        Some((self.lanes.get_mut(seq.lane())?, at, slot))
    }

    pub(crate) fn contains(&self, seq: Seq) -> bool {
        self.chunk(seq).is_some_and(|(chunk, slot)| chunk.present.get(slot))
    }

    pub(crate) fn get(&mut self, seq: Seq) -> Option<&Entry> {
        let (chunk, slot) = self.open(seq)?;
        chunk.get(slot)
    }

    pub(crate) fn get_mut(&mut self, seq: Seq) -> Option<&mut Entry> {
        let (chunk, slot) = self.open(seq)?;
        chunk.get_mut(slot)
    }

    /// Takes a message out.
    pub(crate) fn remove(&mut self, seq: Seq) -> Option<Entry> {
        let (lane, at) = (seq.lane(), split(seq.number()).0);
        let (chunk, slot) = self.open(seq)?;
        let was_free = chunk.free.get(slot);
        let entry = chunk.remove(slot)?;
        let (gone, last) = (chunk.present.is_empty(), chunk.free.is_empty());
        if was_free {
            self.one_free_less(lane, last.then_some(at));
        }
        if gone && !self.is_filling(lane, at) {
            self.lanes[lane].chunks.remove(at);
        }
        Some(entry)
    }

    /// Takes a message out, if there is nothing special about it, and none of its neighbours expires.
    #[inline]
    pub(crate) fn remove_plain(&mut self, seq: Seq) -> Option<Gone> {
        let (at, slot) = split(seq.number());
        let lane = seq.lane();
        let to = self.lanes.get_mut(lane)?;
        let filling = split(to.next).0 == at;
        let chunk = to.chunks.get_mut(at)?;
        if chunk.next_expiry != NEVER {
            return None;
        }
        let entry = chunk.plain(slot).filter(|entry| entry.expires == NEVER)?;
        let gone = entry.gone();
        let was_free = chunk.free.get(slot);
        chunk.leave(slot);
        let (is_empty, last) = (chunk.present.is_empty(), chunk.free.is_empty());
        if is_empty && !filling {
            to.chunks.remove(at);
        }
        if was_free {
            self.one_free_less(lane, last.then_some(at));
        }
        Some(gone)
    }

    pub(crate) fn is_free(&self, seq: Seq) -> bool {
        self.chunk(seq).is_some_and(|(chunk, slot)| chunk.free.get(slot))
    }

    /// Says whether a message that is there may be given to any consumer.
    pub(crate) fn set_free(&mut self, seq: Seq, free: bool) {
        let Some((lane, at, slot)) = self.bits(seq) else { return };
        let Some(chunk) = lane.chunks.get_mut(at) else { return };
        if chunk.free.get(slot) == free || !chunk.present.get(slot) {
            return;
        }
        if free {
            if chunk.free.is_empty() {
                lane.with_free.insert(at, ());
            }
            chunk.free.set(slot);
            self.free += 1;
            self.lanes_free |= 1 << seq.lane();
        } else {
            chunk.free.clear(slot);
            let last = chunk.free.is_empty();
            self.one_free_less(seq.lane(), last.then_some(at));
        }
    }

    /// A message of a lane is free no more; perhaps it was the last one of its chunk.
    #[inline]
    fn one_free_less(&mut self, lane: usize, last_of: Option<u64>) {
        self.free -= 1;
        if let Some(at) = last_of {
            let of = &mut self.lanes[lane];
            of.with_free.remove(at);
            if of.with_free.is_empty() {
                self.lanes_free &= !(1 << lane);
            }
        }
    }

    /// Has a message held that is to be given to somebody. Gives it, and whether it was held before.
    pub(crate) fn take(&mut self, seq: Seq) -> Option<(&Entry, bool)> {
        let (lane, at) = (seq.lane(), split(seq.number()).0);
        let (chunk, slot) = self.open(seq)?;
        let was_free = chunk.free.get(slot);
        chunk.free.clear(slot);
        chunk.held.set(slot);
        let last = chunk.free.is_empty();
        if was_free {
            self.one_free_less(lane, last.then_some(at));
        }
        let chunk = self.lanes[lane].chunks.get_mut(at)?;
        let returned = chunk.returned.get(slot);
        Some((chunk.get(slot)?, returned))
    }

    /// Has the first free message held, as [`Lanes::take`] does, if there is nothing special about it and it has not expired.
    /// Gives its place, itself, and whether it was held before.
    #[inline]
    pub(crate) fn take_first_plain(&mut self, now: Millis) -> Option<(Seq, &Entry, bool)> {
        if self.free == 0 {
            return None;
        }
        let lane = self.lanes_free.trailing_zeros() as usize;
        let of = self.lanes.get_mut(lane)?;
        let at = of.with_free.first()?;
        let chunk = of.chunks.get_mut(at)?;
        let slot = chunk.free.first_from(0)?;
        chunk.plain(slot).filter(|entry| entry.expires > now)?;
        chunk.free.clear(slot);
        chunk.held.set(slot);
        self.free -= 1;
        if chunk.free.is_empty() {
            of.with_free.remove(at);
            if of.with_free.is_empty() {
                self.lanes_free &= !(1 << lane);
            }
        }
        let returned = chunk.returned.get(slot);
        Some((Seq::new(lane, join(at, slot)), chunk.plain(slot)?, returned))
    }

    pub(crate) fn is_held(&self, seq: Seq) -> bool {
        self.chunk(seq).is_some_and(|(chunk, slot)| chunk.held.get(slot))
    }

    pub(crate) fn set_held(&mut self, seq: Seq, held: bool) {
        let Some((lane, at, slot)) = self.bits(seq) else { return };
        let Some(chunk) = lane.chunks.get_mut(at) else { return };
        if held {
            chunk.held.set(slot);
        } else {
            chunk.held.clear(slot);
        }
    }

    pub(crate) fn was_returned(&self, seq: Seq) -> bool {
        self.chunk(seq).is_some_and(|(chunk, slot)| chunk.returned.get(slot))
    }

    pub(crate) fn set_returned(&mut self, seq: Seq) {
        if let Some((lane, at, slot)) = self.bits(seq)
            && let Some(chunk) = lane.chunks.get_mut(at)
        {
            chunk.returned.set(slot);
        }
    }

    /// The bytes of a message are elsewhere now.
    pub(crate) fn note_body(&mut self, seq: Seq) {
        if let Some((chunk, slot)) = self.open(seq) {
            chunk.note_body(slot);
        }
    }

    /// Changes when the next message of this one's chunk expires. `None`: there is no such chunk.
    pub(crate) fn next_expiry_mut(&mut self, seq: Seq) -> Option<&mut u64> {
        let (lane, at, _) = self.bits(seq)?;
        Some(&mut lane.chunks.get_mut(at)?.next_expiry)
    }

    /// How many are free.
    pub(crate) fn free(&self) -> usize {
        self.free
    }

    /// The first free message.
    pub(crate) fn first_free(&self) -> Option<Seq> {
        if self.free == 0 {
            return None;
        }
        let mut lanes = self.lanes_free;
        while lanes != 0 {
            if let Some(found) = self.free_in(lanes.trailing_zeros() as usize, 0) {
                return Some(found);
            }
            lanes &= lanes - 1;
        }
        None
    }

    /// The first free message of a lane from a number on.
    pub(crate) fn free_in(&self, lane: usize, number: u64) -> Option<Seq> {
        let of = &self.lanes[lane];
        if of.with_free.is_empty() {
            return None;
        }
        of.free_from(number).map(|number| Seq::new(lane, number))
    }

    /// The first message of a lane from a number on.
    pub(crate) fn present_in(&self, lane: usize, number: u64) -> Option<Seq> {
        self.lanes[lane].present_from(number).map(|number| Seq::new(lane, number))
    }

    /// The first message at a place or behind it.
    pub(crate) fn present_from(&self, seq: Seq) -> Option<Seq> {
        (seq.lane()..PRIORITIES)
            .find_map(|lane| self.present_in(lane, if lane == seq.lane() { seq.number() } else { 0 }))
    }

    /// The number that the next message of a lane gets.
    pub(crate) fn next_in(&self, lane: usize) -> u64 {
        self.lanes[lane].next
    }

    pub(crate) fn lanes(&self) -> impl Iterator<Item = (usize, &Lane)> {
        self.lanes.iter().enumerate()
    }

    /// The places of a chunk's messages.
    pub(crate) fn places(&self, lane: usize, at: u64) -> Vec<Seq> {
        let chunk = self.lanes.get(lane).and_then(|lane| lane.chunks.get(at));
        let slots = chunk.into_iter().flat_map(|chunk| chunk.present.iter());
        slots.map(|slot| Seq::new(lane, join(at, slot))).collect()
    }

    /// The places of all messages of chunks where one may have its bytes in one of these entries of the log.
    pub(crate) fn places_with_bodies_in(&self, entries: &RangeInclusive<u64>) -> impl Iterator<Item = Seq> + use<> {
        let mut chunks = Vec::new();
        for (lane, of) in self.lanes() {
            let may = |chunk: &Chunk| chunk.oldest_body <= *entries.end() && chunk.newest_body >= *entries.start();
            for (at, chunk) in of.chunks.iter().filter(|(_, chunk)| may(chunk)) {
                chunks.push((lane, at, chunk.present));
            }
        }
        chunks.into_iter().flat_map(|(lane, at, present)| {
            let places: Vec<Seq> = present.iter().map(|slot| Seq::new(lane, join(at, slot))).collect();
            places
        })
    }

    /// A lane as it was when a snapshot was taken.
    pub(crate) fn restore_lane(&mut self, lane: usize, next: u64) -> bool {
        let fits = next < 1 << 60 && self.lanes.get(lane).is_some_and(|lane| lane.chunks.is_empty());
        if fits {
            self.lanes[lane].next = next;
        }
        fits
    }

    /// A chunk as it was when a snapshot was taken.
    pub(crate) fn restore_chunk(&mut self, lane: usize, at: u64, chunk: Chunk) -> bool {
        let Some(to) = self.lanes.get_mut(lane).filter(|_| at < 1 << 50) else { return false };
        let last = chunk.present.iter().last().map(|slot| join(at, slot));
        if last.is_none_or(|last| last >= to.next) || to.chunks.contains(at) {
            return false;
        }
        to.chunks.insert(at, Box::new(chunk));
        true
    }
}
