//! The bytes of a stream: a row of chunks, each of which knows how many readers stand in it.

use std::collections::VecDeque;

use super::{Place, ReaderState, Taken};
use crate::content::kept::Weight;

/// Bytes that a chunk can hold.
const CHUNK: usize = 32 * 1024;
/// How many chunks a reader is offered at once.
const OFFERED: usize = 4;

/// How far the message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Open,
    Complete,
    Aborted,
}

/// The chunks that some reader still needs.
pub(super) struct Chunks {
    row: VecDeque<Chunk>,
    /// Number of the first chunk of the row.
    first: u64,
    /// Readers altogether.
    readers: usize,
    /// Those that wait for the chunk behind the row.
    ahead: usize,
    /// Bytes in the row.
    held: Weight,
    end: End,
}

struct Chunk {
    data: Vec<u8>,
    /// How many readers stand here.
    readers: usize,
}

impl Chunk {
    fn is_full(&self) -> bool {
        self.data.len() == self.data.capacity()
    }
}

impl Chunks {
    /// With one reader, at the beginning.
    pub(super) fn new(begun: &[u8]) -> Self {
        let mut chunks =
            Self { row: VecDeque::new(), first: 0, readers: 1, ahead: 1, held: Weight::of_message(0), end: End::Open };
        chunks.append(begun);
        chunks
    }

    pub(super) fn held(&self) -> usize {
        self.held.bytes()
    }

    pub(super) fn readers(&self) -> usize {
        self.readers
    }

    pub(super) fn end(&self) -> End {
        self.end
    }

    /// The first end counts: a finished stream cannot be aborted any more.
    pub(super) fn close(&mut self, end: End) {
        if self.end == End::Open {
            self.end = end;
        }
    }

    /// Whether the row holds nothing that has not been read by all.
    pub(super) fn is_read(&self) -> bool {
        self.row.is_empty()
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        // New readers come from existing ones only, so without any there never will be one.
        if self.readers == 0 || bytes.is_empty() {
            return;
        }
        self.held.add(bytes.len());
        let mut rest = bytes;
        while !rest.is_empty() {
            let last = match self.row.back_mut() {
                Some(last) if !last.is_full() => last,
                _ => {
                    // Those that waited for this chunk stand in it now.
                    let readers = std::mem::take(&mut self.ahead);
                    self.row.push_back_mut(Chunk { data: Vec::with_capacity(CHUNK), readers })
                }
            };
            let (fits, behind) = rest.split_at(rest.len().min(last.data.capacity() - last.data.len()));
            last.data.extend_from_slice(fits);
            rest = behind;
        }
    }

    /// One more reader in this chunk.
    pub(super) fn enter(&mut self, chunk: u64) {
        self.readers += 1;
        *self.count(chunk) += 1;
    }

    /// One reader less.
    pub(super) fn leave(&mut self, chunk: u64) {
        self.readers -= 1;
        *self.count(chunk) -= 1;
        self.release();
    }

    pub(super) fn read(&mut self, place: &mut Place, take: impl FnOnce(&[&[u8]], bool) -> Taken) -> ReaderState {
        if self.end == End::Aborted {
            return ReaderState::Aborted;
        }
        self.advance(place, 0);
        let (parts, count) = self.parts(*place);
        let ends = self.end == End::Complete && self.index(*place) + count >= self.row.len();
        if count == 0 && !ends {
            return ReaderState::Waiting;
        }
        let parts = parts.get(..count).unwrap_or_default();
        let available: usize = parts.iter().map(|part| part.len()).sum();
        let taken = take(parts, ends);
        self.advance(place, taken.bytes.min(available));
        match self.parts(*place) {
            _ if taken.end && ends => ReaderState::Finished,
            (_, 0) if self.end != End::Complete => ReaderState::Waiting,
            _ => ReaderState::More,
        }
    }

    fn index(&self, place: Place) -> usize {
        (place.chunk - self.first) as usize
    }

    /// The bytes from here on, in at most so many parts, and how many parts there are.
    fn parts(&self, place: Place) -> ([&[u8]; OFFERED], usize) {
        let mut parts = [&[][..]; OFFERED];
        let mut count = 0;
        let chunks = self.row.range(self.index(place).min(self.row.len())..);
        for (part, chunk) in parts.iter_mut().zip(chunks) {
            let start = if count == 0 { place.offset } else { 0 };
            *part = chunk.data.get(start..).unwrap_or_default();
            if part.is_empty() {
                break;
            }
            count += 1;
        }
        (parts, count)
    }

    /// Moves a reader over so many bytes, and out of a chunk that it is through with.
    fn advance(&mut self, place: &mut Place, mut bytes: usize) {
        loop {
            let index = self.index(*place);
            let last = index + 1 == self.row.len();
            let Some(chunk) = self.row.get_mut(index) else { return };
            let step = bytes.min(chunk.data.len() - place.offset);
            place.offset += step;
            bytes -= step;
            // A chunk that may still grow is left only by a reader without company: with it gone, the chunk goes too.
            if place.offset < chunk.data.len() || (last && !chunk.is_full() && self.readers > 1) {
                return;
            }
            chunk.readers -= 1;
            *place = Place { chunk: place.chunk + 1, offset: 0 };
            *self.count(place.chunk) += 1;
            self.release();
        }
    }

    /// How many readers stand in a chunk, or wait for it.
    fn count(&mut self, chunk: u64) -> &mut usize {
        let index = (chunk - self.first) as usize;
        match self.row.get_mut(index) {
            Some(chunk) => &mut chunk.readers,
            None => &mut self.ahead,
        }
    }

    /// Frees what nobody needs: the chunks in front in which no reader stands.
    fn release(&mut self) {
        while let Some(front) = self.row.front()
            && front.readers == 0
        {
            self.held.remove(front.data.len());
            self.row.pop_front();
            self.first += 1;
        }
    }
}
