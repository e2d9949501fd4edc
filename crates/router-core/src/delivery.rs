//! Deliveries on their way.
//!
//! A record has two sides: the delivery that came in, and a copy of it that goes out. For a delivery to one receiver both
//! sides are in one record. A multicast has a record for the side that came in, and one for each copy. A presettled
//! delivery whose message is complete needs no record of how it came in. A record goes when both its sides are over.

use std::sync::Arc;

use amqp::DeliveryState;
use amqp::performative::Manner;
use smallvec::SmallVec;

use crate::arena::NONE;
use crate::forward::Passage;

/// No router: see [`Delivery::ingress`].
pub(crate) const NO_INGRESS: u16 = u16::MAX;

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

/// What is put around a message when it is transmitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapping<T> {
    /// Delivery tag.
    pub(crate) tag: u64,
    /// What tells it from all others, for a neighbour that can read it; 0: nothing.
    pub(crate) stamp: u64,
    /// Value of `x-opt-qd.phase`.
    pub(crate) phase: u8,
    /// Its way begins here.
    pub(crate) anew: bool,
    /// Value of `x-opt-qd.to`.
    pub(crate) to_override: T,
}

/// A value of `x-opt-qd.to`, not copied unless its delivery has to wait.
pub(crate) enum Override<'a> {
    /// None.
    None,
    /// As the message, or a call, has it.
    Given(&'a str),
    /// As the link has it that the message came in on.
    Shared(Arc<str>),
}

impl Wrapping<Override<'_>> {
    /// For the host.
    pub(crate) fn borrowed(&self) -> Wrapping<Option<&str>> {
        let to_override = match &self.to_override {
            Override::None => None,
            Override::Given(text) => Some(*text),
            Override::Shared(text) => Some(&**text),
        };
        Wrapping { to_override, tag: self.tag, stamp: self.stamp, phase: self.phase, anew: self.anew }
    }

    /// To keep.
    pub(crate) fn owned(self) -> Wrapping<Option<Arc<str>>> {
        let to_override = match self.to_override {
            Override::None => None,
            Override::Given(text) => Some(Arc::from(text)),
            Override::Shared(text) => Some(text),
        };
        Wrapping { to_override, tag: self.tag, stamp: self.stamp, phase: self.phase, anew: self.anew }
    }
}

/// What a sender said with its transfer that goes out with it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Said<'a> {
    /// Delivery tag; only where nothing of the delivery may be changed.
    pub(crate) tag: Option<&'a [u8]>,
    /// State.
    pub(crate) state: Option<&'a DeliveryState>,
    /// How it is to be dealt with; only where there is a tag.
    pub(crate) manner: Manner,
}

impl Said<'_> {
    /// To keep, if there is anything.
    pub(crate) fn kept(&self) -> Option<Box<KeptSaid>> {
        let anything = self.tag.is_some() || self.state.is_some();
        let kept =
            || KeptSaid { tag: self.tag.map(SmallVec::from_slice), state: self.state.cloned(), manner: self.manner };
        anything.then(|| Box::new(kept()))
    }
}

/// The same, kept.
pub(crate) struct KeptSaid {
    tag: Option<SmallVec<[u8; 32]>>,
    state: Option<DeliveryState>,
    manner: Manner,
}

impl KeptSaid {
    /// The sender says more before its delivery goes out.
    pub(crate) fn amend(kept: &mut Option<Box<Self>>, state: &DeliveryState) {
        kept.get_or_insert_with(|| Box::new(Self { tag: None, state: None, manner: Manner::default() })).state =
            Some(state.clone());
    }

    /// The state that came with it.
    pub(crate) fn state(&self) -> Option<&DeliveryState> {
        self.state.as_ref()
    }

    /// As it was.
    pub(crate) fn said(&self) -> Said<'_> {
        Said { tag: self.tag.as_deref(), state: self.state.as_ref(), manner: self.manner }
    }
}

/// What a queued copy needs beside its record.
pub(crate) struct Waiting<C> {
    pub(crate) content: C,
    pub(crate) wrapping: Wrapping<Option<Arc<str>>>,
    /// What its sender said.
    pub(crate) said: Option<Box<KeptSaid>>,
    /// Key of the incoming link that gets a credit back when this copy leaves the queue; 0: none.
    pub(crate) owes_credit: u64,
    /// Key of the incoming link that is held up until this copy leaves the queue; 0: none.
    pub(crate) holds_up: u64,
}

/// A delivery.
pub(crate) struct Delivery<C> {
    // How it goes out.
    /// Its outgoing link; `NONE`: this record has no side that goes out (any more).
    pub(crate) link: u32,
    /// Neighbours in the link's queue or list of transmitted deliveries.
    pub(crate) prev: u32,
    pub(crate) next: u32,
    /// Neighbours among the copies of a multicast. For the side that came in, the next copy is the first one.
    pub(crate) prev_copy: u32,
    pub(crate) next_copy: u32,
    /// Where it is.
    pub(crate) place: Place,
    /// The side that came in is in this record, and not over.
    pub(crate) direct: bool,
    /// It goes, or went, out settled, or was settled since.
    pub(crate) settled: bool,
    /// The sender sent it settled, or settled it before it went out.
    pub(crate) presettled: bool,
    /// The receiver has settled while it was still being transmitted.
    pub(crate) resolved: bool,
    /// It was seen stuck on its way out.
    pub(crate) stuck: bool,
    /// Where it came to the network: the number of a router; [`NO_INGRESS`]: within this router, or unknown.
    pub(crate) ingress: u16,
    /// Last terminal outcome the receiver told, or a state that is not one.
    pub(crate) outcome: Outcome,
    /// If not `direct`: key of the side that came in, which may be over; 0: none.
    pub(crate) origin: u64,
    /// Key of the address that counts it as outstanding with a neighbour; 0: none.
    pub(crate) counted: u64,
    /// What it needs while it is queued.
    pub(crate) waiting: Option<Box<Waiting<C>>>,

    // How it came in.
    /// Key of its incoming link, which may be gone; 0: this record has no side that came in (any more).
    pub(crate) sender: u64,
    /// The endpoint's id.
    pub(crate) delivery_id: u32,
    /// Copies that are not settled.
    pub(crate) unsettled: u32,
    /// Multicast: copies without a terminal outcome.
    pub(crate) undecided: u32,
    /// When it came, in milliseconds of [`Now`](crate::Now) modulo 2^32.
    pub(crate) born: u32,
    /// When the last of its message came that has come so far, in the same way.
    pub(crate) moved: u32,
    /// All of the message is there.
    pub(crate) complete: bool,
    /// The sender has settled.
    pub(crate) sender_settled: bool,
    /// Outcomes are combined.
    pub(crate) multicast: bool,
    /// An exchange took it: `state` is the outcome, whatever becomes of copies.
    pub(crate) taken: bool,
    /// It was seen stuck as it came in.
    pub(crate) sender_stuck: bool,
    /// The state to tell the sender, or told; multicast: the combined one.
    pub(crate) state: Option<DeliveryState>,
}

impl<C> Delivery<C> {
    /// A record without sides.
    fn new(born: u32) -> Self {
        Self {
            link: NONE,
            prev: NONE,
            next: NONE,
            prev_copy: NONE,
            next_copy: NONE,
            place: Place::Queue,
            direct: false,
            settled: false,
            presettled: false,
            resolved: false,
            ingress: NO_INGRESS,
            stuck: false,
            outcome: Outcome::None,
            origin: 0,
            counted: 0,
            waiting: None,
            sender: 0,
            delivery_id: 0,
            unsettled: 0,
            undecided: 0,
            born,
            moved: born,
            complete: true,
            sender_settled: false,
            multicast: false,
            taken: false,
            sender_stuck: false,
            state: None,
        }
    }

    /// The side that came in.
    pub(crate) fn incoming(passage: &Passage<'_, C>) -> Self {
        Self {
            sender: passage.link,
            delivery_id: passage.delivery_id,
            complete: passage.complete,
            sender_settled: passage.settled,
            ..Self::new(passage.born)
        }
    }

    /// A copy that goes out on `link`.
    pub(crate) fn outgoing(link: u32, passage: &Passage<'_, C>, settled: bool) -> Self {
        Self {
            link,
            settled,
            presettled: passage.settled,
            ingress: if passage.link == 0 { NO_INGRESS } else { passage.ingress.number() },
            origin: passage.origin,
            ..Self::new(passage.born)
        }
    }

    /// Both sides of a delivery to one receiver. `counted`: key of the address that counts it as outstanding, or 0.
    pub(crate) fn direct(link: u32, passage: &Passage<'_, C>, settled: bool, counted: u64) -> Self {
        Self {
            link,
            settled,
            presettled: passage.settled,
            ingress: passage.ingress.number(),
            counted,
            direct: true,
            unsettled: 1,
            ..Self::incoming(passage)
        }
    }

    /// Whether the receiver has told nothing terminal.
    pub(crate) fn is_undecided(&self) -> bool {
        !self.outcome.is_terminal()
    }

    /// Whether it is being transmitted.
    pub(crate) fn is_transmitting(&self) -> bool {
        self.link != NONE && self.place == Place::Transmitting
    }

    /// Whether its receiver has begun to see it and has not settled it.
    pub(crate) fn is_with_receiver(&self) -> bool {
        self.link != NONE && self.place != Place::Queue && !self.resolved
    }

    /// Where it is in the lists of its link.
    pub(crate) fn listed(&self) -> Listed {
        Listed { link: self.link, prev: self.prev, next: self.next, place: self.place, presettled: self.presettled }
    }
}

/// Where a copy is in the lists of its link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) link: u32,
    pub(crate) prev: u32,
    pub(crate) next: u32,
    pub(crate) place: Place,
    pub(crate) presettled: bool,
}
