//! A log that has not taken what it was given: who waits for that is told, but for what makes the store smaller, which is tried
//! again.

use queue_core::Millis;
use queue_log::LogError;

use super::failure::not_stored;
use super::journal::{Batch, Refused, Waiter};
use super::links::Side;
use super::node::Node;
use super::unlogged::needs_no_room;

impl Node {
    /// The log has not taken a batch. Who sent messages is told; what makes the store smaller is tried again.
    pub(super) fn log_refused(&mut self, refused: Refused, time: Millis) {
        let Refused { batch: Batch { commands, waiters, .. }, error } = refused;
        self.journal.look();
        let mut kept = Batch::default();
        let mut waiters = waiters.into_iter().peekable();
        for (at, command) in commands.into_iter().enumerate() {
            let of_this = std::iter::from_fn(|| waiters.next_if(|(index, _)| *index == at)).map(|(_, waiter)| waiter);
            if needs_no_room(&command) && matches!(error, LogError::Full { .. }) {
                let index = kept.commands.len();
                kept.waiters.extend(of_this.map(|waiter| (index, waiter)));
                kept.commands.push(command);
                continue;
            }
            let of_this: Vec<_> = of_this.collect();
            self.broker(Side::Logged).withdraw(&command, time);
            self.forget_files(&command);
            of_this.into_iter().for_each(|waiter| self.not_logged(waiter, &error));
        }
        if !kept.is_empty() {
            self.journal.put_before(kept);
            // Alone they may find room. If not, they need none.
            if let Err(refused) = self.journal.seal(time, true) {
                self.journal.put_before(refused.batch);
                self.journal.is_blocked = true;
                if self.journal.flight.is_empty() {
                    self.signals.call();
                }
            }
        }
    }

    /// The log is full: what it has taken and has no room for is refused like what it does not take.
    pub(super) fn take_back(&mut self, time: Millis) {
        let Some((first, error)) = self.journal.log.as_ref().and_then(|log| log.take_back()) else { return };
        self.bodies.taken_back(first);
        let batch = self.journal.taken_back(first);
        self.log_refused(Refused { batch, error }, time);
    }

    fn not_logged(&mut self, waiter: Waiter, error: &LogError) {
        let condition = not_stored(error);
        match waiter {
            Waiter::Nobody => {}
            Waiter::Arrival(arrival) => self.refuse(arrival, condition),
            Waiter::Half { pair } => self.half_known(pair, Some(condition)),
            Waiter::Early(early) => self.refuse_early(&early, condition),
            // The receiver has said what becomes of it; that it may come again is the lesser evil.
            Waiter::Settlement { .. } => self.settlement_applied(&waiter),
            Waiter::Discharge { arrival, txn } => self.not_discharged(arrival, txn, &condition),
            Waiter::Relocated => self.relocated(false),
            Waiter::Attach { link } => self.cannot_attach(link, condition),
            Waiter::Across { crossing, at } => self.across_or_not(crossing, at, false),
            Waiter::Left { crossing } => self.crossed(crossing, false),
            Waiter::Shadow(place) => self.shadow_not_deleted(place),
            // Who gets no answer says what is the matter with the store.
            Waiter::Reply(_) => {}
        }
    }
}
