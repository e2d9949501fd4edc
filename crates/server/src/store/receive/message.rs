//! A message that has come: its bytes, and what is said of it beside them.

use std::sync::Arc;

use amqp::ErrorCondition;
use amqp::condition::names;
use queue_core::{Body, Facts, Malformed, Millis, Wanted};

use crate::content::Whole;
use crate::store::links::Arrival;
use crate::store::opaque;

/// The bytes of a message that has come.
#[derive(Debug)]
pub(in crate::store) enum Bytes {
    /// In memory.
    Whole(Arc<Whole>),
    /// In a file of its own: so many, and its beginning.
    File { file: u64, size: u64, beginning: Arc<[u8]> },
}

impl Bytes {
    pub(super) fn body(&self) -> Body {
        match self {
            Self::Whole(_) => Body::Here,
            Self::File { file, .. } => Body::Large { file: *file },
        }
    }

    pub(in crate::store) fn whole(&self) -> Option<Arc<Whole>> {
        match self {
            Self::Whole(whole) => Some(Arc::clone(whole)),
            Self::File { .. } => None,
        }
    }

    /// The file, if it has one.
    pub(in crate::store) fn file(&self) -> Option<u64> {
        match self {
            Self::Whole(_) => None,
            Self::File { file, .. } => Some(*file),
        }
    }

    pub(in crate::store) fn beginning(&self) -> &[u8] {
        match self {
            Self::Whole(whole) => whole.bytes(),
            Self::File { beginning, .. } => beginning,
        }
    }

    /// What it takes in memory while it waits for the disk.
    pub(in crate::store) fn in_memory(&self) -> u64 {
        self.beginning().len() as u64
    }

    /// What a queue must know of it.
    pub(super) fn facts(&self, time: Millis, wanted: &Wanted) -> Result<Facts, ErrorCondition> {
        match self {
            Self::Whole(whole) => facts_of(whole.bytes(), |bytes| Facts::of_whole(bytes, time, wanted)),
            Self::File { size, beginning, .. } => {
                let facts = facts_of(beginning, |bytes| Facts::of(bytes, time, wanted))?;
                Ok(Facts { size: *size, ..facts })
            }
        }
    }
}

/// What a queue must know of a message that is kept like this: of one of AMQP what its sections say.
pub(super) fn facts_of(
    kept: &[u8],
    read: impl FnOnce(&[u8]) -> Result<Facts, Malformed>,
) -> Result<Facts, ErrorCondition> {
    let malformed = |text: String| ErrorCondition::new(names::DECODE_ERROR, text);
    if opaque::is_opaque(kept) {
        return match opaque::format_of(kept) {
            (0, _) => Err(malformed("the message does not begin with a section".to_owned())),
            _ => Ok(Facts::plain(kept.len() as u64)),
        };
    }
    read(kept).map_err(|error| malformed(error.to_string()))
}

/// What is said of a message beside its bytes.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct Said {
    /// The transaction that it is part of.
    pub(in crate::store) txn: Option<Vec<u8>>,
    /// The address that it names, if its link does not.
    pub(in crate::store) to: Option<Box<str>>,
}

/// A message whose queue is being made.
#[derive(Debug)]
pub(in crate::store) struct Early {
    pub(in crate::store) arrival: Arrival,
    pub(super) bytes: Bytes,
    pub(super) said: Said,
}
