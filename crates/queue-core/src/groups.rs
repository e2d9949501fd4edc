//! Messages with a group-id: in order, to one consumer at a time.
//!
//! A group belongs to the consumer that holds messages of it. One that belongs to nobody shows its first message to all.

use crate::consumer::Consumer;
use crate::ids::{ConsumerId, Seq};
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The groups of a queue, of which there are messages that are not removed.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    by_name: BTreeMap<Arc<str>, Group>,
    /// The first message of each group that belongs to nobody.
    pub(crate) heads: BTreeSet<Seq>,
    /// Consumers that have a group with a message for them.
    pub(crate) owners: BTreeSet<ConsumerId>,
    /// Grows with each change: who found nothing need not look again before.
    pub(crate) changes: u64,
}

#[derive(Debug, Default)]
struct Group {
    owner: Option<ConsumerId>,
    /// How many messages the owner holds.
    held: u64,
    /// Messages that may be given out.
    free: BTreeSet<Seq>,
    /// Messages whose delivery failed, and which are not due yet.
    waiting: BTreeSet<Seq>,
    /// The first of them, where it is listed.
    shown: Option<Seq>,
}

impl Groups {
    /// The first message of a group at a place or behind it that may be given out.
    pub(crate) fn next_of(&self, name: &str, from: Seq) -> Option<Seq> {
        self.by_name.get(name)?.free.range(from..).next().copied()
    }

    /// Whether a consumer may have a message of a group, which need not be the first.
    pub(crate) fn may_have(&self, name: &str, seq: Seq, consumer: ConsumerId) -> bool {
        self.by_name.get(name).is_some_and(|group| {
            group.shown.is_some() && group.owner.is_none_or(|owner| owner == consumer) && group.free.contains(&seq)
        })
    }

    /// A message may be given out.
    pub(crate) fn add(&mut self, name: &Arc<str>, seq: Seq, consumers: &mut Slab<Consumer>) {
        self.change(name, consumers, |group| {
            group.waiting.remove(&seq);
            group.free.insert(seq);
        });
    }

    /// A message whose delivery failed is not due yet.
    pub(crate) fn wait(&mut self, name: &Arc<str>, seq: Seq, consumers: &mut Slab<Consumer>) {
        self.change(name, consumers, |group| {
            group.waiting.insert(seq);
        });
    }

    /// A message may not be given out any more.
    pub(crate) fn remove(&mut self, name: &Arc<str>, seq: Seq, consumers: &mut Slab<Consumer>) {
        self.change(name, consumers, |group| {
            group.free.remove(&seq);
            group.waiting.remove(&seq);
        });
    }

    /// A consumer takes a message: the group is its own.
    pub(crate) fn take(&mut self, name: &Arc<str>, seq: Seq, by: ConsumerId, consumers: &mut Slab<Consumer>) {
        self.change(name, consumers, |group| {
            group.free.remove(&seq);
            group.owner = Some(by);
            group.held += 1;
        });
    }

    /// The owner holds a message less.
    pub(crate) fn let_go(&mut self, name: &Arc<str>, consumers: &mut Slab<Consumer>) {
        self.change(name, consumers, |group| {
            group.held = group.held.saturating_sub(1);
        });
    }

    fn change(&mut self, name: &Arc<str>, consumers: &mut Slab<Consumer>, change: impl FnOnce(&mut Group)) {
        self.changes += 1;
        let mut group = self.by_name.remove(name).unwrap_or_default();
        self.hide(&mut group, consumers);
        change(&mut group);
        if group.held == 0 {
            group.owner = None;
        }
        if group.held > 0 || !group.free.is_empty() || !group.waiting.is_empty() {
            self.show(&mut group, consumers);
            self.by_name.insert(name.clone(), group);
        }
    }

    fn hide(&mut self, group: &mut Group, consumers: &mut Slab<Consumer>) {
        let Some(seq) = group.shown.take() else { return };
        match group.owner {
            None => {
                self.heads.remove(&seq);
            }
            Some(owner) => {
                if let Some(consumer) = find(consumers, owner) {
                    consumer.own.remove(&seq);
                    if consumer.own.is_empty() {
                        self.owners.remove(&owner);
                    }
                }
            }
        }
    }

    fn show(&mut self, group: &mut Group, consumers: &mut Slab<Consumer>) {
        let Some(&first) = group.free.first() else { return };
        if group.waiting.first().is_some_and(|waiting| *waiting < first) {
            return;
        }
        group.shown = Some(first);
        match group.owner {
            None => {
                self.heads.insert(first);
            }
            Some(owner) => {
                if let Some(consumer) = find(consumers, owner) {
                    consumer.own.insert(first);
                    self.owners.insert(owner);
                }
            }
        }
    }
}

fn find(consumers: &mut Slab<Consumer>, id: ConsumerId) -> Option<&mut Consumer> {
    consumers.get_mut(id.index()).filter(|consumer| consumer.id == id)
}
