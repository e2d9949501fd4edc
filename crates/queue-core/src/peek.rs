//! Looking into queues without taking anything.

use crate::body::BodyRef;
use crate::broker::Broker;
use crate::ids::{ConsumerId, Millis, QueueId, Seq};
use crate::overlay::Overlay;
use crate::store::entry::NEVER;
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
            let holder = queue.local.holders.get(&seq).copied();
            let Some(entry) = queue.lanes.get(seq) else { continue };
            found.push(Peeked {
                seq,
                body: entry.body(),
                size: entry.size(),
                priority: entry.priority,
                arrived: entry.arrived,
                expires_at: Some(entry.expires).filter(|expires| *expires != NEVER),
                deliver_at: entry.deliver_at(),
                delivery_count: entry.failed,
                held_by: holder.and_then(|holder| self.acquisitions.at(holder)).map(|held| held.consumer),
                group: entry.group().cloned(),
                overlay: entry.overlay().cloned(),
            });
        }
        found
    }

    /// The files of all messages that have one of their own. Looks at every message: for the start of a host.
    pub fn files(&self) -> Vec<u64> {
        let chunks = self.queues.values().flat_map(|queue| queue.lanes.lanes()).flat_map(|(_, of)| of.chunks.values());
        let bodies = chunks.flat_map(|chunk| chunk.entries()).map(|(_, entry)| entry.body());
        bodies.filter_map(|body| if let BodyRef::Large { file } = body { Some(file) } else { None }).collect()
    }

    /// Up to `most` messages whose bytes are in entries of the log before this one, from any queue: what keeps old
    /// segments of the log from being used again.
    pub fn living_before(&mut self, entry: u64, most: usize) -> Vec<Living> {
        let mut found = Vec::new();
        for (id, queue) in &mut self.queues {
            for seq in queue.lanes.places_with_bodies_before(entry) {
                if found.len() >= most {
                    return found;
                }
                let Some(of) = queue.lanes.get(seq) else { continue };
                if matches!(of.body(), BodyRef::Log { entry: at, .. } if at < entry) {
                    found.push(Living { queue: *id, seq, body: of.body(), size: of.size() });
                }
            }
        }
        found
    }
}
