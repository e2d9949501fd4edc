//! What a queue keeps of one message.

use crate::body::BodyRef;
use crate::ids::{DEFAULT_PRIORITY, Millis};
use crate::overlay::Overlay;
use std::sync::Arc;

/// Never, as a time of expiry.
pub(crate) const NEVER: Millis = Millis::MAX;

/// A message in a queue: 48 bytes for a plain one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Where its bytes are, see [`BodyRef`].
    body: u64,
    part: u32,
    /// Its size; `u32::MAX`: see the extra.
    size: u32,
    /// By the time of the entry of the log that brought it here.
    pub(crate) arrived: Millis,
    /// [`NEVER`], mostly.
    pub(crate) expires: Millis,
    /// What most messages do not have.
    pub(crate) extra: Option<Arc<Extra>>,
    /// Failed deliveries here.
    pub(crate) failed: u32,
    /// The header's, whatever the queue makes of it.
    pub(crate) priority: u8,
    /// The header's.
    pub(crate) durable: bool,
    /// Other queues have messages with the same bytes, or had.
    pub(crate) shared: bool,
}

/// What is to be known of a message that is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone {
    /// Where its bytes are.
    pub(crate) body: BodyRef,
    /// How many.
    pub(crate) size: u64,
    /// Others have, or had, the same bytes.
    pub(crate) shared: bool,
}

/// What most messages do not have.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Extra {
    /// If 32 bits are not enough.
    pub(crate) size: Option<u64>,
    /// Not before this time.
    pub(crate) deliver_at: Option<Millis>,
    /// The group-id.
    pub(crate) group: Option<Arc<str>>,
    /// What it replaces others by, in last-value queues.
    pub(crate) key: Option<Arc<[u8]>>,
    /// What is to be added to it when it is delivered.
    pub(crate) overlay: Option<Arc<Overlay>>,
}

impl Entry {
    #[inline(always)] // Each message comes by here.
    pub(crate) fn new(body: BodyRef, size: u64, arrived: Millis) -> Self {
        let (body, part) = body.parts();
        let mut entry = Self {
            body,
            part,
            size: u32::try_from(size).unwrap_or(u32::MAX),
            arrived,
            expires: NEVER,
            extra: None,
            failed: 0,
            priority: DEFAULT_PRIORITY,
            durable: false,
            shared: false,
        };
        if entry.size == u32::MAX {
            entry.change(|extra| extra.size = Some(size));
        }
        entry
    }

    #[inline]
    pub(crate) fn body(&self) -> BodyRef {
        BodyRef::of(self.body, self.part)
    }

    #[inline]
    pub(crate) fn gone(&self) -> Gone {
        Gone { body: self.body(), size: self.size(), shared: self.shared }
    }

    pub(crate) fn set_body(&mut self, body: BodyRef) {
        (self.body, self.part) = body.parts();
    }

    #[inline]
    pub(crate) fn size(&self) -> u64 {
        match (&self.extra, self.size) {
            (Some(extra), u32::MAX) => extra.size.unwrap_or(u32::MAX.into()),
            (_, size) => size.into(),
        }
    }

    pub(crate) fn deliver_at(&self) -> Option<Millis> {
        self.extra.as_ref()?.deliver_at
    }

    pub(crate) fn group(&self) -> Option<&Arc<str>> {
        self.extra.as_ref()?.group.as_ref()
    }

    pub(crate) fn key(&self) -> Option<&Arc<[u8]>> {
        self.extra.as_ref()?.key.as_ref()
    }

    pub(crate) fn overlay(&self) -> Option<&Arc<Overlay>> {
        self.extra.as_ref()?.overlay.as_ref()
    }

    /// Bytes of what consumers have written to it.
    pub(crate) fn written(&self) -> u64 {
        self.overlay().map_or(0, |overlay| overlay.written())
    }

    /// Changes the extra; it goes away if nothing is left in it.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Extra)) {
        let mut extra = self.extra.take().unwrap_or_default();
        change(Arc::make_mut(&mut extra));
        self.extra = (*extra != Extra::default()).then_some(extra);
    }

    pub(crate) fn set_deliver_at(&mut self, at: Option<Millis>) {
        if self.deliver_at() != at {
            self.change(|extra| extra.deliver_at = at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_message_takes_48_bytes() {
        assert!(size_of::<Entry>() <= 48, "{}", size_of::<Entry>());
    }

    #[test]
    fn a_size_beyond_32_bits_is_kept() {
        let size = 5 << 30;
        assert_eq!(Entry::new(BodyRef::Large { file: 1 }, size, 0).size(), size);
        assert_eq!(Entry::new(BodyRef::Large { file: 1 }, u32::MAX.into(), 0).size(), u32::MAX.into());
    }
}
