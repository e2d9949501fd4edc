//! Which parts of a message a selector names.

use crate::MAX_NAMES;

/// Something of a message that has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// A field of the header or the properties section.
    Standard(Standard),
    /// An application property, by its number among those that the selector names.
    Application(u8),
    /// A message annotation, by its number among those that the selector names.
    Annotation(u8),
}

/// A field of the header or the properties section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standard {
    Durable,
    /// `PERSISTENT` or `NON_PERSISTENT`.
    DeliveryMode,
    Priority,
    Ttl,
    FirstAcquirer,
    DeliveryCount,
    /// Which delivery this is, from 1.
    DeliveryNumber,
    Redelivered,
    MessageId,
    UserId,
    To,
    Subject,
    ReplyTo,
    CorrelationId,
    ContentType,
    ContentEncoding,
    AbsoluteExpiryTime,
    CreationTime,
    GroupId,
    GroupSequence,
    ReplyToGroupId,
}

/// The keys of a map that a selector names, in the order of their texts, each with its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Vec<(Box<str>, u8)>);

impl Names {
    /// The number of a name, which is a new one if need be. `None`: there are too many.
    pub(crate) fn number(&mut self, name: &str) -> Option<u8> {
        match self.position(name) {
            Ok(at) => self.0.get(at).map(|(_, number)| *number),
            Err(_) if self.0.len() >= MAX_NAMES => None,
            Err(at) => {
                // At most MAX_NAMES.
                let number = self.0.len() as u8;
                self.0.insert(at, (name.into(), number));
                Some(number)
            }
        }
    }

    /// The number of a name, if it has one.
    pub(crate) fn get(&self, name: &str) -> Option<u8> {
        self.position(name).ok().and_then(|at| self.0.get(at)).map(|(_, number)| *number)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_ref().cmp(name))
    }
}
