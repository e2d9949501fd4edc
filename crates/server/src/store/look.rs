//! Looking into queues, for who manages them. Nobody is held up by it: the core is locked for short times only, and one request
//! looks at so many messages, and for so long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use queue_core::{BodyRef, Command, Peeked, QueueSettings, Ranges, Selection, Seq};
use queue_log::{Condition, Log};
use selector::{Context, Selector};

use super::StoreHandle;
use super::bodies::TRANSIENT;
use super::links::{Place, Side};
use super::node::Node;
use super::opaque;
use super::spec::{MessageView, Part, StoreError, StoreView, TemplateSpec, TopicSpec, Which};
use crate::content::Whole;

/// Messages that one request looks at.
const MOST_LOOKED: usize = 20_000;
/// Bytes of messages that one request reads.
const MOST_READ: usize = 32 * 1024 * 1024;
/// Messages that are looked at while the core is locked.
const STEP: usize = 256;
/// How long one request goes on.
pub(super) const LONG: Duration = Duration::from_secs(3);
/// Bytes at the beginning of a message that are looked at: no selector needs the body.
const HEAD: usize = 128 * 1024;

/// A message that was found, and its beginning, if that was asked for.
pub(super) struct Found {
    pub(super) peeked: Peeked,
    bytes: Vec<u8>,
}

impl StoreHandle {
    /// Messages in the order of delivery.
    ///
    /// # Errors
    /// If the queue is not there, the selector is none, or the disk cannot be read.
    pub(crate) fn peek(&self, address: &str, which: &Which) -> Result<Part<Vec<MessageView>>, StoreError> {
        let Part { done, next } = self.scan(self.place(address)?, which, true)?;
        let done = done.into_iter().map(view).collect();
        Ok(Part { done, next })
    }

    /// All templates, in the order of their patterns.
    pub(crate) fn templates(&self) -> Vec<TemplateSpec> {
        let spec = |(pattern, queue): (&str, &QueueSettings)| TemplateSpec {
            pattern: pattern.to_owned(),
            queue: queue.clone(),
        };
        self.with(|node| node.templates.all().map(spec).collect())
    }

    /// All topics.
    pub(crate) fn topics(&self) -> Vec<TopicSpec> {
        self.with(|node| {
            let spec = |(_, settings): (_, &Arc<QueueSettings>)| TopicSpec {
                address: settings.address.to_string(),
                subscription: QueueSettings::clone(settings),
            };
            let mut topics: Vec<_> = node.brokers[Side::Logged as usize].topics().map(spec).collect();
            topics.sort_by(|one, other| one.address.cmp(&other.address));
            topics
        })
    }

    /// The store as a whole.
    pub(crate) fn view(&self) -> StoreView {
        let queues = self.queues();
        let log = self.with(|node| node.journal.log.clone());
        StoreView {
            settings: self.settings().clone(),
            condition: log.as_ref().map_or(Condition::Good, |log| log.condition()),
            log: log.map(|log| log.stats()).unwrap_or_default(),
            queues: queues.len() as u64,
            messages: queues.iter().map(|queue| queue.messages).sum(),
            bytes: queues.iter().map(|queue| queue.bytes).sum(),
        }
    }

    /// Waits until what consumers and senders have said so far has taken effect: whoever looks after that sees it.
    pub(super) fn await_what_was_said(&self, place: Place) {
        let waits = self.with(|node| {
            let journal = &node.journal;
            let gathers = !journal.gathering[place.side as usize].is_empty();
            journal.stuck.is_none() && (gathers || place.side == Side::Logged && !journal.flight.is_empty())
        });
        if waits {
            // It changes nothing, and has its turn after all that was there before. If the disk takes nothing, what there is is
            // looked at as it is.
            let nothing = Command::Purge { queue: place.queue, what: Selection::These(Ranges::new()) };
            let _ = self.command(place.side, nothing, "");
        }
    }

    /// Looks for messages; `show`: their beginnings are wanted, too, and those that consumers hold count as others.
    pub(super) fn scan(&self, place: Place, which: &Which, show: bool) -> Result<Part<Vec<Found>>, StoreError> {
        let selector = which.selector.as_deref().map(Selector::parse).transpose();
        let selector = selector.map_err(|error| StoreError::Invalid(error.to_string()))?;
        let most = which.most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        let reads = show || selector.is_some();
        self.await_what_was_said(place);
        let begun = Instant::now();
        let (mut found, mut held, mut looked, mut read) = (Vec::new(), 0, 0, 0);
        let mut from = which.from.unwrap_or(Seq::FIRST);
        loop {
            let (step, log) = self.with(|node| (node.look_into(place, from), node.journal.log.clone()));
            if step.is_empty() {
                return Ok(Part { done: found, next: None });
            }
            for (peeked, whole) in step {
                let enough = found.len() - held >= most || looked >= MOST_LOOKED || read >= MOST_READ;
                if enough || looked > 0 && begun.elapsed() >= LONG {
                    return Ok(Part { done: found, next: Some(peeked.seq) });
                }
                looked += 1;
                from = Seq::from_raw(peeked.seq.raw().saturating_add(1));
                let bytes = match reads.then(|| beginning(&peeked, whole.as_deref(), log.as_deref())) {
                    None => Vec::new(),
                    Some(Ok(bytes)) => bytes,
                    // Where it was there may be something else by now, if it has left the queue in the meantime.
                    Some(Err(_)) if !self.with(|node| node.is_there(place, peeked.seq)) => continue,
                    Some(Err(error)) => return Err(error),
                };
                read += bytes.len();
                let context = Context { delivery_count: Some(peeked.delivery_count) };
                if selector.as_ref().is_none_or(|selector| selector.matches_with(opaque::sections(&bytes), &context)) {
                    // Nothing is done with these, so that others have their turn.
                    held += usize::from(!show && peeked.held_by.is_some());
                    found.push(Found { peeked, bytes });
                }
            }
        }
    }
}

impl Node {
    fn is_there(&mut self, place: Place, seq: Seq) -> bool {
        self.broker(place.side).peek(place.queue, seq, 1).first().is_some_and(|peeked| peeked.seq == seq)
    }

    /// Some messages from a place on, with their bytes, if they are in memory.
    fn look_into(&mut self, place: Place, from: Seq) -> Vec<(Peeked, Option<Arc<Whole>>)> {
        let found = self.broker(place.side).peek(place.queue, from, STEP);
        found.into_iter().map(|peeked| (self.bodies.get(peeked.body).cloned(), peeked)).map(|(w, p)| (p, w)).collect()
    }
}

/// The beginning of a message. Nothing if it has left the queue in the meantime.
fn beginning(peeked: &Peeked, whole: Option<&Whole>, log: Option<&Log>) -> Result<Vec<u8>, StoreError> {
    let cut = |bytes: &[u8]| bytes.get(..HEAD).unwrap_or(bytes).to_vec();
    if let Some(whole) = whole {
        return Ok(cut(whole.bytes()));
    }
    let Some(log) = log else { return Ok(Vec::new()) };
    let read = match peeked.body {
        // The first part is what the entry says, the messages follow.
        BodyRef::Log { entry, part } if entry < TRANSIENT => log.read_part(entry, part + 1).map(|bytes| cut(&bytes)),
        BodyRef::Log { .. } => return Ok(Vec::new()),
        BodyRef::Large { file } => log.open_large(file).and_then(|mut file| file.read(0, HEAD).map(<[u8]>::to_vec)),
    };
    read.map_err(|error| StoreError::Unavailable(format!("The message {} cannot be read: {error}", peeked.seq)))
}

fn view(found: Found) -> MessageView {
    let Found { peeked, bytes } = found;
    MessageView {
        place: peeked.seq,
        bytes,
        size: peeked.size,
        arrived: peeked.arrived,
        expires_at: peeked.expires_at,
        deliver_at: peeked.deliver_at,
        delivery_count: peeked.delivery_count,
        acquired: peeked.held_by.is_some(),
        deaths: peeked.overlay.map(|overlay| overlay.deaths.clone()).unwrap_or_default(),
    }
}
