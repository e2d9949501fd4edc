//! Messages that leave: whoever has credit is given what is next in its queue, as soon as its bytes are in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use queue_core::{AcqId, Assignment, BodyRef, Candidate, ConsumerId, Match, Matcher, Millis};
use router_core::{InKey, Now, OutKey, PassedOn};

use super::acquisition::Acquired;
use super::bodies::Bodies;
use super::leaving::leaving;
use super::links::{End, Receiver, Role, Side, Unsettled};
use super::node::Node;
use super::opaque;
use super::say::{Answers, Deliver, Leaving, Plain, Say, Told};

/// Messages that may have been chosen for a receiver and wait for their bytes, or for room.
const AHEAD: u32 = 64;
/// Deliveries on one link before it is looked whether the next one would leave at once.
const STRIDE: usize = 16;
/// How long filters look at messages before everybody else has a turn.
const LOOKING: Duration = Duration::from_millis(5);
/// Bytes of those.
const STRIDE_BYTES: usize = 128 * 1024;

impl Node {
    /// A receiver wants more.
    pub(super) fn receiver_credit(&mut self, link: u32, credit: u32) {
        if let Some(receiver) = self.receiver_mut(link) {
            receiver.credit = receiver.credit.saturating_add(credit);
            self.refill(link);
        }
    }

    /// A receiver wants back what it cannot be given at once, or does not any more.
    pub(super) fn receiver_drains(&mut self, link: u32, drain: bool) {
        if let Some(receiver) = self.receiver_mut(link) {
            (receiver.drain, receiver.exhausted) = (drain, false);
            if drain {
                self.draining.push(link);
                self.refill(link);
            }
        }
    }

    /// The next delivery on a link would leave at once.
    pub(super) fn receiver_has_room(&mut self, link: u32) {
        if let Some(receiver) = self.receiver_mut(link) {
            receiver.room = true;
            self.make_ready(link);
        }
    }

    /// It would not.
    pub(super) fn receiver_has_no_room(&mut self, link: u32) {
        if let Some(receiver) = self.receiver_mut(link) {
            receiver.room = false;
        }
    }

    /// Has a message that has just come, and that a consumer was given, go on to that at once and as it came, if nothing is before
    /// it and there is nothing special about the receiver. `key`: the core's for the message as it came, and as it goes on.
    pub(super) fn pass_on(&mut self, key: OutKey, consumer: ConsumerId, acquisition: AcqId) -> Option<PassedOn> {
        let link = self.consumers.link_of(Side::Memory, consumer)?;
        let is_first = !self.has_said_deliveries && !self.is_stopping;
        let record = self.links.get_mut(link as usize).filter(|record| is_first && record.end == End::Open)?;
        let Role::Receiver(receiver) = &mut record.role else { return None };
        if !receiver.room || receiver.settled || receiver.txn.is_some() || !receiver.parked.is_empty() {
            return None;
        }
        receiver.granted = receiver.granted.saturating_sub(1);
        receiver.credit = receiver.credit.saturating_sub(1);
        receiver.sent += 1;
        let id = remember(receiver, Some(acquisition), Some(InKey(key.0)), None);
        let (tag, wants_more) = (receiver.sent.to_be_bytes(), receiver.granted <= AHEAD / 2);
        let on = PassedOn { link: record.key, id, tag };
        if wants_more {
            self.make_ready(link);
        }
        Some(on)
    }

    /// What came of deliveries that were told.
    pub(super) fn told(&mut self, answers: &mut Answers) {
        let Answers { told, keys } = answers;
        self.has_said_deliveries = false;
        for Told { link, keys: of, room } in told.drain(..) {
            let Some(receiver) = self.receiver_mut(link) else { continue };
            receiver.room = room;
            for (id, key) in keys.get(of).unwrap_or_default() {
                if let Some(unsettled) = receiver.unsettled.get_mut(*id as usize) {
                    unsettled.key = *key;
                }
                if let Some(streaming) = receiver.streaming.get_mut(id) {
                    *streaming = *key;
                }
            }
            self.make_ready(link);
        }
        keys.clear();
    }

    /// Lets the queue choose as many messages for a receiver as can be of use now. False: as many as before.
    fn refill(&mut self, link: u32) -> bool {
        let stopping = self.is_stopping;
        let Some(receiver) = self.receiver_mut(link) else { return false };
        let parked = receiver.parked.len() as u32;
        let wanted = receiver.credit.min(AHEAD).saturating_sub(parked);
        // In large steps, or all that there is.
        let more = wanted > receiver.granted;
        if stopping || !(more && receiver.granted <= AHEAD / 2 || receiver.drain && !receiver.exhausted) {
            return false;
        }
        receiver.granted = wanted;
        let (side, consumer, drain) = (receiver.place.side, receiver.consumer, receiver.drain);
        self.broker(side).set_credit(consumer, wanted, drain);
        more
    }

    pub(super) fn make_ready(&mut self, link: u32) {
        if let Some(receiver) = self.receiver_mut(link)
            && !receiver.queued
        {
            receiver.queued = true;
            self.ready.push_back(link);
        }
    }

    /// Has all queues choose, and says what can be said, until no receiver can be of use to them any more.
    pub(super) fn distribute(&mut self, now: Now) {
        let time = self.time(now);
        loop {
            Side::BOTH.into_iter().for_each(|side| self.choose(side, time));
            let bodies: Vec<_> = self.waiting_filters.keys().copied().collect();
            bodies.into_iter().for_each(|body| self.ask_for(body));
            let mut refilled = false;
            for _ in 0..self.ready.len() {
                let Some(link) = self.ready.pop_front() else { break };
                if let Some(receiver) = self.receiver_mut(link) {
                    receiver.queued = false;
                    self.send_parked(link, now);
                    refilled |= self.refill(link);
                }
            }
            if !refilled {
                break;
            }
        }
        self.drain_receivers();
    }

    /// Has the queues of one side choose.
    fn choose(&mut self, side: Side, time: Millis) {
        loop {
            let Self { brokers, links, bodies, consumers, waiting_filters, looking, .. } = self;
            let mut matcher = Looks { side, links, bodies, consumers, waiting: waiting_filters, since: looking };
            let Some(assignment) = brokers[side as usize].next_delivery(time, &mut matcher) else { break };
            self.assigned(side, assignment);
            if has_looked_enough(self.looking) {
                // The others' turn: the broker says that it has more to do.
                break;
            }
        }
    }

    /// A queue has chosen a message for a receiver.
    #[inline]
    pub(super) fn assigned(&mut self, side: Side, assignment: Assignment) {
        let link = self.consumers.link_of(side, assignment.consumer);
        let Some(receiver) = link.and_then(|link| self.receiver_mut(link)) else { return };
        receiver.granted = receiver.granted.saturating_sub(1);
        let body = assignment.body;
        receiver.parked.push_back(assignment);
        if matches!(body, BodyRef::Log { .. }) && self.bodies.get(body).is_none() {
            self.ask_for(body);
        }
        if let Some(link) = link {
            self.make_ready(link);
        }
    }

    /// Sends what was chosen for a receiver, in order, as far as its bytes are there.
    fn send_parked(&mut self, link: u32, now: Now) {
        let time = self.time(now);
        let (mut count, mut bytes) = self.send_plain(link, time);
        while count < STRIDE && bytes < STRIDE_BYTES {
            let record = self.links.get_mut(link as usize).filter(|record| record.end == End::Open);
            let Some(record) = record else { return };
            let Role::Receiver(receiver) = &mut record.role else { return };
            let Some(next) = receiver.parked.front().filter(|_| receiver.room) else { return };
            let message = match next.body {
                BodyRef::Log { .. } => {
                    let body = next.body;
                    let Some(whole) = self.bodies.get(body).map(Arc::clone) else {
                        return self.wait_for_body(body, link);
                    };
                    bytes += whole.bytes().len();
                    Leaving::Whole(leaving(whole, next, time))
                }
                BodyRef::Large { file } => {
                    let body = next.body;
                    let Some(beginning) = self.bodies.beginning(body) else {
                        return self.wait_for_body(body, link);
                    };
                    let (format, _) = opaque::format_of(beginning.bytes());
                    let id = receiver.unsettled.vacant_key() as u32;
                    match self.large.begin_sending(file, link, id, next, time, format) {
                        Some(content) => Leaving::Stream(content),
                        None => return,
                    }
                }
            };
            let large = matches!(message, Leaving::Stream(_));
            let Some(assignment) = receiver.parked.pop_front() else { return };
            receiver.credit = receiver.credit.saturating_sub(1);
            receiver.sent += 1;
            count += 1;
            let (side, settled, tag) = (receiver.place.side, receiver.settled, receiver.sent.to_be_bytes());
            let key = record.key;
            let txn = receiver.txn.filter(|_| assignment.acquisition.is_some());
            let id = (!settled || large).then(|| remember(receiver, assignment.acquisition, None, txn));
            receiver.streaming.extend(id.filter(|_| large).map(|id| (id, None)));
            let state = match (txn, assignment.acquisition) {
                (Some(txn), Some(of)) => self.transactions.acquire(txn, of, Acquired { side, link, id }),
                _ => None,
            };
            self.has_said_deliveries = true;
            self.says.push(Say::Deliver(Deliver { key, link, id, tag, settled, state, message }));
            match (settled && !large, assignment.acquisition, txn) {
                (true, Some(acquisition), Some(txn)) => self.retire_settled(txn, side, acquisition, link),
                (true, Some(acquisition), None) => {
                    self.apply_outcome(side, acquisition, &amqp::DeliveryState::Accepted, None, time);
                }
                _ => {}
            }
        }
        // It is asked again when these are out.
        if let Some(receiver) = self.receiver_mut(link) {
            receiver.room = false;
        }
    }

    /// Sends the first of what was chosen for a receiver, as far as that is in memory, and neither leaves settled nor is part of a
    /// transaction: what most is. How many, and their bytes.
    fn send_plain(&mut self, link: u32, time: Millis) -> (usize, usize) {
        let Self { links, bodies, says, plain, has_said_deliveries, .. } = self;
        let (mut count, mut bytes) = (0, 0);
        let Some(record) = links.get_mut(link as usize).filter(|record| record.end == End::Open) else { return (0, 0) };
        let Role::Receiver(receiver) = &mut record.role else { return (0, 0) };
        if !receiver.room || receiver.settled || receiver.txn.is_some() {
            return (0, 0);
        }
        while count < STRIDE
            && bytes < STRIDE_BYTES
            && let Some(whole) = receiver.parked.front().and_then(|next| bodies.get(next.body))
            && let Some(next) = receiver.parked.pop_front()
        {
            bytes += whole.bytes().len();
            count += 1;
            receiver.credit = receiver.credit.saturating_sub(1);
            receiver.sent += 1;
            let message = leaving(Arc::clone(whole), &next, time);
            let id = remember(receiver, next.acquisition, None, None);
            plain.push(Plain { id, tag: receiver.sent.to_be_bytes(), message });
        }
        if count > 0 {
            *has_said_deliveries = true;
            says.push(Say::DeliverPlain { key: record.key, link, count });
        }
        (count, bytes)
    }

    /// A link goes on when a message is in memory.
    fn wait_for_body(&mut self, body: BodyRef, link: u32) {
        let waiting = self.waiting_links.entry(body).or_default();
        if !waiting.contains(&link) {
            waiting.push(link);
        }
        self.ask_for(body);
    }

    /// Those who drain, and for whom there is nothing more, get back what is left.
    fn drain_receivers(&mut self) {
        for side in Side::BOTH {
            while let Some((consumer, _)) = self.broker(side).next_drained() {
                let link = self.consumers.link_of(side, consumer);
                if let Some(receiver) = link.and_then(|link| self.receiver_mut(link)) {
                    (receiver.granted, receiver.exhausted) = (0, true);
                }
            }
        }
        for link in std::mem::take(&mut self.draining) {
            let stopping = self.is_stopping;
            let Some(record) = self.links.get_mut(link as usize) else { continue };
            let key = record.key;
            let Role::Receiver(receiver) = &mut record.role else { continue };
            if !receiver.drain {
                continue;
            }
            if !stopping && receiver.credit > 0 && !(receiver.exhausted && receiver.parked.is_empty()) {
                self.draining.push(link);
                continue;
            }
            (receiver.drain, receiver.exhausted, receiver.granted) = (false, false, 0);
            let returned = std::mem::take(&mut receiver.credit);
            let (side, consumer) = (receiver.place.side, receiver.consumer);
            self.broker(side).set_credit(consumer, 0, false);
            self.says.push(Say::Drained { key, returned });
        }
    }
}

#[inline]
fn remember(receiver: &mut Receiver, acquisition: Option<AcqId>, key: Option<InKey>, acquired_in: Option<u64>) -> u32 {
    let unsettled = Unsettled { acquisition, key, answered: false, in_txn: false, acquired_in, taken_back: false };
    receiver.unsettled.insert(unsettled) as u32
}

/// Shows messages to the filters of receivers.
struct Looks<'a> {
    side: Side,
    links: &'a slab::Slab<super::links::Link>,
    bodies: &'a Bodies,
    consumers: &'a super::node::Consumers,
    waiting: &'a mut HashMap<BodyRef, Vec<(Side, ConsumerId)>>,
    since: &'a mut Option<Instant>,
}

/// Whether filters have been looking at messages, since then, for as long as others may wait.
fn has_looked_enough(since: Option<Instant>) -> bool {
    since.is_some_and(|since| since.elapsed() >= LOOKING)
}

impl Matcher for Looks<'_> {
    fn matches(&mut self, consumer: ConsumerId, candidate: &Candidate<'_>) -> Match {
        let link = self.consumers.link_of(self.side, consumer).and_then(|link| self.links.get(link as usize));
        let Some(Role::Receiver(receiver)) = link.map(|link| &link.role) else { return Match::No };
        let Some(selector) = &receiver.selector else { return Match::Yes };
        self.since.get_or_insert_with(Instant::now);
        let Some(whole) = self.bodies.beginning(candidate.body) else {
            if self.bodies.is_unreadable(candidate.body) {
                return Match::No;
            }
            self.waiting.entry(candidate.body).or_default().push((self.side, consumer));
            return Match::Unknown;
        };
        let context = selector::Context { delivery_count: Some(candidate.delivery_count) };
        if selector.matches_with(opaque::sections(whole.bytes()), &context) { Match::Yes } else { Match::No }
    }

    fn tires(&mut self) -> bool {
        has_looked_enough(*self.since)
    }
}
