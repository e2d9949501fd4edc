//! Transfers that come in: a message that is all there is offered to the core at once.

mod gathering;

use std::borrow::Cow;
use std::sync::Arc;

use amqp::DeliveryState;
use amqp::performative::Manner;
use amqp_endpoint::{IncomingTransfer, LinkId};
use router_core::{Core, InKey, LinkKey, Offer, Offered as Answer, stamp_of};

use super::host::{Offered, ShardHost};
use crate::content::{Examined, Layout, Look, Refusal, examine};
use gathering::Gathered;

pub(super) use gathering::{Incoming, Progress};

/// Bytes of the longest delivery tag that there may be (part 2, section 2.8.7).
const LONGEST_TAG: usize = 32;

/// What is known of a delivery beside its bytes.
struct Arrived<'t> {
    link: LinkId,
    key: LinkKey,
    delivery_id: u32,
    message_format: u32,
    settled: bool,
    state: Option<DeliveryState>,
    /// On a link that is one with another, which nothing of the message is looked at for.
    tag: Option<Cow<'t, [u8]>>,
    /// What tells it from all others, if a neighbour has said so; 0: nothing.
    stamp: u64,
    /// How its sender wants it dealt with.
    manner: Manner,
}

impl<'t> Arrived<'t> {
    #[inline]
    fn new(transfer: IncomingTransfer<'t>) -> Self {
        Self {
            link: transfer.link,
            key: LinkKey(transfer.context),
            delivery_id: transfer.delivery_id,
            message_format: transfer.message_format,
            settled: transfer.settled,
            state: transfer.state,
            tag: None,
            stamp: 0,
            manner: Manner::default(),
        }
    }

    /// `routed`: the link is one with another, and the tag goes on with the message. `shares`: the peer's tags may have stamps.
    #[inline]
    fn on(routed: bool, shares: bool, transfer: IncomingTransfer<'t>) -> Self {
        let tag = if routed { Some(Cow::Borrowed(transfer.tag)) } else { None };
        let stamp = if shares && !routed { stamp_of(transfer.tag) } else { 0 };
        Self { tag, stamp, manner: transfer.manner, ..Self::new(transfer) }
    }

    /// What goes on as it is has to be something, and to have a tag that the other end can take.
    fn check_routed(&self, bytes: &[u8], complete: bool) -> Result<(), Refusal> {
        if self.tag.as_ref().is_some_and(|tag| tag.len() > LONGEST_TAG) {
            return Err(Refusal::Tag);
        }
        if complete && bytes.is_empty() { Err(Refusal::Format) } else { Ok(()) }
    }

    /// To keep until the rest of the delivery comes.
    fn kept(self) -> Arrived<'static> {
        let tag = self.tag.map(|tag| Cow::Owned(tag.into_owned()));
        Arrived { tag, ..self }
    }
}

impl ShardHost {
    /// A transfer frame.
    #[inline]
    pub(super) fn transfer(&mut self, core: &mut Core<Self>, slot: u32, transfer: IncomingTransfer<'_>) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let (most, shares) = (conn.max_message_size, conn.shares);
        let link = conn.link_mut(transfer.link);
        let routed = link.routed;
        if let Some(incoming) = link.incoming.take() {
            self.go_on(core, slot, incoming, transfer);
        } else if transfer.aborted {
            core.discarded(self.now, self, LinkKey(transfer.context));
        } else if transfer.payload.len() as u64 > most {
            self.oversize(core, slot, Arrived::new(transfer), Progress::Gathering(Gathered::default()));
        } else if transfer.more {
            self.begin(core, slot, transfer, routed, shares);
        } else {
            let bytes = transfer.payload;
            let arrived = Arrived::on(routed, shares, transfer);
            match offset_in(&self.buffer, bytes) {
                Some(start) => self.offer_whole(core, slot, arrived, bytes, start),
                // Some layer has put it elsewhere.
                None => self.offer_apart(core, slot, arrived, bytes.to_vec()),
            }
        }
    }

    /// Offers a message that is not in the buffer read last.
    fn offer_apart(&mut self, core: &mut Core<Self>, slot: u32, arrived: Arrived<'_>, bytes: Vec<u8>) {
        let apart = Arc::new(bytes);
        let buffer = std::mem::replace(&mut self.buffer, Arc::clone(&apart));
        self.offer_whole(core, slot, arrived, &apart, 0);
        self.buffer = buffer;
        if let Some(spare) = Arc::into_inner(apart) {
            self.keep_spare(spare);
        }
    }

    /// Offers a complete message, which begins at `start` of the buffer.
    #[inline]
    fn offer_whole(&mut self, core: &mut Core<Self>, slot: u32, mut arrived: Arrived<'_>, bytes: &[u8], start: usize) {
        if arrived.tag.is_some() {
            return self.offer_routed(core, slot, arrived, bytes, start);
        }
        let examined = match self.examine(slot, &arrived, bytes, true) {
            Ok(examined) => examined,
            Err(refusal) => return self.refuse(core, &arrived, refusal),
        };
        self.offered = Offered::Borrowed { start, end: start + bytes.len(), layout: examined.layout, kept: None };
        let answer = self.offer(core, &mut arrived, &examined, true);
        self.offered = Offered::Nothing;
        if let Answer::Tracked(key) = answer {
            self.track(slot, &arrived, key);
        }
    }

    /// The same on a link that is one with another: nothing of the message is looked at.
    fn offer_routed(&mut self, core: &mut Core<Self>, slot: u32, mut arrived: Arrived<'_>, bytes: &[u8], start: usize) {
        if let Err(refusal) = arrived.check_routed(bytes, true) {
            return self.refuse(core, &arrived, refusal);
        }
        let layout = Layout::plain(arrived.message_format);
        self.offered = Offered::Borrowed { start, end: start + bytes.len(), layout, kept: None };
        let unseen = Examined::unseen(arrived.message_format);
        let answer = self.offer(core, &mut arrived, &unseen, true);
        self.offered = Offered::Nothing;
        if let Answer::Tracked(key) = answer {
            self.track(slot, &arrived, key);
        }
    }

    #[inline(always)] // There are two ways to it, and in one of them nothing is known of the message.
    fn offer(
        &mut self,
        core: &mut Core<Self>,
        arrived: &mut Arrived<'_>,
        examined: &Examined<'_>,
        complete: bool,
    ) -> Answer {
        let router = &examined.router;
        let offer = Offer {
            delivery_id: arrived.delivery_id,
            settled: arrived.settled,
            complete,
            to: examined.to,
            to_override: router.to,
            phase: (router.phase != 0).then_some(router.phase),
            ingress: router.ingress,
            trace: router.trace,
            priority: examined.priority,
            state: arrived.state.take(),
            stamp: arrived.stamp,
            tag: arrived.tag.as_deref(),
            manner: arrived.manner,
        };
        core.deliver(self.now, self, arrived.key, offer)
    }

    /// Has the endpoint name the delivery by the core's key when the sender speaks of it.
    #[inline]
    fn track(&mut self, slot: u32, arrived: &Arrived<'_>, key: InKey) {
        if let Some(conn) = self.conns.get_mut(slot as usize)
            && !arrived.settled
        {
            conn.endpoint.set_incoming_key(arrived.link, arrived.delivery_id, key.0);
        }
    }

    #[inline]
    fn examine<'b>(
        &mut self,
        slot: u32,
        arrived: &Arrived<'_>,
        bytes: &'b [u8],
        complete: bool,
    ) -> Result<Examined<'b>, Refusal> {
        if arrived.tag.is_some() {
            arrived.check_routed(bytes, complete)?;
            return Ok(Examined::unseen(arrived.message_format));
        }
        let Some(conn) = self.conns.get_mut(slot as usize) else { return Err(Refusal::Format) };
        let keep = !conn.settings.strip_annotations.strips_incoming();
        let depth = conn.link_mut(arrived.link).depth;
        let examined = examine(bytes, &Look { message_format: arrived.message_format, complete, depth, keep });
        if complete {
            conn.message_came(arrived.link, bytes);
        }
        match &conn.policed {
            Some(_) => conn.judge(arrived.link, examined?),
            None => examined,
        }
    }

    #[cold]
    fn refuse(&mut self, core: &mut Core<Self>, arrived: &Arrived<'_>, refusal: Refusal) {
        core.reject(self.now, self, arrived.key, arrived.delivery_id, arrived.settled, refusal.condition());
    }
}

/// Where in the buffer a part of it begins; `None` if it is no part of it.
#[inline]
fn offset_in(buffer: &[u8], part: &[u8]) -> Option<usize> {
    let offset = (part.as_ptr() as usize).checked_sub(buffer.as_ptr() as usize)?;
    (offset + part.len() <= buffer.len()).then_some(offset)
}
