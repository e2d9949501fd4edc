//! Copies files from one directory to another, and syncs them.

use crate::disk::{Disk, DiskFile, Mode, write_all};
use crate::error::{OpenError, Place};
use crate::format::names;
use std::io;
use std::path::Path;

/// Bytes copied at once.
const CHUNK: usize = 1024 * 1024;

/// A directory that had nothing in it, and gets a store.
pub(super) struct Target<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) dir: &'a Path,
    pub(super) files: usize,
    pub(super) bytes: u64,
}

impl<'a> Target<'a> {
    /// Makes the directory, if it is not there and empty.
    pub(super) fn new(disk: &'a dyn Disk, dir: &'a Path) -> Result<Self, OpenError> {
        disk.create_dir(dir).place("make", dir)?;
        for folder in [dir.to_owned(), dir.join(names::SEGMENTS), dir.join(names::LARGE)] {
            match disk.list(&folder) {
                Ok(names) if names.is_empty() => {}
                Ok(_) => return Err(OpenError::NotEmpty { path: dir.to_owned() }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).place("read", &folder),
            }
            disk.create_dir(&folder).place("make", &folder)?;
        }
        Ok(Target { disk, dir, files: 0, bytes: 0 })
    }

    /// Copies so many bytes of a file; the copy is `size` bytes long, with zeros in the rest.
    pub(super) fn copy(&mut self, from: &dyn DiskFile, to: &Path, bytes: u64, size: u64) -> Result<(), OpenError> {
        let file = self.disk.open(to, Mode::Create).place("make", to)?;
        let mut buffer = vec![0; CHUNK.min(usize::try_from(bytes).unwrap_or(CHUNK))];
        let mut at = 0;
        while at < bytes {
            let want = buffer.len().min(usize::try_from(bytes - at).unwrap_or(CHUNK));
            crate::disk::read_exact(from, &mut buffer[..want], at).place("copy to", to)?;
            write_all(&*file, &buffer[..want], at).place("write", to)?;
            at += want as u64;
        }
        if size > bytes {
            write_all(&*file, &[0], size - 1).place("write", to)?;
        }
        file.sync().place("sync", to)?;
        self.files += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// Makes the names of the files last.
    pub(super) fn sync(&self) -> Result<(), OpenError> {
        for folder in [self.dir.join(names::SEGMENTS), self.dir.join(names::LARGE), self.dir.to_owned()] {
            self.disk.sync_dir(&folder).place("sync", &folder)?;
        }
        Ok(())
    }
}
