//! The queue of an outgoing link: deliveries that wait for credit, for the one before, or for room on the connection.

use crate::arena::NONE;
use crate::core::Core;
use crate::delivery::{Listed, Override, Waiting, Wrapping};
use crate::forward::Passage;
use crate::link::Link;
use crate::{Host, LinkType, OutKey};

/// For how many times the capacity of a link deliveries of another router are held up.
const OWED_CAPACITIES: u32 = 4;
/// A connection on which nothing happened for longer than this does not move, in seconds.
const MOVING_SECONDS: u32 = 2;

impl<H: Host> Core<H> {
    /// Queues a copy whose link cannot take it now.
    pub(crate) fn enqueue(
        &mut self,
        host: &mut H,
        copy: u32,
        passage: &mut Passage<'_, H::Content>,
        wrapping: Wrapping<Override<'_>>,
    ) {
        let content = match passage.content {
            Some(content) => content.clone(),
            None => host.retain(),
        };
        let index = self.deliveries[copy].link;
        let mut waiting = Box::new(Waiting {
            content,
            wrapping: wrapping.owned(),
            said: passage.said().kept(),
            owes_credit: 0,
            holds_up: 0,
        });
        let mut sender_waits = true;
        if passage.settled {
            sender_waits = self.is_held_up(index, passage);
            // Nothing is dropped on its way to another router, unless that does not take anything any more.
            if !(sender_waits && self.links[index].is_between_routers()) {
                let from_router = self.links.get(passage.link).is_some_and(Link::is_between_routers);
                self.make_room(host, index, from_router);
            }
            if sender_waits && passage.complete && !passage.owed && passage.link != 0 {
                waiting.owes_credit = passage.link;
                passage.owed = true;
            }
        }
        // Nobody waits for settled deliveries that their receiver has given no credit for: they are dropped.
        if self.memory_short && sender_waits {
            waiting.holds_up = self.hold_up(host, passage.link);
        }
        let link = &mut self.links[index];
        let delivery = &mut self.deliveries[copy];
        delivery.waiting = Some(waiting);
        let last = std::mem::replace(&mut link.queue_tail, copy);
        link.undelivered += 1;
        link.queued_presettled += u32::from(passage.settled);
        delivery.prev = last;
        match last {
            NONE => link.queue_head = copy,
            last => self.deliveries[last].next = copy,
        }
        self.load_changed(index);
        self.wait_for_room(index);
    }

    /// Whether a settled delivery that has to wait is held up by this router's side: it is not dropped then, and its sender
    /// must wait for it. That is so if the receiver's credit covers it, and on the way to another router, whose credit says
    /// nothing of receivers.
    ///
    /// Where the sender is another router, everything that it has for this one waits with it. So it waits only for what
    /// moves, and not for much.
    fn is_held_up(&self, index: u32, passage: &Passage<'_, H::Content>) -> bool {
        let link = &self.links[index];
        // Nor does anything wait for a control message: what it says is soon said again.
        if passage.link == 0 || link.link_type == LinkType::RouterControl {
            return false;
        }
        let held_up = link.is_between_routers() || link.undelivered < link.credit;
        let from_router = self.links.get(passage.link).is_some_and(Link::is_between_routers);
        if !held_up || !from_router {
            return held_up;
        }
        let last = self.connections[link.conn].last_delivery.unwrap_or_default();
        let moves = self.clock.second.wrapping_sub(last) <= MOVING_SECONDS;
        moves && link.undelivered < link.capacity.saturating_mul(OWED_CAPACITIES)
    }

    /// Notes that a link has deliveries for a connection that cannot take them now.
    pub(crate) fn wait_for_room(&mut self, index: u32) {
        let key = self.links.key_at(index);
        let link = &mut self.links[index];
        let connection = &mut self.connections[link.conn];
        if connection.writable || std::mem::replace(&mut link.waiting, true) {
            return;
        }
        let waiting = &mut connection.waiting;
        if waiting.len() == waiting.capacity() {
            // Before the list grows, those gone since are cleared out of it.
            waiting.retain(|key| self.links.get(*key).is_some());
            waiting.reserve(waiting.len().max(4));
        }
        waiting.push(key);
    }

    /// Before a presettled delivery is queued: if the queue is at the link's capacity, or memory is short, the presettled deliveries in it
    /// are dropped, except the first, and except those that the receiver has given credit for. `from_router`: it can give so
    /// much credit that it takes no end, and nobody waits for it.
    fn make_room(&mut self, host: &mut H, index: u32, from_router: bool) {
        let link = &self.links[index];
        let most = if from_router { link.capacity.saturating_mul(OWED_CAPACITIES) } else { u32::MAX };
        let covered = link.credit.min(most);
        let capacity = if self.memory_short { 1 } else { link.capacity };
        if link.undelivered < capacity.max(covered) {
            return;
        }
        let (mut copy, mut position) = (link.queue_tail, link.undelivered);
        let (keep, mut droppable) = (covered.max(1), link.queued_presettled);
        while droppable > 0 && position > keep {
            position -= 1;
            let Listed { prev, presettled, .. } = self.deliveries[copy].listed();
            if presettled {
                droppable -= 1;
                self.drop_queued(host, copy);
            }
            copy = prev;
        }
    }

    /// Drops a presettled copy that is queued.
    pub(crate) fn drop_queued(&mut self, host: &mut H, copy: u32) {
        let listed = self.deliveries[copy].listed();
        self.unlist_queued(listed);
        self.links[listed.link].count_presettled_dropped(&mut self.statistics);
        self.forget_copy(host, self.deliveries.key_at(copy));
    }

    /// A copy is in no queue any more: who had to wait for that goes on.
    #[inline]
    pub(crate) fn left_queue(&mut self, host: &mut H, waiting: &Waiting<H::Content>) {
        if let Some(sender) = self.links.get_mut(waiting.owes_credit) {
            sender.give_back_owed(host, &mut self.statistics);
        }
        if waiting.holds_up != 0 {
            self.holds_up_no_more(host, waiting.holds_up);
        }
    }

    /// Takes a copy out of its link's queue.
    pub(crate) fn unlist_queued(&mut self, copy: Listed) {
        let link = &mut self.links[copy.link];
        link.undelivered -= 1;
        link.queued_presettled -= u32::from(copy.presettled);
        match copy.prev {
            NONE => link.queue_head = copy.next,
            prev => self.deliveries[prev].next = copy.next,
        }
        match copy.next {
            NONE => link.queue_tail = copy.prev,
            next => self.deliveries[next].prev = copy.prev,
        }
        self.load_changed(copy.link);
    }

    /// Transmits what is queued, as far as credit and connection allow, and gives back credit that a draining receiver
    /// does not need.
    pub(crate) fn push_queue(&mut self, host: &mut H, index: u32) {
        loop {
            let link = &self.links[index];
            let copy = link.queue_head;
            if copy == NONE || link.credit == 0 || link.busy != NONE {
                break;
            }
            if !self.connections[link.conn].writable {
                return self.wait_for_room(index);
            }
            let key = OutKey(self.deliveries.key_at(copy));
            let delivery = &mut self.deliveries[copy];
            let (listed, waiting) = (delivery.listed(), delivery.waiting.take());
            self.unlist_queued(listed);
            let Some(waiting) = waiting else { break };
            let Wrapping { tag, stamp, phase, anew, to_override } = &waiting.wrapping;
            let wrapping =
                Wrapping { tag: *tag, stamp: *stamp, phase: *phase, anew: *anew, to_override: to_override.as_deref() };
            let said = waiting.said.as_ref().map(|said| said.said()).unwrap_or_default();
            self.transmit(host, key, Some(&waiting.content), &wrapping, said);
            self.left_queue(host, &waiting);
        }
        let second = self.clock.second;
        let link = &mut self.links[index];
        if link.is_stream() {
            self.return_stream(index);
        }
        let link = &mut self.links[index];
        if link.routed.is_some() {
            return self.routed_queue_pushed(host, index);
        }
        if link.draining && link.queue_head == NONE {
            link.draining = false;
            if std::mem::take(&mut link.credit) > 0 {
                link.no_credit_since = second;
                host.drained(link.host);
            }
        }
    }
}
