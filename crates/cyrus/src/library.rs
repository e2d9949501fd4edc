//! The library: found, loaded, and started once for the process.

use std::ffi::{CString, c_char, c_int};
use std::mem;
use std::sync::OnceLock;

use libloading::Library;
use parking_lot::Mutex;

use crate::api::{Api, CB_LIST_END, CB_LOG, Callback, OK, PATH_TYPE_CONFIG};
use crate::{LoadError, LogLevel, locks, log};

/// What the library is called: by its makers, and by Debian.
const NAMES: [&str; 2] = ["libsasl2.so.3", "libsasl2.so.2"];
/// Where clients of the old router's library look for the configuration.
const CONFIG_VARIABLE: &str = "PN_SASL_CONFIG_PATH";

/// The library. There is one in a process, and it is never unloaded.
pub struct Cyrus {
    pub(crate) api: Api,
    server: OnceLock<Result<(), LoadError>>,
    client: OnceLock<Result<(), LoadError>>,
    /// The library's path to its configuration is set, which it must be before either side starts.
    starting: Mutex<()>,
}

static LIBRARY: OnceLock<Result<Cyrus, LoadError>> = OnceLock::new();

impl Cyrus {
    /// Loads the library, or tells again what came of it the first time. `tell` gets what the library has to log.
    ///
    /// # Errors
    /// If it is not there, or lacks something.
    pub fn load(tell: fn(LogLevel, &str)) -> Result<&'static Self, LoadError> {
        log::tell(tell);
        LIBRARY.get_or_init(|| Self::open(&NAMES)).as_ref().map_err(Clone::clone)
    }

    fn open(names: &[&str]) -> Result<Self, LoadError> {
        let mut reason = String::new();
        let mut found = None;
        for name in names {
            // SAFETY: the library has no constructors that do more than set variables of its own.
            match unsafe { Library::new(*name) } {
                Ok(library) => {
                    found = Some(library);
                    break;
                }
                Err(error) => reason = text_of(&error),
            }
        }
        let api = Api::find(found.ok_or(LoadError::Missing(reason))?)?;
        // SAFETY: the functions do what the library expects of them, and it has not started, so that no lock is held.
        unsafe { (api.sasl_set_mutex)(locks::alloc, locks::lock, locks::unlock, locks::free) };
        Ok(Self { api, server: OnceLock::new(), client: OnceLock::new(), starting: Mutex::new(()) })
    }

    /// Starts the server's side, with the configuration `name`.conf in the folder `config_dir`, or where the library
    /// looks by itself. It starts once: what later calls ask for has no effect.
    ///
    /// # Errors
    /// If the configuration cannot be used.
    pub fn start_server(&self, config_dir: Option<&str>, name: &str) -> Result<(), LoadError> {
        self.start(&self.server, config_dir, || {
            let name = text(name)?;
            // SAFETY: the callbacks live as long as the process, and the library copies the name.
            self.started(unsafe { (self.api.sasl_server_init)(callbacks(), name.as_ptr()) })
        })
    }

    /// Starts the client's side, once.
    ///
    /// # Errors
    /// If the configuration cannot be used.
    pub fn start_client(&self, config_dir: Option<&str>) -> Result<(), LoadError> {
        self.start(&self.client, config_dir, || {
            // SAFETY: the callbacks live as long as the process.
            self.started(unsafe { (self.api.sasl_client_init)(callbacks()) })
        })
    }

    fn start(
        &self,
        side: &OnceLock<Result<(), LoadError>>,
        config_dir: Option<&str>,
        start: impl FnOnce() -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        // One side after the other: the library's common part starts with the first.
        let _one = self.starting.lock();
        side.get_or_init(|| self.set_config_dir(config_dir).and_then(|()| start())).clone()
    }

    fn set_config_dir(&self, config_dir: Option<&str>) -> Result<(), LoadError> {
        let inherited = std::env::var(CONFIG_VARIABLE).ok();
        let Some(folder) = config_dir.or(inherited.as_deref()).filter(|folder| !folder.is_empty()) else {
            return Ok(());
        };
        let folder = text(folder)?;
        // SAFETY: the library copies the text and does not change it.
        self.started(unsafe { (self.api.sasl_set_path)(PATH_TYPE_CONFIG, folder.as_ptr().cast_mut()) })
    }

    fn started(&self, result: c_int) -> Result<(), LoadError> {
        if result == OK { Ok(()) } else { Err(LoadError::Start(self.words(result))) }
    }

    /// The library's words for a result.
    pub(crate) fn words(&self, result: c_int) -> String {
        // SAFETY: the library returns a constant text, or null.
        unsafe { copied((self.api.sasl_errstring)(result, std::ptr::null(), std::ptr::null_mut())) }
    }
}

/// The reason in full: the library that opens libraries keeps the system's words one level down.
fn text_of(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// What both sides are started with: where the library may log.
fn callbacks() -> *const Callback {
    /// The library's type for functions of any kind.
    type Any = unsafe extern "C" fn() -> c_int;
    type Log = unsafe extern "C" fn(*mut std::ffi::c_void, c_int, *const c_char) -> c_int;
    static CALLBACKS: OnceLock<[Callback; 2]> = OnceLock::new();
    CALLBACKS
        .get_or_init(|| {
            // SAFETY: the library calls it with the arguments that it has, by the id that goes with it.
            let log = unsafe { mem::transmute::<Log, Any>(log::callback) };
            [Callback { id: CB_LOG, proc_: Some(log), context: std::ptr::null_mut() }, Callback::asked(CB_LIST_END)]
        })
        .as_ptr()
}

/// A text for the library.
fn text(text: &str) -> Result<CString, LoadError> {
    CString::new(text).map_err(|_| LoadError::Start(format!("there is a zero byte in '{}'", text.escape_debug())))
}

/// A copy of a text of the library's.
///
/// # Safety
/// `text` is null or a text that ends with a zero.
pub(crate) unsafe fn copied(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the caller guarantees.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_said_to_be_missing_and_what_to_install() {
        let error = Cyrus::open(&["libno-such-library.so.1"]).err().map(|error| error.to_string()).unwrap();
        assert!(error.contains("libno-such-library.so.1") && error.contains("install"), "{error}");
    }

    #[test]
    fn a_library_of_another_kind_is_not_taken() {
        let error = Cyrus::open(&["libc.so.6"]).err();
        assert_eq!(error, Some(LoadError::Incomplete("sasl_set_mutex")));
    }
}
