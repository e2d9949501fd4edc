//! The bytes of a stream: a row of chunks, each of which knows how many readers stand in it.

use std::collections::VecDeque;

use super::{Place, ReaderState, Taken};
use crate::content::kept::Weight;

/// Bytes that a chunk can hold, unless more come at once.
const CHUNK: usize = 32 * 1024;

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
    pub(super) fn new(begun: Vec<u8>) -> Self {
        let held = Weight::of_message(begun.len());
        Self {
            row: VecDeque::from([Chunk { data: begun, readers: 1 }]),
            first: 0,
            readers: 1,
            ahead: 0,
            held,
            end: End::Open,
        }
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
        if let Some(last) = self.row.back_mut() {
            let (fits, behind) = rest.split_at(rest.len().min(last.data.capacity() - last.data.len()));
            last.data.extend_from_slice(fits);
            rest = behind;
        }
        if !rest.is_empty() {
            let mut data = Vec::with_capacity(CHUNK.max(rest.len()));
            data.extend_from_slice(rest);
            // Those that waited for this chunk stand in it now.
            self.row.push_back(Chunk { data, readers: std::mem::take(&mut self.ahead) });
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

    pub(super) fn read(&mut self, place: &mut Place, take: impl FnOnce(&[u8], bool) -> Taken) -> ReaderState {
        if self.end == End::Aborted {
            return ReaderState::Aborted;
        }
        self.step(place);
        let index = (place.chunk - self.first) as usize;
        let bytes = self.row.get(index).and_then(|chunk| chunk.data.get(place.offset..)).unwrap_or_default();
        let ends = self.end == End::Complete && index + 1 >= self.row.len();
        if bytes.is_empty() && !ends {
            return ReaderState::Waiting;
        }
        let available = bytes.len();
        let taken = take(bytes, ends);
        place.offset += taken.bytes.min(available);
        self.step(place);
        if taken.end && ends {
            ReaderState::Finished
        } else if taken.bytes < available || ends {
            ReaderState::More
        } else {
            self.whether_more(*place)
        }
    }

    fn whether_more(&self, place: Place) -> ReaderState {
        let index = (place.chunk - self.first) as usize;
        match self.row.get(index) {
            Some(chunk) if chunk.data.len() > place.offset => ReaderState::More,
            _ if self.end == End::Complete => ReaderState::More,
            _ => ReaderState::Waiting,
        }
    }

    /// Moves a reader that is through with its chunk to the next.
    fn step(&mut self, place: &mut Place) {
        let index = (place.chunk - self.first) as usize;
        let last = index + 1 == self.row.len();
        let Some(chunk) = self.row.get_mut(index) else { return };
        // A chunk that may still grow is left only by a reader without company: with it gone, the chunk goes too.
        if place.offset < chunk.data.len() || (last && !chunk.is_full() && self.readers > 1) {
            return;
        }
        chunk.readers -= 1;
        *place = Place { chunk: place.chunk + 1, offset: 0 };
        *self.count(place.chunk) += 1;
        self.release();
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
