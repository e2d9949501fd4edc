//! Several commands, all of them or none.

use super::Context;
use crate::broker::Broker;
use crate::command::{Command, Settle};
use crate::ids::{EntryIndex, Millis, QueueId, Seq};
use crate::output::{Applied, Done, Event, Output, Refused};
use std::collections::BTreeMap;

impl Broker {
    pub(super) fn transaction(&mut self, commands: &[Command], context: &mut Context<'_>) -> Applied {
        if let Err(refused) = self.can_all_be(commands, context.time) {
            self.undo(commands, context);
            return Err(refused);
        }
        for command in commands {
            // What could refuse it was looked for; a duplicate is as good as accepted.
            let _ = self.apply_one(command, context);
        }
        Ok(Done::Committed)
    }

    /// Why a transaction would be refused now.
    ///
    /// # Errors
    /// What refuses it.
    pub fn check_transaction(&mut self, commands: &[Command], now: Millis) -> Result<(), Refused> {
        self.can_all_be(commands, now)
    }

    /// Applies the commands of a transaction that [`Broker::check_transaction`] has let pass, at a time when nothing may refuse it
    /// any more: a queue that has filled since then takes more than its limit.
    pub fn apply_promised(&mut self, at: EntryIndex, time: Millis, commands: &[Command], out: &mut Output) {
        self.apply_with(at, time, commands, true, out);
    }

    /// Bodies that came along are not needed, and what was to be settled is held as before.
    fn undo(&mut self, commands: &[Command], context: &mut Context<'_>) {
        for command in commands {
            match command {
                Command::Enqueue(enqueue) => {
                    let body = context.place_of(enqueue.body);
                    context.events.push(Event::BodyGone { body, size: enqueue.facts.size });
                }
                Command::Adopt(adopt) => {
                    let body = context.place_of(adopt.body);
                    context.events.push(Event::BodyGone { body, size: adopt.size });
                }
                Command::Settle(settle) => self.unsettle(settle, context.time),
                Command::Relocate { .. } => {
                    let body = context.next_body();
                    context.events.push(Event::BodyGone { body, size: 0 });
                }
                _ => {}
            }
        }
    }

    /// Consumers that hold these messages may say again what becomes of them. Messages of consumers that are gone are
    /// given back.
    pub(crate) fn unsettle(&mut self, settle: &Settle, now: Millis) {
        let id = settle.queue;
        for (first, last) in settle.items.iter() {
            let Some(queue) = self.queues.get(&id) else { return };
            let held: Vec<(Seq, usize)> = queue.local.holders.from(first).take_while(|(seq, _)| *seq <= last).collect();
            for (seq, holder) in held {
                let Some(acquisition) = self.acquisitions.at(holder) else { continue };
                acquisition.settling = false;
                let by = acquisition.consumer;
                if self.consumer(by).is_none() {
                    self.end_acquisition(id, seq);
                    self.give_back(id, seq, now);
                }
            }
        }
    }

    fn can_all_be(&mut self, commands: &[Command], now: u64) -> Result<(), Refused> {
        // What the transaction itself adds to each queue.
        let mut added: BTreeMap<QueueId, (u64, u64)> = BTreeMap::new();
        for command in commands {
            match command {
                Command::Enqueue(enqueue) => {
                    for id in self.resolve(&enqueue.to)? {
                        let Some(queue) = self.queues.get_mut(&id) else { continue };
                        let known = enqueue.facts.duplicate_id.as_ref().is_some_and(|duplicate| {
                            queue.settings.duplicate_count > 0 && queue.known.has(duplicate, &queue.settings, now)
                        });
                        if known {
                            continue;
                        }
                        let (messages, bytes) = added.entry(id).or_default();
                        *messages += 1;
                        *bytes = bytes.saturating_add(enqueue.facts.size);
                        if queue.is_full(*messages, *bytes) {
                            queue.totals.refused += 1;
                            return Err(Refused::Full { queue: queue.settings.address.clone() });
                        }
                    }
                }
                Command::Settle(settle) => self.are_all_there(settle)?,
                _ => return Err(Refused::NotInTransaction),
            }
        }
        Ok(())
    }

    fn are_all_there(&self, settle: &Settle) -> Result<(), Refused> {
        let queue = self.queues.get(&settle.queue).ok_or(Refused::Gone)?;
        for (first, last) in settle.items.iter() {
            let mut expected = first;
            loop {
                // Each place must be there, so that the next one present is the one that is looked for.
                if queue.lanes.present_from(expected) != Some(expected) {
                    return Err(Refused::Gone);
                }
                if expected >= last {
                    break;
                }
                expected = expected.next();
            }
        }
        Ok(())
    }
}
