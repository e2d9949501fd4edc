//! Deliveries on their way: one record for what came in, one for each copy that goes out.

use std::sync::Arc;

use amqp::DeliveryState;

use crate::arena::NONE;

/// The kinds of states that counters and the combination of multicast outcomes tell apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Nothing terminal is known.
    #[default]
    None,
    /// Released. From here on a later one outranks an earlier one where several are combined.
    Released,
    /// Modified.
    Modified,
    /// Accepted.
    Accepted,
    /// Rejected.
    Rejected,
    /// Some other described state.
    Other,
}

impl Outcome {
    /// Whether nothing can change it any more.
    pub(crate) fn is_terminal(self) -> bool {
        !matches!(self, Self::None | Self::Other)
    }

    /// The kind of a state.
    pub(crate) fn of(state: Option<&DeliveryState>) -> Self {
        match state {
            None | Some(DeliveryState::Received { .. }) => Self::None,
            Some(DeliveryState::Accepted) => Self::Accepted,
            Some(DeliveryState::Rejected(_)) => Self::Rejected,
            Some(DeliveryState::Released) => Self::Released,
            Some(DeliveryState::Modified(_)) => Self::Modified,
            Some(DeliveryState::Other(_)) => Self::Other,
        }
    }
}

/// A delivery that came in and is unsettled or incomplete.
pub(crate) struct In {
    /// Key of its link, which may be gone.
    pub(crate) link: u64,
    /// The endpoint's id.
    pub(crate) delivery_id: u32,
    /// First of its copies (`copy_prev`, `copy_next`).
    pub(crate) copies: u32,
    /// Copies that are not settled, those for subscribers included.
    pub(crate) unsettled: u32,
    /// Copies without a terminal outcome.
    pub(crate) undecided: u32,
    /// When it came, in milliseconds of [`Now`](crate::Now) modulo 2^32.
    pub(crate) born: u32,
    /// All of the message is there.
    pub(crate) complete: bool,
    /// The sender has settled.
    pub(crate) settled: bool,
    /// Outcomes are combined.
    pub(crate) multicast: bool,
    /// It was seen stuck.
    pub(crate) stuck: bool,
    /// The state to tell the sender, or told; multicast: the combined one.
    pub(crate) state: Option<DeliveryState>,
}

/// Where a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Queued.
    Queue,
    /// Being transmitted.
    Transmitting,
    /// Transmitted, not settled.
    Sent,
}

/// A copy of a delivery that goes out on a link.
pub(crate) struct Out<C> {
    /// Its link.
    pub(crate) link: u32,
    /// Neighbours in the link's queue or list of transmitted deliveries.
    pub(crate) prev: u32,
    pub(crate) next: u32,
    /// Key of the delivery that came in, which may be gone; 0: none.
    pub(crate) origin: u64,
    /// Neighbours among the copies of one delivery.
    pub(crate) copy_prev: u32,
    pub(crate) copy_next: u32,
    /// Where it is.
    pub(crate) place: Place,
    /// Settled by the sender, or by the kind of link.
    pub(crate) settled: bool,
    /// The sender sent it settled.
    pub(crate) presettled: bool,
    /// The receiver has settled while it was still being transmitted.
    pub(crate) resolved: bool,
    /// It came in on a link (and not from within the router).
    pub(crate) from_link: bool,
    /// It was seen stuck.
    pub(crate) stuck: bool,
    /// Last terminal outcome the receiver told.
    pub(crate) outcome: Outcome,
    /// Value of `x-opt-qd.phase`.
    pub(crate) phase: u8,
    /// When it came, in milliseconds of [`Now`](crate::Now) modulo 2^32.
    pub(crate) born: u32,
    /// Delivery tag.
    pub(crate) tag: u64,
    /// Key of the incoming link that gets a credit back when this copy leaves the queue; 0: none.
    pub(crate) owes_credit: u64,
    /// Value of `x-opt-qd.to`.
    pub(crate) to_override: Option<Arc<str>>,
    /// The message, while it is queued.
    pub(crate) content: Option<C>,
}

impl<C> Out<C> {
    /// A copy that is in no list.
    pub(crate) fn new(link: u32, origin: u64, tag: u64, born: u32) -> Self {
        Self {
            link,
            prev: NONE,
            next: NONE,
            origin,
            copy_prev: NONE,
            copy_next: NONE,
            place: Place::Queue,
            settled: false,
            presettled: false,
            resolved: false,
            from_link: false,
            stuck: false,
            outcome: Outcome::None,
            phase: 0,
            born,
            tag,
            owes_credit: 0,
            to_override: None,
            content: None,
        }
    }

    /// Whether the receiver has told nothing terminal.
    pub(crate) fn is_undecided(&self) -> bool {
        !self.outcome.is_terminal()
    }
}
