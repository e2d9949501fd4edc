//! What shards and the control plane hand to a shard.
//!
//! Mail about connections is posted while the core is locked, and a shard empties its mailbox before it acts on its own
//! events under that lock. So whatever the core has said about a link has reached the link before its next event is
//! looked at: credit, for one, is never counted twice.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Map};
use mio::Waker;
use parking_lot::Mutex;
use router_core::{LinkTerms, OutKey};
use security::policy::Authorised;

use super::accepting::Listening;
use super::arrival::Arrival;
use super::outgoing::{Delivery, Tag};
use super::own_links::Opening;
use super::parked::Verdict;
use super::place::{ConnRef, LinkRef};
use super::settings::ListenerId;

/// Messages larger than this travel as content of their own, not in the mail's bytes.
pub(super) const INLINE: usize = 4096;
/// Bytes that may wait in a mailbox before links are told that their delivery is not through.
pub(super) const FULL: usize = 1024 * 1024;

/// One item of mail.
pub(super) enum Mail {
    /// A small message: `size` of the bytes of the batch.
    Send { link: LinkRef, key: OutKey, tag: Tag, message_format: u32, settled: bool, start: u32, size: u32 },
    /// Any other message.
    Deliver { link: LinkRef, delivery: Box<Delivery> },
    /// See [`router_core::Host::abort`].
    Abort { link: LinkRef, key: OutKey },
    /// See [`router_core::Host::update_incoming`].
    UpdateIncoming { link: LinkRef, delivery_id: u32, state: Option<DeliveryState>, settled: bool },
    /// See [`router_core::Host::update_outgoing`].
    UpdateOutgoing { link: LinkRef, key: OutKey, state: Option<DeliveryState>, settled: bool },
    /// See [`router_core::Host::add_credit`].
    AddCredit { link: LinkRef, credit: u32 },
    /// See [`router_core::Host::drain`].
    Drain { link: LinkRef, drain: bool },
    /// See [`router_core::Host::drained`].
    Drained { link: LinkRef },
    /// See [`router_core::Host::hold_up`].
    HoldUp { link: LinkRef, hold: bool },
    /// See [`router_core::Host::attach_answer`].
    AttachAnswer { link: LinkRef, source: Option<Box<Source>>, target: Option<Box<TargetTerminus>> },
    /// See [`router_core::Host::answer_routed`].
    AnswerRouted { link: LinkRef, answer: Box<(Option<Source>, Option<TargetTerminus>, LinkTerms)> },
    /// See [`router_core::Host::detach`].
    Detach { link: LinkRef, closed: bool, error: Option<Box<ErrorCondition>> },
    /// See [`router_core::Host::open_link`].
    OpenLink(Box<Opening>),
    /// What the interior knows of the address of an attach that waits for it.
    LookedUp { link: LinkRef, token: u64, verdict: Verdict },
    /// The message that this link sends has grown.
    Grown { link: LinkRef },
    /// The message that this link receives may go on.
    Resume { link: LinkRef },
    /// The SASL exchange of the connection may go on.
    PokeSasl(ConnRef),
    /// What an authentication service lets the connection's peer do.
    Authorised(ConnRef, Box<Authorised>),
    /// The next flow has these properties.
    SayWithFlow { link: LinkRef, properties: Box<Map> },
    /// Messages on an incoming link are to be seen as far as their properties.
    LookDeeper { link: LinkRef },
    /// The store has something to do: what it wrote is on disk, what it read is there, or some time has come.
    Store,
    /// Close all connections, for this reason.
    CloseAll(ErrorCondition),
    /// Drop the connection's socket.
    Drop(ConnRef),
    /// Show the frames of one connection, or of all, or no longer.
    Trace { conn: Option<ConnRef>, on: bool },
    /// Something for the shard itself.
    Order(Order),
}

/// What a shard is asked to do other than for a connection that it has.
pub(super) enum Order {
    /// Look after a connection.
    Adopt(Box<Arrival>),
    /// Listen.
    Listen(Box<Listening>),
    /// Stop listening.
    StopListening(ListenerId),
}

/// Mail in order, with the bytes of small messages.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) mail: Vec<Mail>,
    pub(super) bytes: Vec<u8>,
}

/// Beyond these a batch's memory is given back after use.
const KEEP_MAIL: usize = 1024;
const KEEP_BYTES: usize = 64 * 1024;

impl Batch {
    /// Adds the mail of `later`, leaving it empty.
    fn append(&mut self, later: &mut Self) {
        if self.mail.is_empty() {
            std::mem::swap(self, later);
            return;
        }
        let shift = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.bytes.append(&mut later.bytes);
        self.mail.extend(later.mail.drain(..).map(|mail| mail.shifted(shift)));
    }

    /// Empties it.
    pub(super) fn clear(&mut self) {
        self.mail.clear();
        self.bytes.clear();
        self.mail.shrink_to(KEEP_MAIL);
        self.bytes.shrink_to(KEEP_BYTES);
    }
}

impl Mail {
    fn shifted(mut self, by: u32) -> Self {
        if let Self::Send { start, .. } = &mut self {
            *start += by;
        }
        self
    }
}

/// Where others leave mail for a shard.
pub(super) struct Post {
    batch: Mutex<Batch>,
    /// Bytes of small messages waiting, to be read without the lock.
    waiting: AtomicUsize,
    waker: Waker,
    /// The shard waits, or is about to, and must be woken.
    asleep: AtomicBool,
    /// Per mille.
    load: AtomicU32,
}

impl Post {
    pub(super) fn new(waker: Waker) -> Self {
        Self {
            batch: Mutex::default(),
            waiting: AtomicUsize::new(0),
            waker,
            asleep: AtomicBool::new(false),
            load: AtomicU32::new(0),
        }
    }

    /// Leaves a batch, which is empty afterwards. [`Post::wake`] is to follow.
    pub(super) fn deliver(&self, batch: &mut Batch) {
        let mut waiting = self.batch.lock();
        waiting.append(batch);
        self.waiting.store(waiting.bytes.len(), Ordering::Relaxed);
    }

    /// Wakes the shard whether or not it may be asleep.
    pub(super) fn wake_always(&self) {
        // See `wake` about the failure.
        let _ = self.waker.wake();
    }

    /// Leaves one item, and wakes the shard.
    pub(super) fn send(&self, mail: Mail) {
        self.batch.lock().mail.push(mail);
        self.wake();
    }

    /// Takes all mail in exchange for an empty batch.
    pub(super) fn take(&self, batch: &mut Batch) {
        let mut waiting = self.batch.lock();
        std::mem::swap(&mut *waiting, batch);
        self.waiting.store(0, Ordering::Relaxed);
    }

    /// Bytes of small messages that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Wakes the shard if it may be asleep.
    pub(super) fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            // The only failure is an event counter that is full, and then the shard wakes anyway.
            let _ = self.waker.wake();
        }
    }

    /// Whether the shard may fall asleep: no mail is there, and whoever leaves some from now on wakes it.
    pub(super) fn may_sleep(&self) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        self.batch.lock().mail.is_empty()
    }

    /// The shard is awake.
    pub(super) fn awake(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    pub(super) fn load(&self) -> u32 {
        self.load.load(Ordering::Relaxed)
    }

    pub(super) fn set_load(&self, load: u32) {
        self.load.store(load, Ordering::Relaxed);
    }
}
