//! The users that a running router knows: those of the file, as it is now.

use std::num::NonZeroU32;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;

use super::{SALT, User, Users, UsersError, file, iterations};
use crate::prepare;
use crate::scram::{Hash, Verifier};

/// The users of a file. Its calls read the file, and check passwords slowly: not for a thread that cannot wait.
pub struct UserBase {
    path: PathBuf,
    known: Mutex<Known>,
    /// Makes up what is said of users that do not exist.
    secret: [u8; 32],
}

/// What was read last.
struct Known {
    stamp: Option<Stamp>,
    users: Arc<Users>,
    /// It was said that the file cannot be read, and it has not been since.
    complained: bool,
}

/// What changes when the file does.
type Stamp = (u64, u64, Option<SystemTime>, i64);

/// What is known of a user, or made up.
pub(crate) struct Entry {
    pub(crate) verifier: Verifier,
    /// There is such a user.
    pub(crate) known: bool,
}

impl UserBase {
    /// The users of this file.
    ///
    /// # Errors
    /// It cannot be read now.
    pub fn open(path: &Path) -> Result<Self, UsersError> {
        let stamp = stamp(path);
        let users = file::load(path)?;
        let known = Mutex::new(Known { stamp, users: Arc::new(users), complained: false });
        let secret = crate::scram_random().map_err(UsersError::System)?;
        Ok(Self { path: path.to_owned(), known, secret })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The users as the file has them now. While it cannot be read, those that it had.
    pub fn users(&self) -> Arc<Users> {
        let mut known = self.known.lock();
        let now = stamp(&self.path);
        if now.is_none() || now != known.stamp {
            match file::load(&self.path) {
                Ok(users) => *known = Known { stamp: now, users: Arc::new(users), complained: false },
                Err(error) => {
                    if !std::mem::replace(&mut known.complained, true) {
                        logging::log!(SERVER, Error, "{error}; the users known so far stay");
                    }
                }
            }
        }
        Arc::clone(&known.users)
    }

    /// Changes the users in the file.
    ///
    /// # Errors
    /// See [`super::change`].
    pub fn change<R>(&self, apply: impl FnOnce(&mut Users) -> Result<R, UsersError>) -> Result<R, UsersError> {
        file::change(&self.path, apply)
    }

    /// Whether this is the user's password: the name that the user is known by, or why not. It takes as long for a user
    /// that does not exist.
    pub(crate) fn check(&self, user: &str, password: &str) -> Result<String, &'static str> {
        let name = prepare(user).map_err(|_| "a malformed name")?;
        let password = prepare(password).map_err(|_| "a malformed password")?;
        let users = self.users();
        let found = users.get(&name);
        let hash = found.and_then(strongest).unwrap_or(Hash::Sha512);
        let entry = self.entry(&users, &name, hash);
        let right = entry.verifier.is_of(hash, &password);
        match (entry.known, right) {
            (true, true) => Ok(name.into_owned()),
            (true, false) => Err("wrong password"),
            (false, _) => Err("no such user"),
        }
    }

    /// What SCRAM needs to know of a user, who may not exist.
    pub(crate) fn scram_entry(&self, name: &str, hash: Hash) -> Entry {
        self.entry(&self.users(), name, hash)
    }

    fn entry(&self, users: &Users, name: &str, hash: Hash) -> Entry {
        if let Some(verifier) = users.get(name).and_then(|user| user.verifiers.get(&hash)) {
            return Entry { verifier: verifier.clone(), known: true };
        }
        // Always the same for a name, and like those of the others.
        let mut salt = hash.hmac(&self.secret, name.as_bytes());
        salt.truncate(SALT);
        let count = usual_iterations(users, hash);
        let (stored_key, server_key) = (vec![0; hash.size()], vec![0; hash.size()]);
        Entry { verifier: Verifier { iterations: count, salt, stored_key, server_key }, known: false }
    }
}

fn strongest(user: &User) -> Option<Hash> {
    user.verifiers.keys().next_back().copied()
}

fn usual_iterations(users: &Users, hash: Hash) -> NonZeroU32 {
    let first = users.0.values().find_map(|user| user.verifiers.get(&hash));
    first.map_or_else(iterations, |verifier| verifier.iterations)
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.ino(), metadata.len(), metadata.modified().ok(), metadata.ctime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A base of its own for a test, with `joe`.
    fn base(test: &str) -> UserBase {
        let path = std::env::temp_dir().join(format!("users-{}-{test}", std::process::id()));
        file::change(&path, |users| users.set("joe", "secret")).unwrap();
        UserBase::open(&path).unwrap()
    }

    impl Drop for UserBase {
        fn drop(&mut self) {
            for suffix in ["", ".lock"] {
                let _ = std::fs::remove_file(format!("{}{suffix}", self.path.display()));
            }
        }
    }

    #[test]
    fn a_password_is_checked() {
        let base = base("check");
        assert_eq!(base.check("joe", "secret"), Ok("joe".to_owned()));
        assert_eq!(base.check("joe", "guess"), Err("wrong password"));
        assert_eq!(base.check("ann", "secret"), Err("no such user"));
    }

    #[test]
    fn a_change_of_the_file_counts_at_once() {
        let base = base("change");
        base.change(|users| users.set("ann", "secret")).unwrap();
        assert_eq!(base.check("ann", "secret"), Ok("ann".to_owned()));
        base.change(|users| users.remove("joe")).unwrap();
        assert_eq!(base.check("joe", "secret"), Err("no such user"));
    }

    #[test]
    fn a_file_that_cannot_be_read_leaves_things_as_they_were() {
        let base = base("gone");
        std::fs::write(base.path(), "nonsense").unwrap();
        assert_eq!(base.check("joe", "secret"), Ok("joe".to_owned()));
        std::fs::remove_file(base.path()).unwrap();
        assert_eq!(base.check("joe", "secret"), Ok("joe".to_owned()));
    }

    #[test]
    fn a_file_that_is_not_there_at_start_is_an_error_that_names_it() {
        let error = UserBase::open(Path::new("/no/such/file")).err().unwrap().to_string();
        assert!(error.starts_with("the file of users '/no/such/file' cannot be read"), "{error}");
    }

    #[test]
    fn nobody_but_the_owner_reads_the_file() {
        let base = base("mode");
        assert_eq!(std::fs::metadata(base.path()).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_user_that_does_not_exist_looks_like_any_other_and_always_the_same() {
        let base = base("fake");
        let fake = |name: &str| base.scram_entry(name, Hash::Sha256);
        let (ann, joe) = (fake("ann"), fake("joe"));
        assert!(joe.known && !ann.known);
        assert_eq!((ann.verifier.iterations, ann.verifier.salt.len()), (joe.verifier.iterations, SALT));
        assert_eq!(fake("ann").verifier.salt, ann.verifier.salt);
        assert_ne!(fake("bob").verifier.salt, ann.verifier.salt);
    }

    #[test]
    fn several_change_the_file_at_once_and_nothing_is_lost() {
        let base = base("several");
        std::thread::scope(|scope| {
            for number in 0..4 {
                let base = &base;
                scope.spawn(move || base.change(|users| users.set(&format!("user{number}"), "secret")).unwrap());
            }
        });
        assert_eq!(base.users().names().count(), 5);
    }
}
