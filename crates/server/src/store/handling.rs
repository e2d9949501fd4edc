//! Doing something with messages that are in queues, for who manages them: with so many at a time, so that others are served
//! meanwhile. Each time is an entry of the log of its own. Messages that consumers hold stay where they are.

use std::time::Instant;

use queue_core::{Command, Done, Peeked, Ranges, Selection, Seq};

use super::StoreHandle;
use super::crossing::{MOST, MOST_BYTES, Purpose, Way, bytes_of};
use super::links::{Destination, Place, Side};
use super::look::LONG;
use super::node::Node;
use super::spec::{Handled, Part, StoreError, Which};

/// Messages that one command is about.
const SLICE: usize = 1024;

/// How far a request is.
struct Progress {
    handled: Handled,
    /// So many more are wanted.
    left: u64,
}

/// Where messages of one side go on the other.
#[derive(Clone, Copy)]
enum Errand {
    /// To this queue.
    To(Place),
    /// Back to where they came from, if that is there.
    Back,
}

/// Some messages that were taken for the other side.
struct Taken {
    count: u64,
    /// How many stay, for consumers hold them.
    held: u64,
    /// Where to go on.
    rest: Option<Seq>,
    /// Says how many have gone.
    gone: std::sync::mpsc::Receiver<u64>,
}

impl StoreHandle {
    /// Drops messages; says how many.
    ///
    /// # Errors
    /// As for [`StoreHandle::peek`], and if the disk takes nothing.
    pub(crate) fn purge(&self, address: &str, which: &Which) -> Result<Handled, StoreError> {
        let place = self.place(address)?;
        let command = |what| Command::Purge { queue: place.queue, what };
        self.act(place, address, which, |items, progress| self.act_on(place, items, false, command, progress))
    }

    /// Moves messages to another queue; says how many.
    ///
    /// # Errors
    /// As for [`StoreHandle::purge`].
    pub(crate) fn move_messages(&self, from: &str, to: &str, which: &Which) -> Result<Handled, StoreError> {
        let (source, target) = (self.place(from)?, self.place(to)?);
        if source == target {
            return Err(StoreError::Invalid(format!("'{to}' is the queue that the messages are in")));
        }
        let command = |what| Command::Move { from: source.queue, to: target.queue, what };
        self.act(source, from, which, |items, progress| match source.side == target.side {
            true => self.act_on(source, items, false, command, progress),
            false => self.carry(source, items, Errand::To(target), progress),
        })
    }

    /// Sends dead letters back to where they came from; says how many.
    ///
    /// # Errors
    /// As for [`StoreHandle::purge`].
    pub(crate) fn retry(&self, address: &str, which: &Which) -> Result<Handled, StoreError> {
        let place = self.place(address)?;
        let command = |what| Command::Retry { queue: place.queue, what };
        self.act(place, address, which, |items, progress| {
            match self.act_on(place, items, true, command, progress)? {
                // Those that came from the other side.
                None => self.carry(place, items, Errand::Back, progress),
                rest => Ok(rest),
            }
        })
    }

    /// Does something with messages that no consumer holds. `step` does it with some of them, and says where to go on if no more are
    /// wanted.
    fn act(
        &self,
        place: Place,
        address: &str,
        which: &Which,
        step: impl Fn(&Ranges, &mut Progress) -> Result<Option<Seq>, StoreError>,
    ) -> Result<Handled, StoreError> {
        let mut progress = Progress { handled: Handled::default(), left: which.most.unwrap_or(u64::MAX) };
        if which.selector.is_some() {
            let Part { done: found, next } = self.scan(place, which, false)?;
            for slice in found.chunks(SLICE) {
                step(&slice.iter().map(|found| found.peeked.seq).collect(), &mut progress)?;
            }
            return Ok(Handled { next, ..progress.handled });
        }
        self.await_what_was_said(place);
        let begun = Instant::now();
        let (broker, queue) = (place.side, place.queue);
        let extent = self.with(|node| node.broker(broker).extent(queue));
        let extent = extent.ok_or_else(|| StoreError::NotFound(address.to_owned()))?;
        progress.handled.next = Some(which.from.unwrap_or(Seq::FIRST));
        while let Some(from) = progress.handled.next.filter(|_| begun.elapsed() < LONG) {
            let (items, next) = self.with(|node| node.broker(broker).slice(queue, &extent, from, SLICE));
            match step(&items, &mut progress) {
                Ok(None) => progress.handled.next = next,
                Ok(enough) => return Ok(Handled { next: enough, ..progress.handled }),
                // What was done is told; who goes on is told what is wrong.
                Err(_) if progress.handled.done > 0 => return Ok(progress.handled),
                Err(error) => return Err(error),
            }
        }
        Ok(progress.handled)
    }

    /// Has a command be about some messages. `back`: only dead letters whose queue is there, on the same side.
    fn act_on(
        &self,
        place: Place,
        items: &Ranges,
        back: bool,
        command: impl Fn(Selection) -> Command,
        progress: &mut Progress,
    ) -> Result<Option<Seq>, StoreError> {
        let left = progress.left;
        let aside = self.with(|node| node.broker(place.side).set_aside(place.queue, items, left, back));
        progress.handled.held += aside.held;
        progress.left -= aside.count;
        if !aside.items.is_empty()
            && let Done::Messages { count } = self.command(place.side, command(Selection::These(aside.items)), "")?
        {
            progress.handled.done += count;
        }
        Ok(aside.rest)
    }

    /// Has some messages carried to the other side.
    fn carry(
        &self,
        place: Place,
        items: &Ranges,
        errand: Errand,
        progress: &mut Progress,
    ) -> Result<Option<Seq>, StoreError> {
        let mut items = items.clone();
        loop {
            let left = progress.left;
            let Taken { count, held, rest, gone } = self.with(|node| node.take_across(place, &items, errand, left))?;
            progress.handled.held += held;
            progress.left -= count;
            if count > 0 {
                progress.handled.done += self.answer(&gone)?;
            }
            match rest {
                Some(rest) if progress.left > 0 => items = items.not_before(rest),
                rest => return Ok(rest),
            }
        }
    }
}

impl Node {
    /// Why no message goes to the other side now, and what to do.
    fn why_none_crosses_from(&self, side: Side) -> String {
        match (side, &self.journal.stuck) {
            (Side::Memory, Some(why)) => format!("The store takes nothing now: {why}"),
            (Side::Memory, None) => {
                "There is no memory for more messages on their way: wait for the disk of the store, then go on".into()
            }
            (Side::Logged, _) => {
                "There is no memory for more messages: have some taken from queues that are not durable, then go on"
                    .into()
            }
        }
    }

    /// Takes messages for the other side, at most so many.
    fn take_across(&mut self, place: Place, items: &Ranges, errand: Errand, most: u64) -> Result<Taken, StoreError> {
        if !self.may_cross_from(place.side) {
            return Err(StoreError::Unavailable(self.why_none_crosses_from(place.side)));
        }
        let (reply, gone) = std::sync::mpsc::channel();
        let mut taken = Taken { count: 0, held: 0, rest: None, gone };
        let (mut found, mut bytes) = (Vec::new(), 0);
        'ranges: for (first, last) in items.iter() {
            let mut next = first;
            loop {
                let page = self.broker(place.side).peek(place.queue, next, MOST);
                let Some(end) = page.last().map(|peeked| peeked.seq) else { break 'ranges };
                for peeked in page.into_iter().take_while(|peeked| peeked.seq <= last) {
                    let Some(way) = self.way_of_errand(place, errand, &peeked) else { continue };
                    if peeked.held_by.is_some() {
                        taken.held += 1;
                        continue;
                    }
                    bytes += bytes_of(&peeked);
                    let is_full = found.len() == MOST || bytes > MOST_BYTES && !found.is_empty();
                    if is_full || found.len() as u64 == most {
                        taken.rest = Some(peeked.seq);
                        break 'ranges;
                    }
                    found.push((peeked, way));
                }
                if end >= last {
                    break;
                }
                next = Seq::from_raw(end.raw().saturating_add(1));
            }
        }
        taken.count = self.cross(place, found, Purpose::Somebody(reply));
        Ok(taken)
    }

    /// `None`: a message stays where it is.
    fn way_of_errand(&self, place: Place, errand: Errand, peeked: &Peeked) -> Option<Way> {
        match errand {
            Errand::To(target) => Some(Way::across(peeked, target.queue, false)),
            Errand::Back => {
                let overlay = peeked.overlay.as_ref()?;
                let Some(Destination::Queue(origin)) = self.find(&overlay.deaths.first()?.address) else { return None };
                let overlay = overlay.without_last_death().map(Into::into);
                let back = Peeked { overlay, ..peeked.clone() };
                (origin.side != place.side).then(|| Way::across(&back, origin.queue, false))
            }
        }
    }
}
