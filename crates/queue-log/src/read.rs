//! Reading back what was written. Nothing is handed out whose checksum does not hold.

use crate::checksum::Seed;
use crate::disk::DiskFile;
use crate::entry::Entry;
use crate::error::ReadError;
use crate::format::header::DATA;
use crate::format::record::{Head, Kind, Row};
use crate::points::Points;
use crate::shared::Shared;
use crate::window::Window;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads entries. One that is asked for them in order reads ahead, and finds the next in memory.
pub struct Reader {
    shared: Arc<Shared>,
    ahead: usize,
    open: Option<Open>,
}

/// A segment that is being read.
struct Open {
    epoch: u64,
    path: PathBuf,
    seed: Seed,
    window: Window,
    /// The last entry that was found, and where.
    found: u64,
    at: u64,
    /// Where its parts are, once one of them was asked for.
    parts: Vec<Piece>,
}

/// Where a part is.
#[derive(Clone, Copy)]
struct Piece {
    at: u64,
    row: Row,
}

/// Where an entry is to be looked for.
struct Place {
    epoch: u64,
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    seed: Seed,
    size: u32,
    end: u32,
    /// An entry at or before it, and where that is. None: it is to be read from the segment's seal.
    from: Option<(u64, u32)>,
}

impl Reader {
    pub(crate) fn new(shared: Arc<Shared>, ahead: usize) -> Self {
        Reader { shared, ahead, open: None }
    }

    /// One part of an entry.
    ///
    /// # Errors
    /// If it is not there, not yet, or not what was written.
    pub fn part(&mut self, index: u64, part: u32) -> Result<Vec<u8>, ReadError> {
        if !self
            .open
            .as_ref()
            .is_some_and(|open| open.found == index && !open.parts.is_empty() && open.holds(&self.shared))
        {
            let head = self.seek(index)?;
            let rows = self.rows(&head)?;
            let Some(open) = &mut self.open else { return Err(ReadError::NotThere { index }) };
            open.parts.clear();
            let mut next = open.at + head.head_size() as u64;
            open.parts.extend(rows.into_iter().map(|row| {
                let at = next;
                next += u64::from(row.length);
                Piece { at, row }
            }));
        }
        let Some(open) = &mut self.open else { return Err(ReadError::NotThere { index }) };
        let Some(Piece { at, row }) = open.parts.get(part as usize).copied() else {
            return Err(ReadError::NotThere { index });
        };
        let bytes = open.window.bytes(at, row.length as usize).map_err(|source| io_error(&open.path, source))?;
        let whole = bytes.filter(|bytes| open.seed.of(bytes) == row.checksum).map(<[u8]>::to_vec);
        whole.ok_or_else(|| self.corrupt(index, at))
    }

    /// Bytes of an entry, whose parts are taken as one row of bytes; fewer where it ends.
    ///
    /// # Errors
    /// If it is not there, not yet, or not what was written.
    pub fn bytes(&mut self, index: u64, offset: u64, size: usize) -> Result<Vec<u8>, ReadError> {
        let head = self.seek(index)?;
        let (mut before, mut bytes) = (0, Vec::new());
        for (part, row) in self.rows(&head)?.into_iter().enumerate() {
            let (from, to) = (before, before + u64::from(row.length));
            before = to;
            let (first, last) = (offset.max(from), offset.saturating_add(size as u64).min(to));
            if first < last {
                let part = self.part(index, part as u32)?;
                bytes.extend_from_slice(&part[(first - from) as usize..(last - from) as usize]);
            }
        }
        Ok(bytes)
    }

    /// All parts of an entry.
    ///
    /// # Errors
    /// If it is not there, not yet, or not what was written.
    pub fn entry(&mut self, index: u64) -> Result<Vec<Vec<u8>>, ReadError> {
        let head = self.seek(index)?;
        let Some(open) = &mut self.open else { return Err(ReadError::NotThere { index }) };
        let entry = open.window.entry(open.at, &head, open.seed).map_err(|source| io_error(&open.path, source))?;
        let parts = entry.map(|entry: Entry<'_>| entry.parts().map(<[u8]>::to_vec).collect());
        let at = open.at;
        parts.ok_or_else(|| self.corrupt(index, at))
    }

    /// The table of the entry that was found.
    fn rows(&mut self, head: &Head) -> Result<Vec<Row>, ReadError> {
        let Some(open) = &mut self.open else { return Ok(Vec::new()) };
        let table = open.window.bytes(open.at, head.head_size()).map_err(|source| io_error(&open.path, source))?;
        Ok(head.rows(table.unwrap_or_default()).collect())
    }

    /// Goes to an entry, and gives its head.
    fn seek(&mut self, index: u64) -> Result<Head, ReadError> {
        let place = self.shared.place(index)?;
        let near = self.open.as_ref().is_some_and(|open| {
            open.epoch == place.epoch && open.found <= index && place.from.is_none_or(|(from, _)| from <= open.found)
        });
        if !near {
            // What was read of the same segment is in memory still, and may have the entry.
            let window = self.open.take().filter(|open| open.epoch == place.epoch).map(|open| open.window);
            self.open = Some(self.open(&place, index, window)?);
        }
        let Some(open) = &mut self.open else { return Err(ReadError::NotThere { index }) };
        open.window.extend(u64::from(place.end));
        loop {
            let (at, found) = (open.at, open.found);
            let head = open.window.head(at, open.seed).map_err(|source| io_error(&open.path, source))?;
            match head {
                Some(head) if head.index == found && head.kind == Kind::Entry => {
                    if found == index {
                        return Ok(head);
                    }
                    open.at += head.size();
                    open.found += 1;
                    open.parts.clear();
                }
                _ => {
                    let failed = self.corrupt(index, at);
                    self.open = None;
                    return Err(failed);
                }
            }
        }
    }

    fn open(&self, place: &Place, index: u64, window: Option<Window>) -> Result<Open, ReadError> {
        let Place { epoch, seed, .. } = *place;
        let (file, path) = (Arc::clone(&place.file), place.path.clone());
        let window = window.unwrap_or_else(|| Window::new(file, u64::from(place.end), self.ahead));
        let (found, at) = match place.from {
            Some(from) => from,
            None => self.shared.load_points(place, index)?,
        };
        Ok(Open { epoch, path, seed, window, found, at: u64::from(at), parts: Vec::new() })
    }

    /// What does not check is corrupt, unless its segment was released meanwhile and is used again.
    fn corrupt(&self, index: u64, offset: u64) -> ReadError {
        match self.shared.place(index) {
            Ok(place) if self.open.as_ref().is_none_or(|open| open.epoch == place.epoch) => {
                ReadError::Corrupt { file: place.path, offset, index }
            }
            _ => ReadError::NotThere { index },
        }
    }
}

impl Open {
    /// Whether the entry that was found is still there.
    fn holds(&self, shared: &Shared) -> bool {
        let state = shared.lock();
        state.segment_of(self.found).is_some_and(|at| state.segments[at].epoch == self.epoch)
    }
}

impl Shared {
    fn place(&self, index: u64) -> Result<Place, ReadError> {
        let state = self.lock();
        if index > state.durable {
            let coming = index < state.next_index;
            return Err(if coming { ReadError::NotYet { index } } else { ReadError::NotThere { index } });
        }
        let Some(at) = state.segment_of(index) else { return Err(ReadError::NotThere { index }) };
        let segment = &state.segments[at];
        let from = segment.points.as_ref().map(|points| from_points(points, index, segment.first));
        Ok(Place {
            epoch: segment.epoch,
            file: Arc::clone(&segment.file),
            path: segment.path.clone(),
            seed: segment.seed,
            size: segment.size,
            end: segment.end,
            from,
        })
    }

    /// Reads the points of a segment that was sealed before the store was opened. Without them one reads from the beginning.
    fn load_points(&self, place: &Place, index: u64) -> Result<(u64, u32), ReadError> {
        let mut window = Window::new(Arc::clone(&place.file), u64::from(place.size), 4096);
        let at = u64::from(place.end);
        let mut read = || -> io::Result<Option<Points>> {
            let Some(head) = window.head(at, place.seed)?.filter(|head| head.kind == Kind::Seal) else {
                return Ok(None);
            };
            let seal = window.entry(at, &head, place.seed)?;
            Ok(seal.and_then(|seal| Points::decode(seal.part(0)?)).map(|(_, _, points)| points))
        };
        let points = read().map_err(|source| io_error(&place.path, source))?.unwrap_or_default();
        let mut state = self.lock();
        let Some(segment) = state.segments.iter_mut().find(|segment| segment.epoch == place.epoch) else {
            return Err(ReadError::NotThere { index });
        };
        let from = from_points(&points, index, segment.first);
        segment.points = Some(points);
        Ok(from)
    }
}

fn from_points(points: &Points, index: u64, first: u64) -> (u64, u32) {
    points.before(index).map_or((first, DATA), |point| (point.index, point.at))
}

fn io_error(path: &Path, source: io::Error) -> ReadError {
    ReadError::Io { file: path.to_owned(), source }
}
