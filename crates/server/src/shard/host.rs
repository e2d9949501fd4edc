//! What the core asks for, done: on this shard's connections at once, on others by mail.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition, Map};
use amqp_endpoint::{LinkId, Now};
use router_core::{
    EdgeEvent, Host, Level, LinkKey, LinkTerms, Module, NetworkEvent, OpenLink, OutKey, SubscriberDelivery,
    SubscriberId, Transmit, Transmitted,
};
use router_net::edge::is_lookup;
use slab::Slab;

use super::conn::Conn;
use super::due::Due;
use super::event::{ShardEvent, SubscriberMessage};
use super::mailbox::{Batch, Mail};
use super::own_links::Opening;
use super::own_sessions::Origin;
use super::place::{ConnRef, LinkRef};
use super::shared::Shared;
use super::stored::Stored;
use crate::content::{self, Content, Depth, Layout};

/// The routing core's host: one for each shard, and one for the control plane, which owns no connections.
pub(crate) struct ShardHost {
    pub(super) shared: Arc<Shared>,
    /// Which shard this is; [`super::place::NO_SHARD`] for the control plane.
    pub(super) shard: u16,
    pub(super) conns: Slab<Box<Conn>>,
    /// Slots of connections whose endpoints have something to flush.
    pub(super) dirty: Vec<u32>,
    /// Deliveries that are through and of which the core has not heard yet.
    pub(super) through: VecDeque<OutKey>,
    /// Links whose credit the core should hear again.
    pub(super) recount: Vec<LinkRef>,
    /// Slots of connections to be read.
    pub(super) due: Due,
    /// Those whose turn it is; for use within calls.
    pub(super) reading: Vec<u32>,
    /// Slots of connections whose endpoints may have events without new bytes.
    pub(super) attention: Vec<u32>,
    /// Slots of connections that are not read because memory is very short; may be of connections gone since.
    pub(super) resting: BTreeSet<u32>,
    /// Slots of connections whose output was full and is not any more.
    pub(super) unchoke: Vec<u32>,
    /// Links of the router's own that are to be attached.
    pub(super) openings: VecDeque<Opening>,
    /// Whose attach the core is deciding about.
    pub(super) attaching: Option<Origin>,
    /// The time of this turn.
    pub(super) now: Now,
    /// For use within calls: emptied, not freed.
    pub(super) pumped: Vec<OutKey>,
    pub(super) listeners: Vec<LinkRef>,
    /// For the next message in several frames.
    pub(super) spare: Vec<u8>,
    /// No bytes.
    pub(super) nothing: Arc<Vec<u8>>,
    /// What was read last; a message being offered borrows from it.
    pub(super) buffer: Arc<Vec<u8>>,
    pub(super) offered: Offered,
    /// Mail for each shard, to be delivered before the core is unlocked.
    pub(super) outboxes: Vec<Batch>,
}

/// The message being offered to the core.
#[derive(Default)]
pub(super) enum Offered {
    /// None.
    #[default]
    Nothing,
    /// All of it lies in the host's buffer.
    Borrowed {
        start: usize,
        end: usize,
        layout: Layout,
        /// It had to be kept.
        kept: Option<Content<LinkRef>>,
    },
    /// It is still coming.
    Kept { content: Content<LinkRef>, subject: Option<Box<str>> },
    /// It comes out of a queue.
    Stored(Stored),
}

impl ShardHost {
    pub(super) fn new(shared: Arc<Shared>, shard: u16) -> Self {
        let outboxes = std::iter::repeat_with(Batch::default).take(shared.workers()).collect();
        Self {
            shared,
            shard,
            conns: Slab::new(),
            dirty: Vec::new(),
            through: VecDeque::new(),
            recount: Vec::new(),
            due: Due::default(),
            reading: Vec::new(),
            attention: Vec::new(),
            resting: BTreeSet::new(),
            unchoke: Vec::new(),
            openings: VecDeque::new(),
            attaching: None,
            now: Now::ZERO,
            pumped: Vec::new(),
            listeners: Vec::new(),
            spare: Vec::new(),
            nothing: Arc::default(),
            buffer: Arc::default(),
            offered: Offered::Nothing,
            outboxes,
        }
    }

    /// A connection of this shard; `None` if it is gone.
    #[inline]
    pub(super) fn conn(&mut self, at: ConnRef) -> Option<&mut Conn> {
        self.conns.get_mut(at.slot as usize).map(|conn| &mut **conn).filter(|conn| conn.at == at)
    }

    /// A connection of this shard to whose endpoint something is about to be done; `None` if it is gone.
    #[inline]
    pub(super) fn touch(&mut self, at: ConnRef) -> Option<&mut Conn> {
        let conn = self.conns.get_mut(at.slot as usize).map(|conn| &mut **conn).filter(|conn| conn.at == at)?;
        mark_dirty(&mut self.dirty, conn);
        Some(conn)
    }

    /// Puts a connection on the list of those to be read, once, if there may be something to read.
    pub(super) fn queue_read(&mut self, slot: u32) {
        if let Some(conn) = self.conns.get_mut(slot as usize)
            && conn.flags.readable
            && !conn.flags.queued
        {
            conn.flags.queued = true;
            self.due.add(slot, conn.flags.preparing);
        }
    }

    /// Whether there is something to do without waiting for anything.
    pub(super) fn has_work(&self) -> bool {
        !(self.dirty.is_empty() && self.due.is_empty() && !self.needs_core())
    }

    /// Whether the core has to hear something.
    pub(super) fn needs_core(&self) -> bool {
        !(self.through.is_empty() && self.recount.is_empty() && self.attention.is_empty() && self.unchoke.is_empty())
    }

    /// Whether a connection is this shard's own.
    #[inline]
    pub(super) fn owns(&self, at: ConnRef) -> bool {
        at.shard == self.shard
    }

    /// Leaves mail for the shard of a connection.
    pub(super) fn post(&mut self, to: ConnRef, mail: Mail) {
        self.post_to(to.shard, mail);
    }

    /// Leaves mail for a shard.
    pub(super) fn post_to(&mut self, shard: u16, mail: Mail) {
        if let Some(outbox) = self.outboxes.get_mut(usize::from(shard)) {
            outbox.mail.push(mail);
        }
    }

    /// Hands all mail over. To be called with the core locked; [`ShardHost::wake_others`] after.
    pub(super) fn deliver_mail(&mut self, woken: &mut Vec<usize>) {
        for (shard, outbox) in self.outboxes.iter_mut().enumerate() {
            if !outbox.mail.is_empty()
                && let Some(post) = self.shared.post(shard)
            {
                post.deliver(outbox);
                woken.push(shard);
            }
        }
    }

    /// Wakes those who got mail.
    pub(super) fn wake_others(&self, woken: &mut Vec<usize>) {
        for shard in woken.drain(..) {
            if let Some(post) = self.shared.post(shard) {
                post.wake();
            }
        }
    }

    /// As [`ShardHost::keep_offered`], for the only one who keeps it.
    pub(super) fn take_offered(&mut self) -> Content<LinkRef> {
        match &self.offered {
            Offered::Borrowed { start, end, layout, kept: None } => {
                Content::whole(self.buffer.get(*start..*end).unwrap_or_default(), *layout)
            }
            _ => self.keep_offered(),
        }
    }

    /// The message being offered, in a form that outlives the offer.
    pub(super) fn keep_offered(&mut self) -> Content<LinkRef> {
        match &mut self.offered {
            Offered::Borrowed { start, end, layout, kept } => {
                let bytes = self.buffer.get(*start..*end).unwrap_or_default();
                kept.get_or_insert_with(|| Content::whole(bytes, *layout)).clone()
            }
            Offered::Kept { content, .. } => content.clone(),
            Offered::Stored(stored) => stored.keep(),
            // The core retains only what it is being offered; an empty message is what it gets otherwise.
            Offered::Nothing => Content::whole(&[], Layout::default()),
        }
    }
}

/// Puts a connection on the list of those to be flushed, once.
#[inline]
pub(super) fn mark_dirty(dirty: &mut Vec<u32>, conn: &mut Conn) {
    if !conn.flags.dirty {
        conn.flags.dirty = true;
        dirty.push(conn.at.slot);
    }
}

impl Host for ShardHost {
    type Conn = ConnRef;
    type Link = LinkRef;
    type Content = Content<LinkRef>;

    fn attach_answer(&mut self, link: LinkRef, source: Option<Source>, target: Option<TargetTerminus>) {
        if !self.owns(link.conn) {
            let mail = Mail::AttachAnswer { link, source: source.map(Box::new), target: target.map(Box::new) };
            self.post(link.conn, mail);
        } else if let Some(conn) = self.touch(link.conn) {
            let id = LinkId(link.link);
            let size = conn.announced_size(id, None);
            conn.endpoint.attach_answer(id, source, target, size);
        }
    }

    fn answer_routed(
        &mut self,
        link: LinkRef,
        source: Option<Source>,
        target: Option<TargetTerminus>,
        terms: LinkTerms,
    ) {
        if !self.owns(link.conn) {
            self.post(link.conn, Mail::AnswerRouted { link, answer: Box::new((source, target, terms)) });
        } else if let Some(conn) = self.touch(link.conn) {
            conn.answer_routed(LinkId(link.link), source, target, terms);
        }
    }

    fn open_link(&mut self, conn: ConnRef, key: LinkKey, link: OpenLink) -> LinkRef {
        match self.store_at(conn) {
            Some(store) => store.open_link(key, link),
            None => self.want_link(conn, key, link),
        }
    }

    fn room(&mut self, link: LinkRef) {
        if let Some(store) = self.store_at(link.conn) {
            store.room(link);
        }
    }

    fn no_room(&mut self, link: LinkRef) {
        if let Some(store) = self.store_at(link.conn) {
            store.no_room(link);
        }
    }

    fn edge(&mut self, event: EdgeEvent<'_>) {
        self.shared.tell(ShardEvent::Edge(event.into()));
    }

    fn network(&mut self, event: NetworkEvent<'_>) {
        self.shared.tell(ShardEvent::Network(event.into()));
    }

    fn detach(&mut self, link: LinkRef, closed: bool, error: Option<ErrorCondition>) {
        if let Some(store) = self.store_at(link.conn) {
            store.detach(link, closed);
        } else if !self.owns(link.conn) {
            self.post(link.conn, Mail::Detach { link, closed, error: error.map(Box::new) });
        } else if let Some(conn) = self.touch(link.conn) {
            conn.detach(LinkId(link.link), closed, error);
        }
    }

    #[inline]
    fn add_credit(&mut self, link: LinkRef, credit: u32) {
        if let Some(store) = self.store_at(link.conn) {
            store.add_credit(link, credit);
        } else if !self.owns(link.conn) {
            self.post(link.conn, Mail::AddCredit { link, credit });
        } else if let Some(conn) = self.touch(link.conn) {
            conn.endpoint.add_credit(LinkId(link.link), credit);
        }
    }

    fn drain(&mut self, link: LinkRef, drain: bool) {
        if let Some(store) = self.store_at(link.conn) {
            store.drain(link, drain);
        } else if !self.owns(link.conn) {
            self.post(link.conn, Mail::Drain { link, drain });
        } else if let Some(conn) = self.touch(link.conn) {
            conn.endpoint.drain(LinkId(link.link), drain);
        }
    }

    fn hold_up(&mut self, link: LinkRef, hold: bool) {
        if !self.owns(link.conn) {
            self.post(link.conn, Mail::HoldUp { link, hold });
        } else if self.touch(link.conn).is_some() {
            self.hold_up_at(link.conn.slot, LinkId(link.link), hold);
        }
    }

    fn drained(&mut self, link: LinkRef) {
        if !self.owns(link.conn) {
            self.post(link.conn, Mail::Drained { link });
        } else if let Some(conn) = self.touch(link.conn) {
            conn.drained(LinkId(link.link));
        }
    }

    fn say_with_flow(&mut self, link: LinkRef, properties: Map) {
        if let Some(store) = self.store_at(link.conn) {
            store.says_with_flow(link, &properties);
        } else if !self.owns(link.conn) {
            self.post(link.conn, Mail::SayWithFlow { link, properties: Box::new(properties) });
        } else if let Some(conn) = self.touch(link.conn) {
            conn.endpoint.say_with_flow(LinkId(link.link), Box::new(properties));
        }
    }

    fn digest(&self) -> Option<u64> {
        // What floods the network is small and whole.
        let Offered::Borrowed { start, end, layout, .. } = &self.offered else { return None };
        let body = self.buffer.get(start + layout.annotations_range().end..*end)?;
        let mut hasher = DefaultHasher::new();
        hasher.write(body);
        Some(hasher.finish())
    }

    fn subject<'a>(&'a self, content: Option<&'a Content<LinkRef>>) -> Option<&'a str> {
        match (content, &self.offered) {
            (Some(Content::Whole(whole)), _) => content::subject(whole.bytes()),
            (None, Offered::Borrowed { start, end, .. }) => content::subject(self.buffer.get(*start..*end)?),
            (None, Offered::Kept { subject, .. }) => subject.as_deref(),
            (Some(Content::Stream(_)), _) | (None, Offered::Nothing | Offered::Stored(_)) => None,
        }
    }

    fn look_deeper(&mut self, link: LinkRef) {
        if !self.owns(link.conn) {
            self.post(link.conn, Mail::LookDeeper { link });
        } else if let Some(conn) = self.conn(link.conn) {
            let link = conn.link_mut(LinkId(link.link));
            link.depth = link.depth.max(Depth::Properties);
        }
    }

    fn retain(&mut self) -> Content<LinkRef> {
        self.keep_offered()
    }

    #[inline]
    fn transmit(
        &mut self,
        link: LinkRef,
        key: OutKey,
        content: Option<&Content<LinkRef>>,
        how: &Transmit<'_>,
    ) -> Transmitted {
        if self.owns(link.conn) {
            self.transmit_here(link, key, content, how)
        } else if self.store_at(link.conn).is_some() {
            self.transmit_to_store(link, key, content, how)
        } else {
            self.transmit_by_mail(link, key, content, how)
        }
    }

    fn abort(&mut self, link: LinkRef, key: OutKey) {
        if let Some(store) = self.store_at(link.conn) {
            store.abort(link, key);
        } else if !self.owns(link.conn) {
            self.post(link.conn, Mail::Abort { link, key });
        } else {
            self.abort_here(link, key);
        }
    }

    #[inline]
    fn update_incoming(&mut self, link: LinkRef, delivery_id: u32, state: Option<DeliveryState>, settled: bool) {
        if let Some(store) = self.store_at(link.conn) {
            store.receiver_says(self.now, link, delivery_id, state, settled);
        } else if !self.owns(link.conn) {
            self.post(link.conn, Mail::UpdateIncoming { link, delivery_id, state, settled });
        } else if let Some(conn) = self.touch(link.conn) {
            conn.endpoint.update_incoming(LinkId(link.link), delivery_id, state, settled);
        }
    }

    #[inline]
    fn update_outgoing(&mut self, link: LinkRef, key: OutKey, state: Option<DeliveryState>, settled: bool) {
        if let Some(store) = self.store_at(link.conn) {
            store.sender_says(key, settled);
        } else if !self.owns(link.conn) {
            self.post(link.conn, Mail::UpdateOutgoing { link, key, state, settled });
        } else if let Some(conn) = self.touch(link.conn) {
            conn.endpoint.update_outgoing(LinkId(link.link), key.0, state, settled);
        }
    }

    fn to_subscriber(
        &mut self,
        subscriber: SubscriberId,
        content: Option<&Content<LinkRef>>,
        from: &SubscriberDelivery,
    ) -> Result<(), ErrorCondition> {
        let kept;
        let content = match content {
            Some(content) => content,
            None => {
                kept = self.keep_offered();
                &kept
            }
        };
        let unreadable = || ErrorCondition::new("amqp:decode-error", "Parse error in message content");
        let message = content.to_bytes().ok_or_else(unreadable)?;
        if self.shared.lookups.get() == Some(&subscriber) && !is_lookup(&message) {
            return Err(unreadable());
        }
        let Some(ticket) = self.shared.backlogs.admit(subscriber, message.len()) else {
            return Err(ErrorCondition::new(
                "amqp:resource-limit-exceeded",
                "Too many messages wait for the router itself",
            ));
        };
        let event = SubscriberMessage { subscriber, message, from: from.clone(), _ticket: ticket };
        self.shared.tell(ShardEvent::Message(event));
        Ok(())
    }

    fn log_enabled(&self, module: Module, level: Level) -> bool {
        logging::enabled(log_module(module), log_level(level))
    }

    fn log(&mut self, module: Module, level: Level, text: std::fmt::Arguments<'_>) {
        logging::write(log_module(module), log_level(level), None, text);
    }
}

fn log_module(module: Module) -> logging::Module {
    match module {
        Module::Router => logging::Module::Router,
        Module::RouterCore => logging::Module::RouterCore,
        Module::Default => logging::Module::Default,
        Module::Agent => logging::Module::Agent,
    }
}

fn log_level(level: Level) -> logging::Level {
    match level {
        Level::Trace => logging::Level::Trace,
        Level::Debug => logging::Level::Debug,
        Level::Info => logging::Level::Info,
        Level::Notice => logging::Level::Notice,
        Level::Warning => logging::Level::Warning,
        Level::Error => logging::Level::Error,
        Level::Critical => logging::Level::Critical,
    }
}
