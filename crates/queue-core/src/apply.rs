//! Applying commands: the replicated half. Nothing here may depend on consumers, on who holds what, or on a clock.

mod adopt;
mod at_once;
pub(crate) mod bodies;
mod bury;
mod enqueue;
mod leave;
mod manage;
mod queues;
mod settle;
pub(crate) mod sweep;
mod templates;
mod transaction;

pub use at_once::{AcceptedAtOnce, Came};

use crate::body::{Body, BodyRef};
use crate::broker::Broker;
use crate::command::Command;
use crate::ids::{EntryIndex, Millis};
use crate::output::{Applied, Event, Output};
use bury::Corpse;
use std::collections::VecDeque;

/// One entry of the log while it is applied.
struct Context<'o> {
    at: EntryIndex,
    time: Millis,
    /// The ordinal of the next body that goes with the entry.
    part: u32,
    /// Messages come in whatever the limits of their queues.
    promised: bool,
    /// Messages that left their queue and are on their way to another.
    dead: VecDeque<Corpse>,
    events: &'o mut Vec<Event>,
}

impl Context<'_> {
    /// The body that goes with the command at hand.
    fn next_body(&mut self) -> BodyRef {
        let part = self.part;
        self.part += 1;
        BodyRef::Log { entry: self.at.0, part }
    }

    /// Where the bytes are of which the command at hand says this.
    fn place_of(&mut self, body: Body) -> BodyRef {
        match body {
            Body::Here => self.next_body(),
            Body::Large { file } => BodyRef::Large { file },
        }
    }
}

impl Broker {
    /// Applies the commands of one entry of the log: its index, and the time that it carries. Appends one result for each
    /// command to `out`, in order.
    pub fn apply(&mut self, at: EntryIndex, time: Millis, batch: &[Command], out: &mut Output) {
        self.apply_with(at, time, batch, false, out);
    }

    fn apply_with(&mut self, at: EntryIndex, time: Millis, batch: &[Command], promised: bool, out: &mut Output) {
        out.events.append(&mut self.late);
        self.time = self.time.max(time);
        let Output { applied, events } = out;
        let mut context = Context { at, time, part: 0, promised, dead: VecDeque::new(), events };
        for command in batch {
            let result = self.apply_one(command, &mut context);
            self.bury_all(&mut context);
            applied.push(result);
        }
        out.events.append(&mut self.late);
    }

    fn apply_one(&mut self, command: &Command, context: &mut Context<'_>) -> Applied {
        match command {
            Command::CreateQueue(settings) => self.create_queue(settings).map(crate::Done::Created),
            Command::ChangeQueue { queue, settings } => self.change_queue(*queue, settings, context),
            Command::DeleteQueue { queue, if_empty, orphans } => {
                self.delete_queue(*queue, *if_empty, *orphans, context)
            }
            Command::CreateTopic(settings) => self.create_topic(settings),
            Command::ChangeTopic { topic, settings } => self.change_topic(*topic, settings),
            Command::DeleteTopic { topic } => self.delete_topic(*topic),
            Command::SetTemplate { settings, is_new } => self.set_template(settings, *is_new),
            Command::DeleteTemplate { pattern } => self.delete_template(pattern),
            Command::Sweep { queue, most } => self.sweep(*queue, *most, context),
            Command::Enqueue(enqueue) => self.enqueue(enqueue, context),
            Command::Spread { from, item, to } => self.spread(*from, *item, to, context),
            Command::Adopt(adopt) => self.adopt(adopt, context),
            Command::Settle(settle) => self.settle(settle, context),
            Command::Expire { queue, items } => self.expire(*queue, items, context),
            Command::Purge { queue, what } => self.purge(*queue, what, context),
            Command::Move { from, to, what } => self.move_messages(*from, *to, what, context),
            Command::Retry { queue, what } => self.retry(*queue, what, context),
            Command::Transaction(commands) => self.transaction(commands, context),
            Command::Relocate { from, of } => self.relocate(*from, of, context),
        }
    }
}
