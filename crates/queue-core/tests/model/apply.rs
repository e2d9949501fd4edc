//! What commands do to lists of messages.

use crate::queues::{Message, Queue, Queues, TOPIC};
use queue_core::*;

impl Queues {
    /// Puts a message where it belongs.
    fn join(&mut self, address: &str, mut message: Message) {
        let queue = self.all.get_mut(address).unwrap();
        message.level = if queue.settings.priorities { message.priority.min(9) } else { DEFAULT_PRIORITY };
        let came = &mut queue.came[usize::from(message.level)];
        message.seq = Seq::from_raw(u64::from(9 - message.level) << 60 | *came);
        *came += 1;
        let older = queue.messages.iter().find(|other| other.key == message.key).map(|older| older.seq);
        let older = older.filter(|_| queue.has_key(&message));
        queue.messages.push(message);
        queue.messages.sort_by_key(|message| message.seq);
        if let Some(older) = older {
            let at = queue.position(older).unwrap();
            self.leave(address, at);
        }
        self.evict(address);
    }

    /// Takes a message out. Whoever holds it may still read its bytes.
    fn leave(&mut self, address: &str, at: usize) -> Message {
        self.all.get_mut(address).unwrap().messages.remove(at)
    }

    fn evict(&mut self, address: &str) {
        loop {
            let queue = &self.all[address];
            let drops = matches!(queue.settings.overflow, Overflow::DropHead | Overflow::Ring);
            if !drops || !queue.is_beyond(0, 0) || queue.messages.is_empty() {
                return;
            }
            let oldest = queue.messages.iter().enumerate().min_by_key(|(_, m)| (m.arrived, m.level, m.seq));
            let at = oldest.unwrap().0;
            let settings = queue.settings.clone();
            let dead = settings.overflow == Overflow::DropHead && settings.dead_letter_address.is_some();
            let message = self.leave(address, at);
            if dead {
                self.dead.push((address.to_owned(), settings, message, Reason::Overflow));
            }
        }
    }

    /// A message in the hands of another queue begins anew.
    fn adopt(&mut self, address: &str, message: &Message) {
        let expires = self.all[address].expiry(self.now, None);
        let message = Message {
            arrived: self.now,
            expires,
            due: None,
            failed: 0,
            holder: None,
            aside: false,
            returned: false,
            ..message.clone()
        };
        self.join(address, message);
    }

    fn bury_all(&mut self) {
        while !self.dead.is_empty() {
            let (from, settings, mut message, reason) = self.dead.remove(0);
            let same = |death: &&(String, Reason, u32)| death.0 == from && death.1 == reason;
            let before = message.deaths.iter().find(same).map_or(0, |death| death.2);
            message.deaths.retain(|death| !(death.0 == from && death.1 == reason));
            message.deaths.insert(0, (from.clone(), reason, before + 1));
            message.undeliverable.clear();
            for to in self.graves(&from, &settings, &message, reason) {
                self.adopt(&to, &message);
            }
        }
    }

    /// Where a dead message goes.
    fn graves(&mut self, from: &str, settings: &QueueSettings, message: &Message, reason: Reason) -> Vec<String> {
        let automatic = |reason: Reason| !matches!(reason, Reason::Rejected | Reason::DeliveryLimit);
        let untouched = message.deaths.iter().take_while(|death| automatic(death.1));
        let mut been: Vec<String> = untouched.map(|death| death.0.clone()).collect();
        been.push(from.to_owned());
        let mut next = match reason {
            Reason::Expired => settings.expiry_address.clone(),
            _ => settings.dead_letter_address.clone(),
        };
        while let Some(address) = next {
            if been.iter().any(|other| **other == *address) {
                return Vec::new();
            }
            if &*address == TOPIC {
                let open = |queue: &&Queue| {
                    queue.settings.topic.is_some() && *queue.settings.address != *from && !queue.is_full(1, message.id)
                };
                let mut bound: Vec<&Queue> = self.all.values().filter(open).collect();
                bound.sort_by_key(|queue| queue.id);
                return bound.into_iter().map(|queue| queue.settings.address.to_string()).collect();
            }
            let Some(queue) = self.all.get(&*address) else {
                let settings = settings.grave(address.clone());
                // Its id is told by the event.
                self.all.insert(address.to_string(), Queue::new(QueueId(0), settings));
                return vec![address.to_string()];
            };
            if !queue.is_full(1, message.id) {
                return vec![address.to_string()];
            }
            been.push(address.to_string());
            next = queue.settings.dead_letter_address.clone();
        }
        Vec::new()
    }

    /// What a command does. `None`: it is not one that the model predicts the result of.
    pub(crate) fn apply(&mut self, command: &Command) -> Applied {
        let result = self.one(command);
        self.bury_all();
        result
    }

    fn one(&mut self, command: &Command) -> Applied {
        match command {
            Command::Enqueue(enqueue) => self.enqueue(enqueue),
            Command::Settle(settle) => self.settle(settle),
            Command::Expire { queue, items } => self.expire(*queue, items),
            Command::Purge { queue, what } => self.selected(*queue, what, |queues, address, seq| {
                let at = queues.all[address].position(seq).unwrap();
                queues.leave(address, at);
                true
            }),
            Command::Move { from, to, what } => {
                let to = self.by_id(*to).ok_or(Refused::NoQueue)?;
                self.selected(*from, what, |queues, address, seq| {
                    let at = queues.all[address].position(seq).unwrap();
                    let message = queues.leave(address, at);
                    queues.adopt(&to, &message);
                    true
                })
            }
            Command::Retry { queue, what } => self.selected(*queue, what, |queues, address, seq| {
                let at = queues.all[address].position(seq).unwrap();
                let origin = queues.all[address].messages[at].deaths.first().map(|death| death.0.clone());
                let Some(to) = origin.filter(|to| queues.all.contains_key(to) && to != address) else { return false };
                let mut message = queues.leave(address, at);
                message.deaths.remove(0);
                queues.adopt(&to, &message);
                true
            }),
            Command::Transaction(commands) => self.transaction(commands),
            Command::DeleteQueue { queue, orphans, .. } => self.delete(*queue, *orphans),
            Command::ChangeQueue { queue, settings } => self.change(*queue, settings),
            Command::CreateQueue(settings) => {
                let address = settings.address.to_string();
                if address == TOPIC || self.all.contains_key(&address) {
                    return Err(Refused::Exists(settings.address.clone()));
                }
                self.all.insert(address, Queue::new(QueueId(0), (**settings).clone()));
                // Its id is told by the result.
                Ok(Done::Created(QueueId(0)))
            }
            other => panic!("{other:?}"),
        }
    }

    /// The queues that a message goes to.
    fn targets(&self, enqueue: &Enqueue) -> Result<Vec<String>, Refused> {
        let mut ids: Vec<QueueId> = Vec::new();
        let mut any = false;
        for target in &enqueue.to {
            match target {
                Target::Queue(id) => ids.extend(self.by_id(*id).map(|_| *id)),
                Target::Topic { except, .. } => {
                    any = true;
                    let bound = self.all.values().filter(|queue| queue.settings.topic.is_some());
                    ids.extend(bound.map(|queue| queue.id).filter(|id| !except.contains(id)));
                }
            }
        }
        if ids.is_empty() && !any {
            return Err(Refused::NoQueue);
        }
        ids.sort();
        ids.dedup();
        Ok(ids.into_iter().filter_map(|id| self.by_id(id)).collect())
    }

    fn enqueue(&mut self, enqueue: &Enqueue) -> Applied {
        let facts = &enqueue.facts;
        let now = self.now;
        let mut targets = self.targets(enqueue)?;
        let any = !targets.is_empty();
        let duplicate = facts.duplicate_id.as_ref().map(|id| String::from_utf8(id.to_vec()).unwrap());
        if let Some(id) = &duplicate {
            targets.retain(|address| !self.all.get_mut(address).unwrap().knows(id, now));
            if any && targets.is_empty() {
                return Err(Refused::Duplicate);
            }
        }
        let full = targets.iter().find(|address| self.all[*address].is_full(1, facts.size)).cloned();
        targets.retain(|address| !self.all[address].is_full(1, facts.size));
        if let (Some(full), true) = (&full, targets.is_empty()) {
            return Err(Refused::Full { queue: full.as_str().into() });
        }
        for address in &targets {
            let queue = self.all.get_mut(address).unwrap();
            if let Some(id) = &duplicate {
                queue.learn(id, now);
            }
            let name = queue.settings.last_value_key.as_deref();
            let key = facts.keys.iter().find(|(of, _)| Some(&**of) == name);
            let message = Message {
                id: facts.size,
                level: 0,
                priority: facts.priority,
                seq: Seq::FIRST,
                arrived: now,
                expires: queue.expiry(now, facts.expires_at),
                due: facts.deliver_at,
                failed: 0,
                group: facts.group.as_ref().map(|group| group.to_string()),
                key: key.map(|(of, value)| (of.to_string(), String::from_utf8(value.to_vec()).unwrap())),
                deaths: Vec::new(),
                undeliverable: Vec::new(),
                holder: None,
                aside: false,
                returned: false,
            };
            self.join(address, message);
        }
        match full {
            Some(full) => Err(Refused::PartlyFull { queue: full.as_str().into() }),
            None => Ok(Done::Enqueued { copies: targets.len() as u32 }),
        }
    }

    fn settle(&mut self, settle: &Settle) -> Applied {
        let address = self.by_id(settle.queue).ok_or(Refused::NoQueue)?;
        let places = self.places(&address, &settle.items);
        for seq in &places {
            self.settle_one(&address, *seq, settle);
        }
        Ok(Done::Messages { count: places.len() as u64 })
    }

    fn settle_one(&mut self, address: &str, seq: Seq, settle: &Settle) {
        let now = self.now;
        let queue = self.all.get_mut(address).unwrap();
        let settings = queue.settings.clone();
        let at = queue.position(seq).unwrap();
        let message = &mut queue.messages[at];
        let was_held = message.holder.take().is_some();
        message.returned |= was_held;
        message.aside = false;
        match &settle.outcome {
            Outcome::Accepted => drop(self.leave(address, at)),
            Outcome::Rejected { .. } => {
                let message = self.leave(address, at);
                self.dead.push((address.to_owned(), settings, message, Reason::Rejected));
            }
            Outcome::Released => {}
            Outcome::Modified { failed, undeliverable_here, .. } => {
                if !failed && !undeliverable_here {
                    return;
                }
                message.returned = true;
                if *undeliverable_here && let Some(name) = &settle.by {
                    message.undeliverable.retain(|other| **other != **name);
                    message.undeliverable.push(name.to_string());
                }
                message.due = None;
                if *failed {
                    message.failed += 1;
                    let limited = settings.delivery_limit > 0 && settings.dead_letter_address.is_some();
                    if limited && message.failed >= settings.delivery_limit {
                        let message = self.leave(address, at);
                        self.dead.push((address.to_owned(), settings, message, Reason::DeliveryLimit));
                        return;
                    }
                    message.due = back_off(&settings, message.failed).map(|delay| now + delay);
                }
            }
        }
    }

    fn expire(&mut self, queue: QueueId, items: &Ranges) -> Applied {
        let address = self.by_id(queue).ok_or(Refused::NoQueue)?;
        let mut count = 0;
        for seq in self.places(&address, items) {
            let queue = self.all.get_mut(&address).unwrap();
            let at = queue.position(seq).unwrap();
            let message = &mut queue.messages[at];
            message.aside = false;
            if message.expires.is_none_or(|expires| expires > self.now) {
                continue;
            }
            count += 1;
            let settings = queue.settings.clone();
            let message = self.leave(&address, at);
            self.dead.push((address.clone(), settings, message, Reason::Expired));
        }
        Ok(Done::Messages { count })
    }

    fn selected(
        &mut self,
        queue: QueueId,
        what: &Selection,
        mut act: impl FnMut(&mut Self, &str, Seq) -> bool,
    ) -> Applied {
        let address = self.by_id(queue).ok_or(Refused::NoQueue)?;
        let places: Vec<Seq> = match what {
            Selection::These(items) => self.places(&address, items),
            Selection::First(most) => self.all[&address].messages.iter().take(*most as usize).map(|m| m.seq).collect(),
            Selection::All => self.all[&address].messages.iter().map(|message| message.seq).collect(),
        };
        let mut count = 0;
        for seq in places {
            // Making room for one that was moved may have taken away another.
            if self.all[&address].position(seq).is_some() {
                count += u64::from(act(self, &address, seq));
            }
        }
        Ok(Done::Messages { count })
    }

    fn transaction(&mut self, commands: &[Command]) -> Applied {
        let mut trial = self.clone();
        let mut added: Vec<(String, u64, u64)> = Vec::new();
        for command in commands {
            match command {
                Command::Enqueue(enqueue) => {
                    let duplicate =
                        enqueue.facts.duplicate_id.as_ref().map(|id| String::from_utf8_lossy(id).into_owned());
                    for address in self.targets(enqueue)? {
                        let queue = trial.all.get_mut(&address).unwrap();
                        if duplicate.as_ref().is_some_and(|id| queue.knows(id, self.now)) {
                            continue;
                        }
                        added.push((address.clone(), 1, enqueue.facts.size));
                        let mine = added.iter().filter(|(to, ..)| *to == address);
                        let (messages, bytes) = mine.fold((0, 0), |sum, (_, n, bytes)| (sum.0 + n, sum.1 + bytes));
                        if self.all[&address].is_full(messages, bytes) {
                            return Err(Refused::Full { queue: address.as_str().into() });
                        }
                    }
                }
                Command::Settle(settle) => {
                    let address = self.by_id(settle.queue).ok_or(Refused::Gone)?;
                    if self.places(&address, &settle.items).is_empty() {
                        return Err(Refused::Gone);
                    }
                }
                _ => return Err(Refused::NotInTransaction),
            }
        }
        commands.iter().for_each(|command| drop(self.one(command)));
        Ok(Done::Committed)
    }

    fn delete(&mut self, queue: QueueId, orphans: Orphans) -> Applied {
        let address = self.by_id(queue).ok_or(Refused::NoQueue)?;
        let settings = self.all[&address].settings.clone();
        let bury = orphans == Orphans::DeadLetter && settings.dead_letter_address.is_some();
        while !self.all[&address].messages.is_empty() {
            let message = self.leave(&address, 0);
            if bury {
                self.dead.push((address.clone(), settings.clone(), message, Reason::QueueDeleted));
            }
        }
        self.all.remove(&address);
        Ok(Done::Deleted)
    }

    fn change(&mut self, queue: QueueId, settings: &QueueSettings) -> Applied {
        let address = self.by_id(queue).ok_or(Refused::NoQueue)?;
        let queue = self.all.get_mut(&address).unwrap();
        queue.settings = settings.clone();
        self.evict(&address);
        Ok(Done::Changed)
    }

    /// The messages at these places.
    fn places(&self, address: &str, items: &Ranges) -> Vec<Seq> {
        let all = self.all[address].messages.iter().map(|message| message.seq);
        items.iter().flat_map(|(first, last)| all.clone().filter(move |seq| (first..=last).contains(seq))).collect()
    }
}

/// How long a message waits of which so many deliveries have failed.
fn back_off(settings: &QueueSettings, failed: u32) -> Option<Millis> {
    let most = settings.max_redelivery_delay.unwrap_or(10 * settings.redelivery_delay);
    let mut delay = settings.redelivery_delay;
    for _ in 1..failed {
        delay = delay * u64::from(settings.redelivery_multiplier) / 100;
    }
    Some(delay.min(most)).filter(|delay| *delay > 0)
}
