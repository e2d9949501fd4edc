//! A message as it leaves a queue: its bytes as they came, except that its first sections say what the queue has to say of it:
//! how often it was tried, how long it has to live, what was said of it meanwhile. The body is never written anew.

use std::sync::Arc;

use queue_core::{Assignment, Millis};

use super::opaque;
use crate::content::Whole;
use crate::shard::Stored;

/// A message with what its queue has to say.
pub(super) fn leaving(whole: Arc<Whole>, assignment: &Assignment, now: Millis) -> Stored {
    let (format, before) = opaque::format_of(whole.bytes());
    if before > 0 {
        return Stored { head: Box::default(), whole, rest: before, format };
    }
    let as_it_came = assignment.delivery_count == 0
        && !assignment.redelivered
        && assignment.expires_at.is_none()
        && assignment.overlay.is_none();
    let mut head = Vec::new();
    // It was well-formed when it came.
    let rest = match as_it_came {
        true => 0,
        false => assignment.write_head(whole.bytes(), now, &mut head).unwrap_or(0),
    };
    Stored { head: head.into(), whole, rest, format }
}
