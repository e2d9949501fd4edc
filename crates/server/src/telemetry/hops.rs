//! Messages that somebody traces, noted as they come and go.
//!
//! A message is traced if it carries a trace context (W3C `traceparent`) whose sampled flag is set: among its message
//! annotations or its application properties, of which the router changes nothing. What is noted is bounded; what does not
//! fit is counted and left out.

use std::time::{SystemTime, UNIX_EPOCH};

use amqp::Decoder;
use amqp::message::{PropertiesView, Scan, Scanner, SectionKind};
use parking_lot::Mutex;

/// Notes that may wait for the exporter.
const MOST: usize = 16 * 1024;
/// The key of the context.
const TRACE_PARENT: &str = "traceparent";
/// Where routers say where a message goes.
const TO: &str = "x-opt-qd.to";

/// Which trace, and which span of it a message was sent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Context {
    pub(super) trace: u128,
    pub(super) parent: u64,
}

/// A message has come or gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) context: Context,
    /// It has come; else it was sent on.
    pub(super) came: bool,
    /// Nanoseconds since 1970.
    pub(super) at: u64,
    /// The number of the connection.
    pub(super) connection: u64,
    /// What the link is from or to.
    pub(super) address: String,
    /// Bytes of the message, as far as they were there.
    pub(super) size: usize,
}

/// Where they are noted.
#[derive(Default)]
pub(crate) struct Hops(Mutex<Noted>);

#[derive(Default)]
pub(super) struct Noted {
    pub(super) hops: Vec<Hop>,
    /// How many did not fit.
    pub(super) lost: u64,
}

impl Hops {
    /// Takes note of a message, if it is traced.
    pub(crate) fn note(&self, came: bool, connection: u64, address: &str, message: &[u8]) {
        let Some(context) = context_of(message) else { return };
        let address = if address.is_empty() { destination_of(message) } else { address };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let hop = Hop { context, came, at, connection, address: address.to_owned(), size: message.len() };
        let mut noted = self.0.lock();
        if noted.hops.len() < MOST {
            noted.hops.push(hop);
        } else {
            noted.lost += 1;
        }
    }

    /// All that was noted since this was last asked.
    pub(super) fn take(&self) -> Noted {
        std::mem::take(&mut *self.0.lock())
    }
}

/// The context of a message that is traced.
fn context_of(message: &[u8]) -> Option<Context> {
    let mut scanner = Scanner::new(message, false);
    while let Ok(Scan::Section(section)) = scanner.next() {
        match section.kind {
            SectionKind::MessageAnnotations | SectionKind::ApplicationProperties => {
                if let Some(text) = value_in(section.value, TRACE_PARENT) {
                    return parse(text);
                }
            }
            kind if kind > SectionKind::ApplicationProperties => return None,
            _ => {}
        }
    }
    None
}

/// Where a message goes whose link does not say so.
fn destination_of(message: &[u8]) -> &str {
    let mut scanner = Scanner::new(message, false);
    while let Ok(Scan::Section(section)) = scanner.next() {
        let found = match section.kind {
            SectionKind::MessageAnnotations => value_in(section.value, TO),
            SectionKind::Properties => PropertiesView::decode(section.value).ok().and_then(|properties| properties.to),
            kind if kind > SectionKind::Properties => break,
            _ => None,
        };
        if let Some(address) = found {
            return address;
        }
    }
    ""
}

/// The text at a key, in a map.
fn value_in<'m>(map: &'m [u8], wanted: &str) -> Option<&'m str> {
    let (_, mut entries) = Decoder::new(map).read_map().ok()?;
    while !entries.is_empty() {
        let key = entries.read_raw().ok()?;
        let value = entries.read_raw().ok()?;
        if text(key) == Some(wanted) {
            return text(value);
        }
    }
    None
}

/// A string or a symbol.
fn text(value: &[u8]) -> Option<&str> {
    Decoder::new(value).read_str().ok().or_else(|| Decoder::new(value).read_symbol().ok())
}

/// `00-<trace>-<parent>-<flags>` (W3C Trace Context, section 3.2), if it is to be sampled.
fn parse(text: &str) -> Option<Context> {
    let mut parts = text.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let sizes = [version.len(), trace.len(), parent.len(), flags.len()];
    let hexadecimal = [version, trace, parent, flags]
        .iter()
        .all(|part| part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)));
    // Later versions may say more behind; this one may not.
    if sizes != [2, 32, 16, 2] || !hexadecimal || version == "ff" || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let sampled = u8::from_str_radix(flags, 16).ok()? & 1 == 1;
    let trace = u128::from_str_radix(trace, 16).ok()?;
    let parent = u64::from_str_radix(parent, 16).ok()?;
    (sampled && trace != 0 && parent != 0).then_some(Context { trace, parent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_taken_if_it_is_to_be_sampled() {
        let context = Context { trace: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, parent: 0x00f0_67aa_0ba9_02b7 };
        assert_eq!(parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), Some(context));
        assert_eq!(parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), None);
        assert_eq!(parse("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later"), Some(context));
    }

    #[test]
    fn what_is_no_context_is_left_aside() {
        for text in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
