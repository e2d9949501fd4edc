//! Messages that go from a queue of one side to one of the other: dead letters (see [`super::shadows`]), and what management
//! moves or sends back. They stay where they are, set aside, until the other side has them: if that is the log, until they are on
//! disk. Then they leave. What a crash comes between is on the durable side once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use queue_core::{Adopt, Body, BodyRef, Command, Done, Peeked, QueueId, Ranges, Selection, Seq, Target, TopicId};
use slab::Slab;

use super::admission::Answers;
use super::journal::Waiter;
use super::links::{Destination, Place, Side};
use super::node::Node;
use crate::content::Whole;

/// Messages, and bytes of them in memory, that go at once: as many as one crossing holds.
pub(super) const MOST: usize = 256;
pub(super) const MOST_BYTES: u64 = 1024 * 1024;

/// All that is under way.
#[derive(Default)]
pub(super) struct Crossings {
    all: Slab<Crossing>,
    /// Those that wait for bytes of messages.
    reading: HashMap<BodyRef, Vec<usize>>,
    /// Those that wait for filters of subscriptions.
    asking: VecDeque<usize>,
}

impl Crossings {
    /// Whether one waits for filters.
    pub(super) fn are_asking(&self) -> bool {
        !self.asking.is_empty()
    }
}

/// Messages of one queue that go at once.
struct Crossing {
    from: Place,
    travellers: Vec<Traveller>,
    /// Bytes, and later commands, of which nothing is known yet.
    waits: usize,
    purpose: Purpose,
}

/// Whose the messages are that go.
pub(super) enum Purpose {
    /// A shadow is emptied.
    Shadow,
    /// Somebody outside waits to hear how many have gone.
    Somebody(Sender<u64>),
}

/// A message that goes.
pub(super) struct Traveller {
    seq: Seq,
    body: BodyRef,
    way: Way,
    whole: Option<Arc<Whole>>,
    /// It is where it was to go, and leaves.
    leaves: bool,
}

/// Where a message goes.
pub(super) enum Way {
    /// To a queue of the other side.
    Across(Box<Adopt>),
    /// To the subscriptions of a topic, on both sides.
    Published(Box<Publication>),
    /// To a queue of the side that it is on.
    Within(QueueId),
    /// Nowhere: it is dropped.
    Nowhere,
}

/// A message that goes to the subscriptions of a topic.
pub(super) struct Publication {
    topics: [TopicId; 2],
    message: Peeked,
    /// What their filters say.
    answers: Answers,
    /// All have been asked.
    asked: bool,
}

impl Way {
    /// To the subscriptions of a topic but for one queue, which it has come from.
    pub(super) fn published(peeked: &Peeked, topics: [TopicId; 2], from: Option<Place>) -> Self {
        let mut answers = Answers::default();
        if let Some(Place { side, queue }) = from {
            answers.except[side as usize].push(queue);
        }
        Self::Published(Box::new(Publication { topics, message: peeked.clone(), answers, asked: false }))
    }

    /// To a queue of the other side. `if_room`: unless that is full and refuses what comes then.
    pub(super) fn across(peeked: &Peeked, to: QueueId, if_room: bool) -> Self {
        Self::Across(Box::new(Adopt::of(peeked, Target::Queue(to), if_room)))
    }
}

/// Bytes of a message that have to be in memory for it to go: a file is not touched.
pub(super) fn bytes_of(peeked: &Peeked) -> u64 {
    match peeked.body {
        BodyRef::Log { .. } => peeked.size,
        BodyRef::Large { .. } => 0,
    }
}

impl Node {
    /// Sets messages of a queue aside and lets them go. How many there are that nobody holds; if there is none, nobody hears.
    pub(super) fn cross(&mut self, from: Place, found: Vec<(Peeked, Way)>, purpose: Purpose) -> u64 {
        let items: Ranges = found.iter().map(|(peeked, _)| peeked.seq).collect();
        let aside = self.broker(from.side).set_aside(from.queue, &items, u64::MAX, false);
        if aside.count == 0 {
            return 0;
        }
        let is_aside = |seq: Seq| aside.items.iter().any(|(first, last)| first <= seq && seq <= last);
        let travellers = found.into_iter().filter(|(peeked, _)| is_aside(peeked.seq)).map(|(peeked, way)| Traveller {
            seq: peeked.seq,
            body: peeked.body,
            way,
            whole: None,
            leaves: false,
        });
        let crossing = Crossing { from, travellers: travellers.collect(), waits: 0, purpose };
        let key = self.crossings.all.insert(crossing);
        self.gather_bytes(key);
        aside.count
    }

    /// Has the bytes of a crossing's messages read, as far as they are not in memory.
    fn gather_bytes(&mut self, key: usize) {
        let Self { crossings: Crossings { all, reading, .. }, bodies, .. } = self;
        let Some(crossing) = all.get_mut(key) else { return };
        let mut missing = Vec::new();
        for traveller in crossing.travellers.iter_mut().filter(|traveller| traveller.needs_bytes()) {
            traveller.whole = bodies.beginning(traveller.body).cloned();
            if traveller.whole.is_none() && !missing.contains(&traveller.body) {
                missing.push(traveller.body);
                reading.entry(traveller.body).or_default().push(key);
            }
        }
        crossing.waits = missing.len();
        missing.iter().for_each(|body| self.ask_for(*body));
        self.ask_if_ready(key);
    }

    /// The bytes of a message are in memory, or cannot be read: then it stays.
    pub(super) fn crossing_has_read(&mut self, body: BodyRef) {
        if self.crossings.reading.is_empty() {
            return;
        }
        for key in self.crossings.reading.remove(&body).into_iter().flatten() {
            let whole = self.bodies.beginning(body).cloned();
            let Some(crossing) = self.crossings.all.get_mut(key) else { continue };
            for traveller in crossing.travellers.iter_mut().filter(|traveller| traveller.body == body) {
                traveller.whole.clone_from(&whole);
            }
            crossing.waits -= 1;
            self.ask_if_ready(key);
        }
    }

    /// Goes on with those that wait for filters, for as long as others may wait for that.
    pub(super) fn go_on_crossing(&mut self) {
        for _ in 0..self.crossings.asking.len() {
            if let Some(key) = self.crossings.asking.pop_front() {
                self.ask_if_ready(key);
            }
        }
    }

    /// All bytes are there: subscriptions are asked what they let in, if there are any.
    fn ask_if_ready(&mut self, key: usize) {
        let Some(crossing) = self.crossings.all.get_mut(key).filter(|crossing| crossing.waits == 0) else { return };
        let mut travellers = std::mem::take(&mut crossing.travellers);
        let mut look = None;
        let are_asked = travellers.iter_mut().all(|traveller| {
            let (Way::Published(publication), Some(whole)) = (&mut traveller.way, &traveller.whole) else {
                return true;
            };
            let Publication { topics, answers, asked, .. } = &mut **publication;
            let look = look.get_or_insert_with(|| self.look_of(Destination::Topic(*topics)));
            *asked = *asked || self.ask_subscriptions(*topics, look, whole.bytes(), "", answers);
            *asked
        });
        if let Some(crossing) = self.crossings.all.get_mut(key) {
            crossing.travellers = travellers;
        }
        match are_asked {
            true => self.depart(key, look.map_or([false; 2], |look| look.sides)),
            false => self.crossings.asking.push_back(key),
        }
    }

    /// The other side is told of the messages. `sides`: those on which a topic has subscriptions.
    fn depart(&mut self, key: usize, sides: [bool; 2]) {
        let Some(crossing) = self.crossings.all.get_mut(key) else { return };
        let to = crossing.from.side.other();
        let mut commands = Vec::new();
        for (at, traveller) in crossing.travellers.iter_mut().enumerate() {
            let whole = traveller.whole.take();
            let is_ready = whole.is_some() || !traveller.needs_bytes();
            let adopt = match &mut traveller.way {
                Way::Across(adopt) => adopt.clone(),
                Way::Published(publication) if sides[to as usize] => publication.adopt(to),
                Way::Published(_) => {
                    traveller.leaves = is_ready;
                    continue;
                }
                Way::Within(_) | Way::Nowhere => {
                    traveller.leaves = true;
                    continue;
                }
            };
            if is_ready {
                commands.push((at, adopt, whole));
            }
        }
        crossing.waits = commands.len();
        for (at, adopt, whole) in commands {
            let whole = match adopt.body {
                Body::Here => whole,
                Body::Large { file } => {
                    self.large.used_once_more(file);
                    None
                }
            };
            self.submit(to, Command::Adopt(adopt), whole, Waiter::Across { crossing: key, at });
        }
        self.arrive_if_ready(key);
    }

    /// What became of one of the commands for a crossing.
    pub(super) fn across(&mut self, key: usize, at: usize, applied: &queue_core::Applied) {
        let crossing = self.crossings.all.get(key);
        let traveller = crossing.and_then(|crossing| crossing.travellers.get(at));
        // Whether a topic has subscriptions with room is no concern of who publishes.
        let is_published = traveller.is_some_and(|traveller| matches!(traveller.way, Way::Published(_)));
        self.across_or_not(key, at, is_published || matches!(applied, Ok(Done::Enqueued { .. })));
    }

    /// The same: the message is on the other side, or stays.
    pub(super) fn across_or_not(&mut self, key: usize, at: usize, is_across: bool) {
        let Some(crossing) = self.crossings.all.get_mut(key) else { return };
        crossing.waits -= 1;
        if let Some(traveller) = crossing.travellers.get_mut(at) {
            traveller.leaves = is_across;
        }
        self.arrive_if_ready(key);
    }

    /// All is known: what is elsewhere leaves, and the others are as before.
    fn arrive_if_ready(&mut self, key: usize) {
        let Some(crossing) = self.crossings.all.get_mut(key).filter(|crossing| crossing.waits == 0) else { return };
        let Place { side, queue } = crossing.from;
        let (mut leave, mut stay, mut others) = (Ranges::new(), Ranges::new(), Vec::new());
        for Traveller { seq, way, leaves, .. } in &mut crossing.travellers {
            match way {
                _ if !*leaves => stay.push(*seq),
                Way::Within(to) => {
                    let what = Selection::These(Ranges::from(*seq));
                    others.push(Command::Move { from: queue, to: *to, what });
                }
                Way::Published(publication) => {
                    others.push(Command::Spread { from: queue, item: *seq, to: publication.target(side) });
                }
                Way::Across(_) | Way::Nowhere => leave.push(*seq),
            }
        }
        let now = self.clock();
        let these = |items| Command::Purge { queue, what: Selection::These(items) };
        self.broker(side).withdraw(&these(stay), now);
        others.into_iter().for_each(|command| self.submit(side, command, None, Waiter::Nobody));
        // It is over when this is, even if nothing is to leave so.
        self.submit(side, these(leave), None, Waiter::Left { crossing: key });
    }

    /// The messages of a crossing have left where they were. `taken`: the log says so, too.
    pub(super) fn crossed(&mut self, key: usize, taken: bool) {
        let Some(Crossing { from, travellers, purpose, .. }) = self.crossings.all.try_remove(key) else { return };
        let count = travellers.iter().filter(|traveller| traveller.leaves).count() as u64;
        match purpose {
            Purpose::Shadow => self.shadow_goes_on(from, count > 0 && taken),
            // Who gets no answer says what is the matter with the store.
            Purpose::Somebody(reply) if count > 0 && !taken => drop(reply),
            // Who does not wait any more needs no answer.
            Purpose::Somebody(reply) => drop(reply.send(count)),
        }
    }
}

impl Traveller {
    /// Whether its bytes, or the beginning of what is in its file, have to be in memory.
    fn needs_bytes(&self) -> bool {
        match &self.way {
            Way::Across(_) => matches!(self.body, BodyRef::Log { .. }),
            Way::Published(_) => true,
            Way::Within(_) | Way::Nowhere => false,
        }
    }
}

impl Publication {
    /// Those subscriptions of a side that let it in.
    fn target(&mut self, side: Side) -> Target {
        let except = std::mem::take(&mut self.answers.except[side as usize]);
        Target::Topic { topic: self.topics[side as usize], except }
    }

    fn adopt(&mut self, side: Side) -> Box<Adopt> {
        let to = self.target(side);
        Box::new(Adopt::of(&self.message, to, true))
    }
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Logged => Self::Memory,
            Self::Memory => Self::Logged,
        }
    }
}
