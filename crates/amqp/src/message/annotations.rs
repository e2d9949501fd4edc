//! Message annotations (section 3.2.3), and the router's own among them.
//!
//! Routers put annotations of their own, whose keys begin with `x-opt-qd.`, behind those of the user.

use crate::codec::{Decoder, ListEncoder, MapEncoder, encode, format};
use crate::{DecodeError, DecodeErrorKind, descriptor};

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
    /// Whether there is a key that begins with `x-opt-qd.`, even one that is unknown or says nothing: the section must
    /// then be written anew where router annotations are not to go.
    pub router_part: bool,
}

impl<'a> MessageAnnotations<'a> {
    /// Takes the value of a message-annotations section apart. Router annotations that are unknown, and
    /// `x-opt-qd.class`, are passed by.
    ///
    /// # Errors
    /// If the map or one of the router annotations is not what it should be.
    pub fn decode(value: &'a [u8]) -> Result<Self, AnnotationsError> {
        let (pairs, mut entries) = read_map(value)?;
        let start = entries.clone();
        let mut user = UserAnnotations { count: 0, raw: entries.rest() };
        let mut router = RouterAnnotations::default();
        let mut router_part = false;
        for index in 0..pairs {
            let before = entries.position();
            match read_key(&mut entries)? {
                Some(key) if key.starts_with(PREFIX) => {
                    if !router_part {
                        router_part = true;
                        // `before` is where this entry begins, between the start of the entries and their end.
                        let raw = start.rest().get(..before - start.position()).unwrap_or_default();
                        user = UserAnnotations { count: index, raw };
                    }
                    router.read(key, &mut entries)?;
                }
                _ => entries.skip_value()?,
            }
        }
        entries.expect_end()?;
        if !router_part {
            user.count = pairs;
        }
        Ok(Self { user, router, router_part })
    }
}

fn read_map(value: &[u8]) -> Result<(usize, Decoder<'_>), AnnotationsError> {
    let mut decoder = Decoder::new(value);
    decoder.read_map().map_err(|error| match error.kind() {
        DecodeErrorKind::WrongType { .. } => AnnotationsError::NotAMap,
        DecodeErrorKind::BadCount { count, .. } if count % 2 != 0 => AnnotationsError::OddCount,
        _ => AnnotationsError::Malformed(error),
    })
}

/// A key that is text; `None` for another, such as the ulongs that the specification reserves.
fn read_key<'a>(entries: &mut Decoder<'a>) -> Result<Option<&'a str>, DecodeError> {
    match entries.peek_code() {
        Some(format::SYMBOL8 | format::SYMBOL32) => entries.read_symbol().map(Some),
        Some(format::STRING8 | format::STRING32) => entries.read_str().map(Some),
        _ => entries.skip_value().map(|()| None),
    }
}

/// A value that must be a string; `wrong` if it is of another type.
fn read_text<'a>(entries: &mut Decoder<'a>, wrong: AnnotationsError) -> Result<&'a str, AnnotationsError> {
    match entries.peek_code() {
        Some(format::STRING8 | format::STRING32) => Ok(entries.read_str()?),
        _ => Err(wrong),
    }
}

impl<'a> RouterAnnotations<'a> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn read(&mut self, key: &str, entries: &mut Decoder<'a>) -> Result<(), AnnotationsError> {
        match key {
            PHASE => {
                let phase = Decoder::new(entries.read_raw()?).read_integer();
                self.phase = phase.ok().and_then(|phase| u8::try_from(phase).ok()).unwrap_or(0);
            }
            STREAM => self.stream = Decoder::new(entries.read_raw()?).read_integer() != Ok(0),
            TO => self.to = Some(read_text(entries, AnnotationsError::To)?),
            INGRESS => self.ingress = Some(read_text(entries, AnnotationsError::Ingress)?),
            TRACE => self.trace = Trace::read(entries)?,
            _ => entries.skip_value()?,
        }
        Ok(())
    }
}

impl<'a> Trace<'a> {
    fn read(entries: &mut Decoder<'a>) -> Result<Self, AnnotationsError> {
        if !matches!(entries.peek_code(), Some(format::LIST_0 | format::LIST8 | format::LIST32)) {
            return Err(AnnotationsError::Trace);
        }
        let (count, mut routers) = entries.read_list()?;
        let raw = routers.rest();
        for _ in 0..count {
            read_text(&mut routers, AnnotationsError::TraceEntry)?;
        }
        routers.expect_end()?;
        Ok(Self { count, raw })
    }

    /// How many routers the message has passed.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it has passed none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The routers, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut routers = Decoder::new(self.raw);
        // All of them were read once when the trace was.
        std::iter::from_fn(move || routers.read_str().ok())
    }
}

/// Appends a message-annotations section: the user's annotations, then the router's, with `add_to_trace`
/// (`0/<router id>`) at the end of the trace. Nothing is appended if there are none at all.
pub fn write_message_annotations(
    out: &mut Vec<u8>,
    user: &UserAnnotations<'_>,
    router: &RouterAnnotations<'_>,
    add_to_trace: Option<&str>,
) {
    if user.count == 0 && router.is_empty() && add_to_trace.is_none() {
        return;
    }
    encode::descriptor(out, descriptor::MESSAGE_ANNOTATIONS);
    let mut map = MapEncoder::new(out);
    map.raw_entries(user.count, user.raw);
    if router.phase != 0 {
        map.entry(|out| encode::symbol(out, PHASE), |out| encode::int(out, router.phase.into()));
    }
    if router.stream {
        map.entry(|out| encode::symbol(out, STREAM), |out| encode::int(out, 1));
    }
    if let Some(to) = router.to {
        map.entry(|out| encode::symbol(out, TO), |out| encode::string(out, to));
    }
    if let Some(ingress) = router.ingress {
        map.entry(|out| encode::symbol(out, INGRESS), |out| encode::string(out, ingress));
    }
    if !router.trace.is_empty() || add_to_trace.is_some() {
        map.entry(|out| encode::symbol(out, TRACE), |out| write_trace(out, router.trace, add_to_trace));
    }
    map.finish();
}

fn write_trace(out: &mut Vec<u8>, trace: Trace<'_>, add: Option<&str>) {
    let mut list = ListEncoder::new(out);
    list.raw_members(trace.count, trace.raw);
    if let Some(router) = add {
        list.field(|out| encode::string(out, router));
    }
    list.finish();
}
