//! Locks for the library: it runs on several threads, and has none of its own.

use std::ffi::{c_int, c_void};

use parking_lot::RawMutex;
use parking_lot::lock_api::RawMutex as _;

/// A new lock.
pub(crate) extern "C" fn alloc() -> *mut c_void {
    Box::into_raw(Box::new(RawMutex::INIT)).cast()
}

/// # Safety
/// `lock` was made by [`alloc`], and not freed.
pub(crate) unsafe extern "C" fn lock(lock: *mut c_void) -> c_int {
    // SAFETY: as the caller guarantees. A lock is only ever used by shared reference.
    unsafe { &*lock.cast::<RawMutex>() }.lock();
    0
}

/// # Safety
/// `lock` was made by [`alloc`], not freed, and is locked by the caller.
pub(crate) unsafe extern "C" fn unlock(lock: *mut c_void) -> c_int {
    // SAFETY: as the caller guarantees.
    unsafe { (*lock.cast::<RawMutex>()).unlock() };
    0
}

/// # Safety
/// `lock` was made by [`alloc`], and nobody uses it any more.
pub(crate) unsafe extern "C" fn free(lock: *mut c_void) {
    // SAFETY: as the caller guarantees.
    drop(unsafe { Box::from_raw(lock.cast::<RawMutex>()) });
}
