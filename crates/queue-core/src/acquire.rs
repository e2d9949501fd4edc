//! Who holds which message. Local: after a restart nobody holds anything.

use crate::body::BodyRef;
use crate::consumer::Consumer;
use crate::ids::{AcqId, ConsumerId, QueueId, Seq};
use slab::Slab;

/// No acquisition.
pub(crate) const NONE: usize = usize::MAX;

/// A message held by a consumer.
#[derive(Debug)]
pub(crate) struct Acquisition {
    pub(crate) id: AcqId,
    pub(crate) consumer: ConsumerId,
    pub(crate) queue: QueueId,
    pub(crate) seq: Seq,
    /// A command that says what became of it is under way.
    pub(crate) settling: bool,
    /// It left the queue for another reason: nothing that is said of it matters.
    pub(crate) gone: bool,
    /// The bytes that its consumer was given, if the queue does not have them any more: they are kept until the consumer is
    /// done with them.
    pub(crate) keeps: Option<BodyRef>,
    /// The other messages of the consumer.
    next: usize,
    before: usize,
}

impl Acquisition {
    /// Whether nothing was said of it yet, and the message is where it was.
    #[inline]
    pub(crate) fn is_simple(&self) -> bool {
        !self.settling && !self.gone && self.keeps.is_none()
    }
}

/// All acquisitions.
#[derive(Debug, Default)]
pub(crate) struct Acquisitions {
    all: Slab<Acquisition>,
    generation: u32,
}

impl Acquisitions {
    #[inline(always)] // Each message comes by here.
    pub(crate) fn add(&mut self, consumer: &mut Consumer, seq: Seq) -> AcqId {
        self.generation = self.generation.wrapping_add(1);
        let id = AcqId(crate::ids::aged(self.generation, self.all.vacant_key()));
        let (queue, next) = (consumer.queue, consumer.first);
        let acquisition = Acquisition {
            id,
            consumer: consumer.id,
            queue,
            seq,
            settling: false,
            gone: false,
            keeps: None,
            next,
            before: NONE,
        };
        let index = self.all.insert(acquisition);
        if let Some(next) = self.all.get_mut(next) {
            next.before = index;
        }
        consumer.first = index;
        consumer.held += 1;
        id
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: AcqId) -> Option<&mut Acquisition> {
        self.all.get_mut(id.index()).filter(|acquisition| acquisition.id == id)
    }

    pub(crate) fn at(&mut self, index: usize) -> Option<&mut Acquisition> {
        self.all.get_mut(index)
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Ends one.
    #[inline(always)] // Each message comes by here.
    pub(crate) fn remove(&mut self, index: usize, consumers: &mut Slab<Consumer>) -> Option<Acquisition> {
        let gone = self.all.try_remove(index)?;
        if let Some(next) = self.all.get_mut(gone.next) {
            next.before = gone.before;
        }
        match self.all.get_mut(gone.before) {
            Some(before) => before.next = gone.next,
            None => {
                if let Some(consumer) = consumers.get_mut(gone.consumer.index())
                    && consumer.id == gone.consumer
                {
                    consumer.first = gone.next;
                }
            }
        }
        if let Some(consumer) = consumers.get_mut(gone.consumer.index())
            && consumer.id == gone.consumer
        {
            consumer.held -= 1;
        }
        Some(gone)
    }

    /// All that a consumer holds.
    pub(crate) fn of(&self, consumer: &Consumer) -> Vec<usize> {
        let mut found = Vec::with_capacity(consumer.held as usize);
        let mut at = consumer.first;
        while let Some(acquisition) = self.all.get(at) {
            found.push(at);
            at = acquisition.next;
        }
        found
    }
}
