//! What a log's owner may choose, and what it is told.

use crate::entry::Need;
use crate::error::OpenError;
use crate::format::header::DATA;
use std::path::{Path, PathBuf};

/// What a log's owner may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The store's directory. It is made if it is not there.
    pub path: PathBuf,
    /// Bytes of a segment: a multiple of 4,096, from 8 KiB to 1 GiB. A store's segments may differ, so that this can be
    /// changed between two runs.
    pub segment_bytes: u32,
    /// Bytes that the segments together may take at most. None: what the disk has.
    pub max_bytes: Option<u64>,
    /// Bytes at the end of the last segment that only [`Need::Essential`](crate::Need::Essential) entries may take when
    /// there is no other segment. None: an eighth of a segment. Behind them is room for what lives in one sparse segment.
    pub reserve_bytes: Option<u32>,
    /// Used segments that are kept to be used again; more of them are removed.
    pub spare_segments: usize,
}

/// Bytes of bodies alive below which a segment of this size is sparse.
pub(crate) fn sparse(segment_bytes: u32) -> u64 {
    u64::from(segment_bytes / 4)
}

impl Settings {
    /// Segments of 64 MiB in this directory.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Settings {
            path: path.into(),
            segment_bytes: 64 * 1024 * 1024,
            max_bytes: None,
            reserve_bytes: None,
            spare_segments: 4,
        }
    }

    pub(crate) fn check(&self) -> Result<(), OpenError> {
        let size = self.segment_bytes;
        if !(2 * DATA..=1 << 30).contains(&size) || !size.is_multiple_of(DATA) {
            return Err(OpenError::Setting(format!(
                "a segment cannot have {size} bytes: choose a multiple of 4096 from 8 KiB to 1 GiB"
            )));
        }
        if let Some(most) = self.max_bytes.filter(|most| *most < 2 * u64::from(size)) {
            return Err(OpenError::Setting(format!(
                "a store of {most} bytes has no room for two segments of {size}: give it more, or smaller segments"
            )));
        }
        Ok(())
    }

    /// Bytes at the end of the last segment that an entry must leave to others.
    pub(crate) fn kept_from(&self, need: Need) -> u64 {
        let essential = u64::from(self.reserve_bytes.unwrap_or(self.segment_bytes / 8));
        // What lives in a sparse segment, and its records' heads.
        let relocated = sparse(self.segment_bytes) * 5 / 4;
        match need {
            Need::Ordinary => essential + relocated,
            Need::Essential => relocated,
            Need::Relocation => 0,
        }
    }
}

/// Told by the log's own threads what happens. It must not block, nor call the log.
pub trait Watcher: Send + Sync {
    /// Every entry up to this index is on the disk. Called on the writer's thread.
    fn durable(&self, up_to: u64);

    /// Something that people want to know.
    fn notice(&self, notice: Notice);
}

/// Something that people want to know. `Display` gives a line for a log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The end of the log was torn by a crash and was cut off; nothing of it was reported durable.
    TornTail {
        /// The segment's file.
        file: PathBuf,
        /// Where it was cut.
        offset: u64,
        /// The last entry that is whole.
        last: u64,
    },
    /// A damaged snapshot was passed over, for an older one from which the log is complete.
    DamagedSnapshot {
        /// The snapshot's file.
        file: PathBuf,
        /// Where it is damaged.
        offset: u64,
        /// What is wrong with it.
        what: String,
    },
    /// No room for the next segment: appends will be refused when the current one is full.
    Full {
        /// The store's directory.
        path: PathBuf,
        /// Bytes that are left in the current segment.
        left: u64,
        /// What the operating system says, or that the limit of the store is reached.
        reason: String,
    },
    /// There is room again.
    Room {
        /// The store's directory.
        path: PathBuf,
    },
    /// A write failed; nothing is accepted any more.
    Failed {
        /// Which, and why.
        text: String,
    },
    /// A checkpoint stands.
    Checkpoint {
        /// The entry up to which it goes.
        index: u64,
        /// Its bytes.
        bytes: u64,
        /// Segments that can be used again because of it.
        freed: usize,
    },
    /// A checkpoint could not be written; the one before it stands.
    CheckpointFailed {
        /// The entry up to which it should go.
        index: u64,
        /// Why not.
        text: String,
    },
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |path: &Path| path.display().to_string();
        match self {
            Notice::TornTail { file, offset, last } => write!(
                f,
                "{}: cut at byte {offset}, where a crash tore what was being written; the log ends with entry {last}, and \
                 nothing that was confirmed is lost",
                name(file)
            ),
            Notice::DamagedSnapshot { file, offset, what } => write!(
                f,
                "{}: corrupt at byte {offset}: {what}; an older snapshot and the log are complete and are used instead",
                name(file)
            ),
            Notice::Full { path, left, reason } => write!(
                f,
                "{}: no room for another segment ({reason}); {left} bytes are left, then nothing is taken until there is \
                 room: free space on this disk, it goes on by itself",
                name(path)
            ),
            Notice::Room { path } => write!(f, "{}: there is room again", name(path)),
            Notice::Failed { text } => {
                write!(f, "{text}; nothing is accepted any more: see to the disk and restart")
            }
            Notice::Checkpoint { index, bytes, freed } => {
                write!(f, "checkpoint at entry {index}, {bytes} bytes, frees {freed} segments")
            }
            Notice::CheckpointFailed { index, text } => {
                write!(f, "no checkpoint at entry {index}: {text}; it is tried again with the next")
            }
        }
    }
}
