//! What is in a store's directory. Nothing is changed by looking.

use crate::disk::{Disk, DiskFile, Mode};
use crate::error::{OpenError, Place, RESTORE};
use crate::format::head::{self, NoHead};
use crate::format::header::{DATA, Header};
use crate::format::identity::Identity;
use crate::format::{VERSION, names};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a store.
pub(crate) struct Survey {
    /// None: there is no store here yet.
    pub(crate) identity: Option<Identity>,
    /// In the order of the log.
    pub(crate) segments: Vec<Found>,
    /// Files that can become segments.
    pub(crate) free: Vec<(u64, PathBuf)>,
    /// Indexes of snapshots, newest first.
    pub(crate) snapshots: Vec<u64>,
    /// What was not finished.
    pub(crate) temporary: Vec<PathBuf>,
}

/// A segment's file, whose header is right.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) epoch: u64,
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) size: u32,
}

impl Survey {
    pub(crate) fn new(disk: &dyn Disk, dir: &Path, mode: Mode) -> Result<Self, OpenError> {
        if let Some(path) = no_files(disk, dir)?.into_iter().next() {
            return Err(OpenError::NoFile { path });
        }
        let mut survey = Survey {
            identity: read_identity(disk, &dir.join(names::IDENTITY))?,
            segments: Vec::new(),
            free: Vec::new(),
            snapshots: Vec::new(),
            temporary: Vec::new(),
        };
        for name in list(disk, dir)? {
            if names::is_temporary(&name) {
                survey.temporary.push(dir.join(&name));
            }
            survey.snapshots.extend(names::snapshot_index(&name));
        }
        survey.snapshots.sort_unstable_by(|one, other| other.cmp(one));
        let folder = dir.join(names::SEGMENTS);
        let mut epochs = Vec::new();
        for name in list(disk, &folder)? {
            match names::segment_kind(&name) {
                Some(names::Kind::Segment(epoch)) => epochs.push((epoch, folder.join(name))),
                Some(names::Kind::Free(number)) => survey.free.push((number, folder.join(name))),
                None => {}
            }
        }
        epochs.sort_unstable();
        let Some(Identity { store, .. }) = survey.identity else {
            return match epochs.first() {
                None if survey.snapshots.is_empty() => Ok(survey),
                _ => Err(OpenError::Missing {
                    file: dir.join(names::IDENTITY),
                    what: "the file that says whose segments and snapshots these are".to_owned(),
                    remedy: RESTORE,
                }),
            };
        };
        for (epoch, path) in epochs {
            survey.segments.push(open_segment(disk, mode, &store, epoch, path)?);
        }
        Ok(survey)
    }
}

pub(crate) fn list(disk: &dyn Disk, dir: &Path) -> Result<Vec<String>, OpenError> {
    match disk.list(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other.place("read", dir),
    }
}

/// What has the name of a file of the log, and is none.
pub(crate) fn no_files(disk: &dyn Disk, dir: &Path) -> Result<Vec<PathBuf>, OpenError> {
    let mut found = Vec::new();
    let of_store = |name: &str| name == names::IDENTITY || names::snapshot_index(name).is_some();
    let of_log = |name: &str| names::segment_kind(name).is_some();
    let folder = dir.join(names::SEGMENTS);
    for (dir, wanted) in [(dir, &of_store as &dyn Fn(&str) -> bool), (&folder, &of_log)] {
        let others = match disk.list_others(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            other => other.place("read", dir)?,
        };
        found.extend(others.iter().filter(|name| wanted(name)).map(|name| dir.join(name)));
    }
    found.sort_unstable();
    Ok(found)
}

pub(crate) fn read_identity(disk: &dyn Disk, path: &Path) -> Result<Option<Identity>, OpenError> {
    let file = match disk.open(path, Mode::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.place("open", path)?,
    };
    let mut bytes = [0; head::SIZE + 1];
    let read = file.read_at(&mut bytes, 0).place("read", path)?;
    match Identity::decode(&bytes[..read]) {
        Ok(identity) => Ok(Some(identity)),
        Err(NoHead::Version(found)) => Err(OpenError::Version { file: path.to_owned(), found, known: VERSION }),
        Err(NoHead::Corrupt) => Err(OpenError::Corrupt {
            file: path.to_owned(),
            offset: 0,
            what: "its checksum does not hold".to_owned(),
            remedy: RESTORE,
        }),
    }
}

pub(crate) fn open_segment(
    disk: &dyn Disk,
    mode: Mode,
    store: &[u8; 16],
    epoch: u64,
    path: PathBuf,
) -> Result<Found, OpenError> {
    let file = disk.open(&path, mode).place("open", &path)?;
    let mut bytes = [0; head::SIZE];
    let read = file.read_at(&mut bytes, 0).place("read", &path)?;
    let corrupt = |offset, what: String| Err(OpenError::Corrupt { file: path.clone(), offset, what, remedy: RESTORE });
    let header = match Header::decode(&bytes[..read]) {
        Ok(header) => header,
        Err(NoHead::Version(found)) => return Err(OpenError::Version { file: path, found, known: VERSION }),
        Err(NoHead::Corrupt) => return corrupt(0, "its header is not that of a segment".to_owned()),
    };
    if header.store != *store {
        return corrupt(16, "it is a segment of another store".to_owned());
    }
    if header.epoch != epoch {
        return corrupt(32, format!("it is segment {}, under the name of another", header.epoch));
    }
    let size = file.size().place("read", &path)?;
    if header.size <= DATA || size < u64::from(header.size) {
        return corrupt(size, format!("it should have {} bytes", header.size));
    }
    Ok(Found { epoch, path, file, size: header.size })
}
