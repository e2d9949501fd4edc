//! Delivery states and outcomes (part 3, section 3.4; part 4 states are kept raw so that they can be relayed bit for bit).

use crate::{ErrorCondition, Map};

/// The state of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub enum DeliveryState {
    Received { section_number: u32, section_offset: u64 },
    Accepted,
    Rejected(Option<Box<ErrorCondition>>),
    Released,
    Modified(Box<Modified>),
    /// Any other described state (declared, transactional-state, custom), as the encoded bytes that came.
    Other(Box<[u8]>),
}

/// The fields of the modified outcome.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Modified {
    pub delivery_failed: bool,
    pub undeliverable_here: bool,
    pub message_annotations: Option<Map>,
}

impl DeliveryState {
    /// Whether this is a terminal outcome (accepted, rejected, released, modified).
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Accepted | Self::Rejected(_) | Self::Released | Self::Modified(_))
    }
}
