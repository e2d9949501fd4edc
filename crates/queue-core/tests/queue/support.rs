//! A broker with a log that is a list, for tests.

use queue_core::*;

/// A broker, its time, and the entries that were applied.
pub(crate) struct Host {
    pub(crate) broker: Broker,
    pub(crate) now: Millis,
    pub(crate) log: Vec<(Millis, Vec<Command>)>,
    pub(crate) events: Vec<Event>,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self { broker: Broker::new(), now: 1_000_000, log: Vec::new(), events: Vec::new() }
    }

    /// One with a queue.
    pub(crate) fn with(change: impl FnOnce(&mut QueueSettings)) -> (Self, QueueId) {
        let mut host = Self::new();
        let queue = host.create("q", change);
        (host, queue)
    }

    pub(crate) fn apply_all(&mut self, batch: Vec<Command>) -> Vec<Applied> {
        let mut out = Output::default();
        let mut bytes = Vec::new();
        encode_batch(&batch, &mut bytes);
        assert_eq!(decode_batch(&bytes), Ok((batch.clone(), bytes.len())));
        self.log.push((self.now, batch));
        let at = EntryIndex(self.log.len() as u64);
        let batch = &self.log[self.log.len() - 1].1;
        self.broker.apply(at, self.now, batch, &mut out);
        assert_eq!(out.applied.len(), batch.len());
        self.events.append(&mut out.events);
        out.applied
    }

    pub(crate) fn apply(&mut self, command: Command) -> Applied {
        self.apply_all(vec![command]).remove(0)
    }

    pub(crate) fn create(&mut self, address: &str, change: impl FnOnce(&mut QueueSettings)) -> QueueId {
        let mut settings = QueueSettings::new(address);
        change(&mut settings);
        match self.apply(Command::CreateQueue(Box::new(settings))) {
            Ok(Done::Created(queue)) => queue,
            other => panic!("{other:?}"),
        }
    }

    /// Sends a message whose size stands for what it is.
    pub(crate) fn send(&mut self, queue: QueueId, size: u64) -> Applied {
        self.send_facts(queue, Facts::plain(size))
    }

    pub(crate) fn send_facts(&mut self, queue: QueueId, facts: Facts) -> Applied {
        self.apply(enqueue(Target::Queue(queue), facts))
    }

    pub(crate) fn consumer(&mut self, queue: QueueId, credit: u32) -> ConsumerId {
        self.subscribe(queue, credit, ConsumerSettings::new("c"))
    }

    pub(crate) fn subscribe(&mut self, queue: QueueId, credit: u32, settings: ConsumerSettings) -> ConsumerId {
        let consumer = self.broker.subscribe(queue, settings).unwrap();
        self.broker.set_credit(consumer, credit, false);
        consumer
    }

    pub(crate) fn next(&mut self) -> Option<Assignment> {
        self.broker.next_delivery(self.now, &mut MatchAll)
    }

    /// All that can be delivered now: who gets which size.
    pub(crate) fn deliver(&mut self) -> Vec<Assignment> {
        std::iter::from_fn(|| self.next()).collect()
    }

    pub(crate) fn sizes(&mut self) -> Vec<u64> {
        self.deliver().iter().map(|assignment| assignment.size).collect()
    }

    pub(crate) fn settle(&mut self, assignment: &Assignment, outcome: Outcome) {
        let acquisition = assignment.acquisition.unwrap();
        if let Some(command) = self.broker.outcome(acquisition, outcome, self.now) {
            self.apply(command).unwrap();
        }
    }

    /// Time passes, and what happens by itself happens.
    pub(crate) fn wait(&mut self, millis: Millis) {
        self.now += millis;
        let mut commands = Vec::new();
        self.broker.handle_timeout(self.now, &mut commands);
        if !commands.is_empty() {
            self.apply_all(commands);
        }
    }

    pub(crate) fn depth(&mut self, queue: QueueId) -> u64 {
        self.broker.statistics(queue).map_or(0, |statistics| statistics.depth)
    }

    pub(crate) fn queue(&self, address: &str) -> QueueId {
        match self.broker.node(address) {
            Some(Node::Queue(queue)) => queue,
            other => panic!("{address} is {other:?}"),
        }
    }

    /// A broker made of a snapshot of this one.
    pub(crate) fn restored(&self) -> Broker {
        let bytes = self.broker.snapshot(EntryIndex(self.log.len() as u64)).to_bytes();
        let mut restore = Restore::new();
        // In pieces, as files are read.
        for piece in bytes.chunks(1000) {
            restore.feed(piece).unwrap();
        }
        let (broker, at) = restore.finish().unwrap();
        assert_eq!(at, EntryIndex(self.log.len() as u64));
        assert_eq!(broker.snapshot(at).to_bytes(), bytes);
        assert_eq!(broker.written(), self.broker.written());
        broker
    }
}

pub(crate) fn enqueue(to: Target, facts: Facts) -> Command {
    Command::Enqueue(Box::new(Enqueue { to: [to].into_iter().collect(), facts, body: Body::Here }))
}
