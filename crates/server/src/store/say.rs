//! What the store has to say to the routing core, and how it is said.

use std::ops::Range;

use amqp::performative::Manner;
use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};
use router_core::{Core, InKey, LinkKey, LinkTerms, Now, Offer, Offered as Answer, OutKey, OwnDelivery};

use super::Store;
use super::transactional::TransactionalState;
use crate::content::Content;
use crate::shard::{LinkRef, ShardHost, Stored};

/// Things to be said for which memory is kept.
const MOST_KEPT: usize = 4096;

/// One thing to be said.
pub(super) enum Say {
    /// A link of the core's is attached here.
    Opened { key: LinkKey, link: u32 },
    /// The answer to its attach.
    Answer { key: LinkKey, source: Option<Box<Source>>, target: Option<Box<TargetTerminus>>, terms: Box<LinkTerms> },
    /// The end of a link.
    Detach { key: LinkKey, closed: bool, error: Option<Box<ErrorCondition>> },
    /// The answer to the core's detach.
    DetachAnswered { key: LinkKey, closed: bool },
    /// So much may be sent here now.
    Credit { key: LinkKey, credit: u32 },
    /// So much was not used.
    Drained { key: LinkKey, returned: u32 },
    /// A delivery.
    Deliver(Deliver),
    /// The next so many of the plain deliveries, on one link.
    DeliverPlain { key: LinkKey, link: u32, count: usize },
    /// The rest of one.
    Received { key: InKey },
    /// There is no rest.
    Aborted { key: InKey },
    /// The outcome of a delivery to a receiver is known here.
    Settled { key: InKey },
    /// A delivery to a receiver is undone: its queue has it back.
    TakenBack { key: InKey },
    /// All of a delivery that came here has come.
    Transmitted { key: OutKey },
    /// What became of it.
    Outcome { key: OutKey, state: Option<DeliveryState>, settled: bool },
    /// The ways to an address are to be made.
    Lead { address: Box<str> },
    /// They are to go.
    Unlead { address: Box<str> },
}

/// A delivery to a receiver that is like most: all of it in memory, not settled, part of no transaction.
pub(super) struct Plain {
    /// Of the receiver's unsettled deliveries.
    pub(super) id: u32,
    pub(super) tag: [u8; 8],
    pub(super) message: Stored,
}

/// Any other.
pub(super) struct Deliver {
    pub(super) key: LinkKey,
    pub(super) link: u32,
    /// Of the receiver's unsettled deliveries; `None`: it leaves settled.
    pub(super) id: Option<u32>,
    pub(super) tag: [u8; 8],
    pub(super) settled: bool,
    /// The transaction that it is acquired in.
    pub(super) state: Option<DeliveryState>,
    pub(super) message: Leaving,
}

/// The bytes of a delivery.
pub(crate) enum Leaving {
    /// All there.
    Whole(Stored),
    /// Read from a file while it leaves.
    Stream(Content<LinkRef>),
}

/// All there is to be said.
#[derive(Default)]
pub(super) struct Speech {
    /// In order.
    pub(super) says: Vec<Say>,
    /// The plain deliveries among that, in order.
    pub(super) plain: Vec<Plain>,
}

/// What came of saying that a delivery is there, or several on one link.
pub(super) struct Told {
    pub(super) link: u32,
    /// Those that were not settled, by the ids of the receiver, with the core's keys for them.
    pub(super) keys: Range<usize>,
    /// Another one would leave at once.
    pub(super) room: bool,
}

/// What came of saying all that.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) told: Vec<Told>,
    pub(super) keys: Vec<(u32, Option<InKey>)>,
}

impl Store {
    /// Says all there is to say, and does what comes of it, until nothing is left. To be called with the core locked.
    pub(crate) fn pump(&self, core: &mut Core<ShardHost>, host: &mut ShardHost) {
        if !self.is_busy() {
            return;
        }
        let now = host.now();
        let (mut speech, mut answers) = std::mem::take(&mut self.node.lock().spare);
        loop {
            // Whatever is noted from here on is seen now or has the store pumped once more.
            self.signals.set_idle();
            let mut node = self.node.lock();
            node.told(&mut answers);
            node.end_what_waits(|link, txn| {
                core.has_waiting(link, |state| TransactionalState::of(state).is_some_and(|of| of.txn == txn))
            });
            node.work(now, &mut speech);
            drop(node);
            if speech.says.is_empty() {
                break;
            }
            let mut plain = speech.plain.drain(..);
            for say in speech.says.drain(..) {
                match say {
                    Say::DeliverPlain { key, link, count } => {
                        let plain = plain.by_ref().take(count);
                        deliver_plain(core, host, now, (key, link), plain, &mut answers);
                    }
                    say => self.say(core, host, now, say, &mut answers),
                }
            }
            drop(plain);
            host.after_store(core);
        }
        speech.says.shrink_to(MOST_KEPT);
        speech.plain.shrink_to(MOST_KEPT);
        self.node.lock().spare = (speech, answers);
        self.rest(now, host);
    }

    fn say(&self, core: &mut Core<ShardHost>, host: &mut ShardHost, now: Now, say: Say, answers: &mut Answers) {
        match say {
            Say::Opened { key, link } => core.link_opened(now, host, key, LinkRef::of_store(link)),
            Say::Answer { key, source, target, terms } => {
                core.attach_answered(now, host, key, source.map(|s| *s), target.map(|t| *t), *terms);
            }
            Say::Detach { key, closed, error } => core.detach(now, host, key, closed, error.map(|error| *error)),
            Say::DetachAnswered { key, closed } => core.detach_answered(now, host, key, closed, None),
            Say::Credit { key, credit } => core.credit(now, host, key, credit, false),
            Say::Drained { key, returned } => core.drained(now, host, key, returned),
            Say::Deliver(deliver) => deliver.offer(core, host, now, answers),
            // Whoever calls has done it.
            Say::DeliverPlain { .. } => {}
            Say::Received { key } => core.received(now, host, key, false),
            Say::Aborted { key } => core.aborted(now, host, key),
            Say::Settled { key } => core.sender_outcome(now, host, key, None, true),
            Say::TakenBack { key } => {
                core.sender_outcome(now, host, key, Some(DeliveryState::Released), true);
            }
            Say::Transmitted { key } => core.transmitted(now, host, key),
            Say::Outcome { key, state, settled } => core.outcome(now, host, key, state, settled),
            Say::Lead { address } => self.ways().lead(core, host, now, &address),
            Say::Unlead { address } => self.ways().unlead(core, host, now, &address),
        }
    }
}

impl Deliver {
    fn offer(self, core: &mut Core<ShardHost>, host: &mut ShardHost, now: Now, answers: &mut Answers) {
        let complete = matches!(self.message, Leaving::Whole(_));
        let offer = Offer {
            delivery_id: self.id.unwrap_or(u32::MAX),
            settled: self.settled,
            complete,
            to: None,
            to_override: None,
            phase: None,
            ingress: None,
            trace: Default::default(),
            stamp: 0,
            priority: 4,
            state: self.state,
            tag: Some(&self.tag),
            manner: Manner::default(),
        };
        let answer = host.offering(self.message, |host| core.deliver(now, host, self.key, offer));
        let first = answers.keys.len();
        answers.keys.extend(self.id.map(|id| (id, key_of(answer))));
        let keys = first..answers.keys.len();
        answers.told.push(Told { link: self.link, keys, room: core.may_send(self.key) });
    }
}

/// Says that plain deliveries are there, on one link.
fn deliver_plain(
    core: &mut Core<ShardHost>,
    host: &mut ShardHost,
    now: Now,
    (key, link): (LinkKey, u32),
    plain: impl Iterator<Item = Plain>,
    answers: &mut Answers,
) {
    let first = answers.keys.len();
    for Plain { id, tag, message } in plain {
        let own = OwnDelivery { id, tag: &tag };
        host.offer_stored(message);
        answers.keys.push((id, key_of(core.deliver_own(now, host, key, own))));
    }
    host.offer_nothing();
    answers.told.push(Told { link, keys: first..answers.keys.len(), room: core.may_send(key) });
}

fn key_of(answer: Answer) -> Option<InKey> {
    match answer {
        Answer::Tracked(key) => Some(key),
        Answer::Done => None,
    }
}
