//! Where the shards meet the store: messages that leave a queue, messages that go into one, and its turn to speak.

use std::sync::Arc;

use amqp_endpoint::{LinkId, NewDelivery, Now};
use router_core::{Core, OutKey, Transmit, Transmitted};

use super::host::{Offered, ShardHost, mark_dirty};
use super::place::{ConnRef, LinkRef, NO_SHARD, STORE};
use crate::content::{Content, Layout, Whole};
use crate::store::{Leaving, Store};

/// A message as it leaves a queue: what is new at its beginning, and from where on the rest is as it came.
pub(crate) struct Stored {
    pub(crate) head: Box<[u8]>,
    pub(crate) whole: Arc<Whole>,
    pub(crate) rest: usize,
    pub(crate) format: u32,
}

impl Stored {
    /// Its bytes.
    #[inline]
    pub(super) fn parts(&self) -> [&[u8]; 2] {
        [&self.head, self.whole.bytes().get(self.rest..).unwrap_or_default()]
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::plain(self.format)
    }

    pub(super) fn keep(&self) -> Content<LinkRef> {
        match self.rest {
            0 if self.head.is_empty() => Content::Whole(Arc::clone(&self.whole)),
            _ => Content::whole(&self.parts().concat(), self.layout()),
        }
    }
}

impl ShardHost {
    /// The store, if a connection is the one that leads to it.
    #[inline]
    pub(super) fn store_at(&self, at: ConnRef) -> Option<&Store> {
        if at.shard == STORE { self.shared.store.get().map(|store| &**store) } else { None }
    }

    /// Lets the store speak. To be called when all else is done, with the core locked.
    pub(super) fn pump_store(&mut self, core: &mut Core<Self>) {
        if let Some(store) = self.shared.store.get()
            && store.is_busy()
        {
            Arc::clone(store).pump(core, self);
        }
    }

    /// What comes of what the store has said, as far as it is this shard's.
    pub(crate) fn after_store(&mut self, core: &mut Core<Self>) {
        self.report(core);
        self.open_links(core);
    }

    /// Which shard this is; `None`: the control plane.
    pub(crate) fn number(&self) -> Option<u16> {
        (self.shard != NO_SHARD).then_some(self.shard)
    }

    /// The time of this turn.
    pub(crate) fn now(&self) -> Now {
        self.now
    }

    /// Sends the message being offered, which comes out of a queue, if it can go in one frame at once.
    #[inline]
    pub(super) fn send_stored(&mut self, link: LinkRef, key: OutKey, how: &Transmit<'_>) -> bool {
        let Self { offered, conns, dirty, .. } = self;
        let (Offered::Stored(stored), Some(tag)) = (&*offered, how.routed_tag) else { return false };
        let Some(conn) = conns.get_mut(link.conn.slot as usize).filter(|conn| conn.at == link.conn) else {
            return false;
        };
        if !conn.may_send_now(link.link) {
            return false;
        }
        let (message_format, settled) = (stored.layout().message_format, how.settled);
        let new = NewDelivery { key: key.0, tag, message_format, settled, state: how.state, manner: how.manner };
        let sent = conn.endpoint.try_send(LinkId(link.link), &new, &stored.parts());
        if sent {
            mark_dirty(dirty, conn);
            conn.message_sent(LinkId(link.link), stored.whole.bytes());
        }
        sent
    }

    /// Has a message out of a queue be the one being offered, until another one is, or [`ShardHost::offer_nothing`].
    #[inline]
    pub(crate) fn offer_stored(&mut self, message: Stored) {
        match &mut self.offered {
            Offered::Stored(before) => *before = message,
            offered => *offered = Offered::Stored(message),
        }
    }

    /// Nothing is being offered any more.
    pub(crate) fn offer_nothing(&mut self) {
        self.offered = Offered::Nothing;
    }

    /// Does something with a message out of a queue as the one being offered.
    pub(crate) fn offering<R>(&mut self, message: Leaving, call: impl FnOnce(&mut Self) -> R) -> R {
        self.offered = match message {
            Leaving::Whole(stored) => Offered::Stored(stored),
            Leaving::Stream(content) => Offered::Kept { content, subject: None },
        };
        let result = call(self);
        self.offered = Offered::Nothing;
        result
    }

    /// Gives a message to the store. What it may not see is taken out of the annotations; nothing else is changed.
    pub(super) fn transmit_to_store(
        &mut self,
        link: LinkRef,
        key: OutKey,
        content: Option<&Content<LinkRef>>,
        how: &Transmit<'_>,
    ) -> Transmitted {
        let edit = if how.routed_tag.is_some() { None } else { self.edit(link, content, how) };
        let content = content.cloned().unwrap_or_else(|| self.take_offered());
        let content = match content {
            Content::Whole(whole) if edit.is_none() => {
                let Some(store) = self.store_at(link.conn) else { return Transmitted::Complete };
                return store.receive_whole(self.now, link, key, whole, how);
            }
            content => content,
        };
        let (content, edit) = match (content, edit) {
            (Content::Whole(whole), Some(edit)) => {
                let layout = whole.layout();
                let bytes = layout.edited(whole.bytes(), &edit).concat();
                (Content::whole(&bytes, Layout::plain(layout.message_format)), None)
            }
            // The store puts them in their place when they are there.
            (content, edit) => (content, edit),
        };
        match self.store_at(link.conn) {
            Some(store) => store.receive(self.now, link, key, (content, edit), how),
            None => Transmitted::Complete,
        }
    }
}
