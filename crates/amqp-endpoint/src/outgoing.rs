//! Sending deliveries (part 2, sections 2.6.12 and 2.7.5), and what we say of them.

use amqp::DeliveryState;
use amqp::performative::{Manner, Role, Transfer};

use crate::coalesce::Wire;
use crate::link::Link;
use crate::output::Payload;
use crate::session::Session;
use crate::unsettled::Slot;
use crate::{Connection, LinkId};

/// Bytes; the longest delivery tag the specification allows (section 2.8.7).
const LONGEST_TAG: usize = 32;

/// A delivery to send.
#[derive(Clone, Copy, Debug)]
pub struct NewDelivery<'d> {
    /// Comes back in [`crate::Event::Outcome`]; unique among the unsettled deliveries of the session. Unused if `settled`.
    pub key: u64,
    /// Delivery tag, at most 32 bytes; a delivery with a longer one is not sent.
    pub tag: &'d [u8],
    /// Message format; 0 is AMQP's own.
    pub message_format: u32,
    /// Sent settled: no state is kept.
    pub settled: bool,
    /// The delivery's state at the sender.
    pub state: Option<&'d DeliveryState>,
    /// How it is to be dealt with.
    pub manner: Manner,
}

/// What the first frame of a delivery says, until it is sent.
#[derive(Debug)]
pub(crate) struct Head {
    key: u64,
    tag: [u8; LONGEST_TAG],
    tag_len: u8,
    message_format: u32,
    settled: bool,
    state: Option<DeliveryState>,
    manner: Manner,
}

impl Connection {
    /// Sends a whole delivery in one frame, payload given in parts; false (and nothing done) if the session window is
    /// closed, there is no credit, a delivery is in progress on the link, or it does not fit the peer's frame size.
    #[inline]
    pub fn try_send(&mut self, link: LinkId, delivery: &NewDelivery<'_>, parts: &[&[u8]]) -> bool {
        if self.ordered {
            self.write_all_dispositions();
        }
        let Some(there) = self.links.get_mut(link.0 as usize).filter(|there| there.may_begin(delivery)) else {
            return false;
        };
        let Some(session) = self.sessions.get_mut(there.session as usize) else { return false };
        if session.remote_incoming_window == 0 {
            session.blocked = true;
            return false;
        }
        let transfer = Transfer {
            handle: there.handle,
            delivery_id: Some(session.next_delivery_id),
            delivery_tag: Some(delivery.tag),
            message_format: Some(delivery.message_format),
            settled: Some(delivery.settled),
            state: delivery.state.cloned(),
            rcv_settle_mode: delivery.manner.rcv_settle_mode,
            batchable: delivery.manner.batchable,
            resume: delivery.manner.resume,
            ..Transfer::default()
        };
        let max = self.limits.remote_max_frame_size as usize;
        // What surely does not fit is not copied in vain.
        let fits = parts.iter().map(|part| part.len()).sum::<usize>() < max;
        if !fits || !self.output.transfer(there.session as u16, &transfer, parts, max) {
            return false;
        }
        there.credit -= 1;
        there.delivery_count = there.delivery_count.wrapping_add(1);
        there.sent_head(link.0, session, delivery.key, delivery.settled);
        session.sent_frame();
        true
    }

    /// Begins a delivery of any number of frames; uses one credit. False (and nothing done) if there is no credit or a
    /// delivery is in progress on the link. No frame is sent yet.
    pub fn begin_delivery(&mut self, link: LinkId, delivery: &NewDelivery<'_>) -> bool {
        let Some(there) = self.links.get_mut(link.0 as usize).filter(|there| there.may_begin(delivery)) else {
            return false;
        };
        let mut tag = [0; LONGEST_TAG];
        tag[..delivery.tag.len()].copy_from_slice(delivery.tag);
        there.head = Some(Box::new(Head {
            key: delivery.key,
            tag,
            tag_len: delivery.tag.len() as u8,
            message_format: delivery.message_format,
            settled: delivery.settled,
            state: delivery.state.cloned(),
            manner: delivery.manner,
        }));
        there.credit -= 1;
        there.delivery_count = there.delivery_count.wrapping_add(1);
        there.in_progress = true;
        true
    }

    /// Sends bytes of the delivery begun, and says how many were taken: fewer than given when the session window
    /// closes, or when the peer takes its credit back before the first frame is sent (in both cases
    /// [`crate::Event::SessionWritable`] says when to go on). The delivery is complete, and
    /// [`Connection::is_sending`] false, once all are taken and `more` is false.
    ///
    /// Whatever the window allows is copied to the output at once; the owner bounds it by what it gives.
    pub fn send_payload(&mut self, link: LinkId, payload: &[u8], more: bool) -> usize {
        self.send_payload_parts(link, &[payload], more)
    }

    /// As [`Connection::send_payload`], with the bytes given in parts.
    pub fn send_payload_parts(&mut self, link: LinkId, parts: &[&[u8]], more: bool) -> usize {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let mut taken = 0;
        while self.is_sending(link) && !(more && taken == total) {
            let Some(sent) = self.send_frame(link.0, parts, taken, more) else { break };
            taken += sent;
        }
        taken
    }

    /// Sends one frame with as many bytes after the first `skip` as fit. `None` if the window is closed, or the peer has
    /// taken the credit back before the first frame.
    fn send_frame(&mut self, index: u32, parts: &[&[u8]], skip: usize, more: bool) -> Option<usize> {
        if self.ordered {
            self.write_all_dispositions();
        }
        let link = self.links.get_mut(index as usize).filter(|link| link.is_up() && !link.abort_due)?;
        let session = self.sessions.get_mut(link.session as usize)?;
        if session.remote_incoming_window == 0 {
            session.blocked = true;
            return None;
        }
        if link.overdrawn {
            return None;
        }
        let head = link.head.take();
        let mut transfer = Transfer { handle: link.handle, ..Transfer::default() };
        if let Some(head) = head.as_deref() {
            transfer.delivery_id = Some(session.next_delivery_id);
            transfer.delivery_tag = head.tag.get(..usize::from(head.tag_len));
            transfer.message_format = Some(head.message_format);
            transfer.settled = Some(head.settled);
            transfer.state.clone_from(&head.state);
            transfer.rcv_settle_mode = head.manner.rcv_settle_mode;
            transfer.batchable = head.manner.batchable;
            transfer.resume = head.manner.resume;
        } else if let Some(extra) = &mut link.extra {
            transfer.state = extra.state.take();
        }
        let max = self.limits.remote_max_frame_size as usize;
        let payload = Payload { parts, skip };
        let sent = self.output.partial_transfer(link.session as u16, transfer, payload, more, max);
        if let Some(head) = head {
            link.sent_head(index, session, head.key, head.settled);
        }
        session.sent_frame();
        link.in_progress = sent.more;
        Some(sent.taken)
    }

    /// Has the next frame of the delivery in progress say this state; nothing happens if there is none. What was to be said
    /// before, and is not yet, is lost.
    pub fn set_delivery_state(&mut self, link: LinkId, state: DeliveryState) {
        if !self.is_sending(link) {
            return;
        }
        let Some(there) = self.links.get_mut(link.0 as usize) else { return };
        match &mut there.head {
            Some(head) => head.state = Some(state),
            None => there.extra().state = Some(state),
        }
    }

    /// A delivery is in progress on the link: begun, and neither complete nor aborted.
    pub fn is_sending(&self, link: LinkId) -> bool {
        self.links.get(link.0 as usize).is_some_and(|link| link.sender && link.in_progress && link.is_up())
    }

    /// Gives up the delivery in progress, whose outcome is not told any more. If no frame of it was sent, it never was,
    /// and its credit is there again (unless the peer drains: then that is given back, too).
    pub fn abort_delivery(&mut self, link: LinkId) {
        if !self.is_sending(link) {
            return;
        }
        let Some(there) = self.links.get_mut(link.0 as usize) else { return };
        if let Some(extra) = &mut there.extra {
            extra.state = None;
        }
        if there.head.take().is_none() {
            return self.abort_or_wait(link.0);
        }
        there.in_progress = false;
        let overdrawn = std::mem::take(&mut there.overdrawn);
        if overdrawn {
            // The credit was the peer's again already.
            there.delivery_count = there.delivery_count.wrapping_sub(1);
        } else if there.drain && there.credit == 0 {
            self.flow_due(link.0);
        } else {
            there.credit = there.credit.saturating_add(1);
            there.delivery_count = there.delivery_count.wrapping_sub(1);
        }
    }

    /// Sends the transfer that aborts the delivery in progress, as soon as the session's window allows it.
    pub(crate) fn abort_or_wait(&mut self, index: u32) {
        let Some(link) = self.links.get_mut(index as usize).filter(|link| link.is_up()) else { return };
        let Some(session) = self.sessions.get_mut(link.session as usize) else { return };
        link.abort_due = session.remote_incoming_window == 0;
        if link.abort_due {
            session.blocked = true;
            session.aborts_due = true;
            return;
        }
        let delivery_id = Some(link.delivery_id);
        let transfer = Transfer { handle: link.handle, delivery_id, aborted: true, ..Transfer::default() };
        let max = self.limits.remote_max_frame_size as usize;
        self.output.transfer(link.session as u16, &transfer, &[], max);
        session.sent_frame();
        link.in_progress = false;
        if session.outgoing.remove(link.delivery_id).is_some() {
            link.unsettled = link.unsettled.saturating_sub(1);
        }
    }

    /// Tells the receiving peer a state and/or settlement of a delivery that we sent. Coalesced until flush. Nothing
    /// happens if the delivery is settled already.
    pub fn update_outgoing(&mut self, link: LinkId, key: u64, state: Option<DeliveryState>, settled: bool) {
        let Some(there) = self.links.get_mut(link.0 as usize) else { return };
        let index = there.session;
        let Some(session) = self.sessions.get_mut(index as usize) else { return };
        let Some(id) = session.outgoing.find_key(link.0, key) else { return };
        if settled {
            session.outgoing.remove(id);
            there.unsettled = there.unsettled.saturating_sub(1);
        }
        let mut wire = Wire { output: &mut self.output, channel: index as u16, role: Role::Sender };
        self.ordered |= matches!(state, Some(DeliveryState::Other(_)));
        session.as_sender.add(id, state, settled, &mut wire);
        self.session_due(index);
    }
}

impl Link {
    #[inline]
    fn may_begin(&self, delivery: &NewDelivery<'_>) -> bool {
        let ready = self.sender && self.is_up() && !self.in_progress && self.credit > 0;
        ready && delivery.tag.len() <= LONGEST_TAG
    }

    /// The first frame of a delivery was sent, with the session's next delivery id.
    #[inline]
    fn sent_head(&mut self, index: u32, session: &mut Session, key: u64, settled: bool) {
        let id = session.next_delivery_id;
        session.next_delivery_id = id.wrapping_add(1);
        self.delivery_id = id;
        if !settled {
            session.outgoing.push(id, Slot { key, link: index, keyed: true, settled: false });
            self.unsettled += 1;
        }
    }
}
