//! `/metrics`, in the text format of Prometheus (version 0.0.4).
//!
//! The metrics of the old router have its names; those under `waystation_` keep to Prometheus's rules for names, with units
//! and labels. What `/metrics?names=old` and `?names=new` give is one of the two; `?detail=no` leaves out the series of
//! single connections, links and addresses.
//!
//! A scrape costs the same however many there are: of each kind, no more than [`details::MOST`] have series of their own,
//! and the core is locked for no longer than it takes to copy those. Who asks again at once gets the same answer.

mod details;
pub(crate) mod exposition;
mod old_names;
mod parts;
mod process;
mod queues;
mod router;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE};
use parking_lot::Mutex;

use super::Context;
use super::reply::{Reply, full, reply, set, text};
use exposition::Exposition;

/// The format, and its version.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// How long an answer is good for others who ask the same.
const FRESH: Duration = Duration::from_millis(200);
/// How long the control plane may take to say how listeners and connectors fare; without that, their series are missing.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a scrape asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    old: bool,
    new: bool,
    detail: bool,
}

/// The last answer: when, to what, and the answer.
#[derive(Clone, Default)]
pub(super) struct Recent(Arc<Mutex<Option<(Instant, Wanted, Bytes)>>>);

/// Answers.
pub(super) async fn answer(context: &Context, query: Option<&str>) -> Reply {
    let Some(wanted) = Wanted::parse(query.unwrap_or_default()) else {
        return text(
            StatusCode::BAD_REQUEST,
            "What can be asked for here: names=old, names=new, names=all, detail=yes, detail=no.\n",
        );
    };
    let recent = context.recent.0.lock().clone();
    let body = match recent {
        Some((when, what, body)) if what == wanted && when.elapsed() < FRESH => body,
        _ => {
            let body = Bytes::from(families(context, wanted).await.text());
            *context.recent.0.lock() = Some((Instant::now(), wanted, body.clone()));
            body
        }
    };
    let mut reply = reply(StatusCode::OK, full(body));
    set(&mut reply, CONTENT_TYPE, FORMAT);
    set(&mut reply, CACHE_CONTROL, "no-store");
    // As the old router does.
    set(&mut reply, CONNECTION, "close");
    reply
}

/// What is known of the router as a whole and of its listeners, connectors and certificates, under Prometheus's names.
pub(crate) async fn of_router(context: &Context) -> Exposition {
    families(context, Wanted { old: false, new: true, detail: false }).await
}

async fn families(context: &Context, wanted: Wanted) -> Exposition {
    let mut text = Exposition::default();
    if wanted.old {
        old_names::write(&context.shards, &mut text);
    }
    if wanted.new {
        let report = context.questions.ask(PATIENCE).await;
        router::write(&context.shards, report.as_ref(), &mut text);
        if let Some(report) = &report {
            parts::write(report, &mut text);
        }
        if wanted.detail {
            details::write(&context.shards, &mut text);
        }
        queues::write(&context.shards, wanted.detail, &mut text);
        process::write(&mut text);
    }
    text
}

impl Wanted {
    /// What a query asks for; `None` if it asks for something else.
    fn parse(query: &str) -> Option<Self> {
        let mut wanted = Self { old: true, new: true, detail: true };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair {
                "names=all" => (wanted.old, wanted.new) = (true, true),
                "names=old" => (wanted.old, wanted.new) = (true, false),
                "names=new" => (wanted.old, wanted.new) = (false, true),
                "detail=yes" => wanted.detail = true,
                "detail=no" => wanted.detail = false,
                _ => return None,
            }
        }
        Some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_given_unless_asked_otherwise() {
        assert_eq!(Wanted::parse(""), Some(Wanted { old: true, new: true, detail: true }));
        let lean = Some(Wanted { old: false, new: true, detail: false });
        assert_eq!(Wanted::parse("names=new&detail=no"), lean);
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused() {
        assert_eq!(Wanted::parse("name=new"), None);
    }
}
