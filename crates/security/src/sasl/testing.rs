//! For the tests of mechanisms.

use std::sync::{Arc, OnceLock};

use crate::UserBase;

/// A base with one user, `joe` with the password `secret`.
pub(crate) fn joe_only() -> Arc<UserBase> {
    static BASE: OnceLock<Arc<UserBase>> = OnceLock::new();
    let base = BASE.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("users-{}-joe-only", std::process::id()));
        crate::users::change(&path, |users| users.set("joe", "secret")).unwrap();
        let base = UserBase::open(&path).unwrap();
        let _ = std::fs::remove_file(format!("{}.lock", path.display()));
        let _ = std::fs::remove_file(path);
        Arc::new(base)
    });
    Arc::clone(base)
}
