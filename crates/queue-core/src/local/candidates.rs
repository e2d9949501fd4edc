//! The next message for a consumer.

use super::matcher::{Candidate, Match, Matcher};
use crate::consumer::{Consumer, GroupSearch, Mode};
use crate::ids::{Millis, Seq};
use crate::queue::Queue;
use std::collections::BTreeSet;

/// What there is for a consumer.
pub(super) enum Found {
    Message(Seq),
    Nothing,
    /// A message that has expired: it is to be put aside, then there may be more.
    Expired(Seq),
    /// It has to wait for bytes to be fetched.
    Wait,
    /// There are more to be looked at, another time.
    Tired,
}

/// What is to be done with a message that was looked at.
enum Verdict {
    Take,
    Pass,
    Expired,
    Wait,
}

/// What finding needs beside the queue.
pub(super) struct Search<'a> {
    pub(super) now: Millis,
    pub(super) matcher: &'a mut dyn Matcher,
    /// How many messages may still be looked at in this call.
    pub(super) patience: u32,
}

impl Search<'_> {
    /// The next message for a consumer that takes them.
    pub(super) fn find(&mut self, queue: &mut Queue, consumer: &mut Consumer) -> Found {
        if consumer.settings.mode == Mode::Copy {
            return self.browse(queue, consumer);
        }
        if consumer.view.is_some() {
            return self.look(queue, consumer);
        }
        let groups = &queue.local.groups;
        let first = [queue.lanes.first_free(), groups.heads.first().copied(), consumer.own.first().copied()];
        let Some(seq) = first.into_iter().flatten().min() else { return Found::Nothing };
        match self.judge(queue, consumer, seq) {
            Verdict::Take => Found::Message(seq),
            Verdict::Expired => Found::Expired(seq),
            Verdict::Pass | Verdict::Wait => {
                consumer.become_viewer(queue);
                self.look(queue, consumer)
            }
        }
    }

    pub(super) fn tires(&mut self) -> bool {
        self.patience = self.patience.saturating_sub(1);
        self.patience == 0 || self.matcher.tires()
    }

    /// Goes on through all messages from where the consumer has come to.
    fn look(&mut self, queue: &mut Queue, consumer: &mut Consumer) -> Found {
        let grouped = self.look_in_groups(queue, consumer);
        let limit = match grouped {
            Found::Message(seq) => Some(seq),
            Found::Nothing => None,
            other => return other,
        };
        loop {
            let Some(mut view) = consumer.view.take() else { return Found::Nothing };
            let next = view.next(&queue.lanes, false);
            consumer.view = Some(view);
            let Some(seq) = next else { break };
            if limit.is_some_and(|limit| limit < seq) {
                again(consumer, seq);
                break;
            }
            match self.judge(queue, consumer, seq) {
                Verdict::Take => return Found::Message(seq),
                Verdict::Pass => {}
                Verdict::Expired => return Found::Expired(seq),
                Verdict::Wait => {
                    again(consumer, seq);
                    return Found::Wait;
                }
            }
            if self.tires() {
                return Found::Tired;
            }
        }
        limit.map_or(Found::Nothing, Found::Message)
    }

    /// The first message in any group that the consumer may have: within each group, the first one it wants. What it has come
    /// to is kept, so that it may take any number of calls.
    fn look_in_groups(&mut self, queue: &mut Queue, consumer: &mut Consumer) -> Found {
        let changes = queue.local.groups.changes;
        let before = consumer.group_search.take().filter(|search| {
            let is_still_so = search.goes_on || search.left == changes;
            is_still_so && search.best.is_none_or(|best| self.is_there_for(queue, consumer, best))
        });
        let mut search = match before {
            Some(before) => before,
            None if consumer.groups_seen == changes => return Found::Nothing,
            None => Box::new(GroupSearch::new(changes)),
        };
        loop {
            let found = self.go_on_in_groups(queue, consumer, &mut search);
            match found {
                // Something may have changed behind it.
                Found::Nothing if search.changes != changes => *search = GroupSearch::new(changes),
                Found::Nothing => {
                    consumer.groups_seen = changes;
                    return found;
                }
                found => {
                    search.left = changes;
                    search.goes_on = matches!(found, Found::Tired | Found::Expired(_));
                    consumer.group_search = Some(search);
                    return found;
                }
            }
        }
    }

    /// Whether a message of a group is still one that the consumer may have.
    fn is_there_for(&mut self, queue: &mut Queue, consumer: &Consumer, seq: Seq) -> bool {
        let name = queue.lanes.get(seq).and_then(|entry| entry.group()).cloned();
        let may_have = name.is_some_and(|name| queue.local.groups.may_have(&name, seq, consumer.id));
        may_have && matches!(self.judge(queue, consumer, seq), Verdict::Take)
    }

    fn go_on_in_groups(&mut self, queue: &mut Queue, consumer: &Consumer, search: &mut GroupSearch) -> Found {
        let is_before = |seq: Seq, best: Option<Seq>| best.is_none_or(|best| seq < best);
        while let Some(head) = next_head(queue, consumer, search.from).filter(|head| is_before(*head, search.best)) {
            let mut next = search.next.take().filter(|_| head == search.from).unwrap_or(head);
            search.from = head;
            let name = queue.lanes.get(head).and_then(|entry| entry.group()).cloned();
            while let Some(name) = &name
                && let Some(seq) = queue.local.groups.next_of(name, next).filter(|seq| is_before(*seq, search.best))
            {
                next = seq.next();
                match self.judge(queue, consumer, seq) {
                    Verdict::Take => search.best = Some(seq),
                    Verdict::Wait => {
                        search.next = Some(seq);
                        return Found::Wait;
                    }
                    Verdict::Pass => {}
                    Verdict::Expired => {
                        search.next = Some(next);
                        return Found::Expired(seq);
                    }
                }
                if self.tires() {
                    search.next = Some(next);
                    return Found::Tired;
                }
            }
            search.from = head.next();
        }
        search.best.map_or(Found::Nothing, Found::Message)
    }

    /// The next message that a browser has not seen.
    fn browse(&mut self, queue: &mut Queue, consumer: &mut Consumer) -> Found {
        loop {
            let Some(mut view) = consumer.view.take() else { return Found::Nothing };
            let next = view.next(&queue.lanes, true);
            let Some(seq) = next else {
                consumer.view = Some(view);
                return Found::Nothing;
            };
            let due = queue.lanes.get(seq).and_then(|entry| entry.deliver_at());
            if let Some(due) = due
                && queue.local.delayed.contains(&(due, seq))
            {
                view.pass_delayed(seq);
                consumer.view = Some(view);
                continue;
            }
            consumer.view = Some(view);
            match self.judge(queue, consumer, seq) {
                Verdict::Take => return Found::Message(seq),
                Verdict::Wait => {
                    again(consumer, seq);
                    return Found::Wait;
                }
                Verdict::Pass | Verdict::Expired => {}
            }
            if self.tires() {
                return Found::Tired;
            }
        }
    }

    fn judge(&mut self, queue: &mut Queue, consumer: &Consumer, seq: Seq) -> Verdict {
        let id = queue.id;
        let returned = consumer.settings.filter && queue.lanes.was_returned(seq);
        let Some(entry) = queue.lanes.get(seq) else { return Verdict::Pass };
        if entry.expires <= self.now {
            return Verdict::Expired;
        }
        let overlay = entry.overlay().map(|overlay| &**overlay);
        if consumer.settings.mode == Mode::Move
            && overlay.is_some_and(|overlay| overlay.undeliverable.contains(&consumer.settings.name))
        {
            return Verdict::Pass;
        }
        if !consumer.settings.filter {
            return Verdict::Take;
        }
        let candidate = Candidate {
            queue: id,
            seq,
            body: entry.body(),
            size: entry.size(),
            delivery_count: entry.failed,
            redelivered: entry.failed > 0 || returned,
            overlay,
        };
        match self.matcher.matches(consumer.id, &candidate) {
            Match::Yes => Verdict::Take,
            Match::No => Verdict::Pass,
            Match::Unknown => Verdict::Wait,
        }
    }
}

/// The first message at a place or behind it that begins a group which the consumer may have messages of.
fn next_head(queue: &Queue, consumer: &Consumer, from: Seq) -> Option<Seq> {
    let first = |heads: &BTreeSet<Seq>| heads.range(from..).next().copied();
    first(&queue.local.groups.heads).into_iter().chain(first(&consumer.own)).min()
}

/// A message that was looked at is to be looked at again.
fn again(consumer: &mut Consumer, seq: Seq) {
    if let Some(view) = &mut consumer.view {
        view.look_again(seq);
    }
}
