//! Opening a store: what is there, is it whole, and where does the log go on?

pub(crate) mod evidence;
mod replay;
pub(crate) mod survey;
pub(crate) mod walk;

use crate::disk::{self, Disk, Mode};
use crate::error::{OpenError, Place, RESTORE};
use crate::format::header::DATA;
use crate::format::identity::{Identity, RUN_MAX};
use crate::format::{VERSION, names};
use crate::recover::Recover;
use crate::settings::{Notice, Settings};
use crate::shared::{Spare, State};
use crate::snapshot::{self, Table};
use replay::{Known, Replayed};
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use survey::Survey;

/// A store that was read.
pub(crate) struct Recovered {
    pub(crate) state: State,
    pub(crate) identity: Identity,
    pub(crate) notices: Vec<Notice>,
}

/// Reads a store and makes it ready to be written to: what no later write proves to be on the disk is written again, and what
/// was not finished is removed.
pub(crate) fn recover(disk: &dyn Disk, settings: &Settings, recover: &mut dyn Recover) -> Result<Recovered, OpenError> {
    let dir = settings.path.as_path();
    let mut survey = Survey::new(disk, dir, Mode::Write)?;
    let identity = match survey.identity {
        Some(identity) => identity,
        None => found(disk, dir)?,
    };
    if identity.run >= RUN_MAX {
        return Err(OpenError::Setting(format!("{}: was opened too often; start with an empty store", dir.display())));
    }
    let (replayed, checkpoint) = read(disk, dir, &survey, identity, recover)?;
    settle(disk, dir, &survey, &replayed)?;
    let notices = replayed.notices.clone();
    let old: Vec<u64> = survey.snapshots.iter().copied().filter(|index| *index < checkpoint).collect();
    let mut state = state_of(replayed, checkpoint);
    state.next_epoch = state.next_epoch.max(1);
    state.old_snapshots = old.iter().map(|index| dir.join(names::snapshot(*index))).collect();
    state.next_free = survey.free.iter().map(|(number, _)| number + 1).max().unwrap_or(1);
    for (_, path) in std::mem::take(&mut survey.free) {
        if let Some(spare) = spare(disk, path, settings)? {
            state.free.push(spare);
        }
    }
    Ok(Recovered { state, identity, notices })
}

/// Reads all that is to be read, and changes nothing.
pub(crate) fn read(
    disk: &dyn Disk,
    dir: &Path,
    survey: &Survey,
    identity: Identity,
    recover: &mut dyn Recover,
) -> Result<(Replayed, u64), OpenError> {
    let mut notices = Vec::new();
    let (checkpoint, table) = newest_snapshot(disk, dir, survey, &identity, recover, &mut notices)?;
    let known = Known {
        dir,
        survey,
        store: identity.store,
        last_run: identity.run,
        synced: identity.synced,
        checkpoint,
        table,
    };
    // A store that was founded but got no segment before the crash.
    let bare = survey.segments.is_empty() && identity.synced.0 == 0 && survey.snapshots.is_empty();
    let mut replayed = if bare { Replayed::none() } else { known.replay(recover)? };
    notices.append(&mut replayed.notices);
    replayed.notices = notices;
    Ok((replayed, checkpoint))
}

impl Replayed {
    fn none() -> Self {
        let (segments, ready, retired) = (Vec::new(), Vec::new(), Vec::new());
        Replayed { segments, ready, retired, unproven: None, notices: Vec::new() }
    }
}

/// Makes a new store.
fn found(disk: &dyn Disk, dir: &Path) -> Result<Identity, OpenError> {
    let store = disk.unique().place("find an id for", dir)?;
    let identity = Identity { store, run: 0, synced: (0, 0) };
    write_identity(disk, dir, &identity)?;
    Ok(identity)
}

/// Puts the file that says who the store is.
pub(crate) fn write_identity(disk: &dyn Disk, dir: &Path, identity: &Identity) -> Result<(), OpenError> {
    disk::replace(disk, dir, names::IDENTITY, &identity.encode()).place("write", &dir.join(names::IDENTITY))
}

/// Gives the host the newest snapshot that is whole, if there are any.
fn newest_snapshot(
    disk: &dyn Disk,
    dir: &Path,
    survey: &Survey,
    identity: &Identity,
    recover: &mut dyn Recover,
    notices: &mut Vec<Notice>,
) -> Result<(u64, Table), OpenError> {
    let mut first_damage = None;
    for &index in &survey.snapshots {
        let path = dir.join(names::snapshot(index));
        let file = disk.open(&path, Mode::Read).place("open", &path)?;
        match snapshot::check(file.clone(), &identity.store, index) {
            Ok(_) => {}
            Err(snapshot::Damage::Io(source)) => return Err(OpenError::Io { action: "read", path, source }),
            Err(snapshot::Damage::Version(found)) => {
                return Err(OpenError::Version { file: path, found, known: VERSION });
            }
            Err(snapshot::Damage::Corrupt { offset, what }) => {
                notices.push(Notice::DamagedSnapshot { file: path.clone(), offset, what: what.to_owned() });
                let what = what.to_owned();
                first_damage.get_or_insert(OpenError::Corrupt { file: path, offset, what, remedy: RESTORE });
                continue;
            }
        }
        let corrupt =
            |what: &str| OpenError::Corrupt { file: path.clone(), offset: 0, what: what.to_owned(), remedy: RESTORE };
        let reader = snapshot::Reader::new(file, &identity.store, index);
        let mut reader = reader.map_err(|_| corrupt("it changed while it was read"))?;
        let table = Table::read(&mut reader).map_err(|_| corrupt("its table of segments makes no sense"))?;
        recover.snapshot(index, &mut reader).map_err(|source| OpenError::Host { index, source })?;
        return Ok((index, table));
    }
    match first_damage {
        Some(damage) => Err(damage),
        None => Ok((0, Table { resume: 1, rows: Vec::new() })),
    }
}

/// Makes sure that what was read is on the disk, and removes what was not finished.
fn settle(disk: &dyn Disk, dir: &Path, survey: &Survey, replayed: &Replayed) -> Result<(), OpenError> {
    if let Some(tail) = &replayed.unproven {
        // After a sync that failed, the system may hold in memory what is not on the disk, and not know it. Writing it
        // again makes it write it.
        let segment = &replayed.segments[tail.segment];
        let mut bytes = vec![0; (tail.to - tail.from) as usize];
        disk::read_exact(&*segment.file, &mut bytes, tail.from).place("read", &segment.path)?;
        disk::write_all(&*segment.file, &bytes, tail.from).place("write", &segment.path)?;
        segment.file.sync().place("sync", &segment.path)?;
    }
    for path in &survey.temporary {
        crate::keeper::absent_is_fine(disk.remove(path)).place("remove", path)?;
    }
    for name in [names::SEGMENTS, names::LARGE] {
        let folder = dir.join(name);
        disk.create_dir(&folder).place("make", &folder)?;
        disk.sync_dir(&folder).place("sync", &folder)?;
    }
    disk.sync_dir(dir).place("sync", dir)
}

fn state_of(replayed: Replayed, checkpoint: u64) -> State {
    let Replayed { segments, ready, retired, .. } = replayed;
    let durable = segments.last().map_or(checkpoint, |last| last.next - 1).max(checkpoint);
    let last = ready.last().map(|ready| ready.epoch).or(segments.last().map(|segment| segment.epoch));
    State {
        queue: VecDeque::new(),
        queued_bytes: 0,
        next_index: durable + 1,
        durable,
        segments,
        ready: ready.into(),
        next_epoch: last.map_or(1, |epoch| epoch + 1),
        starved: false,
        free: Vec::new(),
        next_free: 1,
        making: None,
        retired,
        old_snapshots: Vec::new(),
        reserve: 0,
        pins: 0,
        large_doomed: Vec::new(),
        large_open: std::collections::BTreeSet::new(),
        next_large: 1,
        checkpoint,
        checkpointing: false,
        full: None,
        refused: false,
        failed: None,
        hurry: false,
        resting: false,
        closing: false,
        nudged: true,
        closed: false,
    }
}

/// A file that can become a segment, if it has the size that segments have now. Others are removed.
fn spare(disk: &dyn Disk, path: std::path::PathBuf, settings: &Settings) -> Result<Option<Spare>, OpenError> {
    let file = disk.open(&path, Mode::Write).place("open", &path)?;
    let size = u64::from(settings.segment_bytes);
    let fits = file.size().place("read", &path)? == size;
    match fits.then(|| file.allocate(size)) {
        Some(Ok(())) => return Ok(Some(Spare { path, file, size: settings.segment_bytes })),
        Some(Err(error)) if !disk::is_full(&error) => {
            return Err(OpenError::Io { action: "allocate", path, source: error });
        }
        _ => {}
    }
    match disk.remove(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).place("remove", &path)?,
        _ => {}
    }
    Ok(None)
}

/// The place up to which everything is on the disk once a store is open.
pub(crate) fn synced(state: &State) -> (u64, u32) {
    let first = state.ready.front().map_or((0, DATA), |ready| (ready.epoch, DATA));
    state.segments.last().map_or(first, |last| (last.epoch, last.end))
}
