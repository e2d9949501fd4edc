//! Where the bytes of a message are. The state machine never sees them.

use crate::wire::{CodecError, Put, Reader};

/// Where an enqueued message's bytes are, as a command says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// With the command: in the same entry of the log. Its part is the ordinal, from 0, of this command among those of
    /// the entry that carry a body ([`Command::Enqueue`](crate::Command::Enqueue) and
    /// [`Command::Adopt`](crate::Command::Adopt) with this, and [`Command::Relocate`](crate::Command::Relocate); those inside
    /// transactions count where they stand).
    Here,
    /// In a file of its own.
    Large {
        /// The number of the file.
        file: u64,
    },
}

/// Names a message's bytes for as long as a queue has the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BodyRef {
    /// In the log.
    Log {
        /// The index of the entry.
        entry: u64,
        /// The ordinal of the body within the entry, from 0.
        part: u32,
    },
    /// In a file of its own.
    Large {
        /// The number of the file.
        file: u64,
    },
}

/// The part that says that the other number is a file's.
pub(crate) const FILE: u32 = u32::MAX;

impl BodyRef {
    /// As two numbers, of which an entry of a queue is made.
    #[inline]
    pub(crate) fn parts(self) -> (u64, u32) {
        match self {
            Self::Log { entry, part } => (entry, part.min(FILE - 1)),
            Self::Large { file } => (file, FILE),
        }
    }

    #[inline]
    pub(crate) fn of(number: u64, part: u32) -> Self {
        if part == FILE { Self::Large { file: number } } else { Self::Log { entry: number, part } }
    }

    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        let (number, part) = self.parts();
        out.number(number);
        // A file becomes 0, the parts follow.
        out.number(u64::from(part.wrapping_add(1)));
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let number = reader.number()?;
        let part: u32 = reader.small()?;
        Ok(Self::of(number, part.wrapping_sub(1)))
    }
}
