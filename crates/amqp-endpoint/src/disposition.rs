//! The peer's dispositions (part 2, section 2.7.6): one frame for a range of deliveries, one event for each.

use amqp::DeliveryState;
use amqp::condition::names;
use amqp::performative::{Disposition, Role};

use crate::fault::Fault;
use crate::{Connection, Event};

/// What is left of a disposition frame.
#[derive(Debug)]
pub(crate) struct Range {
    session: u32,
    /// It speaks of deliveries that we sent.
    ours: bool,
    at: u32,
    last: u32,
    state: Option<DeliveryState>,
    settled: bool,
}

impl Connection {
    #[inline]
    pub(crate) fn on_disposition(&mut self, session: u32, disposition: Disposition) -> Result<(), Fault> {
        let Disposition { role, first, last, settled, state, batchable: _ } = disposition;
        let last = last.unwrap_or(first);
        if last.wrapping_sub(first) > i32::MAX as u32 {
            let text = format!("the last delivery-id of a disposition, {last}, is before its first, {first}");
            return Err(Fault::session(session, names::INVALID_FIELD, text));
        }
        self.range = Some(Range { session, ours: role == Role::Receiver, at: first, last, state, settled });
        Ok(())
    }

    /// The event for the next unsettled delivery in the range at hand. However long the range, it costs no more than
    /// there are deliveries outstanding.
    #[inline]
    pub(crate) fn next_outcome(&mut self) -> Option<Event<'static>> {
        loop {
            let range = self.range.as_mut()?;
            let session = self.sessions.get_mut(range.session as usize)?;
            let unsettled = if range.ours { &mut session.outgoing } else { &mut session.incoming };
            let Some((id, slot)) = unsettled.next_between(range.at, range.last) else {
                self.range = None;
                return None;
            };
            let (ours, settled) = (range.ours, range.settled);
            range.at = id.wrapping_add(1);
            let state =
                if id == range.last { self.range.take().and_then(|range| range.state) } else { range.state.clone() };
            if !slot.keyed {
                // The owner has given it no key yet, and is told when it does.
                if let Some(slot) = unsettled.get_mut(id) {
                    slot.settled |= settled;
                }
                continue;
            }
            if settled {
                unsettled.remove(id);
                if let Some(link) = self.links.get_mut(slot.link as usize) {
                    link.unsettled = link.unsettled.saturating_sub(1);
                }
            }
            let key = slot.key;
            return Some(match ours {
                true => Event::Outcome { key, state, settled },
                false => Event::SenderOutcome { key, state, settled },
            });
        }
    }
}
