//! What both sides of an exchange have in common: the library's connection.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr;

use crate::api::{
    Conn, OK, PROP_AUTH_EXTERNAL, PROP_MAXOUTBUF, PROP_SEC_PROPS, PROP_SSF, PROP_SSF_EXTERNAL, SEC_NOANONYMOUS,
    SecurityProperties,
};
use crate::library::copied;
use crate::{Cyrus, Failure, Terms};

/// Bytes; the largest packet of a security layer that is taken, as the old router has it.
const MAX_PACKET: c_uint = 32 * 1024;
/// Bits; more than any layer has.
const MAX_STRENGTH: c_uint = 2048;
const BAD_PARAMETER: c_int = -7;

/// A connection of the library's. It belongs to nobody else, and is used by one thread at a time, as every call needs
/// `&mut`: that is all that the library asks.
pub(crate) struct Connection {
    pub(crate) cyrus: &'static Cyrus,
    raw: *mut Conn,
}

// SAFETY: the library keeps nothing of a connection by thread.
unsafe impl Send for Connection {}
// SAFETY: nothing can be done with a shared reference: every call takes an exclusive one.
unsafe impl Sync for Connection {}

impl Connection {
    /// Takes over what `new` makes: it is given the place for a new connection, and returns the library's result.
    pub(crate) fn new(cyrus: &'static Cyrus, new: impl FnOnce(*mut *mut Conn) -> c_int) -> Result<Self, Failure> {
        let mut raw = ptr::null_mut();
        let result = new(&raw mut raw);
        if result != OK || raw.is_null() {
            return Err(Failure { code: result, text: cyrus.words(result) });
        }
        Ok(Self { cyrus, raw })
    }

    pub(crate) fn raw(&mut self) -> *mut Conn {
        self.raw
    }

    /// Says what lies under the exchange, and what is asked of it.
    pub(crate) fn set_terms(&mut self, terms: &Terms) -> Result<(), Failure> {
        let properties = SecurityProperties {
            // One bit stands for signatures alone. What lies beneath counts towards it.
            min_ssf: if terms.encrypt { 2 } else { 0 },
            max_ssf: MAX_STRENGTH,
            maxbufsize: MAX_PACKET,
            security_flags: if terms.no_anonymous { SEC_NOANONYMOUS } else { 0 },
            property_names: ptr::null(),
            property_values: ptr::null(),
        };
        let strength: c_uint = terms.external_strength;
        // SAFETY: the library copies values of these properties, which have the types that `sasl.h` says.
        unsafe {
            self.set(PROP_SEC_PROPS, (&raw const properties).cast())?;
            self.set(PROP_SSF_EXTERNAL, (&raw const strength).cast())?;
            if let Some(user) = &terms.external_user {
                let user = c_text(user)?;
                self.set(PROP_AUTH_EXTERNAL, user.as_ptr().cast())?;
            }
        }
        Ok(())
    }

    /// # Safety
    /// `value` is of the type that the property has.
    unsafe fn set(&mut self, property: c_int, value: *const c_void) -> Result<(), Failure> {
        // SAFETY: as the caller guarantees; the connection is alive.
        let result = unsafe { (self.cyrus.api.sasl_setprop)(self.raw, property, value) };
        self.check(result)
    }

    /// A property that is a text; `None` if it has no value yet.
    pub(crate) fn text(&mut self, property: c_int) -> Option<String> {
        let value = self.get(property)?;
        // SAFETY: the property is a text, which the library owns and keeps until the next call.
        Some(unsafe { copied(value.cast()) })
    }

    fn number(&mut self, property: c_int) -> u32 {
        // SAFETY: the property is an unsigned number, which the library owns and keeps until the next call.
        self.get(property).map_or(0, |value| unsafe { *value.cast::<c_uint>() })
    }

    fn get(&mut self, property: c_int) -> Option<*const c_void> {
        let mut value = ptr::null();
        // SAFETY: the connection is alive, and there is room for the pointer.
        let result = unsafe { (self.cyrus.api.sasl_getprop)(self.raw, property, &raw mut value) };
        (result == OK && !value.is_null()).then_some(value)
    }

    /// Strength of the security layer that was negotiated, in bits; 0 without one.
    pub(crate) fn strength(&mut self) -> u32 {
        self.number(PROP_SSF)
    }

    /// The most that may be encoded at once.
    pub(crate) fn max_plain(&mut self) -> usize {
        self.number(PROP_MAXOUTBUF) as usize
    }

    /// An error, unless all is well.
    pub(crate) fn check(&mut self, result: c_int) -> Result<(), Failure> {
        if result == OK { Ok(()) } else { Err(self.failure(result)) }
    }

    pub(crate) fn failure(&mut self, code: c_int) -> Failure {
        // SAFETY: the connection is alive; the text is the library's, until the next call.
        let text = unsafe { copied((self.cyrus.api.sasl_errdetail)(self.raw)) };
        let text = if text.is_empty() { self.cyrus.words(code) } else { text };
        Failure { code, text }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the connection is alive and nobody else's; the library forgets it.
        unsafe { (self.cyrus.api.sasl_dispose)(&raw mut self.raw) };
    }
}

/// A text for the library.
pub(crate) fn c_text(text: &str) -> Result<CString, Failure> {
    let bad = |_| Failure { code: BAD_PARAMETER, text: "there is a zero byte in a name".to_owned() };
    CString::new(text).map_err(bad)
}

/// Bytes for the library; null stands for none at all.
pub(crate) fn pointer(bytes: Option<&[u8]>) -> *const c_char {
    bytes.map_or(ptr::null(), |bytes| bytes.as_ptr().cast())
}

/// How many they are.
pub(crate) fn length(bytes: Option<&[u8]>) -> Result<c_uint, Failure> {
    let too_long = |_| Failure { code: BAD_PARAMETER, text: "too many bytes at once".to_owned() };
    bytes.map_or(Ok(0), |bytes| c_uint::try_from(bytes.len()).map_err(too_long))
}

/// A copy of what the library gives out; `None` if it gives out nothing, which is not the same as no bytes.
///
/// # Safety
/// `start` is null, or the first of `count` bytes.
pub(crate) unsafe fn copied_bytes(start: *const c_char, count: c_uint) -> Option<Vec<u8>> {
    if start.is_null() {
        return None;
    }
    // SAFETY: as the caller guarantees.
    Some(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), count as usize) }.to_vec())
}
