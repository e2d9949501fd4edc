//! The server's side of an exchange.

use std::ptr;

use crate::api::{CONTINUE, OK, PROP_AUTHUSER};
use crate::connection::{Connection, c_text, copied_bytes, length, pointer};
use crate::library::copied;
use crate::{Cyrus, Failure, Layer, SERVICE, Terms};

/// One client's exchange.
pub struct Server {
    connection: Connection,
}

/// What comes of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStep {
    /// The client is to be asked this.
    Challenge(Vec<u8>),
    /// The client is this user.
    Done {
        /// Its name.
        user: String,
    },
}

impl Server {
    /// A new exchange. The server's side of the library has been started.
    ///
    /// # Errors
    /// If the library cannot.
    pub fn new(cyrus: &'static Cyrus, terms: &Terms) -> Result<Self, Failure> {
        // SAFETY: texts that are null are ones that the library finds out or does without; there are no callbacks.
        let mut connection = Connection::new(cyrus, |place| unsafe {
            let null = ptr::null();
            (cyrus.api.sasl_server_new)(SERVICE.as_ptr(), null, null, null, null, ptr::null(), 0, place)
        })?;
        connection.set_terms(terms)?;
        Ok(Self { connection })
    }

    /// The mechanisms that the client may use, in the library's order.
    ///
    /// # Errors
    /// If there are none.
    pub fn mechanisms(&mut self) -> Result<Vec<String>, Failure> {
        let (empty, blank) = (c"".as_ptr(), c" ".as_ptr());
        let (mut list, mut length, mut count) = (ptr::null(), 0, 0);
        let (api, raw) = (&self.connection.cyrus.api, self.connection.raw());
        // SAFETY: the connection is alive, the texts are constant, and there is room for what is given out.
        let result = unsafe {
            (api.sasl_listmech)(raw, ptr::null(), empty, blank, empty, &raw mut list, &raw mut length, &raw mut count)
        };
        self.connection.check(result)?;
        // SAFETY: the text is the library's, until the next call.
        let list = unsafe { copied(list) };
        Ok(list.split(' ').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// The client has chosen a mechanism, and said something at once or nothing.
    ///
    /// # Errors
    /// If the client is refused, or the mechanism cannot be used.
    pub fn start(&mut self, mechanism: &str, initial_response: Option<&[u8]>) -> Result<ServerStep, Failure> {
        let name = c_text(mechanism)?;
        // The library's EXTERNAL looks for the zero at the end of the response, whatever its length says.
        let ended: Vec<u8>;
        let (bytes, length) = match (mechanism, initial_response) {
            // Old clients leave out what is optional, and do not expect to be asked for it.
            ("ANONYMOUS", None) => (Some(&b""[..]), 0),
            // It accepts nothing with the start, not even nothing.
            ("CRAM-MD5", _) => (None, 0),
            ("EXTERNAL", Some(response)) => {
                ended = [response, b"\0"].concat();
                (Some(ended.as_slice()), length(Some(response))?)
            }
            (_, response) => (response, length(response)?),
        };
        let (mut out, mut count) = (ptr::null(), 0);
        let (api, raw) = (&self.connection.cyrus.api, self.connection.raw());
        // SAFETY: the connection is alive, `bytes` are at least `length`, and there is room for what is given out.
        let result = unsafe {
            (api.sasl_server_start)(raw, name.as_ptr(), pointer(bytes), length, &raw mut out, &raw mut count)
        };
        // SAFETY: what is given out is the library's, until the next call.
        let challenge = unsafe { copied_bytes(out, count) };
        self.conclude(result, challenge)
    }

    /// The client has answered a challenge.
    ///
    /// # Errors
    /// If the client is refused.
    pub fn step(&mut self, response: &[u8]) -> Result<ServerStep, Failure> {
        let length = length(Some(response))?;
        let (mut out, mut count) = (ptr::null(), 0);
        let (api, raw) = (&self.connection.cyrus.api, self.connection.raw());
        // SAFETY: the connection is alive, the response has that length, and there is room for what is given out.
        let result =
            unsafe { (api.sasl_server_step)(raw, pointer(Some(response)), length, &raw mut out, &raw mut count) };
        // SAFETY: what is given out is the library's, until the next call.
        let challenge = unsafe { copied_bytes(out, count) };
        self.conclude(result, challenge)
    }

    fn conclude(&mut self, result: i32, challenge: Option<Vec<u8>>) -> Result<ServerStep, Failure> {
        match result {
            CONTINUE => Ok(ServerStep::Challenge(challenge.unwrap_or_default())),
            OK => Ok(ServerStep::Done { user: self.connection.text(PROP_AUTHUSER).unwrap_or_default() }),
            code => Err(self.connection.failure(code)),
        }
    }

    /// After success: the security layer that was negotiated, if any.
    pub fn into_layer(self) -> Option<Layer> {
        Layer::new(self.connection, 0)
    }
}
