//! The names of a store's files.

use std::path::{Path, PathBuf};

/// Who the store is, and what was known of it when it was opened last.
pub(crate) const IDENTITY: &str = "store";
/// Locked while a process has the store open.
pub(crate) const LOCK: &str = "lock";
/// Room that is given up so that a checkpoint can be written when the disk is full.
pub(crate) const RESERVE: &str = "reserve";
/// Directory of the segments.
pub(crate) const SEGMENTS: &str = "log";
/// Directory of the large messages.
pub(crate) const LARGE: &str = "large";

/// What a file of the directory of segments is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A segment of the log.
    Segment(u64),
    /// A file that can become one. The number only tells it from others.
    Free(u64),
}

pub(crate) fn segment(epoch: u64) -> String {
    format!("segment-{epoch:012}")
}

pub(crate) fn free(number: u64) -> String {
    format!("free-{number:012}")
}

pub(crate) fn snapshot(index: u64) -> String {
    format!("snapshot-{index:020}")
}

pub(crate) fn large(id: u64) -> String {
    format!("message-{id:012}")
}

pub(crate) fn segment_kind(name: &str) -> Option<Kind> {
    if let Some(number) = number(name, "segment-") {
        return Some(Kind::Segment(number));
    }
    number(name, "free-").map(Kind::Free)
}

pub(crate) fn snapshot_index(name: &str) -> Option<u64> {
    number(name, "snapshot-")
}

pub(crate) fn large_id(name: &str) -> Option<u64> {
    number(name, "message-")
}

/// What was not finished when the process ended.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.ends_with(".tmp")
}

pub(crate) fn segment_path(dir: &Path, epoch: u64) -> PathBuf {
    dir.join(SEGMENTS).join(segment(epoch))
}

fn number(name: &str, prefix: &str) -> Option<u64> {
    name.strip_prefix(prefix)?.parse().ok().filter(|number| *number <= super::LAST)
}
