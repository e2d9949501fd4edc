//! What consumers say of what they hold.

use crate::broker::Broker;
use crate::command::{Command, Outcome, Selection, Settle};
use crate::ids::{AcqId, ConsumerId, Millis, QueueId, Seq};
use crate::output::Event;
use crate::ranges::Ranges;

impl Broker {
    /// A consumer says what became of a message. The command that it gives back is to be logged and applied; then the
    /// acquisition is over. `None`: nothing is to be logged, and it is over now (the message is back at its place; or
    /// it has left the queue for another reason, so that nothing need be done; or the acquisition was over before).
    pub fn outcome(&mut self, acquisition: AcqId, outcome: Outcome, now: Millis) -> Option<Command> {
        if outcome.is_release() {
            self.release(acquisition, now);
            return None;
        }
        self.settlement(acquisition, outcome)
    }

    /// The same for a transaction: whatever the outcome, it is a command. If that is refused, the message is held as
    /// before.
    pub fn settlement(&mut self, acquisition: AcqId, outcome: Outcome) -> Option<Command> {
        let (consumer, queue, seq) = self.settling(acquisition)?;
        let here = matches!(outcome, Outcome::Modified { undeliverable_here: true, .. });
        let by = self.consumer(consumer).map(|consumer| consumer.settings.name.clone()).filter(|_| here);
        Some(Command::Settle(Box::new(Settle { queue, items: Ranges::from(seq), outcome, by })))
    }

    /// As [`outcome`](Self::outcome) for what is accepted, which most messages are: the queue and place of which
    /// [`Command::accepted`] speaks.
    pub fn accepted(&mut self, acquisition: AcqId) -> Option<(QueueId, Seq)> {
        self.settling(acquisition).map(|(_, queue, seq)| (queue, seq))
    }

    /// A command that says what became of a message is under way from now on. `None`: there is nothing to say.
    fn settling(&mut self, acquisition: AcqId) -> Option<(ConsumerId, QueueId, Seq)> {
        let held = self.acquisitions.get_mut(acquisition)?;
        if held.gone {
            self.remove_acquisition(acquisition.index());
            return None;
        }
        if std::mem::replace(&mut held.settling, true) {
            return None;
        }
        Some((held.consumer, held.queue, held.seq))
    }

    /// The consumer, queue and place of an acquisition, as long as it lasts.
    pub fn acquisition(&mut self, acquisition: AcqId) -> Option<(ConsumerId, QueueId, Seq)> {
        self.acquisitions.get_mut(acquisition).map(|held| (held.consumer, held.queue, held.seq))
    }

    /// The message is back at its place at once, as if it had never been delivered.
    fn release(&mut self, acquisition: AcqId, now: Millis) {
        let Some(held) = self.acquisitions.get_mut(acquisition) else { return };
        if held.gone {
            return self.remove_acquisition(acquisition.index());
        }
        if held.settling {
            return;
        }
        let (queue, seq) = (held.queue, held.seq);
        self.end_acquisition(queue, seq);
        self.give_back(queue, seq, now);
    }

    /// A command of this broker's making will never be applied: what it was about is as before. Not for commands that
    /// were applied and refused.
    pub fn withdraw(&mut self, command: &Command, now: Millis) {
        match command {
            Command::Settle(settle) => self.unsettle(settle, now),
            Command::Transaction(commands) => commands.iter().for_each(|command| self.withdraw(command, now)),
            Command::Expire { queue, items }
            | Command::Purge { queue, what: Selection::These(items) }
            | Command::Move { from: queue, what: Selection::These(items), .. }
            | Command::Retry { queue, what: Selection::These(items) } => self.end_aside(*queue, items, now),
            Command::Spread { from, item, .. } => self.end_aside(*from, &Ranges::from(*item), now),
            Command::DeleteQueue { queue, .. } => {
                if let Some(queue) = self.queues.get_mut(queue) {
                    queue.local.deleting = false;
                }
                self.retime(*queue);
            }
            Command::Sweep { queue, .. } => {
                if let Some(doomed) = self.doomed.get_mut(queue) {
                    doomed.sweeping = false;
                }
            }
            _ => {}
        }
    }

    /// What happened while no command was applied: bytes that the last consumer is done with. Also given out with the
    /// next commands applied.
    pub fn take_events(&mut self, events: &mut Vec<Event>) {
        events.append(&mut self.late);
    }
}
