//! A message's first sections as they are delivered: the header says what the queue knows, and the annotations what has
//! happened. What the application wrote stays as it is.

use crate::facts::Malformed;
use crate::ids::Millis;
use crate::local::Assignment;
use crate::overlay::{Overlay, pairs};
use amqp::codec::{MapEncoder, encode};
use amqp::descriptor;
use amqp::message::{Header, Scan, Scanner, SectionKind};
use amqp::{DecodeError, Decoder};

/// Why it became a dead letter, a string: see [`Reason::text`](crate::Reason::text).
pub const DEAD_LETTER_REASON: &str = "x-opt-dead-letter-reason";
/// The address of the queue where it did, a string.
pub const DEAD_LETTER_ORIGIN: &str = "x-opt-dead-letter-origin";
/// When, a timestamp.
pub const DEAD_LETTER_TIME: &str = "x-opt-dead-letter-time";
/// How often it has become one, wherever, a uint.
pub const DEAD_LETTER_COUNT: &str = "x-opt-dead-letter-count";
/// What the consumer said that rejected it, a string.
pub const DEAD_LETTER_ERROR: &str = "x-opt-dead-letter-error";
/// The queue where it first became one, a string, as clients of Artemis look for it.
pub const ORIGINAL_ADDRESS: &str = "x-opt-ORIG-ADDRESS";
/// The same.
pub const ORIGINAL_QUEUE: &str = "x-opt-ORIG-QUEUE";

const OURS: [&str; 7] = [
    DEAD_LETTER_REASON,
    DEAD_LETTER_ORIGIN,
    DEAD_LETTER_TIME,
    DEAD_LETTER_COUNT,
    DEAD_LETTER_ERROR,
    ORIGINAL_ADDRESS,
    ORIGINAL_QUEUE,
];

impl Assignment {
    /// Appends the sections with which this delivery begins, in the place of those of the message before the properties.
    /// Says how many bytes of the message they replace: what follows is to be sent as it is. The message may be cut off
    /// behind these sections.
    ///
    /// # Errors
    /// If the message is malformed, which it was not when its [`Facts`](crate::Facts) were read.
    pub fn write_head(&self, message: &[u8], now: Millis, out: &mut Vec<u8>) -> Result<usize, Malformed> {
        let (header, annotations, end) = first_sections(message)?;
        let header = Header {
            ttl: self.expires_at.map(|at| u32::try_from(at.saturating_sub(now)).unwrap_or(u32::MAX)),
            first_acquirer: !self.redelivered && self.overlay.as_ref().is_none_or(|overlay| overlay.deaths.is_empty()),
            delivery_count: header.delivery_count.saturating_add(self.delivery_count),
            ..header
        };
        header.encode(out);
        match &self.overlay {
            Some(overlay) => overlay.write_annotations(annotations.unwrap_or_default(), out),
            None => {
                if let Some(value) = annotations {
                    encode::descriptor(out, descriptor::MESSAGE_ANNOTATIONS);
                    out.extend_from_slice(value);
                }
            }
        }
        Ok(end)
    }
}

/// Header, value of the message annotations, and where both have ended.
fn first_sections(message: &[u8]) -> Result<(Header, Option<&[u8]>, usize), DecodeError> {
    let mut scanner = Scanner::new(message, false);
    let (mut header, mut annotations, mut end) = (Header::default(), None, 0);
    while let Scan::Section(section) = scanner.next()? {
        match section.kind {
            SectionKind::Header => header = Header::decode(section.value)?,
            // For this hop only.
            SectionKind::DeliveryAnnotations => {}
            SectionKind::MessageAnnotations => annotations = Some(section.value),
            _ => break,
        }
        end = section.end();
    }
    Ok((header, annotations, end))
}

impl Overlay {
    /// Appends message annotations: those of the message, then what this says. Later ones replace those of the same key.
    fn write_annotations(&self, value: &[u8], out: &mut Vec<u8>) {
        let own = match value {
            [] => &[][..],
            value => Decoder::new(value).read_map().map_or(&[][..], |(_, entries)| entries.rest()),
        };
        let merged = self.annotations.as_deref().unwrap_or_default();
        let replaced = |key: &[u8]| {
            pairs(merged).any(|(other, _)| other == key)
                || !self.deaths.is_empty() && Decoder::new(key).read_symbol().is_ok_and(|key| OURS.contains(&key))
        };
        if own.is_empty() && merged.is_empty() && self.deaths.is_empty() {
            return;
        }
        encode::descriptor(out, descriptor::MESSAGE_ANNOTATIONS);
        let mut map = MapEncoder::new(out);
        for (key, value) in pairs(own).filter(|(key, _)| !replaced(key)).chain(pairs(merged)) {
            map.entry(|out| out.extend_from_slice(key), |out| out.extend_from_slice(value));
        }
        self.write_deaths(&mut map);
        map.finish();
    }

    fn write_deaths(&self, map: &mut MapEncoder<'_>) {
        let (Some(last), Some(first)) = (self.deaths.first(), self.deaths.last()) else { return };
        let count = self.deaths.iter().fold(0, |count: u32, death| count.saturating_add(death.count));
        let mut text = |key: &str, value: &str| {
            map.entry(|out| encode::symbol(out, key), |out| encode::string(out, value));
        };
        text(DEAD_LETTER_REASON, last.reason.text());
        text(DEAD_LETTER_ORIGIN, &last.address);
        if let Some(error) = &last.error {
            text(DEAD_LETTER_ERROR, error);
        }
        text(ORIGINAL_ADDRESS, &first.address);
        text(ORIGINAL_QUEUE, &first.address);
        let time = i64::try_from(last.time).unwrap_or(i64::MAX);
        map.entry(|out| encode::symbol(out, DEAD_LETTER_TIME), |out| encode::timestamp(out, time));
        map.entry(|out| encode::symbol(out, DEAD_LETTER_COUNT), |out| encode::uint(out, count));
    }
}
