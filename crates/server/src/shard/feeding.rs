//! A message that leaves while it comes: each frame goes on to those who read, and the sender is held back while the
//! slowest of them lags.

use std::sync::Arc;

use amqp_endpoint::{Hold, LinkId, SessionId};
use router_core::{Core, InKey};

use super::host::{ShardHost, mark_dirty};
use super::mailbox::Mail;
use super::place::LinkRef;
use super::settings::Role;
use super::shared::Shared;
use crate::content::{Feed, Origin};

/// Bytes that the slowest reader may lack before the sender's session is held.
const HOLD_ABOVE: usize = 256 * 1024;
/// Bytes that it may lack before the sender's socket is not read any more: its session window was open for that much
/// when it was held.
const PAUSE_ABOVE: usize = 1024 * 1024;
/// The same for a message that goes back to the connection it comes from, or that waits for a full queue or for a receiver without
/// credit. A client may write a whole message at once, and what lets its own receiver go on behind it, or empties the queue: as
/// long as that is not read, neither side would ever move again. (A window
/// that is small from the beginning would prevent it too, but makes qpid-proton move what is left of a large message for
/// each piece of it: 64 MiB then take it 12 seconds.)
const PAUSE_OWN_ABOVE: usize = 32 * 1024 * 1024;

/// Bytes that a message's slowest reader may lack while others of its session go on. They must: it may be one of them
/// that its reader is busy with.
const FLOOD: usize = 32 * 1024 * 1024;

/// A message being streamed, at its sender's link.
pub(super) struct Streaming {
    pub(super) feed: Feed<LinkRef>,
    /// The core's.
    pub(super) key: InKey,
    /// The sender's link.
    pub(super) link: LinkRef,
    /// Its session.
    pub(super) session: SessionId,
    /// Its slowest reader is too far behind.
    pub(super) lags: bool,
}

/// Tells a sender's shard that its message may go on.
pub(super) struct Resumption {
    pub(super) shared: Arc<Shared>,
    pub(super) link: LinkRef,
}

impl Origin for Resumption {
    fn resume(&self) {
        if let Some(post) = self.shared.post(self.link.conn.shard.into()) {
            post.send(Mail::Resume { link: self.link });
        }
    }
}

impl ShardHost {
    /// Passes bytes of a message on to its readers.
    pub(super) fn feed(&mut self, streaming: &mut Streaming, bytes: &[u8], last: bool) {
        let passed = self.pass_by(streaming, bytes, last);
        streaming.feed.append(bytes.get(passed..).unwrap_or_default());
        if last {
            streaming.feed.finish();
        }
        let mut listeners = std::mem::take(&mut self.listeners);
        streaming.feed.listeners_into(&mut listeners);
        for link in listeners.drain(..) {
            self.grown(link);
        }
        self.listeners = listeners;
    }

    /// Hands bytes straight to the only reader, if it has read all before and is this shard's; says how many.
    fn pass_by(&mut self, streaming: &Streaming, bytes: &[u8], last: bool) -> usize {
        let Some(to) = streaming.feed.sole_idle_listener().filter(|to| self.owns(to.conn)) else { return 0 };
        let id = LinkId(to.link);
        let Some(conn) = self.touch(to.conn) else { return 0 };
        let Some(link) = conn.links.get_mut(to.link as usize) else { return 0 };
        let Some(delivery) = link.waiting.front_mut().filter(|front| front.reads(&streaming.feed)) else { return 0 };
        let taken = delivery.pass_by(&mut conn.endpoint, id, bytes, last);
        if taken.end
            && let Some(delivery) = link.waiting.pop_front()
        {
            self.through.extend(delivery.report.then_some(delivery.key));
        }
        taken.bytes
    }

    /// The message that a link sends has grown.
    pub(super) fn grown(&mut self, link: LinkRef) {
        if let Some(store) = self.store_at(link.conn) {
            return store.grown(link);
        }
        if !self.owns(link.conn) {
            return self.post(link.conn, Mail::Grown { link });
        }
        let mut through = std::mem::take(&mut self.pumped);
        if let Some(conn) = self.touch(link.conn) {
            conn.pump_link(LinkId(link.link), &mut through);
        }
        self.through.extend(through.drain(..));
        self.pumped = through;
    }

    /// Holds a sender back whose readers lag too far behind, if nobody else needs its session.
    pub(super) fn hold_if_behind(&mut self, core: &Core<Self>, slot: u32, streaming: &mut Streaming) {
        let behind = streaming.feed.held();
        if behind > HOLD_ABOVE && !streaming.lags {
            streaming.lags = streaming.feed.wait();
        }
        let Some(conn) = self.conns.get_mut(slot as usize).filter(|_| streaming.lags) else { return };
        if !conn.others_lag(streaming.session, streaming.link.link).1 && behind < FLOOD {
            return;
        }
        conn.endpoint.hold_session(streaming.session, Hold::Lag, true);
        mark_dirty(&mut self.dirty, conn);
        // Between routers there are others' messages, and greetings: they are always read, and keep to their windows.
        // So are links that are passed on from a container, of which there may be many on one connection.
        let passed_on = conn.settings.role == Role::RouteContainer && conn.link_mut(LinkId(streaming.link.link)).routed;
        if behind > PAUSE_ABOVE
            && !conn.at.peer
            && !conn.flags.paused
            && (behind > PAUSE_OWN_ABOVE || !(passed_on || core.comes_back(streaming.key) || core.waits(streaming.key)))
        {
            conn.flags.paused = true;
            // It may be speaking; it is not heard because we do not listen.
            conn.endpoint.hold_idle_time_out(self.now, true);
        }
    }

    /// Readers have caught up with a message.
    pub(super) fn resume(&mut self, link: LinkRef) {
        let Some(conn) = self.conn(link.conn) else { return };
        let Some(streaming) = conn.streaming_mut(link.link).filter(|streaming| streaming.lags) else { return };
        streaming.lags = false;
        let session = streaming.session;
        self.let_go(link, session);
    }

    /// No more comes of a message.
    pub(super) fn end_feeding(&mut self, streaming: Streaming) {
        let Streaming { link, session, lags, .. } = streaming;
        let Some(conn) = self.conn(link.conn) else { return };
        conn.streams.retain(|other| *other != link.link);
        // If others are there and all of them lag, the session stays as it is.
        if lags && conn.others_lag(session, link.link) != (true, true) {
            self.let_go(link, session);
        }
    }

    /// Lets the sender go on.
    fn let_go(&mut self, link: LinkRef, session: SessionId) {
        let now = self.now;
        let Some(conn) = self.touch(link.conn) else { return };
        conn.endpoint.hold_session(session, Hold::Lag, false);
        if conn.flags.paused {
            conn.flags.paused = false;
            conn.endpoint.hold_idle_time_out(now, false);
            self.queue_read(link.conn.slot);
        }
    }
}
