//! The file: read whole, and written as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{Users, UsersError};

/// Bytes; a larger file is none of ours.
const MAX_SIZE: u64 = 64 * 1024 * 1024;
/// Only the owner reads it.
const MODE: u32 = 0o600;

/// The users in a file.
///
/// # Errors
/// It cannot be read, or has a line that is none.
pub fn load(path: &Path) -> Result<Users, UsersError> {
    let text = read(path).map_err(|error| UsersError::Read { path: path.to_owned(), error })?;
    Users::from_text(&text).map_err(|(line, why)| UsersError::Malformed { path: path.to_owned(), line, why })
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(MAX_SIZE + 1).read_to_string(&mut text)?;
    if read as u64 > MAX_SIZE {
        return Err(io::Error::other("it is larger than 64 MiB"));
    }
    Ok(text)
}

/// Changes the users in a file, which is made if it is not there. Others who do so meanwhile wait.
///
/// # Errors
/// What `apply` says, or the file cannot be read or written. It is as it was then.
pub fn change<R>(path: &Path, apply: impl FnOnce(&mut Users) -> Result<R, UsersError>) -> Result<R, UsersError> {
    let failed = |error| UsersError::Write { path: path.to_owned(), error };
    // Held to the end. It is not the file itself, which is replaced.
    let _lock = lock(path).map_err(failed)?;
    let mut users = match load(path) {
        Err(UsersError::Read { error, .. }) if error.kind() == io::ErrorKind::NotFound => Users::default(),
        loaded => loaded?,
    };
    let result = apply(&mut users)?;
    replace(path, users.to_text().as_bytes()).map_err(failed)?;
    Ok(result)
}

fn lock(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(MODE).open(beside(path, ".lock"))?;
    file.lock()?;
    Ok(file)
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = beside(path, ".new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(&new)?;
    file.write_all(bytes)?;
    if let Ok(old) = fs::metadata(path) {
        file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))?;
        // Only root may give a file away; whoever owns the old one owns the new one, too.
        let _ = std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid()));
    }
    file.sync_all()?;
    fs::rename(&new, path)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
