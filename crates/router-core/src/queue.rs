//! The queue of an outgoing link: deliveries that wait for credit, for the one before, or for room on the connection.

use crate::arena::NONE;
use crate::core::Core;
use crate::delivery::{Out, Place};
use crate::forward::Passage;
use crate::{Host, OutKey};

/// Where a copy is in the lists of its link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) link: u32,
    pub(crate) prev: u32,
    pub(crate) next: u32,
    pub(crate) place: Place,
    pub(crate) presettled: bool,
}

impl Queued {
    /// Where this one is.
    pub(crate) fn of<C>(out: &Out<C>) -> Self {
        Self { link: out.link, prev: out.prev, next: out.next, place: out.place, presettled: out.presettled }
    }
}

impl<H: Host> Core<H> {
    /// Queues a copy whose link cannot take it now.
    pub(crate) fn enqueue(&mut self, host: &mut H, copy: u32, passage: &mut Passage<'_, H::Content>) {
        let content = match passage.content {
            Some(content) => content.clone(),
            None => host.retain(),
        };
        let index = self.outgoing[copy].link;
        if passage.settled {
            self.make_room(host, index);
        }
        let link = &mut self.links[index];
        let out = &mut self.outgoing[copy];
        out.content = Some(content);
        // A settled delivery that the receiver's credit covers is held up by this router's side: it is not dropped, so
        // its sender must wait for it.
        let covered = link.undelivered < link.credit;
        if covered && passage.settled && passage.complete && !passage.owed && passage.link != 0 {
            out.owes_credit = passage.link;
            passage.owed = true;
        }
        let last = std::mem::replace(&mut link.queue_tail, copy);
        link.undelivered += 1;
        link.queued_presettled += u32::from(passage.settled);
        out.prev = last;
        match last {
            NONE => link.queue_head = copy,
            last => self.outgoing[last].next = copy,
        }
        self.load_changed(index);
        self.wait_for_room(index);
    }

    /// Notes that a link has deliveries for a connection that cannot take them now.
    fn wait_for_room(&mut self, index: u32) {
        let key = self.links.key_at(index);
        let link = &mut self.links[index];
        let connection = &mut self.connections[link.conn];
        if !connection.writable && !std::mem::replace(&mut link.waiting, true) {
            connection.waiting.push(key);
        }
    }

    /// Before a presettled delivery is queued: if the queue is at the link's capacity, the presettled deliveries in it
    /// are dropped, except the first, and except those that the receiver has given credit for.
    fn make_room(&mut self, host: &mut H, index: u32) {
        let link = &self.links[index];
        if link.undelivered < link.capacity.max(link.credit) {
            return;
        }
        let (mut copy, mut position) = (link.queue_tail, link.undelivered);
        let (keep, mut droppable) = (link.credit.max(1), link.queued_presettled);
        while droppable > 0 && position > keep {
            position -= 1;
            let (previous, presettled) = (self.outgoing[copy].prev, self.outgoing[copy].presettled);
            if presettled {
                droppable -= 1;
                self.drop_queued(host, copy);
            }
            copy = previous;
        }
    }

    /// Drops a presettled copy that is queued.
    pub(crate) fn drop_queued(&mut self, host: &mut H, copy: u32) {
        let place = Queued::of(&self.outgoing[copy]);
        self.unlist_queued(&place);
        self.links[place.link].count_dropped(&mut self.statistics);
        self.forget_copy(host, self.outgoing.key_at(copy));
    }

    /// Takes a copy out of its link's queue.
    pub(crate) fn unlist_queued(&mut self, out: &Queued) {
        let link = &mut self.links[out.link];
        link.undelivered -= 1;
        link.queued_presettled -= u32::from(out.presettled);
        match out.prev {
            NONE => link.queue_head = out.next,
            prev => self.outgoing[prev].next = out.next,
        }
        match out.next {
            NONE => link.queue_tail = out.prev,
            next => self.outgoing[next].prev = out.prev,
        }
        self.load_changed(out.link);
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
            let key = OutKey(self.outgoing.key_at(copy));
            let out = &mut self.outgoing[copy];
            let (place, content) = (Queued::of(out), out.content.take());
            self.unlist_queued(&place);
            self.transmit(host, key, content.as_ref());
        }
        let second = self.clock.second;
        let link = &mut self.links[index];
        if link.draining && link.queue_head == NONE {
            link.draining = false;
            if std::mem::take(&mut link.credit) > 0 {
                link.no_credit_since = second;
                host.drained(link.host);
            }
        }
    }
}
