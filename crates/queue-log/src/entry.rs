//! What is appended, and what comes back: an entry of parts. What the parts mean is their host's business.

use crate::format::record::{Head, Row};
use std::fmt;
use std::sync::Arc;

/// A part of an entry to append. Cloning one costs little.
#[derive(Clone)]
pub enum Part {
    /// Bytes of its own.
    Owned(Vec<u8>),
    /// Bytes that others hold as well; they must not change.
    Shared(Arc<dyn AsRef<[u8]> + Send + Sync>),
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        match self {
            Part::Owned(bytes) => bytes,
            Part::Shared(bytes) => (**bytes).as_ref(),
        }
    }
}

impl From<Vec<u8>> for Part {
    fn from(bytes: Vec<u8>) -> Self {
        Part::Owned(bytes)
    }
}

impl<T: AsRef<[u8]> + Send + Sync + 'static> From<Arc<T>> for Part {
    fn from(bytes: Arc<T>) -> Self {
        Part::Shared(bytes)
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.as_ref().len())
    }
}

/// What may still be written when the disk is nearly full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// This waits until there is room: what makes the store larger.
    Ordinary,
    /// This has room kept for it: what makes the store smaller, such as settlements.
    Essential,
    /// This has room that nothing else may take: bodies that are appended once more so that a segment which holds little else
    /// ([`Log::sparse`](crate::Log::sparse)) can be used again.
    Relocation,
}

/// How soon an entry is to be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Haste {
    /// At once: somebody waits for it.
    AtOnce,
    /// With the next that somebody waits for, or in a little while.
    Soon,
}

/// An entry as it was read: all of its checksums hold.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    index: u64,
    held: u32,
    head: &'a [u8],
    parts: &'a [u8],
    count: u32,
}

impl<'a> Entry<'a> {
    /// `bytes` is a whole record.
    pub(crate) fn new(head: &Head, bytes: &'a [u8]) -> Self {
        let (table, parts) = bytes.split_at(head.head_size().min(bytes.len()));
        Entry { index: head.index, held: head.held, head: table, parts, count: head.parts }
    }

    /// Its number in the log.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// How many parts it has.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether it has no parts.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of bodies in it, as its host said when it was appended.
    pub fn held(&self) -> u64 {
        u64::from(self.held)
    }

    /// One of its parts.
    pub fn part(&self, number: usize) -> Option<&'a [u8]> {
        self.parts().nth(number)
    }

    /// Its parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut rest = self.parts;
        self.rows().map(move |row| {
            let (part, more) = rest.split_at((row.length as usize).min(rest.len()));
            rest = more;
            part
        })
    }

    /// Whether every part is what its checksum says.
    pub(crate) fn checks(&self, seed: crate::checksum::Seed) -> bool {
        self.rows()
            .zip(self.parts())
            .all(|(row, part)| part.len() == row.length as usize && seed.of(part) == row.checksum)
    }

    fn rows(&self) -> impl Iterator<Item = Row> + use<'a> {
        crate::format::record::rows(self.head, self.count)
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {} of {} parts, {} bytes held", self.index, self.count, self.held)
    }
}
