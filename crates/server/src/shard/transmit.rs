//! A message on its way to a link: straight into the output of a connection of this shard, or by mail to another shard.

use amqp::performative::Manner;
use amqp_endpoint::{LinkId, NewDelivery};
use router_core::{OutKey, Transmit, Transmitted};

use super::host::{Offered, ShardHost, mark_dirty};
use super::mailbox::{FULL, INLINE, Mail};
use super::outgoing::{Delivery, OUTPUT_HIGH, Tag};
use super::place::LinkRef;
use crate::content::{Content, Layout, RouterPart};

impl ShardHost {
    /// Sends on a link of this shard.
    #[inline]
    pub(super) fn transmit_here(
        &mut self,
        link: LinkRef,
        key: OutKey,
        content: Option<&Content<LinkRef>>,
        how: &Transmit<'_>,
    ) -> Transmitted {
        if content.is_none() && self.send_stored(link, key, how) {
            return Transmitted::Complete;
        }
        let Self { offered, conns, dirty, buffer, .. } = self;
        if let (None, Offered::Borrowed { start, end, layout, .. }) = (content, &*offered)
            && (how.routed_tag.is_some() || !layout.needs_edit(how.annotate))
            && let Some(conn) = conns.get_mut(link.conn.slot as usize)
            && conn.at == link.conn
            && conn.may_send_now(link.link)
        {
            let tag = how.own_tag();
            let new = NewDelivery {
                key: key.0,
                tag: how.routed_tag.unwrap_or(tag.as_bytes()),
                message_format: layout.message_format,
                settled: how.settled,
                state: how.state,
                manner: how.manner,
            };
            if conn.endpoint.try_send(LinkId(link.link), &new, &[&buffer[*start..*end]]) {
                mark_dirty(dirty, conn);
                conn.message_sent(LinkId(link.link), &buffer[*start..*end]);
                return Transmitted::Complete;
            }
        }
        self.transmit_kept(link, key, content, how)
    }

    /// The general way: the message is edited, or in several frames, or has to wait.
    fn transmit_kept(
        &mut self,
        link: LinkRef,
        key: OutKey,
        content: Option<&Content<LinkRef>>,
        how: &Transmit<'_>,
    ) -> Transmitted {
        let id = LinkId(link.link);
        let edit = self.edit(link, content, how);
        let mut sent = None;
        if content.is_none() && edit.is_none() {
            sent = self.begin_offered(link, key, how);
            if sent == Some(None) {
                return Transmitted::Complete;
            }
        }
        let content = content.cloned().unwrap_or_else(|| self.keep_offered());
        let mut delivery = Delivery::new(key, Tag::of(how), how.settled, content, edit);
        delivery.state = how.state.cloned().map(Box::new);
        delivery.manner = how.manner;
        delivery.report = true;
        if let Some(Some(sent)) = sent {
            delivery = delivery.begun(sent);
        }
        // Without the connection the delivery goes nowhere: the core will hear that it is lost.
        let Some(conn) = self.touch(link.conn) else { return Transmitted::Complete };
        conn.wait(id, Box::new(delivery));
        let mut through = Vec::new();
        conn.pump_link(id, &mut through);
        // The link was not busy, so what the core waits for on it can only be this.
        if through.is_empty() { Transmitted::Partial } else { Transmitted::Complete }
    }

    /// Sends the message being offered in as many frames as it takes, without keeping it. `Some(None)`: all of it is
    /// gone. `Some(Some(n))`: it is begun, and so many bytes are. `None`: it cannot be begun now, or is still coming.
    fn begin_offered(&mut self, link: LinkRef, key: OutKey, how: &Transmit<'_>) -> Option<Option<usize>> {
        let Offered::Borrowed { start, end, layout, .. } = &self.offered else { return None };
        let (bytes, layout) = (*start..*end, *layout);
        let conn = self.conns.get_mut(link.conn.slot as usize).filter(|conn| conn.at == link.conn)?;
        if !conn.may_send_now(link.link) {
            return None;
        }
        let tag = how.own_tag();
        let new = NewDelivery {
            key: key.0,
            tag: how.routed_tag.unwrap_or(tag.as_bytes()),
            message_format: layout.message_format,
            settled: how.settled,
            state: how.state,
            manner: how.manner,
        };
        if !conn.endpoint.begin_delivery(LinkId(link.link), &new) {
            return None;
        }
        mark_dirty(&mut self.dirty, conn);
        let taken = conn.endpoint.send_payload(LinkId(link.link), &self.buffer[bytes.clone()], false);
        let more = conn.endpoint.is_sending(LinkId(link.link));
        if !more {
            conn.message_sent(LinkId(link.link), &self.buffer[bytes]);
        }
        Some(more.then_some(taken))
    }

    /// The annotations to put in place of the message's own, if it cannot go as it came.
    pub(super) fn edit(
        &self,
        link: LinkRef,
        content: Option<&Content<LinkRef>>,
        how: &Transmit<'_>,
    ) -> Option<Box<[u8]>> {
        if how.routed_tag.is_some() {
            return None;
        }
        let (layout, section, streamed) = match (content, &self.offered) {
            (Some(content), _) | (None, Offered::Kept { content, .. }) => {
                (content.layout(), content.annotations(), matches!(content, Content::Stream(_)))
            }
            (None, Offered::Borrowed { start, end, layout, .. }) => {
                (*layout, layout.annotations(&self.buffer[*start..*end]), false)
            }
            (None, Offered::Nothing | Offered::Stored(_)) => return None,
        };
        if !layout.needs_edit(how.annotate) {
            return None;
        }
        let router = how.annotate.then_some(RouterPart {
            phase: how.phase,
            stream: streamed && link.conn.peer,
            to_override: how.to_override,
            anew: how.anew,
            this_router: self.shared.this_router.as_deref(),
        });
        Some(layout.edit(section, router).into_boxed_slice())
    }

    /// Sends on a link of another shard.
    pub(super) fn transmit_by_mail(
        &mut self,
        link: LinkRef,
        key: OutKey,
        content: Option<&Content<LinkRef>>,
        how: &Transmit<'_>,
    ) -> Transmitted {
        let shard = link.conn.shard as usize;
        let waiting = self.shared.post(shard).map_or(0, super::mailbox::Post::waiting);
        let edit = self.edit(link, content, how);
        let Self { offered, outboxes, buffer, .. } = self;
        let Some(outbox) = outboxes.get_mut(shard) else { return Transmitted::Complete };
        let full = waiting + outbox.bytes.len() > FULL;
        let whole: Option<([&[u8]; 2], Layout)> = match (content, &*offered) {
            (Some(Content::Whole(whole)), _) => Some(([whole.bytes(), &[]], whole.layout())),
            (None, Offered::Borrowed { start, end, layout, .. }) => Some(([&buffer[*start..*end], &[]], *layout)),
            (None, Offered::Stored(stored)) => Some((stored.parts(), stored.layout())),
            _ => None,
        };
        if let Some(([bytes, more], layout)) = whole
            && bytes.len() + more.len() <= INLINE
            && !full
            && how.state.is_none()
            && how.manner == Manner::default()
        {
            let start = outbox.bytes.len();
            match &edit {
                None => [bytes, more].iter().for_each(|part| outbox.bytes.extend_from_slice(part)),
                Some(edit) => layout.edited(bytes, edit).iter().for_each(|part| outbox.bytes.extend_from_slice(part)),
            }
            // A batch is full long before its bytes need more than 32 bits to count.
            let (start, size) = (start as u32, (outbox.bytes.len() - start) as u32);
            let (message_format, settled) = (layout.message_format, how.settled);
            outbox.mail.push(Mail::Send { link, key, tag: Tag::of(how), message_format, settled, start, size });
            return Transmitted::Complete;
        }
        let content = content.cloned().unwrap_or_else(|| self.keep_offered());
        let complete = content.is_complete();
        let mut delivery = Delivery::new(key, Tag::of(how), how.settled, content, edit);
        delivery.state = how.state.cloned().map(Box::new);
        delivery.manner = how.manner;
        delivery.report = full || !complete;
        let report = delivery.report;
        self.post(link.conn, Mail::Deliver { link, delivery: Box::new(delivery) });
        if report { Transmitted::Partial } else { Transmitted::Complete }
    }

    /// Gives a delivery up that is not through.
    pub(super) fn abort_here(&mut self, link: LinkRef, key: OutKey) {
        let Some(conn) = self.touch(link.conn) else { return };
        let id = LinkId(link.link);
        let Some(state) = conn.links.get_mut(link.link as usize) else { return };
        let Some(index) = state.waiting.iter().position(|delivery| delivery.key == key) else { return };
        let Some(delivery) = state.waiting.remove(index) else { return };
        delivery.abort(&mut conn.endpoint, id);
        // What of it never left gave its credit back.
        self.recount.push(link);
    }
}

impl super::conn::Conn {
    /// Whether nothing is in a new delivery's way.
    #[inline]
    pub(super) fn may_send_now(&self, link: u32) -> bool {
        self.endpoint.output().len() <= OUTPUT_HIGH
            && self.links.get(link as usize).is_none_or(|link| link.waiting.is_empty())
    }
}
