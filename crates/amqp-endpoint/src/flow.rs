//! Link credit (part 2, section 2.6.7): how many deliveries the sender may begin.

use amqp::Map;
use amqp::condition::names;
use amqp::performative::Flow;

use crate::connection::Queued;
use crate::fault::{Fault, Handled};
use crate::incoming::unattached;
use crate::link::{End, Link};
use crate::{Connection, Event, LinkId, SessionId};

impl Connection {
    /// Lets the peer begin `credit` more deliveries. Coalesced until flush: one flow per link and turn, usually in the
    /// same write as the dispositions that set the credit free. A peer that pauses so sees all of its credit return.
    #[inline]
    pub fn add_credit(&mut self, link: LinkId, credit: u32) {
        let Some(there) = self.links.get_mut(link.0 as usize).filter(|link| !link.sender && link.is_owned()) else {
            return;
        };
        there.unannounced = there.unannounced.saturating_add(credit);
        self.flow_due(link.0);
    }

    /// Asks the sending peer to use its credit or give it back (until [`Event::Drained`]), or stops asking.
    pub fn drain(&mut self, link: LinkId, drain: bool) {
        let Some(there) = self.links.get_mut(link.0 as usize).filter(|link| !link.sender && link.is_owned()) else {
            return;
        };
        if there.drain == drain {
            return;
        }
        if drain && there.credit == 0 && there.unannounced == 0 {
            let event = Event::Drained { link, context: there.context, returned: 0 };
            self.queue.push_back(Queued::event(event));
            return;
        }
        there.drain = drain;
        self.flow_due(link.0);
    }

    /// Has the next flow for the link say this, which is sent soon. What was to be said before, and is not yet, is lost.
    pub fn say_with_flow(&mut self, link: LinkId, properties: Box<Map>) {
        if let Some(there) = self.links.get_mut(link.0 as usize).filter(|link| link.is_owned()) {
            there.extra().flow_properties = Some(properties);
            self.flow_due(link.0);
        }
    }

    /// Gives the unused credit back to the peer that drains: there is nothing to send. The peer is told at flush.
    pub fn drained(&mut self, link: LinkId) {
        if let Some(there) = self.links.get_mut(link.0 as usize).filter(|link| link.sender && link.is_up()) {
            there.delivery_count = there.delivery_count.wrapping_add(there.credit);
            there.credit = 0;
            self.flow_due(link.0);
        }
    }

    pub(crate) fn on_flow(&mut self, index: u32, mut flow: Flow) -> Handled<'static> {
        self.update_window(index, &flow)?;
        let Some(handle) = flow.handle else {
            if flow.echo {
                self.session_flow_due(index);
            }
            return Ok(None);
        };
        let id = self.sessions.get(index as usize).and_then(|session| session.remote_handles.get(handle));
        let Some((id, link)) = id.and_then(|id| Some((id, self.links.get_mut(id as usize)?))) else {
            return Err(Fault::session(index, names::UNATTACHED_HANDLE, unattached(handle)));
        };
        if link.local == End::Detached {
            return Ok(None);
        }
        if let Some(properties) = flow.properties.take() {
            let event = Event::FlowProperties { link: LinkId(id), context: link.context, properties };
            self.queue.push_back(Queued::event(event));
        }
        let echo = flow.echo;
        let overdrawn = link.overdrawn;
        let event = if link.sender { link.take_credit(id, &flow) } else { link.take_back(id, &flow) };
        if overdrawn && !link.overdrawn {
            self.queue.push_back(Queued::event(Event::SessionWritable(SessionId(index))));
        }
        if echo {
            self.flow_due(id);
        }
        Ok(event)
    }

    /// Has a flow sent for the link at the next flush.
    #[inline]
    pub(crate) fn flow_due(&mut self, index: u32) {
        if let Some(link) = self.links.get_mut(index as usize).filter(|link| !link.flow_due) {
            link.flow_due = true;
            self.due_links.push(index);
        }
    }

    /// Writes the flow that is due, if it is. One that cannot be written yet is written when both ends are attached.
    pub(crate) fn write_link_flow(&mut self, index: u32) {
        let Some(link) = self.links.get_mut(index as usize).filter(|link| link.flow_due) else { return };
        link.flow_due = false;
        let Some(session) = self.sessions.get_mut(link.session as usize).filter(|_| link.is_up()) else { return };
        let mut flow = session.flow(self.limits.session_window);
        link.announce(&mut flow);
        self.output.flow(link.session as u16, &mut flow);
    }
}

impl Link {
    /// The link's part of a flow.
    fn announce(&mut self, flow: &mut Flow) {
        let added = std::mem::take(&mut self.unannounced);
        if added > 0 {
            self.credit = self.credit.saturating_add(added);
            self.beyond_credit = 0;
        }
        // A delivery that has begun without a frame is not yet counted in the eyes of the peer.
        let unsent = u32::from(self.head.is_some());
        flow.handle = Some(self.handle);
        flow.delivery_count = Some(self.delivery_count.wrapping_sub(unsent));
        flow.link_credit = Some(self.credit.saturating_add(if self.overdrawn { 0 } else { unsent }));
        flow.drain = self.drain;
        if let Some(extra) = &mut self.extra {
            flow.properties = extra.flow_properties.take();
        }
    }

    /// The receiving peer's flow.
    fn take_credit(&mut self, index: u32, flow: &Flow) -> Option<Event<'static>> {
        let link_credit = flow.link_credit?;
        // A receiver that has not seen our attach does not know our delivery-count, which began with 0.
        let seen = flow.delivery_count.unwrap_or(0);
        let in_flight = self.delivery_count.wrapping_sub(seen);
        // A count that is ahead of ours is nonsense; nothing can be on its way then.
        let in_flight = if in_flight > i32::MAX as u32 { 0 } else { in_flight };
        self.credit = link_credit.saturating_sub(in_flight);
        self.overdrawn = self.head.is_some() && link_credit < in_flight;
        self.drain = flow.drain;
        Some(Event::Credit { link: LinkId(index), context: self.context, credit: self.credit, drain: self.drain })
    }

    /// The sending peer's flow: a delivery-count beyond the deliveries that came means that it gave credit back.
    fn take_back(&mut self, index: u32, flow: &Flow) -> Option<Event<'static>> {
        let count = flow.delivery_count?;
        let advanced = count.wrapping_sub(self.delivery_count);
        if advanced > i32::MAX as u32 {
            // The peer counts behind us, which cannot be; what we saw is what counts.
            return None;
        }
        let returned = advanced.min(self.credit);
        self.delivery_count = count;
        self.credit -= returned;
        let drained = self.drain && self.credit == 0;
        self.drain &= !drained;
        (drained || returned > 0).then_some(Event::Drained { link: LinkId(index), context: self.context, returned })
    }
}
