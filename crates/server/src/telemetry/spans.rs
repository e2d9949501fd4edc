//! Spans: one for each message's way through this router, from when it came until it was last sent on.

use std::collections::HashMap;

use super::hops::{Context, Hop};

/// Spans that are under way; a message beyond that many has none.
const MOST: usize = 16 * 1024;
/// Nanoseconds after it was last sent until a span is told of: there may be more receivers.
const SETTLED: u64 = 1_000_000_000;
/// Nanoseconds after which a span is told of whose message was not sent on.
const PATIENCE: u64 = 30_000_000_000;

/// The way of a message, or of several that were sent in one span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) context: Context,
    pub(super) address: String,
    /// Nanoseconds since 1970.
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number of the connection that it came by.
    pub(super) connection: u64,
    pub(super) size: usize,
    /// How many messages came.
    pub(super) came: u32,
    /// How often they were sent on.
    pub(super) sent: u32,
}

/// Those under way.
#[derive(Default)]
pub(super) struct Spans {
    open: HashMap<Context, Span>,
    pub(super) lost: u64,
}

impl Spans {
    /// A message has come, or was sent on.
    pub(super) fn note(&mut self, hop: Hop) {
        let Hop { context, came, at, connection, address, size } = hop;
        if let Some(span) = self.open.get_mut(&context) {
            span.end = span.end.max(at);
            if came {
                span.came += 1;
                span.size += size;
            } else {
                span.sent += 1;
            }
        } else if !came {
            // It was told of before it was sent on to this receiver, which had to wait.
        } else if self.open.len() < MOST {
            self.open
                .insert(context, Span { context, address, start: at, end: at, connection, size, came: 1, sent: 0 });
        } else {
            self.lost += 1;
        }
    }

    /// Takes those that are over at this time; all of them at the end.
    pub(super) fn over(&mut self, now: u64, all: bool) -> Vec<Span> {
        let is_over = |span: &Span| {
            let patience = if span.sent >= span.came { SETTLED } else { PATIENCE };
            all || now.saturating_sub(span.end) >= patience
        };
        let over: Vec<Span> = self.open.extract_if(|_, span| is_over(span)).map(|(_, span)| span).collect();
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn hop(parent: u64, came: bool, at: u64) -> Hop {
        Hop { context: Context { trace: 7, parent }, came, at, connection: 1, address: "a".to_owned(), size: 10 }
    }

    #[test]
    fn a_span_goes_from_the_arrival_to_the_last_receiver() {
        let mut spans = Spans::default();
        for (came, at) in [(true, 100), (false, 105), (false, 250)] {
            spans.note(hop(1, came, at));
        }
        assert_eq!(spans.over(300, false), []);
        let over = spans.over(250 + SECOND, false);
        assert_eq!((over.len(), over[0].start, over[0].end, over[0].sent), (1, 100, 250, 2));
        assert_eq!(spans.over(u64::MAX, true), []);
    }

    #[test]
    fn a_message_that_nobody_takes_is_told_of_later() {
        let mut spans = Spans::default();
        spans.note(hop(1, true, 100));
        assert_eq!(spans.over(2 * SECOND, false), []);
        assert_eq!(spans.over(31 * SECOND, false)[0].sent, 0);
    }

    #[test]
    fn there_is_a_bound() {
        let mut spans = Spans::default();
        (0..MOST as u64 + 5).for_each(|parent| spans.note(hop(parent + 1, true, 1)));
        assert_eq!((spans.lost, spans.over(0, true).len()), (5, MOST));
    }
}
