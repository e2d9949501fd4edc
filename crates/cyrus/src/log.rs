//! What the library has to say beside its results.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Something is wrong, in the set-up rather than with a peer.
    Error,
    /// An authentication failed.
    Failure,
    /// Something may be wrong.
    Warning,
    /// Of interest to those who look for a mistake.
    Note,
}

static TAKER: OnceLock<fn(LogLevel, &str)> = OnceLock::new();

/// Who is told; the first one stays.
pub(crate) fn tell(taker: fn(LogLevel, &str)) {
    let _ = TAKER.set(taker);
}

/// The library's callback.
///
/// # Safety
/// `message` is null or a text that ends with a zero.
pub(crate) unsafe extern "C" fn callback(_context: *mut c_void, level: c_int, message: *const c_char) -> c_int {
    let level = match level {
        1 => LogLevel::Error,
        2 => LogLevel::Failure,
        3 => LogLevel::Warning,
        4 => LogLevel::Note,
        // None, or debugging and traces, which show passwords.
        _ => return 0,
    };
    if let Some(taker) = TAKER.get()
        && !message.is_null()
    {
        // SAFETY: as the caller guarantees.
        let text = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        taker(level, text.trim_end());
    }
    0
}
