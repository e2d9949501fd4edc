//! Shadows. A dead-letter or expiry address may be that of a queue of the other side: durable queues and those in memory are two
//! state machines, and each takes a message only where it finds a queue of its own. So it makes one at that address, which
//! nobody sees, and what is in this shadow is carried over to the queue whose address it is. There it is what it would be had
//! it died on the same side: where that queue is full and rejects, it goes on to the next address, or is dropped.
//!
//! What is in the collectors of topics (see [`super::collectors`]) goes in the same way.
//!
//! An empty shadow is deleted. One with messages outlives a restart, if it is durable, and is one again once the other queue is
//! there; so is what stores of earlier versions have kept.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use amqp::ErrorCondition;
use amqp::condition::names;
use queue_core::{Command, Millis, Orphans, Peeked, QueueSettings, Refused, Seq};

use super::crossing::{MOST, MOST_BYTES, Purpose, Way, bytes_of};
use super::journal::Waiter;
use super::links::{Destination, End, Place, Role, Side};
use super::node::Node;
use super::wanted::is_plain;

/// Milliseconds after which it is looked whether there is room on the other side.
const PAUSE: Millis = 100;
/// The same for messages that could not go for another reason: they cannot be read.
const LONG_PAUSE: Millis = 10_000;

/// All shadows that are known, and how far each is. For each side one is emptied at a time.
#[derive(Default)]
pub(super) struct Shadows(BTreeMap<Place, Progress>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Its turn comes.
    Waiting(At),
    /// It is being emptied.
    Emptying(At),
    /// What is left in it cannot go now; its turn comes at this time.
    Resting(Millis, At),
}

/// Where to go on in a shadow.
#[derive(Clone, Copy, PartialEq, Eq)]
struct At {
    from: Seq,
    /// Something has gone since it was begun with.
    any: bool,
}

/// At the beginning.
const BEGIN: At = At { from: Seq::FIRST, any: false };

/// Which of two queues at an address is found there: one that somebody has asked for; or else the durable one.
pub(super) fn which_is_found(logged: &QueueSettings, memory: &QueueSettings) -> Side {
    match logged.auto_created && !memory.auto_created {
        true => Side::Memory,
        false => Side::Logged,
    }
}

impl Shadows {
    /// A queue is none, or none any more.
    pub(super) fn forget(&mut self, place: Place) {
        self.0.remove(&place);
    }

    /// Whether a queue is known as one.
    pub(super) fn has(&self, place: Place) -> bool {
        self.0.contains_key(&place)
    }

    /// When one is to be looked at.
    pub(super) fn next_time(&self) -> Option<Millis> {
        let time = |progress: &Progress| if let Progress::Resting(time, _) = progress { Some(*time) } else { None };
        self.0.values().filter_map(time).min()
    }

    fn next(&self, side: Side) -> Option<(Place, At)> {
        let mut of_side = self.0.iter().filter(|(place, _)| place.side == side);
        if of_side.clone().any(|(_, progress)| matches!(progress, Progress::Emptying(_))) {
            return None;
        }
        of_side
            .find_map(|(place, progress)| if let Progress::Waiting(at) = progress { Some((*place, *at)) } else { None })
    }
}

impl Node {
    /// Queues have come to an address, or are other than before: one of two is a shadow. `made`: this one has just been made.
    pub(super) fn look_for_shadow(&mut self, address: &str, made: Option<Place>) {
        let Some(Destination::Queue(found)) = self.find(address) else { return };
        self.shadows.forget(found);
        let side = found.side.other();
        if let Some(queue_core::Node::Queue(queue)) = self.brokers[side as usize].node(address) {
            let shadow = Place { side, queue };
            self.shadows.0.entry(shadow).or_insert(Progress::Waiting(BEGIN));
            if made != Some(shadow) {
                self.end_links_to_shadow(shadow, address);
            }
            self.empty_next(side);
        }
    }

    /// Whether a queue has messages for another one that is at its address.
    pub(super) fn is_shadow(&self, place: Place) -> bool {
        let found = self.settings(place).and_then(|settings| self.find(&settings.address));
        matches!(found, Some(Destination::Queue(found)) if found != place)
    }

    /// Whether nobody is told of a queue.
    pub(super) fn is_hidden(&self, place: Place) -> bool {
        self.shadows.has(place) || self.collectors.has(place)
    }

    /// Something may have come into those that rest.
    pub(super) fn wake_shadows(&mut self) {
        if self.shadows.0.is_empty() {
            return;
        }
        for progress in self.shadows.0.values_mut() {
            if matches!(progress, Progress::Resting(_, BEGIN)) {
                *progress = Progress::Waiting(BEGIN);
            }
        }
        Side::BOTH.into_iter().for_each(|side| self.empty_next(side));
    }

    /// Something is in a collector.
    pub(super) fn empty(&mut self, collector: Place) {
        self.shadows.0.entry(collector).or_insert(Progress::Waiting(BEGIN));
        self.empty_next(collector.side);
    }

    /// Those who had found a queue at an address find another one now.
    fn end_links_to_shadow(&mut self, shadow: Place, address: &str) {
        let there = |role: &Role| match role {
            Role::Sender(sender) => sender.to == Destination::Queue(shadow),
            Role::Receiver(receiver) => receiver.place == shadow,
            _ => false,
        };
        let is_open = |(_, link): &(usize, &super::links::Link)| link.end == End::Open && there(&link.role);
        let links: Vec<u32> = self.links.iter().filter(is_open).map(|(link, _)| link as u32).collect();
        if links.is_empty() {
            return;
        }
        // The router's own link, too, is to lead to the other one.
        self.unlead(address);
        let text = format!("Another queue is at '{address}' now: attach again");
        let error = ErrorCondition::new(names::RESOURCE_DELETED, text);
        links.into_iter().for_each(|link| self.end_link(link, error.clone()));
        self.lead(address);
    }

    /// Goes on with those whose turn it is.
    pub(super) fn look_after_shadows(&mut self, time: Millis) {
        if self.shadows.next_time().is_none_or(|next| next > time) {
            return;
        }
        for progress in self.shadows.0.values_mut() {
            if let Progress::Resting(until, at) = *progress
                && until <= time
            {
                *progress = Progress::Waiting(at);
            }
        }
        Side::BOTH.into_iter().for_each(|side| self.empty_next(side));
    }

    fn empty_next(&mut self, side: Side) {
        while let Some((place, at)) = self.shadows.next(side) {
            self.empty_from(place, at);
        }
    }

    /// Some of a shadow's messages have gone, or none of those that were tried.
    pub(super) fn shadow_goes_on(&mut self, place: Place, some: bool) {
        if let Some(Progress::Emptying(at)) = self.shadows.0.get(&place).copied() {
            self.empty_from(place, At { any: at.any || some, ..at });
        }
        self.empty_next(place.side);
    }

    /// Lets messages of a shadow go, from a place on.
    fn empty_from(&mut self, place: Place, at: At) {
        let is_collector = self.collectors.has(place);
        if !is_collector && !self.is_shadow(place) {
            return self.shadows.forget(place);
        }
        let crosses = !is_collector || self.is_for_both_sides(place);
        if crosses && !self.may_cross_from(place.side) {
            return self.rest_shadow(place, PAUSE, at);
        }
        let (found, next) = self.dead_letters(place, at.from);
        // Whatever has come before the end meanwhile has its turn when all that was there has had one.
        let at = At { from: next.unwrap_or(Seq::FIRST), any: at.any };
        self.shadows.0.insert(place, Progress::Emptying(at));
        if self.cross(place, found, Purpose::Shadow) > 0 {
            return;
        }
        let depth = self.broker(place.side).statistics(place.queue).map_or(0, |found| found.depth);
        match next {
            // Others have their turn.
            Some(_) => self.rest_shadow(place, 0, at),
            None if depth == 0 && is_collector => self.shadows.forget(place),
            None if depth == 0 => {
                let command = Command::DeleteQueue { queue: place.queue, if_empty: true, orphans: Orphans::Drop };
                self.submit(place.side, command, None, Waiter::Shadow(place));
            }
            None if at.any => self.rest_shadow(place, 0, BEGIN),
            None => self.rest_shadow(place, LONG_PAUSE, BEGIN),
        }
    }

    /// An empty shadow was to be deleted.
    pub(super) fn shadow_deleted(&mut self, place: Place, applied: &queue_core::Applied) {
        match applied {
            // Something has come meanwhile.
            Err(Refused::NotEmpty) => self.shadow_goes_on(place, false),
            _ => self.shadows.forget(place),
        }
        self.empty_next(place.side);
    }

    /// An empty shadow could not be deleted.
    pub(super) fn shadow_not_deleted(&mut self, place: Place) {
        self.rest_shadow(place, LONG_PAUSE, BEGIN);
    }

    fn rest_shadow(&mut self, place: Place, pause: Millis, at: At) {
        let until = self.clock() + pause;
        self.shadows.0.insert(place, Progress::Resting(until, at));
    }

    /// Whether the side that messages go to has room for them: those in memory alone have theirs, and what goes to the disk has
    /// to wait for it.
    pub(super) fn may_cross_from(&self, side: Side) -> bool {
        match side {
            Side::Logged => self.bodies.transient_bytes() < self.most_transient,
            Side::Memory => self.journal.failed.is_none() && self.journal.takes_more(self.enough_waits()),
        }
    }

    /// Messages of a shadow from a place on that can go, and where to go on if there may be more that can.
    fn dead_letters(&mut self, place: Place, from: Seq) -> (Vec<(Peeked, Way)>, Option<Seq>) {
        let page = self.broker(place.side).peek(place.queue, from, MOST);
        let is_last = page.len() < MOST;
        let (mut found, mut bytes, mut next) = (Vec::new(), 0, from);
        let mut planned = HashMap::new();
        for peeked in page {
            bytes += bytes_of(&peeked);
            if bytes > MOST_BYTES && !found.is_empty() {
                return (found, Some(next));
            }
            if !self.bodies.is_unreadable(peeked.body) {
                match self.way_of_dead_letter(place, &peeked, &mut planned) {
                    Some(way) => found.push((peeked.clone(), way)),
                    // Those behind it wait for it.
                    None => return (found, None),
                }
            }
            next = Seq::from_raw(peeked.seq.raw().saturating_add(1));
        }
        (found, (!is_last).then_some(next))
    }

    /// Where a message in a shadow goes: as if all queues were on one side. `None`: nowhere now. `planned`: what goes to each queue
    /// at once, messages and bytes.
    fn way_of_dead_letter(
        &mut self,
        shadow: Place,
        peeked: &Peeked,
        planned: &mut HashMap<Place, (u64, u64)>,
    ) -> Option<Way> {
        let settings = self.settings(shadow)?;
        let topic = settings.topic.filter(|_| settings.is_collector());
        let mut next: Arc<str> = match topic {
            Some(topic) => self.brokers[shadow.side as usize].topic(topic)?.address.clone(),
            None => settings.address.clone(),
        };
        let death = peeked.overlay.as_ref().and_then(|overlay| overlay.deaths.first());
        let mut tried: Vec<Arc<str>> = death.iter().map(|death| death.address.clone()).collect();
        loop {
            let place = match self.find(&next)? {
                Destination::Queue(place) if place == shadow => return None,
                Destination::Queue(place) => place,
                Destination::Topic(topics) => {
                    let from = death.and_then(|death| self.find(&death.address));
                    let from =
                        from.and_then(|from| if let Destination::Queue(from) = from { Some(from) } else { None });
                    return Some(Way::published(peeked, topics, from));
                }
                Destination::Named => return None,
            };
            let (messages, bytes) = planned.get(&place).copied().unwrap_or_default();
            let with_it = (messages + 1, bytes + peeked.size);
            if self.broker(place.side).takes(place.queue, with_it.0, with_it.1) {
                planned.insert(place, with_it);
                return Some(match place.side == shadow.side {
                    true => Way::Within(place.queue),
                    false => Way::across(peeked, place.queue, true),
                });
            }
            let settings = self.settings(place)?.clone();
            tried.push(next);
            let Some(address) = settings.dead_letter_address.clone() else { return Some(Way::Nowhere) };
            let circles = death.is_some_and(|death| {
                peeked.overlay.as_ref().is_some_and(|overlay| overlay.goes_in_a_circle(&address, death.reason))
            });
            if circles || tried.contains(&address) {
                return Some(Way::Nowhere);
            }
            if self.find(&address).is_none() && is_plain(&address) {
                self.make_graves_of(&settings);
                return None;
            }
            next = address;
        }
    }
}
