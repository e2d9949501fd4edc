//! Queues and topics come and go.

use super::Context;
use super::bury::Corpse;
use crate::broker::{Broker, Node, Topic};
use crate::command::Orphans;
use crate::ids::{ConsumerId, QueueId, Seq, TopicId};
use crate::output::{Applied, Done, Event, Refused};
use crate::overlay::Reason;
use crate::queue::Queue;
use crate::settings::QueueSettings;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Broker {
    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn create_queue(&mut self, settings: &QueueSettings) -> Result<QueueId, Refused> {
        if let Some(problem) = settings.problem() {
            return Err(Refused::BadSettings(problem));
        }
        if self.by_address.contains_key(&settings.address) {
            return Err(Refused::Exists(settings.address.clone()));
        }
        if settings.topic.is_some_and(|topic| !self.topics.contains_key(&topic)) {
            return Err(Refused::NoTopic);
        }
        let id = QueueId(self.next_id());
        self.bind(settings, id);
        self.by_address.insert(settings.address.clone(), Node::Queue(id));
        self.queues.insert(id, Box::new(Queue::new(id, Arc::new(settings.clone()))));
        Ok(id)
    }

    pub(crate) fn bind(&mut self, settings: &QueueSettings, id: QueueId) {
        if let Some(topic) = settings.topic.and_then(|topic| self.topics.get_mut(&topic)) {
            match settings.is_collector() {
                true => topic.collector = Some(id),
                false => drop(topic.queues.insert(id)),
            }
        }
        if let Some(owner) = settings.owner {
            self.owned.insert((owner, id));
        }
    }

    fn unbind(&mut self, settings: &QueueSettings, id: QueueId) {
        if let Some(topic) = settings.topic.and_then(|topic| self.topics.get_mut(&topic)) {
            topic.queues.remove(&id);
            topic.collector = topic.collector.filter(|collector| *collector != id);
        }
        if let Some(owner) = settings.owner {
            self.owned.remove(&(owner, id));
        }
    }

    pub(super) fn change_queue(&mut self, id: QueueId, settings: &QueueSettings, context: &mut Context<'_>) -> Applied {
        if let Some(problem) = settings.problem() {
            return Err(Refused::BadSettings(problem));
        }
        let queue = self.queues.get(&id).ok_or(Refused::NoQueue)?;
        if queue.settings.address != settings.address {
            return Err(Refused::BadSettings("the address of a queue cannot change: make another one, and move"));
        }
        if settings.topic.is_some_and(|topic| !self.topics.contains_key(&topic)) {
            return Err(Refused::NoTopic);
        }
        let before = queue.settings.clone();
        self.unbind(&before, id);
        self.bind(settings, id);
        let queue = self.queues.get_mut(&id).ok_or(Refused::NoQueue)?;
        queue.settings = Arc::new(settings.clone());
        context.events.extend(queue.fullness());
        if before.last_value_key != settings.last_value_key {
            // What older messages have under a name that nobody asked for is not known.
            queue.index_keys();
        }
        if before.groups != settings.groups {
            self.regroup(id, &before, context.time);
        }
        // More consumers may be active now.
        self.count(id, Queue::wake);
        self.evict(id, context);
        self.check_lifetime(id, context.time);
        self.touched(id);
        Ok(Done::Changed)
    }

    /// Groups have been switched on or off: all messages are offered anew.
    fn regroup(&mut self, id: QueueId, before: &Arc<QueueSettings>, now: u64) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let after = std::mem::replace(&mut queue.settings, before.clone());
        let mut places = Vec::new();
        let mut next = Seq::FIRST;
        while let Some(seq) = queue.lanes.present_from(next) {
            places.push(seq);
            next = seq.next();
        }
        for seq in &places {
            if queue.lanes.get(*seq).is_some_and(|entry| entry.group().is_some()) && !queue.lanes.is_held(*seq) {
                queue.withhold(*seq, &mut self.consumers);
            }
        }
        let held: Vec<(Seq, usize)> = queue.local.holders.iter().collect();
        for (seq, _) in &held {
            queue.drop_from_group(*seq, &mut self.consumers);
        }
        queue.settings = after;
        for (seq, holder) in held {
            let by = self.acquisitions.at(holder).map(|acquisition| acquisition.consumer);
            if let Some(by) = by {
                queue.take_into_group(seq, by, &mut self.consumers);
            }
        }
        for seq in places {
            if queue.lanes.get(seq).is_some_and(|entry| entry.group().is_some()) && !queue.lanes.is_held(seq) {
                queue.offer(seq, now, &mut self.consumers);
            }
        }
    }

    pub(super) fn delete_queue(
        &mut self,
        id: QueueId,
        if_empty: bool,
        orphans: Orphans,
        context: &mut Context<'_>,
    ) -> Applied {
        let queue = self.queues.get(&id).ok_or(Refused::NoQueue)?;
        if if_empty && queue.count > 0 {
            return Err(Refused::NotEmpty);
        }
        let settings = queue.settings.clone();
        let bury = orphans == Orphans::DeadLetter && settings.dead_letter_address.is_some();
        for seq in self.leaving_at_once(id) {
            let Some(entry) = self.leave(id, seq, !bury, context) else { continue };
            if bury {
                context.dead.push_back(Corpse::new(id, &settings, entry, Reason::QueueDeleted, None));
            }
        }
        let consumers = self.remove_queue(id, &settings, bury);
        context.events.push(Event::QueueDeleted { queue: id, address: settings.address.clone(), consumers });
        Ok(Done::Deleted)
    }

    /// A queue is not there any more; what is left in it goes later. Returns its consumers.
    pub(crate) fn remove_queue(&mut self, id: QueueId, settings: &QueueSettings, bury: bool) -> Vec<ConsumerId> {
        self.unbind(settings, id);
        // In a snapshot a topic may have the address already.
        if self.node(&settings.address) == Some(Node::Queue(id)) {
            self.by_address.remove(&settings.address);
        }
        let (rest, consumers) = self.forget_queue(id);
        self.doom(rest, bury);
        consumers
    }

    pub(super) fn create_topic(&mut self, settings: &QueueSettings) -> Applied {
        if let Some(problem) = settings.problem() {
            return Err(Refused::BadSettings(problem));
        }
        let address = &settings.address;
        if self.by_address.contains_key(address) {
            return Err(Refused::Exists(address.clone()));
        }
        let id = TopicId(self.next_id());
        self.by_address.insert(address.clone(), Node::Topic(id));
        self.topics
            .insert(id, Topic { settings: Arc::new(settings.clone()), queues: BTreeSet::new(), collector: None });
        Ok(Done::TopicCreated(id))
    }

    pub(super) fn change_topic(&mut self, id: TopicId, settings: &QueueSettings) -> Applied {
        if let Some(problem) = settings.problem() {
            return Err(Refused::BadSettings(problem));
        }
        let topic = self.topics.get_mut(&id).ok_or(Refused::NoTopic)?;
        if topic.settings.address != settings.address {
            return Err(Refused::BadSettings("the address of a topic cannot change: make another one"));
        }
        topic.settings = Arc::new(settings.clone());
        Ok(Done::Changed)
    }

    pub(super) fn delete_topic(&mut self, id: TopicId) -> Applied {
        let topic = self.topics.get(&id).ok_or(Refused::NoTopic)?;
        if !topic.queues.is_empty() || topic.collector.is_some() {
            return Err(Refused::InUse);
        }
        self.by_address.remove(&topic.settings.address);
        self.topics.remove(&id);
        Ok(Done::Deleted)
    }
}
