//! The client's side of an exchange.

use std::ffi::CString;
use std::ptr;

use crate::api::{CB_AUTHNAME, CB_LIST_END, CB_PASS, CB_USER, CONTINUE, Callback, INTERACT, Interaction, OK};
use crate::connection::{Connection, c_text, copied_bytes, length, pointer};
use crate::library::copied;
use crate::{Cyrus, Failure, Layer, SERVICE, Terms};

/// Who we are. It has no `Debug`, so that a password cannot reach a log.
#[derive(Clone, Default)]
pub struct Identity {
    /// Our name.
    pub user: Option<String>,
    /// Our password.
    pub password: Option<String>,
}

/// What there is to ask for, by what is known: the library must not be offered what cannot be answered.
static NAME_AND_PASSWORD: [Callback; 4] =
    [Callback::asked(CB_USER), Callback::asked(CB_AUTHNAME), Callback::asked(CB_PASS), Callback::asked(CB_LIST_END)];
static NAME: [Callback; 3] = [Callback::asked(CB_USER), Callback::asked(CB_AUTHNAME), Callback::asked(CB_LIST_END)];

/// GSSAPI's client says that it may encode more than its server then takes, by as much as this, in bytes.
const CLIENT_EXCESS: usize = 60;
/// Rounds of questions in one step; each asks for everything at once.
const MAX_QUESTIONS: u32 = 8;

/// Our exchange with one server.
pub struct Client {
    connection: Connection,
    user: Option<CString>,
    password: Option<CString>,
}

/// What comes of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientStep {
    /// Begin with this mechanism, and say this at once, or nothing.
    Init(String, Option<Vec<u8>>),
    /// Answer this.
    Respond(Vec<u8>),
}

impl Client {
    /// A new exchange with the server of this name. The client's side of the library has been started.
    ///
    /// # Errors
    /// If the library cannot, or a name has a zero byte.
    pub fn new(cyrus: &'static Cyrus, host: &str, identity: &Identity, terms: &Terms) -> Result<Self, Failure> {
        let host = c_text(host)?;
        let callbacks = match identity {
            Identity { user: Some(_), password: Some(_) } => NAME_AND_PASSWORD.as_ptr(),
            Identity { user: Some(_), password: None } => NAME.as_ptr(),
            Identity { user: None, .. } => ptr::null(),
        };
        // SAFETY: the callbacks live as long as the process; the texts are copied, or null and done without.
        let mut connection = Connection::new(cyrus, |place| unsafe {
            let null = ptr::null();
            (cyrus.api.sasl_client_new)(SERVICE.as_ptr(), host.as_ptr(), null, null, callbacks, 0, place)
        })?;
        connection.set_terms(terms)?;
        let user = identity.user.as_deref().map(c_text).transpose()?;
        let password = identity.password.as_deref().map(c_text).transpose()?;
        Ok(Self { connection, user, password })
    }

    /// Chooses among the mechanisms that the server offers.
    ///
    /// # Errors
    /// If none can be used ([`Failure::is_no_mechanism`]), or it fails at once.
    pub fn start(&mut self, offered: &[&str]) -> Result<ClientStep, Failure> {
        let offered = c_text(&offered.join(" "))?;
        let (mut out, mut count, mut mechanism) = (ptr::null(), 0, ptr::null());
        let result = self.until_answered(|client, asked| {
            let (api, raw) = (&client.connection.cyrus.api, client.connection.raw());
            // SAFETY: the connection is alive, and there is room for what is given out.
            unsafe {
                (api.sasl_client_start)(raw, offered.as_ptr(), asked, &raw mut out, &raw mut count, &raw mut mechanism)
            }
        });
        if !matches!(result, OK | CONTINUE) {
            return Err(self.connection.failure(result));
        }
        // SAFETY: what is given out is the library's, until the next call.
        let (mechanism, response) = unsafe { (copied(mechanism), copied_bytes(out, count)) };
        Ok(ClientStep::Init(mechanism, response))
    }

    /// Answers a challenge.
    ///
    /// # Errors
    /// If it cannot be answered, or shows that the server is not the one it should be.
    pub fn step(&mut self, challenge: &[u8]) -> Result<ClientStep, Failure> {
        let length = length(Some(challenge))?;
        let (mut out, mut count) = (ptr::null(), 0);
        let result = self.until_answered(|client, asked| {
            let (api, raw) = (&client.connection.cyrus.api, client.connection.raw());
            // SAFETY: the connection is alive, the challenge has that length, and there is room for what is given out.
            unsafe {
                (api.sasl_client_step)(raw, pointer(Some(challenge)), length, asked, &raw mut out, &raw mut count)
            }
        });
        if !matches!(result, OK | CONTINUE) {
            return Err(self.connection.failure(result));
        }
        // SAFETY: what is given out is the library's, until the next call.
        Ok(ClientStep::Respond(unsafe { copied_bytes(out, count) }.unwrap_or_default()))
    }

    /// Calls the library, and answers what it asks for, until it has what it needs.
    fn until_answered(&mut self, mut call: impl FnMut(&mut Self, *mut *mut Interaction) -> i32) -> i32 {
        let mut result = INTERACT;
        // The library finds its answers where it has put its questions: it is given the same list again.
        let mut asked: *mut Interaction = ptr::null_mut();
        for _ in 0..MAX_QUESTIONS {
            result = call(self, &raw mut asked);
            if result != INTERACT || asked.is_null() {
                break;
            }
            let mut question = asked;
            // SAFETY: the library has given out a list that ends with `CB_LIST_END`, and that is ours to fill in. The
            // answers live as long as this client, which is longer than the library needs them.
            unsafe {
                while (*question).id != CB_LIST_END {
                    self.answer(&mut *question);
                    question = question.add(1);
                }
            }
        }
        result
    }

    fn answer(&self, question: &mut Interaction) {
        let answer = match question.id {
            CB_AUTHNAME => self.user.as_ref(),
            CB_PASS => self.password.as_ref(),
            // To act as somebody else is never wanted.
            _ => None,
        };
        // An answer that is null makes the library fail, an empty one does not.
        let bytes = answer.map_or(c"", CString::as_c_str);
        question.result = bytes.as_ptr().cast();
        // Names and passwords are shorter than 4 GiB, or were not accepted.
        question.len = bytes.to_bytes().len() as u32;
    }

    /// After success: the security layer that was negotiated, if any.
    pub fn into_layer(self) -> Option<Layer> {
        Layer::new(self.connection, CLIENT_EXCESS)
    }
}
