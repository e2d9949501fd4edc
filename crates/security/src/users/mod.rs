//! A base of users in one file, for those who have no other: `waystation user` writes it, and so does management.
//!
//! It keeps what SCRAM needs to check passwords, and no passwords. A file that is copied lets nobody in; trying passwords
//! against it is slow.

mod base;
mod error;
mod file;
mod text;

pub use base::UserBase;
pub use error::UsersError;
pub use file::{change, load};

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use crate::prepare;
use crate::scram::{Hash, Verifier};

/// Iterations for new passwords: about 10 ms of a processor for each try.
const ITERATIONS: u32 = 16_384;
/// Bytes.
const SALT: usize = 16;
/// Bytes; the longest name.
const MAX_NAME: usize = 255;
/// Users in one file.
const MAX_USERS: usize = 100_000;

/// Users by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users(BTreeMap<String, User>);

/// One of them: what is kept of the password, for each hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) verifiers: BTreeMap<Hash, Verifier>,
}

impl Users {
    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The mechanisms by which a user can be authenticated, strongest first; `None`: there is no such user.
    pub fn mechanisms(&self, name: &str) -> Option<Vec<&'static str>> {
        self.0.get(name).map(|user| user.verifiers.keys().rev().map(|hash| hash.mechanism()).collect())
    }

    /// Adds a user, or gives one another password. True: there was none of that name.
    ///
    /// # Errors
    /// Name or password cannot be used, or there are too many users.
    pub fn set(&mut self, name: &str, password: &str) -> Result<bool, UsersError> {
        let name = checked_name(name)?;
        let password = prepare(password).map_err(UsersError::Password)?;
        if !self.0.contains_key(&name) && self.0.len() >= MAX_USERS {
            return Err(UsersError::TooMany(MAX_USERS));
        }
        let mut user = User::default();
        for hash in Hash::ALL {
            let salt = crate::scram_random::<SALT>().map_err(UsersError::System)?;
            let verifier = Verifier::of_password(hash, &password, &salt, iterations());
            user.verifiers.insert(hash, verifier);
        }
        Ok(self.0.insert(name, user).is_none())
    }

    /// Removes a user.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn remove(&mut self, name: &str) -> Result<(), UsersError> {
        let prepared = prepare(name).map_or_else(|_| name.to_owned(), std::borrow::Cow::into_owned);
        self.0.remove(&prepared).map(drop).ok_or_else(|| UsersError::Unknown(name.to_owned()))
    }

    /// Whether there is a user of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&User> {
        self.0.get(name)
    }
}

pub(crate) fn iterations() -> NonZeroU32 {
    const { NonZeroU32::new(ITERATIONS).unwrap() }
}

fn checked_name(name: &str) -> Result<String, UsersError> {
    let wrong = |why| UsersError::Name { name: name.escape_debug().to_string(), why };
    let prepared = prepare(name).map_err(wrong)?;
    if prepared.len() > MAX_NAME {
        return Err(wrong("it is longer than 255 bytes"));
    }
    Ok(prepared.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_known_by_all_mechanisms() {
        let mut users = Users::default();
        assert!(users.set("joe", "secret").unwrap());
        let expected = ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1"];
        assert_eq!(users.mechanisms("joe"), Some(expected.to_vec()));
        for (hash, verifier) in &users.get("joe").unwrap().verifiers {
            assert!(verifier.is_of(*hash, "secret") && !verifier.is_of(*hash, "guess"));
        }
    }

    #[test]
    fn a_user_can_get_another_password() {
        let mut users = Users::default();
        users.set("joe", "old").unwrap();
        assert!(!users.set("joe", "new").unwrap());
        assert!(users.get("joe").unwrap().verifiers[&Hash::Sha256].is_of(Hash::Sha256, "new"));
    }

    #[test]
    fn equal_passwords_look_different() {
        let mut users = Users::default();
        users.set("joe", "secret").unwrap();
        users.set("ann", "secret").unwrap();
        assert_ne!(users.get("joe"), users.get("ann"));
    }

    #[test]
    fn names_that_cannot_be_used_are_refused_with_the_reason() {
        for name in ["", "a\0b", "a\nb", &"x".repeat(256)] {
            assert!(matches!(Users::default().set(name, "secret"), Err(UsersError::Name { .. })), "{name:?}");
        }
    }

    #[test]
    fn an_empty_password_is_refused() {
        assert!(matches!(Users::default().set("joe", ""), Err(UsersError::Password(_))));
    }

    #[test]
    fn removing_somebody_who_is_not_there_is_an_error() {
        assert_eq!(Users::default().remove("joe").unwrap_err().to_string(), "there is no user 'joe'");
    }
}
