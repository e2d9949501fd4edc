//! The part of `sasl.h` that is used: types as C lays them out, and the functions as they are found in the library.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

use libloading::Library;

use crate::LoadError;

/// `sasl_conn_t`, which only the library looks into.
#[repr(C)]
pub(crate) struct Conn {
    _private: [u8; 0],
}

pub(crate) const OK: c_int = 0;
pub(crate) const CONTINUE: c_int = 1;
pub(crate) const INTERACT: c_int = 2;

pub(crate) const CB_LIST_END: c_ulong = 0;
pub(crate) const CB_LOG: c_ulong = 2;
pub(crate) const CB_USER: c_ulong = 0x4001;
pub(crate) const CB_AUTHNAME: c_ulong = 0x4002;
pub(crate) const CB_PASS: c_ulong = 0x4004;

/// The strength of the layer negotiated.
pub(crate) const PROP_SSF: c_int = 1;
/// The most that may be encoded at once.
pub(crate) const PROP_MAXOUTBUF: c_int = 2;
/// Who has authenticated.
pub(crate) const PROP_AUTHUSER: c_int = 16;
pub(crate) const PROP_SSF_EXTERNAL: c_int = 100;
pub(crate) const PROP_SEC_PROPS: c_int = 101;
pub(crate) const PROP_AUTH_EXTERNAL: c_int = 102;

pub(crate) const SEC_NOANONYMOUS: c_uint = 0x10;

/// Where configuration files are.
pub(crate) const PATH_TYPE_CONFIG: c_int = 1;

/// `sasl_callback_t`.
#[repr(C)]
pub(crate) struct Callback {
    pub(crate) id: c_ulong,
    /// Of a type that the id says.
    pub(crate) proc_: Option<unsafe extern "C" fn() -> c_int>,
    pub(crate) context: *mut c_void,
}

// SAFETY: the callbacks used have no context, and functions belong to no thread.
unsafe impl Sync for Callback {}
// SAFETY: as above.
unsafe impl Send for Callback {}

impl Callback {
    /// One that is asked for by an interaction.
    pub(crate) const fn asked(id: c_ulong) -> Self {
        Self { id, proc_: None, context: std::ptr::null_mut() }
    }
}

/// `sasl_security_properties_t`.
#[repr(C)]
pub(crate) struct SecurityProperties {
    pub(crate) min_ssf: c_uint,
    pub(crate) max_ssf: c_uint,
    pub(crate) maxbufsize: c_uint,
    pub(crate) security_flags: c_uint,
    pub(crate) property_names: *const *const c_char,
    pub(crate) property_values: *const *const c_char,
}

/// `sasl_interact_t`.
#[repr(C)]
pub(crate) struct Interaction {
    pub(crate) id: c_ulong,
    pub(crate) challenge: *const c_char,
    pub(crate) prompt: *const c_char,
    pub(crate) defresult: *const c_char,
    pub(crate) result: *const c_void,
    pub(crate) len: c_uint,
}

pub(crate) type MutexAlloc = extern "C" fn() -> *mut c_void;
pub(crate) type MutexUse = unsafe extern "C" fn(*mut c_void) -> c_int;
pub(crate) type MutexFree = unsafe extern "C" fn(*mut c_void);

macro_rules! api {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// What they are in; it stays loaded as long as they may be called.
            _library: Library,
        }

        impl Api {
            /// Finds them.
            pub(crate) fn find(library: Library) -> Result<Self, LoadError> {
                Ok(Self {
                    $(
                        // SAFETY: the type is that of the declaration in `sasl.h`, which has not changed since 2.1.
                        $name: *unsafe {
                            library.get(concat!(stringify!($name), "\0"))
                                .map_err(|_| LoadError::Incomplete(stringify!($name)))?
                        },
                    )*
                    _library: library,
                })
            }
        }
    };
}

api! {
    sasl_set_mutex: fn(MutexAlloc, MutexUse, MutexUse, MutexFree);
    sasl_set_path: fn(c_int, *mut c_char) -> c_int;
    sasl_server_init: fn(*const Callback, *const c_char) -> c_int;
    sasl_client_init: fn(*const Callback) -> c_int;
    sasl_server_new: fn(
        *const c_char, *const c_char, *const c_char, *const c_char, *const c_char, *const Callback, c_uint,
        *mut *mut Conn
    ) -> c_int;
    sasl_client_new: fn(
        *const c_char, *const c_char, *const c_char, *const c_char, *const Callback, c_uint, *mut *mut Conn
    ) -> c_int;
    sasl_setprop: fn(*mut Conn, c_int, *const c_void) -> c_int;
    sasl_getprop: fn(*mut Conn, c_int, *mut *const c_void) -> c_int;
    sasl_listmech: fn(
        *mut Conn, *const c_char, *const c_char, *const c_char, *const c_char, *mut *const c_char, *mut c_uint,
        *mut c_int
    ) -> c_int;
    sasl_server_start: fn(
        *mut Conn, *const c_char, *const c_char, c_uint, *mut *const c_char, *mut c_uint
    ) -> c_int;
    sasl_server_step: fn(*mut Conn, *const c_char, c_uint, *mut *const c_char, *mut c_uint) -> c_int;
    sasl_client_start: fn(
        *mut Conn, *const c_char, *mut *mut Interaction, *mut *const c_char, *mut c_uint, *mut *const c_char
    ) -> c_int;
    sasl_client_step: fn(
        *mut Conn, *const c_char, c_uint, *mut *mut Interaction, *mut *const c_char, *mut c_uint
    ) -> c_int;
    sasl_encode: fn(*mut Conn, *const c_char, c_uint, *mut *const c_char, *mut c_uint) -> c_int;
    sasl_decode: fn(*mut Conn, *const c_char, c_uint, *mut *const c_char, *mut c_uint) -> c_int;
    sasl_errstring: fn(c_int, *const c_char, *mut *const c_char) -> *const c_char;
    sasl_errdetail: fn(*mut Conn) -> *const c_char;
    sasl_dispose: fn(*mut *mut Conn);
}
