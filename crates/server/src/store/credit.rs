//! Who may send how much: senders have credit as long as there is room in their queue, and for what is on its way to the log.

use queue_core::{Broker, Room};

use super::journal::OVERHEAD;
use super::links::{Destination, Look, Place, Role, Sender, Side};
use super::node::Node;
use super::say::Say;

/// Messages of one sender that may be on their way.
const WINDOW: u32 = 1000;
/// The same before one has come; and the bytes that each of them is thought to have until then.
const FIRST: u32 = 16;
const SUPPOSED: u64 = 16 * 1024;
/// One sender gets credit for this part of the memory that is left.
const SHARE: u64 = 4;
/// The same of the router's own link to a queue with a limit: it has not asked for anything, and nothing is kept free for it.
const RELAYED: u32 = 16;
/// The same of the router's own link for messages that name a queue which is made for them: none of them waits before the
/// store while later ones find their queue there already.
const NAMED: u32 = 1_000_000;
/// Bytes of all messages on their way to the log beyond which nobody gets credit.
const MOST_IN_FLIGHT: u64 = 64 * 1024 * 1024;

impl Node {
    /// Fills a sender's credit up, if there is room. It is done in large steps, so that few frames are spent on it.
    pub(super) fn give_credit(&mut self, link: u32) {
        let epoch = self.epoch;
        if self.sender_mut(link).is_some_and(|sender| sender.has_enough(epoch)) {
            // As mostly.
            return;
        }
        self.refresh_look(link);
        let crowded = self.is_crowded(link);
        let logged = self.is_logged(link);
        let may_send = !self.is_stopping && !crowded && (!logged || self.journal.takes_more(self.enough_waits()));
        let waiting = if logged { self.waiting_bytes() } else { self.admissions.waiting_bytes() };
        // The rest is for those that have credit for one message although there is no memory for it.
        let left = (self.most_waiting / 4 * 3).saturating_sub(waiting);
        let Self { links, brokers, promised, reserved, .. } = self;
        let Some(record) = links.get_mut(link as usize) else { return };
        let key = record.key;
        let Role::Sender(sender) = &mut record.role else { return };
        let limited = match sender.to {
            Destination::Queue(queue) if sender.look.limited => Some(queue),
            _ => None,
        };
        if limited.is_none() && sender.credit > sender.window / 2 {
            return;
        }
        sender.window = sender.window_in(left.saturating_sub(*reserved - sender.reserved));
        let window = sender.window;
        let free = match limited {
            _ if !may_send => 0,
            None => window,
            Some(queue) => {
                // What others may send to the same queue, or have sent and is not in it yet, needs room as well.
                let others = account(promised.entry(queue).or_default(), sender) - sender.accounted;
                let room = room(brokers, queue);
                let most = if sender.relays { RELAYED.min(window) } else { window };
                u32::try_from(room.saturating_sub(others)).unwrap_or(u32::MAX).min(most)
            }
        };
        let target = free.saturating_sub(sender.pending);
        if target > sender.credit && sender.credit <= window / 2 {
            sender.credit = target;
            self.says.push(Say::Credit { key, credit: target });
        }
        sender.reserve(reserved);
        if let Some(queue) = limited {
            account(promised.entry(queue).or_default(), sender);
        }
        if free < window && !sender.starved {
            sender.starved = true;
            match limited {
                _ if crowded => self.crowded.push_back(link),
                Some(queue) if may_send => self.starved.entry(queue).or_default().push_back(link),
                _ => self.held_back.push_back(link),
            }
        }
    }

    /// Bytes on their way to the disk from which on nobody gets credit.
    pub(super) fn enough_waits(&self) -> u64 {
        MOST_IN_FLIGHT.min(self.most_waiting / 2)
    }

    /// Whether a message finds no memory in which to wait for the disk. No sender has credit for more than there is; but one
    /// may send larger ones than before.
    pub(super) fn finds_no_memory(&self, bytes: u64) -> bool {
        self.waiting_bytes() + bytes > self.most_waiting
    }

    /// The memory of messages that wait for the disk, or for filters.
    fn waiting_bytes(&self) -> u64 {
        self.journal.waiting_bytes() + self.admissions.waiting_bytes()
    }

    /// Whether a sender's messages go to the log.
    pub(super) fn is_logged(&self, link: u32) -> bool {
        let Some(Role::Sender(sender)) = self.links.get(link as usize).map(|link| &link.role) else { return false };
        match sender.to {
            Destination::Queue(place) => place.side == Side::Logged,
            Destination::Topic(_) => sender.look.sides[Side::Logged as usize],
            Destination::Named => true,
        }
    }

    /// Whether a sender's messages would live in memory alone, and there is enough there.
    fn is_crowded(&self, link: u32) -> bool {
        let Some(Role::Sender(sender)) = self.links.get(link as usize).map(|link| &link.role) else { return false };
        let in_memory = match sender.to {
            Destination::Queue(place) => place.side == Side::Memory,
            Destination::Topic(_) => sender.look.sides[Side::Memory as usize],
            Destination::Named => false,
        };
        in_memory && self.bodies.transient_bytes() >= self.most_transient
    }

    /// A sender is gone: what it was promised is free for others.
    pub(super) fn sender_gone(&mut self, mut sender: Sender) {
        self.reserved -= sender.reserved;
        if let Destination::Queue(queue) = sender.to
            && let Some(promised) = self.promised.get_mut(&queue)
        {
            (sender.credit, sender.pending) = (0, 0);
            account(promised, &mut sender);
            self.room_again(queue);
        }
    }

    /// There may be room in a queue again: those that wait for it get credit, in turn.
    pub(super) fn room_again(&mut self, queue: Place) {
        if self.starved.is_empty() {
            return;
        }
        for link in self.starved.remove(&queue).into_iter().flatten() {
            self.try_again(link);
        }
    }

    /// There may be room for everybody again.
    pub(super) fn room_for_all(&mut self) {
        for link in std::mem::take(&mut self.held_back) {
            self.try_again(link);
        }
    }

    /// There is memory again.
    pub(super) fn room_in_memory(&mut self) {
        for link in std::mem::take(&mut self.crowded) {
            self.try_again(link);
        }
    }

    fn try_again(&mut self, link: u32) {
        if let Some(sender) = self.sender_mut(link) {
            sender.starved = false;
            self.give_credit(link);
        }
    }
}

/// Messages for which there is room in a queue.
fn room(brokers: &[Broker; 2], place: Place) -> u64 {
    match brokers[place.side as usize].room(place.queue) {
        Room { bytes: 0, .. } => 0,
        Room { messages, .. } => messages,
    }
}

impl Sender {
    /// Whether there is nothing to be done about its credit, as mostly. `epoch`: the state of settings now.
    #[inline]
    pub(super) fn has_enough(&self, epoch: u64) -> bool {
        let Look { epoch: seen, limited, .. } = self.look;
        seen == epoch && !limited && self.credit > self.window / 2
    }

    /// One of its credits is used, and a message is under way.
    #[inline]
    pub(super) fn note_arrival(&mut self) {
        self.credit = self.credit.saturating_sub(1);
        self.pending += 1;
    }

    /// A message of so many bytes has come.
    pub(super) fn note_size(&mut self, bytes: u64) {
        let size = bytes + OVERHEAD;
        if self.size == 0 {
            // It had little only because nobody knew: it need not use up half of that first.
            self.window = WINDOW;
        }
        // Smaller ones count in time.
        self.size = size.max(self.size - self.size.saturating_sub(size) / 8);
    }

    /// Messages that may be on their way if so many bytes are free: a part of what would fit in there, as others come that
    /// need some, too. Who has nothing on its way may always send one.
    fn window_in(&self, bytes: u64) -> u32 {
        let fit = bytes / SHARE / if self.size == 0 { SUPPOSED } else { self.size };
        let most = match (self.to, self.size) {
            (Destination::Named, _) => return NAMED,
            _ if self.relays => return WINDOW,
            (_, 0) => FIRST,
            _ => WINDOW,
        };
        u32::try_from(fit).unwrap_or(u32::MAX).clamp(1, most)
    }

    /// Brings the memory that is kept free for it up to date with its credit. For the router's own links the core answers.
    fn reserve(&mut self, reserved: &mut u64) {
        let size = if self.size == 0 { SUPPOSED } else { self.size };
        let now = if self.relays || self.to == Destination::Named { 0 } else { u64::from(self.credit) * size };
        let before = std::mem::replace(&mut self.reserved, now);
        *reserved = *reserved + now - before;
    }

    /// What it may send, and has sent and is in no queue yet.
    fn promised(&self) -> u64 {
        u64::from(self.credit) + u64::from(self.pending)
    }
}

/// Brings the account of what the senders of a queue were promised up to date with one of them; the sum.
fn account(promised: &mut u64, sender: &mut Sender) -> u64 {
    let now = if sender.relays { 0 } else { sender.promised() };
    let before = std::mem::replace(&mut sender.accounted, now);
    *promised = (*promised + now).saturating_sub(before);
    *promised
}
