//! Looking into queues without taking anything.

use crate::body::BodyRef;
use crate::broker::Broker;
use crate::ids::{ConsumerId, Millis, PRIORITIES, QueueId, Seq};
use crate::overlay::Overlay;
use crate::ranges::Ranges;
use crate::store::entry::NEVER;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A message as it lies in its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peeked {
    /// Its place.
    pub seq: Seq,
    /// Where its bytes are.
    pub body: BodyRef,
    /// How many there are.
    pub size: u64,
    /// The header's priority.
    pub priority: u8,
    /// The header's.
    pub durable: bool,
    /// When it came.
    pub arrived: Millis,
    /// When it expires, if it does.
    pub expires_at: Option<Millis>,
    /// It is not delivered before, unless that time has passed.
    pub deliver_at: Option<Millis>,
    /// Failed deliveries here.
    pub delivery_count: u32,
    /// Who holds it.
    pub held_by: Option<ConsumerId>,
    /// Its group.
    pub group: Option<Arc<str>>,
    /// What it replaces others by, in last-value queues.
    pub key: Option<Arc<[u8]>>,
    /// What is to be added to it.
    pub overlay: Option<Arc<Overlay>>,
}

/// A message whose bytes are in an old entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Living {
    /// Its queue.
    pub queue: QueueId,
    /// Its place.
    pub seq: Seq,
    /// Where its bytes are.
    pub body: BodyRef,
    /// How many there are.
    pub size: u64,
}

/// Where a queue ended at some time.
#[derive(Clone, Copy, Debug)]
pub struct Extent([u64; PRIORITIES]);

impl Broker {
    /// The first so many messages of a queue at a place or behind it, in the order of delivery. Those that are held and
    /// those that are not due are among them.
    pub fn peek(&mut self, queue: QueueId, from: Seq, most: usize) -> Vec<Peeked> {
        let mut found = Vec::new();
        let Some(queue) = self.queues.get_mut(&queue) else { return found };
        let mut next = from;
        while found.len() < most
            && let Some(seq) = queue.lanes.present_from(next)
        {
            next = seq.next();
            let holder = queue.local.holders.get(seq);
            let Some(entry) = queue.lanes.get(seq) else { continue };
            found.push(Peeked {
                seq,
                body: entry.body(),
                size: entry.size(),
                priority: entry.priority,
                durable: entry.durable,
                arrived: entry.arrived,
                expires_at: Some(entry.expires).filter(|expires| *expires != NEVER),
                deliver_at: entry.deliver_at(),
                delivery_count: entry.failed,
                held_by: holder.and_then(|holder| self.acquisitions.at(holder)).map(|held| held.consumer),
                group: entry.group().cloned(),
                key: entry.key().cloned(),
                overlay: entry.overlay().cloned(),
            });
        }
        found
    }

    /// Where a queue ends now: what comes later is behind it. `None`: it is not there.
    pub fn extent(&self, queue: QueueId) -> Option<Extent> {
        let queue = self.queues.get(&queue)?;
        Some(Extent(std::array::from_fn(|lane| queue.lanes.next_in(lane))))
    }

    /// The first so many places of messages at a place or behind it that are within `extent`, in the order of delivery, and
    /// where to go on if there are more.
    pub fn slice(&self, queue: QueueId, extent: &Extent, from: Seq, most: usize) -> (Ranges, Option<Seq>) {
        let mut found = Ranges::new();
        let Some(queue) = self.queues.get(&queue) else { return (found, None) };
        let (mut count, mut next) = (0, from);
        while let Some(seq) = queue.lanes.present_from(next) {
            if count == most {
                return (found, Some(seq));
            }
            if seq.number() < extent.0[seq.lane()] {
                found.push(seq);
                count += 1;
                next = seq.next();
            } else {
                next = Seq::new(seq.lane() + 1, 0);
            }
        }
        (found, None)
    }

    /// The files of all messages that have one of their own, and how often each is told to be needed no more
    /// ([`Event::BodyGone`](crate::Event::BodyGone)): once, unless messages with it have come one by one. Looks at every message:
    /// for the start of a host.
    pub fn files(&self) -> BTreeMap<u64, usize> {
        let doomed = self.doomed.values().map(|doomed| &doomed.queue);
        let all = self.queues.values().chain(doomed);
        let chunks =
            all.flat_map(|queue| queue.lanes.lanes()).flat_map(|(_, of)| of.chunks.iter().map(|(_, chunk)| chunk));
        let mut files = BTreeMap::new();
        for (_, entry) in chunks.flat_map(|chunk| chunk.entries()) {
            if let BodyRef::Large { file } = entry.body() {
                let together = entry.shared && self.shared.contains_key(&entry.body());
                *files.entry(file).or_default() += usize::from(!together);
            }
        }
        let shared =
            self.shared.keys().filter_map(|body| if let BodyRef::Large { file } = body { Some(file) } else { None });
        shared.for_each(|file| *files.entry(*file).or_default() += 1);
        files
    }

    /// Bytes of all messages whose bytes are in these entries of the log, from any queue, and so many more for `each`. One that is
    /// in several queues counts for each of them. Stops counting above `most`.
    pub fn weight_in(&mut self, entries: &RangeInclusive<u64>, each: u64, most: u64) -> u64 {
        let mut weight = 0;
        for queue in self.queues.values_mut() {
            for seq in queue.lanes.places_with_bodies_in(entries) {
                if weight > most {
                    return weight;
                }
                let Some(of) = queue.lanes.get(seq) else { continue };
                if matches!(of.body(), BodyRef::Log { entry, .. } if entries.contains(&entry)) {
                    weight += of.size() + each;
                }
            }
        }
        weight
    }

    /// Up to `most` messages whose bytes are in these entries of the log, from any queue: what keeps a segment of the log
    /// from being used again.
    pub fn living_in(&mut self, entries: &RangeInclusive<u64>, most: usize) -> Vec<Living> {
        let mut found = Vec::new();
        for (id, queue) in &mut self.queues {
            for seq in queue.lanes.places_with_bodies_in(entries) {
                if found.len() >= most {
                    return found;
                }
                let Some(of) = queue.lanes.get(seq) else { continue };
                if matches!(of.body(), BodyRef::Log { entry, .. } if entries.contains(&entry)) {
                    found.push(Living { queue: *id, seq, body: of.body(), size: of.size() });
                }
            }
        }
        found
    }
}
