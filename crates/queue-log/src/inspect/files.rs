//! Snapshots and large messages: files that are whole or not.

use super::{Item, open};
use crate::disk::{Disk, DiskFile, Mode};
use crate::error::{OpenError, ReadError};
use crate::format::{VERSION, names};
use crate::large::LargeReader;
use crate::recovery::survey;
use crate::snapshot::{self, Damage};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

type Show<'a> = &'a mut dyn FnMut(&Item<'_>) -> ControlFlow<()>;

pub(super) fn snapshots(
    disk: &dyn Disk,
    dir: &Path,
    store: &[u8; 16],
    show: Show<'_>,
) -> Result<ControlFlow<()>, OpenError> {
    let mut indexes: Vec<u64> =
        survey::list(disk, dir)?.iter().filter_map(|name| names::snapshot_index(name)).collect();
    indexes.sort_unstable();
    for index in indexes {
        let file = dir.join(names::snapshot(index));
        let flow = match snapshot::check(open(disk, &file)?, store, index) {
            Ok(bytes) => show(&Item::Snapshot { file: &file, index, bytes }),
            Err(Damage::Corrupt { offset, what }) => {
                show(&Item::Damage { file: &file, offset, what: what.to_owned(), resumes: None })
            }
            Err(Damage::Version(found)) => return Err(OpenError::Version { file, found, known: VERSION }),
            Err(Damage::Io(source)) => return Err(OpenError::Io { action: "read", path: file, source }),
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}

pub(super) fn large(
    disk: &dyn Disk,
    dir: &Path,
    store: &[u8; 16],
    show: Show<'_>,
) -> Result<ControlFlow<()>, OpenError> {
    let folder = dir.join(names::LARGE);
    let mut ids: Vec<u64> = survey::list(disk, &folder)?.iter().filter_map(|name| names::large_id(name)).collect();
    ids.sort_unstable();
    for id in ids {
        let file = folder.join(names::large(id));
        let opened = disk.open(&file, Mode::Read).map_err(|source| ReadError::Io { file: file.clone(), source });
        let flow = match opened.and_then(|opened| check_large(opened, &file, store, id)) {
            Ok(bytes) => show(&Item::Large { file: &file, id, bytes }),
            Err(ReadError::Unfinished { .. }) => show(&Item::Unfinished { file: &file, id }),
            Err(ReadError::CorruptMessage { offset, .. }) => {
                let what = "a block's checksum does not hold".to_owned();
                show(&Item::Damage { file: &file, offset, what, resumes: None })
            }
            Err(ReadError::Io { source, .. }) => return Err(OpenError::Io { action: "read", path: file, source }),
            Err(other) => show(&Item::Damage { file: &file, offset: 0, what: other.to_string(), resumes: None }),
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Reads all of a large message. Gives its size.
pub(crate) fn check_large(file: Arc<dyn DiskFile>, path: &Path, store: &[u8; 16], id: u64) -> Result<u64, ReadError> {
    let mut reader = LargeReader::new(file, path.to_owned(), store, id)?;
    let mut size = 0;
    loop {
        let more = reader.read(size, usize::MAX)?.len() as u64;
        if more == 0 {
            return Ok(size);
        }
        size += more;
    }
}
