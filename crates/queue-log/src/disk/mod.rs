//! What the log asks of a disk. The real one is `RealDisk`; tests have one that fails on purpose.

#[cfg(any(test, feature = "testing"))]
mod faulty;
mod real;

#[cfg(test)]
pub(crate) use faulty::Random;
#[cfg(any(test, feature = "testing"))]
pub use faulty::{Fault, FaultyDisk};
pub use real::RealDisk;

use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;

/// Directories and files, as far as the log needs them. Nothing is on the disk before it was synced: the bytes of a file by
/// [`DiskFile::sync`], its name by [`Disk::sync_dir`].
pub trait Disk: Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// As the operating system says; `AlreadyExists` for [`Mode::Create`].
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn DiskFile>>;

    /// Makes a directory and those above it, unless it is there.
    ///
    /// # Errors
    /// As the operating system says.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// The files of a directory (not its directories), in no order.
    ///
    /// # Errors
    /// As the operating system says; `NotFound` where there is no such directory.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// What else is in a directory: directories, links, and whatever is no file of its own. In no order.
    ///
    /// # Errors
    /// As the operating system says; `NotFound` where there is no such directory.
    fn list_others(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// Gives a file another name in the same directory. What had that name is gone.
    ///
    /// # Errors
    /// As the operating system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// As the operating system says.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory last.
    ///
    /// # Errors
    /// As the operating system says.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Locks a file for this process until the guard is dropped. None: another process holds it.
    ///
    /// # Errors
    /// As the operating system says.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>>;

    /// Sixteen bytes that no other store has.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    fn unique(&self) -> io::Result<[u8; 16]>;
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is there, and is read.
    Read,
    /// It is there, and is read and written.
    Write,
    /// It is not there yet.
    Create,
}

/// A file that is open.
pub trait DiskFile: Send + Sync {
    /// Writes all of the slices, one after the other.
    ///
    /// # Errors
    /// As the operating system says. What was written then is unknown.
    fn write_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<()>;

    /// Reads as much as there is, up to the buffer's length.
    ///
    /// # Errors
    /// As the operating system says.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Makes what was written last (fdatasync).
    ///
    /// # Errors
    /// As the operating system says. What is on the disk then is unknown, and a second attempt proves nothing.
    fn sync(&self) -> io::Result<()>;

    /// Has these bytes be on their way to the disk, without waiting for them: the next [`DiskFile::sync`] takes less time.
    fn begin_sync(&self, offset: u64, bytes: u64) {
        let _ = (offset, bytes);
    }

    /// Sees to it that there is room for so many bytes from the beginning; the file is that long afterwards.
    ///
    /// # Errors
    /// `StorageFull` where there is no room.
    fn allocate(&self, bytes: u64) -> io::Result<()>;

    /// Whether this is what has that name, as far as the operating system tells: not if it was removed, or something else put
    /// in its place.
    fn is_at(&self, path: &Path) -> bool;

    /// Bytes in the file.
    ///
    /// # Errors
    /// As the operating system says.
    fn size(&self) -> io::Result<u64>;
}

/// Whether an error says that there is no room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Reads exactly so many bytes; `UnexpectedEof` where the file is shorter.
pub(crate) fn read_exact(file: &dyn DiskFile, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    if file.read_at(buffer, offset)? == buffer.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Writes one slice.
pub(crate) fn write_all(file: &dyn DiskFile, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_at(&[IoSlice::new(bytes)], offset)
}

/// Puts a small file in the place of another, or of none: all of it, or nothing.
pub(crate) fn replace(disk: &dyn Disk, dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = dir.join(format!("{name}.tmp"));
    match disk.remove(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = disk.open(&temporary, Mode::Create)?;
    write_all(&*file, bytes, 0)?;
    file.sync()?;
    disk.rename(&temporary, &dir.join(name))?;
    disk.sync_dir(dir)
}
