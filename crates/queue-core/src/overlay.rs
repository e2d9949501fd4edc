//! What is added to a message on its way through queues: where it has died and why, and the annotations that consumers
//! merged into it. Its bytes stay as they are until it is delivered.

use crate::ids::Millis;
use crate::wire::{CodecError, Put, Reader};
use amqp::codec::Decoder;
use std::sync::Arc;

/// Why a message left a queue for the dead-letter or expiry address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It expired.
    Expired,
    /// A consumer rejected it.
    Rejected,
    /// Too many deliveries failed.
    DeliveryLimit,
    /// It was the oldest in a queue that was full.
    Overflow,
    /// Its queue was deleted.
    QueueDeleted,
}

const REASONS: [Reason; 5] =
    [Reason::Expired, Reason::Rejected, Reason::DeliveryLimit, Reason::Overflow, Reason::QueueDeleted];

impl Reason {
    /// As the annotation `x-opt-dead-letter-reason` says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Rejected => "rejected",
            Self::DeliveryLimit => "delivery-limit",
            Self::Overflow => "overflow",
            Self::QueueDeleted => "queue-deleted",
        }
    }

    /// Whether no consumer had a hand in it: a circle of queues that messages leave only so has no end.
    pub(crate) fn is_automatic(self) -> bool {
        !matches!(self, Self::Rejected | Self::DeliveryLimit)
    }
}

/// That a message left a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// The address of the queue.
    pub address: Arc<str>,
    /// Why.
    pub reason: Reason,
    /// How often it did from there for this reason.
    pub count: u32,
    /// When it last did.
    pub time: Millis,
    /// What the consumer said that rejected it.
    pub error: Option<Arc<str>>,
}

/// What is added to a message when it is delivered.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Overlay {
    /// Message annotations that take the place of those of the same key: keys and values in turn, encoded.
    pub annotations: Option<Arc<[u8]>>,
    /// The names of consumers to whom it must not be delivered.
    pub undeliverable: Vec<Arc<str>>,
    /// Where it has died, the last one first; one for each address and reason.
    pub deaths: Vec<Death>,
}

/// The most bytes of annotations that are merged into a message; more are left out.
pub const MAX_ANNOTATIONS: usize = 8 * 1024;
/// The most bytes of what a consumer says that rejects a message; it is cut off there.
pub(crate) const MAX_ERROR: usize = 1024;
/// The most names of consumers and of deaths that are remembered; the oldest are forgotten.
const MAX_LIST: usize = 64;

impl Overlay {
    /// Whether it adds nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Bytes of what consumers have written to the message: annotations, and why they rejected it.
    pub(crate) fn written(&self) -> u64 {
        let errors = self.deaths.iter().filter_map(|death| death.error.as_ref());
        (self.annotations.as_ref().map_or(0, |bytes| bytes.len()) + errors.map(|error| error.len()).sum::<usize>())
            as u64
    }

    pub(crate) fn refuse(&mut self, name: &Arc<str>) {
        if !self.undeliverable.contains(name) {
            self.undeliverable.push(name.clone());
            if self.undeliverable.len() > MAX_LIST {
                self.undeliverable.remove(0);
            }
        }
    }

    pub(crate) fn die(&mut self, death: Death) {
        let same = |other: &Death| other.address == death.address && other.reason == death.reason;
        let before = self.deaths.iter().position(same).map(|at| self.deaths.remove(at));
        let count = before.map_or(1, |before| before.count.saturating_add(1));
        let error = death.error.map(|text| if text.len() > MAX_ERROR { cut(&text).into() } else { text });
        self.deaths.insert(0, Death { count, error, ..death });
        self.deaths.truncate(MAX_LIST);
        self.undeliverable.clear();
    }

    /// What is left of it for a message that goes back to where it died last.
    pub fn without_last_death(&self) -> Option<Self> {
        let mut rest = self.clone();
        if !rest.deaths.is_empty() {
            rest.deaths.remove(0);
        }
        Some(rest).filter(|rest| !rest.is_empty())
    }

    /// Whether a message that now leaves a queue for this reason has been at the address before, and no consumer has had
    /// a hand in what happened to it since.
    pub fn goes_in_a_circle(&self, address: &str, reason: Reason) -> bool {
        reason.is_automatic()
            && self
                .deaths
                .iter()
                .take_while(|death| death.reason.is_automatic())
                .any(|death| &*death.address == address)
    }

    /// Merges annotations in, keys and values in turn. What is malformed or too much is left out.
    pub(crate) fn annotate(&mut self, new: &[u8]) {
        let old = self.annotations.take();
        let mut merged: Vec<(&[u8], &[u8])> = Vec::new();
        for (key, value) in pairs(old.as_deref().unwrap_or_default()).chain(pairs(new)) {
            match merged.iter_mut().find(|(other, _)| *other == key) {
                Some((_, before)) => *before = value,
                None => merged.push((key, value)),
            }
        }
        let mut bytes = Vec::new();
        for (key, value) in merged {
            if bytes.len() + key.len() + value.len() <= MAX_ANNOTATIONS {
                bytes.extend_from_slice(key);
                bytes.extend_from_slice(value);
            }
        }
        self.annotations = (!bytes.is_empty()).then(|| bytes.into());
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.optional_bytes(self.annotations.as_deref());
        out.number(self.undeliverable.len() as u64);
        self.undeliverable.iter().for_each(|name| out.text(name));
        out.number(self.deaths.len() as u64);
        for death in &self.deaths {
            out.text(&death.address);
            out.byte(death.reason as u8);
            out.number(death.count.into());
            out.number(death.time);
            out.optional_bytes(death.error.as_deref().map(str::as_bytes));
        }
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let mut overlay = Self { annotations: reader.optional_bytes()?.map(Arc::from), ..Self::default() };
        for _ in 0..reader.count()? {
            overlay.undeliverable.push(reader.shared_text()?);
        }
        for _ in 0..reader.count()? {
            let address = reader.shared_text()?;
            let wrong = reader.wrong("reason of a dead letter");
            let reason = REASONS.get(usize::from(reader.byte()?)).copied().ok_or(wrong)?;
            let (count, time) = (reader.small()?, reader.number()?);
            overlay.deaths.push(Death { address, reason, count, time, error: reader.optional_text()? });
        }
        Ok(overlay)
    }
}

/// The beginning of a text that is too long.
fn cut(text: &str) -> &str {
    let end = (0..=MAX_ERROR).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Keys and values, each encoded; ends where they are malformed.
pub(crate) fn pairs(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut entries = Decoder::new(bytes);
    std::iter::from_fn(move || {
        if entries.is_empty() {
            return None;
        }
        Some((entries.read_raw().ok()?, entries.read_raw().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(address: &str, reason: Reason) -> Death {
        Death { address: address.into(), reason, count: 1, time: 0, error: None }
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_between_characters() {
        assert_eq!(cut(&"ä".repeat(1000)).len(), 1024);
        assert_eq!(cut(&format!("x{}", "ä".repeat(1000))).len(), 1023);
    }

    #[test]
    fn a_circle_is_one_only_if_no_consumer_had_a_hand_in_it() {
        let mut overlay = Overlay::default();
        overlay.die(dead("a", Reason::Expired));
        assert!(overlay.goes_in_a_circle("a", Reason::Expired));
        assert!(!overlay.goes_in_a_circle("a", Reason::Rejected));
        overlay.die(dead("b", Reason::Rejected));
        assert!(!overlay.goes_in_a_circle("a", Reason::Expired));
    }

    #[test]
    fn what_is_malformed_or_too_much_is_not_merged() {
        let mut overlay = Overlay::default();
        overlay.annotate(&[0xa3, 200, b'x']);
        assert_eq!(overlay, Overlay::default());
        let mut large = Vec::new();
        amqp::Value::symbol("k").encode(&mut large);
        amqp::Value::Binary(vec![0; MAX_ANNOTATIONS]).encode(&mut large);
        overlay.annotate(&large);
        assert_eq!(overlay, Overlay::default());
    }
}
