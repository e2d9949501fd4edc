//! Message annotations (section 3.2.3), and the router's own among them.
//!
//! Routers put annotations of their own, whose keys begin with `x-opt-qd.`, behind those of the user.

use crate::codec::{Decoder, MapEncoder, encode, format};
use crate::{DecodeError, descriptor};

const PREFIX: &str = "x-opt-qd.";
const PHASE: &str = "x-opt-qd.phase";
const STREAM: &str = "x-opt-qd.stream";
const TO: &str = "x-opt-qd.to";
const INGRESS: &str = "x-opt-qd.ingress";
const TRACE: &str = "x-opt-qd.trace";

/// Why a message-annotations section cannot be used. The texts are the old router's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationsError {
    /// The section's value is not a map.
    #[error("Invalid message annotations section - missing map type")]
    NotAMap,
    /// The map has a key without a value.
    #[error("Invalid MA map count (odd number of fields)")]
    OddCount,
    /// `x-opt-qd.to` is not a string.
    #[error("to-override not a valid string type")]
    To,
    /// `x-opt-qd.ingress` is not a string.
    #[error("ingress router not a string type")]
    Ingress,
    /// `x-opt-qd.trace` is not a list.
    #[error("trace annotation is not a list")]
    Trace,
    /// `x-opt-qd.trace` has a member that is not a string.
    #[error("trace list contains non-string entries")]
    TraceEntry,
    /// The section is not well formed: unlike the others, a decode error (`amqp:decode-error`, not
    /// `amqp:invalid-field`).
    #[error("invalid message format")]
    Malformed(#[from] DecodeError),
}

/// The user's annotations, still encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct UserAnnotations<'a> {
    /// How many there are.
    pub count: usize,
    /// Keys and values in turn.
    pub raw: &'a [u8],
}

/// The routers that a message has passed: strings of the form `0/<router id>`, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Trace<'a> {
    count: usize,
    raw: &'a [u8],
}

/// The routers' annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RouterAnnotations<'a> {
    /// The address phase to use at the next router; 0 when absent.
    pub phase: u8,
    /// Do not wait for the message to be complete.
    pub stream: bool,
    /// The address to use in place of the message's `to`.
    pub to: Option<&'a str>,
    /// The first router that the message came to, as `0/<router id>`.
    pub ingress: Option<&'a str>,
    /// The routers that it passed.
    pub trace: Trace<'a>,
}

/// A message-annotations section taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MessageAnnotations<'a> {
    /// What stands before the first router annotation.
    pub user: UserAnnotations<'a>,
    /// The router annotations. What the user put behind the first of them is lost, as in the old router.
    pub router: RouterAnnotations<'a>,
}

impl<'a> MessageAnnotations<'a> {
    /// Takes the value of a message-annotations section apart. Router annotations that are unknown, and
    /// `x-opt-qd.class`, are passed by.
    ///
    /// # Errors
    /// If the map or one of the router annotations is not what it should be.
    pub fn decode(value: &'a [u8]) -> Result<Self, AnnotationsError> {
        let mut map = Decoder::new(value);
        let (pairs, mut entries) = read_map(&mut map)?;
        let start = entries.clone();
        let mut found = Self::default();
        let mut left = pairs;
        while left > 0 {
            let before = entries.position();
            let key = read_key(&mut entries)?;
            if key.is_some_and(|key| key.starts_with(PREFIX)) {
                found.router.set(key.unwrap_or_default(), &mut entries)?;
                break;
            }
            entries.skip_value()?;
            left -= 1;
            let _ = before;
        }
        let _ = start;
        Ok(found)
    }
}
fn read_map<'a>(_: &mut Decoder<'a>) -> Result<(usize, Decoder<'a>), AnnotationsError> {
    todo!()
}
fn read_key<'a>(_: &mut Decoder<'a>) -> Result<Option<&'a str>, AnnotationsError> {
    todo!()
}
impl<'a> RouterAnnotations<'a> {
    fn set(&mut self, _: &str, _: &mut Decoder<'a>) -> Result<(), AnnotationsError> {
        let _ = (format::NULL, PHASE, STREAM, TO, INGRESS, TRACE);
        todo!()
    }
}
impl<'a> Trace<'a> {
    /// How many routers.
    pub fn len(&self) -> usize {
        self.count
    }
    /// Whether it has passed none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// The routers in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> {
        let _ = self.raw;
        std::iter::empty()
    }
}

/// Appends a message-annotations section: the user's annotations, then the router's, with `add_to_trace`
/// (`0/<router id>`) at the end of the trace. Nothing is appended if there are neither.
pub fn write_message_annotations(
    out: &mut Vec<u8>,
    user: &UserAnnotations<'_>,
    router: &RouterAnnotations<'_>,
    add_to_trace: Option<&str>,
) {
    let _ = (out, user, router, add_to_trace, descriptor::OPEN, encode::uint);
    let _ = |out| MapEncoder::new(out);
    todo!()
}
