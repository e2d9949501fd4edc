//! Reading the facts from the sections before the body.

use super::{Facts, MAX_NAME, Malformed, Wanted, keys};
use crate::ids::Millis;
use amqp::message::{Header, PropertiesView, Scan, Scanner, Section, SectionKind};
use amqp::{DecodeError, Decoder};
use std::sync::Arc;

/// When to deliver: a timestamp or integer, milliseconds since the Unix epoch.
pub(crate) const DELIVERY_TIME: &str = "x-opt-delivery-time";
/// How long to wait before it is delivered: an integer, milliseconds.
pub(crate) const DELIVERY_DELAY: &str = "x-opt-delivery-delay";
/// By what to know duplicates, in the place of the message-id: a message annotation.
const DUPLICATE_ANNOTATION: &str = "x-opt-duplicate-id";
/// The same: the application property that clients of Artemis set.
const DUPLICATE_PROPERTY: &str = "_AMQ_DUPL_ID";

impl Facts {
    /// Reads the facts of a message that arrives at `now`. The message may be cut off in its body; its size is then
    /// to be set by the caller.
    ///
    /// # Errors
    /// If the sections before the body are not those of an AMQP message.
    pub fn of(message: &[u8], now: Millis, wanted: &Wanted) -> Result<Self, Malformed> {
        Self::read(message, false, now, wanted)
    }

    /// The same of a message of which all is there: its body is looked at, too, as far as its sections go.
    ///
    /// # Errors
    /// If its sections are not those of an AMQP message, or the last is cut short.
    pub fn of_whole(message: &[u8], now: Millis, wanted: &Wanted) -> Result<Self, Malformed> {
        Self::read(message, true, now, wanted)
    }

    fn read(message: &[u8], whole: bool, now: Millis, wanted: &Wanted) -> Result<Self, Malformed> {
        let begin = || Reading { now, wanted, facts: Self::plain(message.len() as u64), message_id: None };
        // There is nothing to be read of a message that is only a body.
        let mut reading: Option<Reading<'_>> = None;
        let mut scanner = Scanner::new(message, whole);
        loop {
            match scanner.next()? {
                Scan::Section(section) if section.kind.is_body() || section.kind == SectionKind::Footer => {
                    if !whole {
                        break;
                    }
                }
                Scan::Section(section) => reading.get_or_insert_with(begin).section(&section)?,
                Scan::Incomplete { begun: Some(kind) } if kind.is_body() => break,
                Scan::Incomplete { .. } if scanner.position() == message.len() => break,
                // Cut off before the body: the error says where.
                Scan::Incomplete { .. } => scanner = Scanner::new(message, true),
                Scan::End => break,
            }
        }
        Ok(reading.map_or_else(|| Self::plain(message.len() as u64), Reading::finish))
    }
}

struct Reading<'a> {
    now: Millis,
    wanted: &'a Wanted,
    facts: Facts,
    message_id: Option<Arc<[u8]>>,
}

impl Reading<'_> {
    fn section(&mut self, section: &Section<'_>) -> Result<(), DecodeError> {
        match section.kind {
            SectionKind::Header => self.header(&Header::decode(section.value)?),
            SectionKind::MessageAnnotations => self.annotations(section.value)?,
            SectionKind::Properties => self.properties(&PropertiesView::decode(section.value)?)?,
            SectionKind::ApplicationProperties => self.application_properties(section.value)?,
            _ => {}
        }
        Ok(())
    }

    fn header(&mut self, header: &Header) {
        self.facts.priority = header.priority;
        self.facts.durable = header.durable;
        self.facts.delivery_count = header.delivery_count;
        if let Some(ttl) = header.ttl {
            self.expires(self.now.saturating_add(ttl.into()));
        }
    }

    fn expires(&mut self, at: Millis) {
        self.facts.expires_at = Some(self.facts.expires_at.map_or(at, |before| before.min(at)));
    }

    fn properties(&mut self, properties: &PropertiesView<'_>) -> Result<(), DecodeError> {
        if let Some(time) = properties.absolute_expiry_time {
            self.expires(millis(time).saturating_add(self.wanted.ahead));
        }
        self.facts.group =
            properties.group_id.filter(|group| !group.is_empty() && group.len() <= MAX_NAME).map(Arc::from);
        if self.wanted.duplicates
            && let Some(id) = properties.message_id
        {
            self.message_id = keys::key(id)?;
        }
        Ok(())
    }

    fn annotations(&mut self, value: &[u8]) -> Result<(), DecodeError> {
        let (now, ahead) = (self.now, self.wanted.ahead);
        for_each(value, |key, value| {
            match key {
                DELIVERY_TIME => {
                    self.facts.deliver_at = time(value).map(|time| millis(time).saturating_add(ahead));
                }
                DELIVERY_DELAY => {
                    let delay = Decoder::new(value).read_integer().ok();
                    self.facts.deliver_at = delay.map(|delay| now.saturating_add(millis(delay)));
                }
                DUPLICATE_ANNOTATION if self.wanted.duplicates => self.facts.duplicate_id = keys::key(value)?,
                key if key.starts_with("x-opt-") => self.last_value(key, value)?,
                _ => {}
            }
            Ok(())
        })
    }

    fn application_properties(&mut self, value: &[u8]) -> Result<(), DecodeError> {
        // Most queues ask for none of them.
        if self.wanted.keys.is_empty() && !self.wanted.duplicates {
            return Ok(());
        }
        for_each(value, |key, value| match key {
            DUPLICATE_PROPERTY if self.wanted.duplicates => {
                self.facts.duplicate_id = keys::key(value)?;
                Ok(())
            }
            key if !key.starts_with("x-opt-") => self.last_value(key, value),
            _ => Ok(()),
        })
    }

    fn last_value(&mut self, key: &str, value: &[u8]) -> Result<(), DecodeError> {
        if let Some(name) = self.wanted.keys.iter().find(|name| &***name == key)
            && self.facts.key(name).is_none()
            && let Some(value) = keys::key(value)?
        {
            self.facts.keys.push((name.clone(), value));
        }
        Ok(())
    }

    fn finish(mut self) -> Facts {
        if self.facts.duplicate_id.is_none() {
            self.facts.duplicate_id = self.message_id;
        }
        self.facts
    }
}

/// The pairs of a map whose keys are texts.
fn for_each<'a>(
    value: &'a [u8],
    mut act: impl FnMut(&'a str, &'a [u8]) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let (pairs, mut entries) = Decoder::new(value).read_map()?;
    for _ in 0..pairs {
        let key = entries.read_raw()?;
        let value = entries.read_raw()?;
        let text = Decoder::new(key).read_symbol().or_else(|_| Decoder::new(key).read_str());
        if let Ok(key) = text {
            act(key, value)?;
        }
    }
    entries.expect_end()
}

/// A time as a timestamp, or as an integer, as some clients write it.
pub(crate) fn time(value: &[u8]) -> Option<i64> {
    Decoder::new(value).read_timestamp().or_else(|_| Decoder::new(value).read_integer()).ok()
}

/// What is before the epoch has passed.
pub(crate) fn millis(time: i64) -> Millis {
    u64::try_from(time).unwrap_or(0)
}
