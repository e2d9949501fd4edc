//! A broker and the model, side by side.

use crate::consumers::{Consumer, Held, View, wanted};
use crate::queues::{Queue, Queues, TOPIC};
use crate::steps::{QUEUES, Said, Sent, Step};
use queue_core::*;
use std::collections::{BTreeMap, BTreeSet};

/// Consumers with a filter want some messages only. Of some it says only when it is asked again.
#[derive(Default)]
struct Filter {
    fetched: BTreeSet<(ConsumerId, BodyRef)>,
    waiting: Vec<ConsumerId>,
}

impl Matcher for Filter {
    fn matches(&mut self, consumer: ConsumerId, candidate: &Candidate<'_>) -> Match {
        if candidate.size.is_multiple_of(4) && self.fetched.insert((consumer, candidate.body)) {
            self.waiting.push(consumer);
            return Match::Unknown;
        }
        if wanted(candidate.size) { Match::Yes } else { Match::No }
    }
}

pub(crate) struct World {
    broker: Broker,
    /// The same commands, without any consumer.
    replica: Broker,
    model: Queues,
    consumers: Vec<Consumer>,
    pending: Vec<Command>,
    entry: u64,
    /// When it was last looked which messages are due.
    due: Millis,
    next_id: u64,
    /// Where the bytes of messages are, and which of them are needed.
    bodies: BTreeMap<BodyRef, u64>,
}

impl World {
    pub(crate) fn new(settings: Vec<QueueSettings>) -> Self {
        let mut world = Self {
            broker: Broker::new(),
            replica: Broker::new(),
            model: Queues { now: 1000, ..Queues::default() },
            consumers: Vec::new(),
            pending: Vec::new(),
            entry: 0,
            due: 1000,
            next_id: 0,
            bodies: BTreeMap::new(),
        };
        let mut out = Output::default();
        let create = [Command::CreateTopic(Box::new(QueueSettings::new(TOPIC)))];
        for broker in [&mut world.broker, &mut world.replica] {
            broker.apply(EntryIndex(0), 1000, &create, &mut out);
        }
        let Ok(Done::TopicCreated(topic)) = out.applied[0] else { panic!("{out:?}") };
        world.model.topic = Some(topic);
        for (at, mut settings) in settings.into_iter().enumerate() {
            settings.topic = (at > 1).then_some(topic);
            world.pending.push(Command::CreateQueue(Box::new(settings)));
        }
        world.flush();
        world
    }

    fn id(&self, queue: usize) -> Option<QueueId> {
        self.model.all.get(QUEUES[queue]).map(|queue| queue.id)
    }

    pub(crate) fn step(&mut self, step: &Step) {
        match step {
            Step::Send { to, topic, message } => self.send(to, *topic, message),
            Step::Subscribe { queue, copy, exclusive, priority, filter, name } => {
                let mut settings = ConsumerSettings::new(format!("c{name}"));
                settings.mode = if *copy { Mode::Copy } else { Mode::Move };
                (settings.exclusive, settings.priority, settings.filter) = (*exclusive, *priority, *filter);
                self.subscribe(*queue, settings);
            }
            Step::Credit { consumer, credit, drain } => self.credit(*consumer, *credit, *drain),
            Step::Cancel { consumer, lost } => self.cancel(*consumer, *lost),
            Step::Say { which, outcome } => self.say(*which, *outcome),
            Step::Transaction { outcomes, sent } => self.transaction(outcomes, sent),
            Step::Flush => self.flush(),
            Step::Withdraw => self.withdraw(),
            Step::Deliver => self.deliver(),
            Step::DeliverLate => {
                self.model.now += 2;
                self.deliver();
                self.look_after();
            }
            Step::Wait(millis) => {
                self.model.now += millis;
                self.look_after();
            }
            Step::Graves { queue } => self.graves(*queue),
            Step::Restart => self.restart(),
            Step::Relocate => self.relocate(),
            other => self.manage(other),
        }
        self.compare();
    }

    fn manage(&mut self, step: &Step) {
        let selection = |first: &Option<u64>| first.map_or(Selection::All, Selection::First);
        let command = match step {
            Step::Purge { queue, first } => {
                self.id(*queue).map(|queue| Command::Purge { queue, what: selection(first) })
            }
            Step::Move { from, to, first } => {
                self.id(*from).zip(self.id(*to)).map(|(from, to)| Command::Move { from, to, what: selection(first) })
            }
            Step::Retry { queue } => self.id(*queue).map(|queue| Command::Retry { queue, what: Selection::All }),
            Step::Delete { queue, bury } => self.id(*queue).map(|queue| {
                let orphans = if *bury { Orphans::DeadLetter } else { Orphans::Drop };
                Command::DeleteQueue { queue, if_empty: false, orphans }
            }),
            Step::Change { queue, settings } => {
                let topic = self.model.topic.filter(|_| *queue > 1);
                let settings = QueueSettings { address: QUEUES[*queue].into(), topic, ..(**settings).clone() };
                Some(match self.id(*queue) {
                    Some(queue) => Command::ChangeQueue { queue, settings: Box::new(settings) },
                    None => Command::CreateQueue(Box::new(settings)),
                })
            }
            other => panic!("{other:?}"),
        };
        // At once: the model of commands under way is that of what consumers say.
        self.flush();
        self.pending.extend(command);
        self.flush();
    }

    /// As a host does when a queue is declared. What is there already stays as it is.
    fn graves(&mut self, queue: usize) {
        let Some(queue) = self.model.all.get(QUEUES[queue]) else { return };
        let graves = queue.settings.graves().map(|address| queue.settings.grave(address.clone()));
        self.pending.extend(graves.map(|grave| Command::CreateQueue(Box::new(grave))));
    }

    fn facts(&mut self, message: &Sent) -> Facts {
        self.next_id += 1;
        let now = self.model.now;
        Facts {
            priority: message.priority,
            expires_at: message.ttl.map(|ttl| now + ttl),
            deliver_at: message.delay.map(|delay| now + delay),
            group: message.group.map(Into::into),
            duplicate_id: message.duplicate.map(|id| id.as_bytes().into()),
            keys: message.key.map(|key| ("k".into(), key.as_bytes().into())).into_iter().collect(),
            ..Facts::plain(self.next_id)
        }
    }

    fn send(&mut self, to: &[usize], topic: bool, message: &Sent) {
        let mut targets: Vec<Target> = to.iter().filter_map(|queue| self.id(*queue)).map(Target::Queue).collect();
        if topic && let Some(topic) = self.model.topic {
            let except = targets.iter().filter_map(|t| if let Target::Queue(id) = t { Some(*id) } else { None });
            targets = vec![Target::Topic { topic, except: except.collect() }];
        }
        let facts = self.facts(message);
        let enqueue = Enqueue { to: targets.into(), facts, body: Body::Here };
        self.pending.push(Command::Enqueue(Box::new(enqueue)));
    }

    fn subscribe(&mut self, queue: usize, settings: ConsumerSettings) {
        let Some(queue) = self.id(queue) else { return };
        let takers = self.consumers.iter().filter(|c| !c.gone && c.queue == queue && c.settings.mode == Mode::Move);
        let refused = settings.mode == Mode::Move
            && (takers.clone().any(|other| other.settings.exclusive) || settings.exclusive && takers.count() > 0);
        let result = self.broker.subscribe(queue, settings.clone());
        assert_eq!(result.is_err(), refused, "{result:?}");
        if let Ok(id) = result {
            let (held, seen) = (Vec::new(), Vec::new());
            self.consumers.push(Consumer {
                id,
                queue,
                settings,
                credit: 0,
                drain: false,
                gone: false,
                waits: false,
                held,
                seen,
            });
        }
    }

    /// One of the consumers that are there.
    fn pick(&self, which: usize) -> Option<usize> {
        let there: Vec<usize> = (0..self.consumers.len()).filter(|number| !self.consumers[*number].gone).collect();
        there.get(which % there.len().max(1)).copied()
    }

    fn credit(&mut self, which: usize, credit: u32, drain: bool) {
        let Some(number) = self.pick(which) else { return };
        let consumer = &mut self.consumers[number];
        (consumer.credit, consumer.drain) = (credit, drain);
        self.broker.set_credit(consumer.id, credit, drain);
    }

    fn cancel(&mut self, which: usize, lost: bool) {
        let Some(number) = self.pick(which) else { return };
        let outcome = if lost { Outcome::lost() } else { Outcome::Released };
        let consumer = &mut self.consumers[number];
        consumer.gone = true;
        let id = consumer.id;
        let held = std::mem::take(&mut consumer.held);
        self.broker.cancel(id, &outcome, self.model.now, &mut self.pending);
        for held in held {
            if !lost && !held.spoken {
                self.released(number, &held);
            }
        }
        self.late_events();
    }

    fn released(&mut self, number: usize, held: &Held) {
        let Some(address) = self.model.by_id(held.queue) else { return };
        let queue = self.model.all.get_mut(&address).unwrap();
        for message in &mut queue.messages {
            if message.seq == held.seq && message.holder == Some(number) {
                message.holder = None;
                message.returned = true;
            }
        }
    }

    /// One of the deliveries of which nothing was said.
    fn held(&self, which: usize) -> Option<(usize, usize)> {
        let mut all = Vec::new();
        for (number, consumer) in self.consumers.iter().enumerate() {
            all.extend((0..consumer.held.len()).filter(|at| !consumer.held[*at].spoken).map(|at| (number, at)));
        }
        all.get(which % all.len().max(1)).copied()
    }

    /// Whether the message is still in its queue.
    fn is_there(&self, held: &Held) -> bool {
        let address = self.model.by_id(held.queue);
        address.is_some_and(|address| self.model.all[&address].position(held.seq).is_some())
    }

    fn say(&mut self, which: usize, said: Said) {
        let Some((number, at)) = self.held(which) else { return };
        let held = self.consumers[number].held[at].clone();
        let command = self.broker.outcome(held.acquisition, said.outcome(), self.model.now);
        let there = self.is_there(&held);
        assert_eq!(command.is_some(), there && !matches!(said, Said::Released), "{command:?}");
        match command {
            Some(command) => {
                self.consumers[number].held[at].spoken = true;
                self.pending.push(command);
            }
            None => {
                self.consumers[number].held.remove(at);
                self.released(number, &held);
                self.late_events();
            }
        }
    }

    fn transaction(&mut self, outcomes: &[(usize, Said)], sent: &[(usize, Sent)]) {
        let mut commands = Vec::new();
        for (which, said) in outcomes {
            let Some((number, at)) = self.held(*which) else { continue };
            let held = self.consumers[number].held[at].clone();
            match self.broker.settlement(held.acquisition, said.outcome()) {
                Some(command) => {
                    self.consumers[number].held[at].spoken = true;
                    commands.push(command);
                }
                None => {
                    assert!(!self.is_there(&held));
                    self.consumers[number].held.remove(at);
                    self.late_events();
                }
            }
        }
        for (queue, message) in sent {
            let Some(queue) = self.id(*queue) else { continue };
            let to = [Target::Queue(queue)].into_iter().collect();
            let facts = self.facts(message);
            commands.push(Command::Enqueue(Box::new(Enqueue { to, facts, body: Body::Here })));
        }
        self.pending.push(Command::Transaction(commands));
    }

    fn withdraw(&mut self) {
        let Some(command) = self.pending.pop() else { return };
        self.broker.withdraw(&command, self.model.now);
        let mut commands = vec![command];
        while let Some(command) = commands.pop() {
            match command {
                Command::Transaction(inner) => commands.extend(inner),
                Command::Settle(settle) => self.unspoken(&settle),
                Command::Expire { queue, items } => self.put_aside(queue, &items, false),
                _ => {}
            }
        }
    }

    /// Consumers may say again what becomes of these.
    fn unspoken(&mut self, settle: &Settle) {
        let is_in = |seq: Seq| settle.items.iter().any(|(first, last)| (first..=last).contains(&seq));
        for held in self.consumers.iter_mut().flat_map(|consumer| &mut consumer.held) {
            if held.queue == settle.queue && is_in(held.seq) {
                held.spoken = false;
            }
        }
        // Those of consumers that are gone are given back.
        let Some(address) = self.model.by_id(settle.queue) else { return };
        for message in &mut self.model.all.get_mut(&address).unwrap().messages {
            if is_in(message.seq) && message.holder.is_some_and(|holder| self.consumers[holder].gone) {
                message.holder = None;
                message.returned = true;
            }
        }
    }

    fn put_aside(&mut self, queue: QueueId, items: &Ranges, aside: bool) {
        let Some(address) = self.model.by_id(queue) else { return };
        for message in &mut self.model.all.get_mut(&address).unwrap().messages {
            if items.iter().any(|(first, last)| (first..=last).contains(&message.seq)) {
                let expired = message.expires.is_some_and(|expires| expires <= self.model.now);
                if aside {
                    assert!(expired && message.holder.is_none() && !message.aside, "{message:?}");
                }
                message.returned |= !aside;
                message.aside = aside;
            }
        }
    }

    /// All commands under way are applied in one entry.
    pub(crate) fn flush(&mut self) {
        let batch = std::mem::take(&mut self.pending);
        if batch.is_empty() {
            return;
        }
        self.entry += 1;
        let (at, now) = (EntryIndex(self.entry), self.model.now);
        let mut bytes = Vec::new();
        encode_batch(&batch, &mut bytes);
        let (decoded, used) = decode_batch(&bytes).unwrap();
        assert_eq!((&decoded, used), (&batch, bytes.len()));
        self.note_bodies(&batch);
        let mut out = Output::default();
        self.broker.apply(at, now, &batch, &mut out);
        let mut replica = Output::default();
        self.replica.apply(at, now, &decoded, &mut replica);
        assert_eq!(replica.applied, out.applied);
        for (command, result) in batch.iter().zip(&out.applied) {
            self.apply_to_model(command, result, &out.events);
        }
        self.events(out.events);
    }

    fn note_bodies(&mut self, batch: &[Command]) {
        let mut part = 0;
        let mut all: Vec<&Command> = batch.iter().collect();
        while !all.is_empty() {
            match all.remove(0) {
                Command::Enqueue(enqueue) => {
                    self.bodies.insert(BodyRef::Log { entry: self.entry, part }, enqueue.facts.size);
                    part += 1;
                }
                Command::Transaction(commands) => {
                    commands.iter().rev().for_each(|command| all.insert(0, command));
                }
                _ => {}
            }
        }
    }

    fn apply_to_model(&mut self, command: &Command, result: &Applied, events: &[Event]) {
        if let Command::Relocate { .. } = command {
            return;
        }
        let expected = self.model.apply(command);
        let (expected, result) = match (expected, result) {
            (Ok(Done::Created(_)), Ok(Done::Created(_))) => (result.clone(), result),
            (expected, result) => (expected, result),
        };
        assert_eq!(&expected, result, "{command:?}");
        // Ids are the broker's to give.
        for queue in self.model.all.values_mut() {
            if let Some(Node::Queue(id)) = self.broker.node(&queue.settings.address) {
                queue.id = id;
            }
        }
        match (command, result) {
            (Command::Transaction(commands), Err(_)) => {
                for command in commands {
                    if let Command::Settle(settle) = command {
                        self.unspoken(settle);
                    }
                }
            }
            (Command::DeleteQueue { queue, .. }, Ok(_)) => self.deleted(*queue, events),
            _ => {}
        }
        self.forget_settled();
    }

    /// The consumers of a deleted queue are gone.
    fn deleted(&mut self, queue: QueueId, events: &[Event]) {
        let mut gone = Vec::new();
        for consumer in &mut self.consumers {
            if consumer.queue == queue && !consumer.gone {
                consumer.gone = true;
                gone.push(consumer.id);
            }
            if consumer.queue == queue {
                consumer.held.clear();
            }
        }
        gone.sort();
        let told = events.iter().any(|event| match event {
            Event::QueueDeleted { queue: of, consumers, .. } => {
                *of == queue && {
                    let mut consumers = consumers.clone();
                    consumers.sort();
                    consumers == gone
                }
            }
            _ => false,
        });
        assert!(told, "{events:?}");
    }

    /// What was said has been applied: the delivery is over, whether the message is gone or not.
    fn forget_settled(&mut self) {
        let model = &self.model;
        for (number, consumer) in self.consumers.iter_mut().enumerate() {
            consumer.held.retain(|held| {
                let address = model.by_id(held.queue);
                let queue = address.map(|address| &model.all[&address]);
                let message = queue.and_then(|queue| queue.messages.iter().find(|m| m.seq == held.seq));
                let holds = message.is_some_and(|message| message.holder == Some(number));
                // Gone for another reason: it is still to be spoken of.
                holds || (!held.spoken && message.is_none())
            });
        }
    }

    fn late_events(&mut self) {
        let mut events = Vec::new();
        self.broker.take_events(&mut events);
        self.events(events);
    }

    /// Bytes that are said to be unneeded are, and those that are unneeded are said to be.
    fn events(&mut self, events: Vec<Event>) {
        for event in events {
            if let Event::BodyGone { body, .. } = event {
                let id = self.bodies.remove(&body);
                assert!(id.is_some(), "{body:?} was not there, or gone before");
            }
        }
    }

    fn check_bodies(&self) {
        let needed: BTreeSet<u64> = self.bodies.values().copied().collect();
        // What consumers hold of messages that have left their queues.
        let held = self.consumers.iter().flat_map(|consumer| &consumer.held);
        let orphans = held.filter(|held| !held.spoken && !self.is_there(held)).map(|held| held.id);
        let messages = self.model.all.values().flat_map(|queue| &queue.messages).map(|message| message.id);
        assert_eq!(needed, orphans.chain(messages).collect::<BTreeSet<u64>>());
    }

    fn view<'a>(&'a self, queue: &'a Queue) -> View<'a> {
        View { queue, consumers: &self.consumers, now: self.model.now, due: self.due }
    }

    fn deliver(&mut self) {
        let mut filter = Filter::default();
        loop {
            self.deliver_what_is_known(&mut filter);
            if filter.waiting.is_empty() {
                break;
            }
            filter.waiting.drain(..).for_each(|consumer| self.broker.fetched(consumer));
        }
        self.check_delivered();
    }

    fn deliver_what_is_known(&mut self, filter: &mut Filter) {
        while let Some(given) = self.broker.next_delivery(self.model.now, filter) {
            for consumer in &mut self.consumers {
                consumer.waits = filter.waiting.contains(&consumer.id);
            }
            let is = |consumer: &Consumer| !consumer.gone && consumer.id == given.consumer;
            let number = self.consumers.iter().position(is).unwrap();
            let address = self.model.by_id(given.queue).unwrap();
            self.view(&self.model.all[&address]).check(number, given.seq);
            let queue = self.model.all.get_mut(&address).unwrap();
            let at = queue.position(given.seq).unwrap();
            let message = &mut queue.messages[at];
            assert_eq!(
                (given.size, given.delivery_count, given.redelivered, given.expires_at),
                (message.id, message.failed, message.failed > 0 || message.returned, message.expires)
            );
            let consumer = &mut self.consumers[number];
            consumer.credit -= 1;
            match given.acquisition {
                Some(acquisition) => {
                    message.holder = Some(number);
                    let (queue, seq, id) = (given.queue, given.seq, given.size);
                    consumer.held.push(Held { acquisition, queue, seq, id, spoken: false });
                }
                None => consumer.seen.push(given.seq),
            }
        }
    }

    fn check_delivered(&mut self) {
        for queue in self.model.all.values() {
            self.view(queue).check_nothing_left();
        }
        while let Some((id, credit)) = self.broker.next_drained() {
            let is = |consumer: &&mut Consumer| consumer.id == id && !consumer.gone;
            if let Some(consumer) = self.consumers.iter_mut().find(is)
                && consumer.drain
            {
                assert_eq!(credit, consumer.credit);
                (consumer.credit, consumer.drain) = (0, false);
            }
        }
        assert!(self.consumers.iter().all(|consumer| consumer.gone || !consumer.drain));
        for consumer in self.consumers.iter().filter(|consumer| !consumer.gone) {
            assert_eq!(self.broker.credit(consumer.id), consumer.credit);
        }
    }

    fn look_after(&mut self) {
        let now = self.model.now;
        let mut commands = Vec::new();
        self.broker.handle_timeout(now, &mut commands);
        self.due = now;
        for command in &commands {
            match command {
                Command::Expire { queue, items } => self.put_aside(*queue, items, true),
                other => panic!("{other:?}"),
            }
        }
        for message in self.model.all.values().flat_map(|queue| &queue.messages) {
            let expired = message.expires.is_some_and(|expires| expires <= now);
            assert!(!expired || message.aside || message.holder.is_some(), "{message:?} is not removed");
        }
        self.pending.extend(commands);
    }

    fn relocate(&mut self) {
        let old = self.broker.living_in(&(0..=self.entry - 1), 1000);
        let Some(first) = old.first() else { return };
        let of: Vec<_> = old.iter().filter(|living| living.body == first.body).map(|l| (l.queue, l.seq)).collect();
        self.flush();
        let id = self.bodies.get(&first.body).copied();
        let Some(id) = id else { return };
        self.bodies.insert(BodyRef::Log { entry: self.entry + 1, part: 0 }, id);
        self.pending.push(Command::Relocate { from: first.body, of });
        self.flush();
    }

    /// The process ends and starts again: what was under way, and who was there, is lost.
    fn restart(&mut self) {
        let bytes = self.broker.snapshot(EntryIndex(self.entry)).to_bytes();
        let mut restore = Restore::new();
        bytes.chunks(333).for_each(|piece| restore.feed(piece).unwrap());
        self.broker = restore.finish().unwrap().0;
        self.pending.clear();
        for consumer in &mut self.consumers {
            consumer.gone = true;
            consumer.held.clear();
        }
        for message in self.model.all.values_mut().flat_map(|queue| &mut queue.messages) {
            (message.holder, message.aside, message.returned) = (None, false, false);
        }
        // What only consumers needed is not needed any more.
        let queues: Vec<QueueId> = self.broker.queues().map(|(id, _)| id).collect();
        let messages = queues.into_iter().flat_map(|queue| self.broker.peek(queue, Seq::FIRST, usize::MAX));
        let needed: BTreeSet<BodyRef> = messages.map(|message| message.body).collect();
        self.bodies.retain(|body, _| needed.contains(body));
        self.look_after();
    }

    fn compare(&mut self) {
        let at = EntryIndex(self.entry);
        assert_eq!(self.broker.snapshot(at).to_bytes(), self.replica.snapshot(at).to_bytes());
        let ours: Vec<_> = self.broker.queues().map(|(id, settings)| (settings.address.to_string(), id)).collect();
        let theirs: BTreeMap<_, _> =
            self.model.all.iter().map(|(address, queue)| (address.clone(), queue.id)).collect();
        assert_eq!(ours.into_iter().collect::<BTreeMap<_, _>>(), theirs);
        for queue in self.model.all.values() {
            let peeked = self.broker.peek(queue.id, Seq::FIRST, usize::MAX);
            let ours: Vec<_> = peeked
                .iter()
                .map(|m| {
                    let overlay = m.overlay.as_deref().cloned().unwrap_or_default();
                    let deaths: Vec<_> =
                        overlay.deaths.iter().map(|d| (d.address.to_string(), d.reason, d.count)).collect();
                    let refused: Vec<String> = overlay.undeliverable.iter().map(|name| name.to_string()).collect();
                    (m.seq, m.size, m.arrived, m.expires_at, m.delivery_count, deaths, refused, m.held_by)
                })
                .collect();
            let theirs: Vec<_> = queue
                .messages
                .iter()
                .map(|m| {
                    let holder = m.holder.map(|number| self.consumers[number].id);
                    (m.seq, m.id, m.arrived, m.expires, m.failed, m.deaths.clone(), m.undeliverable.clone(), holder)
                })
                .collect();
            assert_eq!(ours, theirs);
            let statistics = self.broker.statistics(queue.id).unwrap();
            assert_eq!((statistics.depth, statistics.bytes), (theirs.len() as u64, queue.bytes()));
        }
        self.check_bodies();
    }

    /// Everything that can be delivered is, and accepted: nothing may be stuck.
    pub(crate) fn end(&mut self) {
        self.flush();
        self.compare();
    }
}
