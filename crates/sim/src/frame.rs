//! What travels on a simulated connection: AMQP's performatives, as far as routers act on them, without their encoding.

use std::rc::Rc;

use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};
use router_core::LinkClass;

use crate::message::Message;

/// A link as both ends of its connection know it: which end attached it, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WireLink {
    /// The end that attached it: 0 or 1.
    pub side: usize,
    /// Its number among that end's.
    pub number: u32,
}

/// A frame.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "frames on their way are boxed")]
pub enum Frame {
    /// The other end of the connection is there. (`true`: and this is the answer to ours.)
    Open {
        /// It is an answer.
        answer: bool,
        /// Who opens it: a router's id.
        container: String,
        /// It shares what it knows of the network.
        shares: bool,
    },
    /// A link is attached.
    Attach(Box<Attach>),
    /// An attach is answered; with its own terminus null, the answering end refuses.
    Answer {
        /// Which.
        link: WireLink,
        /// Source.
        source: Option<Source>,
        /// Target.
        target: Option<TargetTerminus>,
    },
    /// A link is detached, or a detach answered.
    Detach {
        /// Which.
        link: WireLink,
        /// For good.
        closed: bool,
        /// Why.
        error: Option<ErrorCondition>,
        /// The other end detached it first.
        answer: bool,
    },
    /// The receiving end gives credit.
    Credit {
        /// Which link.
        link: WireLink,
        /// How much more.
        more: u32,
    },
    /// The receiving end asks its credit back, or no longer.
    Drain {
        /// Which link.
        link: WireLink,
        /// Whether it asks.
        on: bool,
    },
    /// The sending end gives credit back.
    Drained {
        /// Which link.
        link: WireLink,
        /// How much.
        returned: u32,
    },
    /// A message.
    Transfer(Transfer),
    /// The receiving end tells what became of a delivery.
    Outcome {
        /// The sending end's name for it.
        delivery: u64,
        /// State.
        state: Option<DeliveryState>,
        /// For good.
        settled: bool,
    },
    /// The sending end tells its state, or settles.
    SenderOutcome {
        /// Its name for the delivery.
        delivery: u64,
        /// State.
        state: Option<DeliveryState>,
        /// For good.
        settled: bool,
    },
}

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Which link.
    pub link: WireLink,
    /// The sending end's name for the delivery.
    pub delivery: u64,
    /// It needs no outcome.
    pub settled: bool,
    /// What tells it from all others, as its tag says it; 0: nothing.
    pub stamp: u64,
    /// The message.
    pub message: Rc<Message>,
}

/// An attach.
#[derive(Clone, Debug)]
pub struct Attach {
    /// Which link it is from now on.
    pub link: WireLink,
    /// Name.
    pub name: String,
    /// The end that attaches it sends on it.
    pub sends: bool,
    /// Between routers: which kind.
    pub class: Option<LinkClass>,
    /// Source.
    pub source: Option<Source>,
    /// Target.
    pub target: Option<TargetTerminus>,
}

impl Frame {
    /// Bytes of control messages in it, for the account of what the routing protocol costs.
    pub(crate) fn control_bytes(&self) -> Option<usize> {
        match self {
            Self::Transfer(transfer) => transfer.message.control().map(<[u8]>::len),
            _ => None,
        }
    }
}
