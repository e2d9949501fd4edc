//! Detaching links, and losing them (part 2, sections 2.6.4 to 2.6.6).

use amqp::ErrorCondition;
use amqp::condition::names;
use amqp::performative::{Detach, Performative};

use crate::connection::Queued;
use crate::fault::{Fault, Handled};
use crate::incoming::unattached;
use crate::link::End;
use crate::{Connection, Event, LinkId};

impl Connection {
    /// Detaches a link, or answers the peer's detach (after which the link is gone). A peer's attach that was not
    /// answered is refused by it. What the link has unsettled is forgotten, both ways.
    pub fn detach(&mut self, link: LinkId, closed: bool, error: Option<ErrorCondition>) {
        if self.links.get(link.0 as usize).is_some_and(|there| there.is_owned() && there.local != End::Detached) {
            self.write_detach(link, closed, error);
            self.forget_if_detached(link.0);
        }
    }

    /// The peer's detach, or its answer to ours.
    pub(crate) fn on_detach(&mut self, session: u32, detach: Detach) -> Handled<'static> {
        let there = self.sessions.get(session as usize);
        let index = there.and_then(|session| session.remote_handles.get(detach.handle));
        let Some((index, link)) = index.and_then(|index| Some((index, self.links.get_mut(index as usize)?))) else {
            return Err(Fault::session(session, names::UNATTACHED_HANDLE, unattached(detach.handle)));
        };
        link.remote = End::Detached;
        let event = Event::Detached {
            link: LinkId(index),
            context: link.context,
            closed: detach.closed,
            error: detach.error,
            answer: link.local == End::Detached,
        };
        let owned = link.is_owned();
        if let Some(session) = self.sessions.get_mut(link.session as usize) {
            session.remote_handles.remove(link.remote_handle);
        }
        self.forget_deliveries(index);
        self.forget_if_detached(index);
        Ok(owned.then_some(event))
    }

    /// Detaches a link whose rules the peer broke. `None` if the owner does not know of the link any longer.
    pub(crate) fn fail_link(&mut self, index: u32, error: ErrorCondition) -> Option<Event<'static>> {
        let link = self.links.get(index as usize).filter(|link| link.is_owned())?;
        let context = link.context;
        self.disown_link(index, &error);
        Some(Event::LinkFailed { link: LinkId(index), context, error })
    }

    /// Detaches a link, of which the owner hears nothing more.
    pub(crate) fn disown_link(&mut self, index: u32, error: &ErrorCondition) {
        let Some(link) = self.links.get_mut(index as usize) else { return };
        let detached = link.local == End::Detached;
        if !detached {
            self.write_detach(LinkId(index), true, Some(error.clone()));
        }
        if let Some(link) = self.links.get_mut(index as usize) {
            link.disowned = true;
        }
        self.forget_if_detached(index);
    }

    /// Takes a link away whose session is gone, with all names in it; the owner is told by and by.
    pub(crate) fn lose_link(&mut self, index: u32) {
        let Some(link) = self.links.get_mut(index as usize) else { return };
        if link.disowned {
            self.links.remove(index as usize);
            return;
        }
        link.lost = true;
        link.local = End::Detached;
        link.remote = End::Detached;
        self.queue.push_back(Queued::LinkLost(index));
    }

    fn write_detach(&mut self, id: LinkId, closed: bool, error: Option<ErrorCondition>) {
        self.attach_if_absent(id);
        let Some(link) = self.links.get_mut(id.0 as usize) else { return };
        link.local = End::Detached;
        let (session, handle) = (link.session, link.handle);
        // What was said of the link's deliveries must not come after its detach.
        self.write_dispositions(session);
        self.output.performative(session as u16, Performative::Detach(Detach { handle, closed, error }));
        self.forget_deliveries(id.0);
    }

    /// Forgets what the link has unsettled: its state cannot be spoken of once the link is detached.
    fn forget_deliveries(&mut self, index: u32) {
        let Some(link) = self.links.get_mut(index as usize) else { return };
        link.head = None;
        if std::mem::take(&mut link.unsettled) == 0 {
            return;
        }
        let sender = link.sender;
        if let Some(session) = self.sessions.get_mut(link.session as usize) {
            let unsettled = if sender { &mut session.outgoing } else { &mut session.incoming };
            unsettled.remove_link(index);
        }
    }

    /// Frees the link and its handle once both ends are detached.
    fn forget_if_detached(&mut self, index: u32) {
        let gone = |link: &crate::link::Link| link.local == End::Detached && link.remote == End::Detached;
        if !self.links.get(index as usize).is_some_and(gone) {
            return;
        }
        self.names.remove(&self.links, index);
        let link = self.links.remove(index as usize);
        if let Some(session) = self.sessions.get_mut(link.session as usize) {
            session.handles.try_remove(link.handle as usize);
        }
    }
}
