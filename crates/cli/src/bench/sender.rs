//! Links that send.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use amqp::DeliveryState;
use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp_endpoint::{Connection, Event, LinkId, NewDelivery, NewLink, SessionId};

use super::party::{Party, link_ended};
use super::plan::{Plan, Settle};
use super::sending::Sending;
use super::shared::{Counters, Window};
use super::stamp::{self, Stamp};

/// Enough in the output of a connection for one write.
const FULL: usize = 256 * 1024;
/// Messages that a link sends in a row before the others of its connection have their turn.
const BURST: usize = 32;
/// Bytes of a long message that go into the output at a time.
const PIECE: usize = 128 * 1024;
/// The part of a delivery's key that is the message's number; the rest is the link.
const SEQUENCE_BITS: u32 = 44;

struct Link {
    /// Which of the run's senders.
    number: u32,
    id: Option<LinkId>,
    credit: u32,
    in_flight: usize,
    sequence: u64,
    /// No message has this number or a greater one.
    limit: u64,
    /// It is in the list of links that can send.
    queued: bool,
    /// When the messages were due that wait to be sent.
    due: VecDeque<u64>,
    accepted: u64,
    unanswered: Unanswered,
}

/// When the messages were due that have no outcome yet.
#[derive(Default)]
struct Unanswered {
    /// Number of the first one that is kept.
    first: u64,
    /// `None`: it has its outcome.
    due: VecDeque<Option<u64>>,
}

impl Unanswered {
    /// The next message was sent.
    fn add(&mut self, due: u64) {
        self.due.push_back(Some(due));
    }

    /// The outcome of a message came: when was it due?
    fn take(&mut self, sequence: u64) -> Option<u64> {
        let at = usize::try_from(sequence.checked_sub(self.first)?).ok()?;
        let due = self.due.get_mut(at)?.take();
        while let Some(None) = self.due.front() {
            self.due.pop_front();
            self.first += 1;
        }
        due
    }
}

/// A message of which the beginning was sent.
struct Unfinished {
    link: usize,
    stamp: [u8; stamp::LENGTH],
    /// Bytes sent.
    at: usize,
}

/// A connection with links that send.
pub(super) struct SenderParty {
    plan: Arc<Plan>,
    links: Vec<Link>,
    runnable: VecDeque<usize>,
    unfinished: Option<Unfinished>,
    /// The peer's session window is closed.
    blocked: bool,
    window: Option<Window>,
    stopped: bool,
}

impl SenderParty {
    /// For these of the run's senders; `limit`: how many messages each of them may send.
    pub(super) fn new(plan: Arc<Plan>, numbers: &[usize], limit: impl Fn(usize) -> u64) -> Self {
        let link = |number: &usize| Link {
            // Bounded by the number of links that fit this machine.
            number: *number as u32,
            id: None,
            credit: 0,
            in_flight: 0,
            sequence: 0,
            limit: limit(*number),
            queued: false,
            due: VecDeque::new(),
            accepted: 0,
            unanswered: Unanswered::default(),
        };
        let links = numbers.iter().map(link).collect();
        Self { plan, links, runnable: VecDeque::new(), unfinished: None, blocked: false, window: None, stopped: false }
    }

    /// For each sender its number, how many messages it sent, and how many of them were accepted.
    pub(super) fn tally(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        self.links.iter().map(|link| (link.number as usize, link.sequence, link.accepted))
    }

    fn can_send(&self, index: usize) -> bool {
        let link = &self.links[index];
        let wanted = if self.plan.rate.is_some() {
            !link.due.is_empty()
        } else {
            self.window.is_some() && !self.stopped && link.sequence < link.limit
        };
        wanted && link.credit > 0 && self.plan.window.is_none_or(|window| link.in_flight < window)
    }

    fn queue(&mut self, index: usize) {
        if !self.links[index].queued && self.can_send(index) {
            self.links[index].queued = true;
            self.runnable.push_back(index);
        }
    }

    /// Sends up to a burst of messages of one link. False if the session's window closed.
    fn burst(&mut self, common: &mut Sending, engine: &mut Connection, index: usize, now: u64) -> bool {
        for _ in 0..BURST {
            if !self.can_send(index) {
                break;
            }
            if !self.send(common, engine, index, now) {
                return false;
            }
            if self.unfinished.is_some() || engine.output().len() >= FULL {
                break;
            }
        }
        true
    }

    fn send(&mut self, common: &mut Sending, engine: &mut Connection, index: usize, now: u64) -> bool {
        let link = &mut self.links[index];
        let Some(id) = link.id else { return false };
        let due = link.due.front().copied().unwrap_or(now);
        let stamp = Stamp { run: common.run, sender: link.number, sequence: link.sequence, due }.to_bytes();
        let key = (index as u64) << SEQUENCE_BITS | link.sequence;
        let delivery = NewDelivery {
            key,
            tag: &link.sequence.to_be_bytes(),
            message_format: 0,
            settled: common.settled,
            state: None,
            manner: Default::default(),
        };
        let total = common.head.len() + stamp.len() + common.fill.len();
        if total <= PIECE && engine.try_send(id, &delivery, &[&common.head, &stamp, &common.fill]) {
            // Sent in one frame.
        } else if total as u64 + 128 < u64::from(engine.remote_max_frame_size()) && total <= PIECE {
            // It would fit, so the session's window is closed.
            return false;
        } else if engine.begin_delivery(id, &delivery) {
            self.unfinished = Some(Unfinished { link: index, stamp, at: 0 });
        } else {
            return false;
        }
        let link = &mut self.links[index];
        link.credit -= 1;
        link.sequence += 1;
        if !common.settled {
            link.in_flight += 1;
            link.unanswered.add(due);
        }
        if link.due.pop_front().is_some() {
            common.waiting -= 1;
            if common.window.is_some_and(|window| window.measures(due)) {
                common.late.add(now.saturating_sub(due));
            }
        }
        common.sent += 1;
        true
    }

    /// Goes on with a message that was begun. False if it is still not sent.
    fn carry_on(&mut self, common: &Sending, engine: &mut Connection) -> bool {
        let Some(unfinished) = &mut self.unfinished else { return true };
        let Some(id) = self.links[unfinished.link].id else { return false };
        let total = common.head.len() + stamp::LENGTH + common.fill.len();
        while engine.output().len() < FULL {
            let parts = [&common.head[..], &unfinished.stamp, &common.fill];
            let piece = piece(&parts, unfinished.at, PIECE);
            let length: usize = piece.iter().map(|part| part.len()).sum();
            let more = unfinished.at + length < total;
            let taken = engine.send_payload_parts(id, &piece, more);
            unfinished.at += taken;
            if unfinished.at == total {
                self.unfinished = None;
                return true;
            }
            if taken < length {
                self.blocked = true;
                return false;
            }
        }
        false
    }
}

/// The bytes from `at` on of all parts together, at most so many.
fn piece<'p>(parts: &[&'p [u8]; 3], mut at: usize, mut most: usize) -> [&'p [u8]; 3] {
    parts.map(|part| {
        let from = at.min(part.len());
        let to = part.len().min(from + most);
        at -= from;
        most -= to - from;
        &part[from..to]
    })
}

impl Party for SenderParty {
    type Common = Sending;

    fn begin(&mut self, engine: &mut Connection, session: SessionId) -> Result<(), String> {
        for (index, link) in self.links.iter_mut().enumerate() {
            let address = self.plan.address_of(link.number as usize);
            let target = Target { address: Some(address), ..Target::default() };
            let id = engine.attach(
                session,
                NewLink {
                    name: format!("sender-{}", link.number),
                    sender: true,
                    snd_settle_mode: match self.plan.settle {
                        Settle::Unsettled => SenderSettleMode::Unsettled,
                        Settle::Presettled => SenderSettleMode::Settled,
                    },
                    rcv_settle_mode: ReceiverSettleMode::First,
                    source: Some(Source::default()),
                    target: Some(TargetTerminus::Target(target)),
                    max_message_size: None,
                    offered_capabilities: Vec::new(),
                    desired_capabilities: Vec::new(),
                    properties: None,
                },
            );
            let id = id.map_err(|error| error.to_string())?;
            engine.set_link_context(id, index as u64);
            link.id = Some(id);
        }
        Ok(())
    }

    fn event(
        &mut self,
        common: &mut Sending,
        engine: &mut Connection,
        event: Event<'_>,
        now: u64,
    ) -> Result<(), String> {
        match event {
            Event::AttachAnswered(..) => {}
            Event::Credit { link, context, credit, drain, .. } => {
                let index = context as usize;
                self.links[index].credit = credit;
                self.queue(index);
                if drain && !self.links[index].queued {
                    engine.drained(link);
                    self.links[index].credit = 0;
                }
            }
            Event::Outcome { key, state, settled }
                if settled || state.as_ref().is_some_and(DeliveryState::is_terminal) =>
            {
                let index = (key >> SEQUENCE_BITS) as usize;
                let link = &mut self.links[index];
                if !settled && let Some(id) = link.id {
                    engine.update_outgoing(id, key, None, true);
                }
                link.in_flight -= 1;
                if let Some(due) = link.unanswered.take(key & ((1 << SEQUENCE_BITS) - 1))
                    && self.window.is_some_and(|window| window.measures(due))
                {
                    common.answers.add(now.saturating_sub(due));
                }
                link.accepted += u64::from(matches!(state, None | Some(DeliveryState::Accepted)));
                common.count(state.as_ref());
                self.queue(index);
            }
            Event::SessionWritable(_) => self.blocked = false,
            Event::Detached { context, error, .. } => {
                return Err(link_ended("sender", &self.address(context), error.as_ref()));
            }
            Event::LinkFailed { context, error, .. } => {
                return Err(link_ended("sender", &self.address(context), Some(&error)));
            }
            _ => {}
        }
        Ok(())
    }

    fn go(&mut self, window: Window) {
        self.window = Some(window);
        (0..self.links.len()).for_each(|index| self.queue(index));
    }

    fn stop(&mut self) {
        self.stopped = true;
    }

    fn due(&mut self, common: &mut Sending, link: usize, due: u64) {
        common.window = self.window;
        common.waiting += 1;
        self.links[link].due.push_back(due);
        self.queue(link);
    }

    fn produce(&mut self, common: &mut Sending, engine: &mut Connection, now: &dyn Fn() -> u64) -> bool {
        if self.blocked {
            return false;
        }
        if !self.carry_on(common, engine) {
            return !self.blocked;
        }
        while let Some(index) = self.runnable.pop_front() {
            self.links[index].queued = false;
            let now = now();
            if self.plan.rate.is_none() && self.window.is_some_and(|window| now >= window.end) {
                self.stopped = true;
            }
            let sent = self.burst(common, engine, index, now);
            self.queue(index);
            if !sent {
                self.blocked = true;
                return false;
            }
            if !self.carry_on(common, engine) {
                return !self.blocked;
            }
            if engine.output().len() >= FULL {
                return true;
            }
        }
        false
    }

    fn report(common: &mut Sending, counters: &Counters, _now: u64) {
        let [sent, settled, accepted, waiting] = common.told;
        counters.sent.fetch_add(common.sent - sent, Ordering::Relaxed);
        counters.settled.fetch_add(common.settled_count - settled, Ordering::Relaxed);
        counters.accepted.fetch_add(common.outcomes.accepted - accepted, Ordering::Relaxed);
        // Wraps for a moment at most: the sum over all workers is never negative.
        counters.waiting.fetch_add(common.waiting.wrapping_sub(waiting), Ordering::Relaxed);
        common.told = [common.sent, common.settled_count, common.outcomes.accepted, common.waiting];
    }
}

impl SenderParty {
    fn address(&self, context: u64) -> String {
        self.links.get(context as usize).map(|link| self.plan.address_of(link.number as usize)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_may_come_in_any_order() {
        let mut unanswered = Unanswered::default();
        [10, 11, 12].into_iter().for_each(|due| unanswered.add(due));
        assert_eq!(
            [1, 0, 1, 2, 3].map(|sequence| unanswered.take(sequence)),
            [Some(11), Some(10), None, Some(12), None]
        );
        assert_eq!((unanswered.first, unanswered.due.len()), (3, 0));
    }

    #[test]
    fn pieces_put_together_are_the_whole() {
        let parts: [&[u8]; 3] = [b"head", b"stamp", b"filling"];
        let mut whole = Vec::new();
        while whole.len() < 16 {
            let piece = piece(&parts, whole.len(), 3);
            let bytes = piece.concat();
            assert!(!bytes.is_empty() && bytes.len() <= 3);
            whole.extend(bytes);
        }
        assert_eq!(whole, b"headstampfilling");
    }
}
