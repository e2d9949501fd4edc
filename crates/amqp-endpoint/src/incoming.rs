//! Receiving deliveries (part 2, sections 2.6.12 and 2.7.5), and what we say of them.

use amqp::DeliveryState;
use amqp::condition::names;
use amqp::performative::{ReceiverSettleMode, Role, Transfer};

use crate::coalesce::Wire;
use crate::connection::Queued;
use crate::event::IncomingTransfer;
use crate::fault::{Fault, Handled};
use crate::link::{End, Link};
use crate::session::Session;
use crate::unsettled::Slot;
use crate::{Connection, Event, LinkId};

impl Connection {
    /// A value of the owner's that comes back in [`Event::SenderOutcome`]. Nothing happens if the delivery is settled.
    #[inline]
    pub fn set_incoming_key(&mut self, link: LinkId, delivery_id: u32, key: u64) {
        let Some(there) = self.links.get_mut(link.0 as usize) else { return };
        let Some(session) = self.sessions.get_mut(there.session as usize) else { return };
        let Some(slot) = session.incoming.get_mut(delivery_id).filter(|slot| slot.link == link.0) else { return };
        slot.key = key;
        slot.keyed = true;
        if slot.settled {
            session.incoming.remove(delivery_id);
            there.unsettled = there.unsettled.saturating_sub(1);
            self.queue.push_back(Queued::event(Event::SenderOutcome { key, state: None, settled: true }));
        }
    }

    /// Tells the sending peer a state and/or settlement. Coalesced until flush. Nothing happens if the delivery is
    /// settled already.
    #[inline]
    pub fn update_incoming(&mut self, link: LinkId, delivery_id: u32, state: Option<DeliveryState>, settled: bool) {
        let Some(there) = self.links.get_mut(link.0 as usize) else { return };
        let index = there.session;
        let Some(session) = self.sessions.get_mut(index as usize) else { return };
        let Some(slot) = session.incoming.get_mut(delivery_id).filter(|slot| slot.link == link.0) else { return };
        let settled_by_peer = slot.settled;
        if settled {
            session.incoming.remove(delivery_id);
            there.unsettled = there.unsettled.saturating_sub(1);
        }
        if !settled_by_peer {
            let mut wire = Wire { output: &mut self.output, channel: index as u16, role: Role::Receiver };
            self.ordered |= matches!(state, Some(DeliveryState::Other(_)));
            session.as_receiver.add(delivery_id, state, settled, &mut wire);
            self.session_due(index);
        }
    }

    #[inline]
    pub(crate) fn on_transfer<'a>(&mut self, index: u32, transfer: Transfer<'a>, payload: &'a [u8]) -> Handled<'a> {
        let Some(session) = self.sessions.get_mut(index as usize) else { return Ok(None) };
        if !session.take_frame() {
            let text = "more transfer frames came than the session's incoming window allows";
            return Err(Fault::session(index, names::WINDOW_VIOLATION, text));
        }
        let low = session.wants_replenishing(self.limits.session_window);
        let id = session.remote_handles.get(transfer.handle);
        let Some((id, link)) = id.and_then(|id| Some((id, self.links.get_mut(id as usize)?))) else {
            return Err(Fault::session(index, names::UNATTACHED_HANDLE, unattached(transfer.handle)));
        };
        let first =
            link.follow(session, &transfer).map_err(|text| Fault::session(index, names::INVALID_FIELD, text))?;
        if link.local == End::Detached {
            // In flight when we detached; nobody waits for it.
            if low {
                self.session_flow_due(index);
            }
            return Ok(None);
        }
        let tolerance = self.limits.credit_tolerance;
        link.permits(&transfer, first, tolerance).map_err(|(condition, text)| Fault::link(id, condition, text))?;
        link.track(id, session, &transfer, first);
        if first {
            self.use_credit(id);
        }
        if low {
            self.session_flow_due(index);
        }
        let Some(link) = self.links.get(id as usize) else { return Ok(None) };
        Ok(Some(Event::Transfer(IncomingTransfer {
            link: LinkId(id),
            context: link.context,
            delivery_id: link.delivery_id,
            first,
            tag: transfer.delivery_tag.unwrap_or_default(),
            message_format: transfer.message_format.unwrap_or(0),
            settled: link.delivery_settled,
            more: link.in_progress,
            aborted: transfer.aborted,
            manner: transfer.manner(),
            state: transfer.state,
            payload,
        })))
    }

    /// A delivery has begun that used one credit, if there was one.
    #[inline]
    fn use_credit(&mut self, index: u32) {
        let Some(link) = self.links.get_mut(index as usize) else { return };
        link.delivery_count = link.delivery_count.wrapping_add(1);
        if link.credit == 0 {
            // Tolerated; whoever gives credit counts what is held, and gives less.
            link.beyond_credit += 1;
            return;
        }
        link.credit -= 1;
        if link.drain && link.credit == 0 && link.unannounced == 0 {
            link.drain = false;
            let event = Event::Drained { link: LinkId(index), context: link.context, returned: 0 };
            self.queue.push_back(Queued::event(event));
        }
    }
}

#[cold]
pub(crate) fn unattached(handle: u32) -> String {
    format!("no link is attached on handle {handle}")
}

impl Link {
    /// Follows the sequence of deliveries, on a detached link too; whether this is the first frame of its delivery.
    #[inline]
    fn follow(&mut self, session: &mut Session, transfer: &Transfer<'_>) -> Result<bool, String> {
        if self.sender {
            return Err(format!("a transfer came on handle {}, where the peer is the receiver", transfer.handle));
        }
        let first = !self.in_progress;
        if first {
            let id = transfer.delivery_id.ok_or("the first transfer of a delivery has no delivery-id")?;
            if let Some(expected) = session.expected_delivery_id.filter(|&expected| expected != id) {
                return Err(format!("delivery-id {id} is out of sequence: {expected} was expected"));
            }
            session.expected_delivery_id = Some(id.wrapping_add(1));
            self.delivery_id = id;
            self.delivery_settled = false;
        } else if let Some(id) = transfer.delivery_id.filter(|&id| id != self.delivery_id) {
            return Err(format!("delivery {id} began before delivery {} of its link was complete", self.delivery_id));
        }
        self.in_progress = transfer.more && !transfer.aborted;
        Ok(first)
    }

    /// Whether the link's rules allow this transfer.
    #[inline]
    fn permits(
        &self,
        transfer: &Transfer<'_>,
        first: bool,
        tolerance: u32,
    ) -> Result<(), (&'static str, &'static str)> {
        if transfer.resume && !self.resumes {
            let text = "deliveries cannot be resumed here: send them anew, on a link attached without an unsettled map";
            return Err((names::NOT_IMPLEMENTED, text));
        }
        let first_mode = self.rcv_settle_mode == ReceiverSettleMode::First;
        if first_mode && transfer.rcv_settle_mode == Some(ReceiverSettleMode::Second) {
            let text = "a transfer asks for rcv-settle-mode second on a link attached with first";
            return Err((names::INVALID_FIELD, text));
        }
        if first && self.credit == 0 && self.beyond_credit >= tolerance {
            return Err((names::TRANSFER_LIMIT_EXCEEDED, "more deliveries came than the link's credit allows"));
        }
        Ok(())
    }

    /// Keeps account of whether the delivery is settled.
    #[inline]
    fn track(&mut self, index: u32, session: &mut Session, transfer: &Transfer<'_>, first: bool) {
        let was_settled = self.delivery_settled;
        // An aborted delivery is settled (section 2.7.5).
        self.delivery_settled |= transfer.settled.unwrap_or(false) || transfer.aborted;
        if first && !self.delivery_settled {
            session.incoming.push(self.delivery_id, Slot { key: 0, link: index, keyed: false, settled: false });
            self.unsettled += 1;
        } else if !first && self.delivery_settled && !was_settled && session.incoming.remove(self.delivery_id).is_some()
        {
            self.unsettled = self.unsettled.saturating_sub(1);
        }
    }
}
