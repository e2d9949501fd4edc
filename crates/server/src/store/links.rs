//! The links of the connection behind which the queues are.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use amqp::DeliveryState;
use queue_core::{Assignment, ConsumerId, QueueId, TopicId, Wanted};
use router_core::{InKey, LinkKey, OpenLink, OutKey};
use slab::Slab;

/// A link.
pub(super) struct Link {
    /// The core's key for it.
    pub(super) key: LinkKey,
    /// What it is for.
    pub(super) role: Role,
    /// How far its end is.
    pub(super) end: End,
    /// Its node was made for it.
    pub(super) dynamic: bool,
}

/// How far the end of a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is attached.
    Open,
    /// This side has detached it, and waits for the answer.
    Asked,
}

/// What a link is for.
pub(super) enum Role {
    /// Nothing: it was refused.
    Nothing,
    /// What it asks for is being looked for, or made.
    Attaching(Box<OpenLink>),
    /// Messages come to a queue or a topic.
    Sender(Sender),
    /// Messages leave a queue.
    Receiver(Box<Receiver>),
    /// Transactions are declared and discharged.
    Coordinator(super::transactions::Coordinator),
}

/// Which of the two state machines: the one whose commands are logged, or the one that lives in memory alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Side {
    Logged = 0,
    Memory = 1,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Logged, Self::Memory];

    /// That of a queue.
    pub(super) fn of(durable: bool) -> Self {
        if durable { Self::Logged } else { Self::Memory }
    }
}

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) side: Side,
    pub(super) queue: QueueId,
}

/// Where a sender's messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Queue(Place),
    /// A topic, on both sides.
    Topic([TopicId; 2]),
    /// Each message says it.
    Named,
}

/// The end of a link on which messages come.
pub(super) struct Sender {
    pub(super) to: Destination,
    /// What it may send now.
    pub(super) credit: u32,
    /// What has come of which nothing has been said yet.
    pub(super) pending: u32,
    /// It is the router's own, for messages that name the address and come on no link to it.
    pub(super) relays: bool,
    /// It is in the list of those that get credit when there is room.
    pub(super) starved: bool,
    /// What of its credit and of what has come the queue keeps account of.
    pub(super) accounted: u64,
    /// Messages of it that may be on their way.
    pub(super) window: u32,
    /// The memory that is kept free for its credit.
    pub(super) reserved: u64,
    /// Bytes that its messages take, about: the largest of late. 0: none has come.
    pub(super) size: u64,
    /// What its messages are looked at for.
    pub(super) look: Look,
    /// The container-id of the client that sends; empty: it is not known.
    pub(super) container: Box<str>,
}

/// The name that a client gave a link, and the client's container-id: the router of the client joins them.
pub(super) fn name_and_container(link: &str) -> (&str, &str) {
    link.split_once('@').unwrap_or((link, ""))
}

/// What a queue lets in.
#[derive(Debug)]
pub(super) struct Admission {
    /// Only messages that this fits.
    pub(super) selector: Option<selector::Selector>,
    /// None of this container.
    pub(super) no_local: Option<Arc<str>>,
}

impl Admission {
    /// Whether it lets a message in that comes from a container.
    pub(super) fn admits(&self, message: &[u8], container: &str) -> bool {
        self.no_local.as_deref().is_none_or(|own| own != container)
            && self.selector.as_ref().is_none_or(|selector| selector.matches(message))
    }
}

/// What messages for a destination are looked at for.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    /// The state of settings for which this holds.
    pub(super) epoch: u64,
    pub(super) wanted: Wanted,
    /// Some queue does not let in everything.
    pub(super) filtered: bool,
    /// On which sides somebody is there.
    pub(super) sides: [bool; 2],
    /// There is an end to what the queue holds.
    pub(super) limited: bool,
}

/// The end of a link on which messages leave.
pub(super) struct Receiver {
    pub(super) place: Place,
    pub(super) consumer: ConsumerId,
    /// What it has asked for and was not given.
    pub(super) credit: u32,
    /// So much of that the queue may use now.
    pub(super) granted: u32,
    /// It wants back what it cannot be given at once.
    pub(super) drain: bool,
    /// It drains, and there is nothing more for it.
    pub(super) exhausted: bool,
    /// The next delivery would leave at once.
    pub(super) room: bool,
    /// Everything leaves settled.
    pub(super) settled: bool,
    /// Only messages that this fits.
    pub(super) selector: Option<selector::Selector>,
    /// What a settlement without a state means.
    pub(super) default_outcome: DeliveryState,
    /// What is to leave, in order; the first may wait for its bytes.
    pub(super) parked: VecDeque<Assignment>,
    /// Large ones of these that are still leaving, and the core's keys for them.
    pub(super) streaming: HashMap<u32, Option<InKey>>,
    /// What leaves is acquired in this transaction.
    pub(super) txn: Option<u64>,
    /// What has left and is not settled.
    pub(super) unsettled: Slab<Unsettled>,
    /// What was delivered on it.
    pub(super) sent: u64,
    /// The link is in the list of those for which something can be done.
    pub(super) queued: bool,
    /// It belongs to a subscription, which outlives it or not.
    pub(super) subscription: Option<bool>,
}

/// A delivery that has left.
pub(super) struct Unsettled {
    /// `None`: the receiver browses.
    pub(super) acquisition: Option<queue_core::AcqId>,
    /// The core's key.
    pub(super) key: Option<InKey>,
    /// The receiver has said what becomes of it and waits for our settlement.
    pub(super) answered: bool,
    /// What the receiver has said is part of a transaction that is not over.
    pub(super) in_txn: bool,
    /// It has left in a transaction that is not over.
    pub(super) acquired_in: Option<u64>,
    /// The transaction that it left in was rolled back, and not all of it had left: its queue has it back when it has.
    pub(super) taken_back: bool,
}

impl Unsettled {
    /// Whether nothing was said of it yet, and it is part of no transaction.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        !self.answered && !self.in_txn && self.acquired_in.is_none()
    }
}

/// A delivery that has come and of which its sender waits to hear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) link: u32,
    pub(super) key: OutKey,
    /// Its sender has settled it, and waits for nothing.
    pub(super) settled: bool,
}
