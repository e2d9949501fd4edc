//! The consumers of a queue in the order in which they get messages.

use crate::ids::ConsumerId;
use std::collections::VecDeque;

/// Consumers of one priority that have credit, in turn. One whose credit is used up, or that is gone, stays until its turn
/// comes.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// Those to be asked.
    pub(crate) ready: VecDeque<ConsumerId>,
    /// Those for whom there was nothing when they were asked.
    pub(crate) idle: VecDeque<ConsumerId>,
    /// How many in the two are gone.
    gone: usize,
}

impl Line {
    /// There may be something for everybody again.
    #[inline]
    pub(crate) fn wake(&mut self) {
        if self.idle.is_empty() {
            return;
        }
        if self.ready.is_empty() {
            std::mem::swap(&mut self.ready, &mut self.idle);
        } else {
            self.ready.append(&mut self.idle);
        }
    }

    /// The first of those to be asked was given a message; it is the last from now on, or goes.
    #[inline]
    pub(crate) fn had_turn(&mut self, stays: bool) {
        if !stays {
            self.ready.pop_front();
        } else if self.ready.len() > 1 {
            self.ready.rotate_left(1);
        }
    }

    /// Whether nobody is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.idle.is_empty()
    }

    /// One of those here is gone. From time to time those are taken out.
    pub(crate) fn lost(&mut self, is_there: impl Fn(ConsumerId) -> bool) {
        self.gone += 1;
        if self.gone * 2 > self.ready.len() + self.idle.len() {
            self.ready.retain(|id| is_there(*id));
            self.idle.retain(|id| is_there(*id));
            self.gone = 0;
        }
    }

    /// One that is gone was met and taken out.
    pub(crate) fn met_lost(&mut self) {
        self.gone = self.gone.saturating_sub(1);
    }
}
