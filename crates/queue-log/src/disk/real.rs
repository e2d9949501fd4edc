//! The operating system's files.

use super::{Disk, DiskFile, Mode};
use nix::fcntl::{FallocateFlags, PosixFadviseAdvice, fallocate, posix_fadvise, posix_fallocate};
use nix::sys::uio::pwritev;
use std::fs::{self, File, FileType, OpenOptions, TryLockError};
use std::io::{self, IoSlice};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// Slices that one call of the operating system takes (`IOV_MAX`).
const SLICES: usize = 1024;

/// The disk of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(mode != Mode::Read).create_new(mode == Mode::Create).mode(0o640);
        Ok(Arc::new(RealFile(options.open(path)?)))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.create_dir(parent)?;
        }
        match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            other => other?,
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.sync_dir(parent)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        names(dir, |kind| kind.is_file())
    }

    fn list_others(&self, dir: &Path) -> io::Result<Vec<String>> {
        names(dir, |kind| !kind.is_file())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o640).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unique(&self) -> io::Result<[u8; 16]> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(bytes)
    }
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn write_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let mut at = offset;
        for few in slices.chunks(SLICES) {
            let size: usize = few.iter().map(|slice| slice.len()).sum();
            let written = loop {
                match pwritev(&self.0, few, to_offset(at)?) {
                    Err(nix::errno::Errno::EINTR) => {}
                    other => break other?,
                }
            };
            if written < size {
                write_rest(&self.0, few, written, at)?;
            }
            at += size as u64;
        }
        Ok(())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.0.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn begin_sync(&self, offset: u64, bytes: u64) {
        if let (Ok(offset), Ok(bytes)) = (to_offset(offset), to_offset(bytes)) {
            // Linux begins to write what is not on the disk yet, and what is on its way stays in memory. If it cannot, the sync
            // does all.
            let _ = posix_fadvise(&self.0, offset, bytes, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
        }
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        let size = to_offset(bytes)?;
        match fallocate(&self.0, FallocateFlags::empty(), 0, size) {
            // The C library does it by writing where the file system cannot.
            Err(nix::errno::Errno::EOPNOTSUPP | nix::errno::Errno::ENOSYS) => posix_fallocate(&self.0, 0, size)?,
            other => other?,
        }
        Ok(())
    }

    fn is_at(&self, path: &Path) -> bool {
        match (self.0.metadata(), fs::symlink_metadata(path)) {
            (Ok(here), Ok(there)) => (here.dev(), here.ino()) == (there.dev(), there.ino()),
            (_, Err(error)) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
            (Err(_), _) => true,
        }
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }
}

/// The names in a directory, of what is of some kind.
fn names(dir: &Path, wanted: impl Fn(FileType) -> bool) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if wanted(entry.file_type()?)
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
    Ok(names)
}

/// Goes on where a vectored write stopped short.
fn write_rest(file: &File, slices: &[IoSlice<'_>], mut skip: usize, mut at: u64) -> io::Result<()> {
    for slice in slices {
        let here = skip.min(slice.len());
        file.write_all_at(&slice[here..], at + here as u64)?;
        skip -= here;
        at += slice.len() as u64;
    }
    Ok(())
}

fn to_offset(value: u64) -> io::Result<i64> {
    i64::try_from(value).map_err(|_| io::ErrorKind::InvalidInput.into())
}
