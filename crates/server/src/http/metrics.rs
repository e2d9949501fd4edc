//! `/metrics`, in the text format of Prometheus (version 0.0.4).

mod exposition;
mod old_names;

use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE};

use super::Context;
use super::reply::{Reply, full, reply, set};
use exposition::Exposition;

/// The format, and its version.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers.
pub(super) fn answer(context: &Context) -> Reply {
    let mut text = Exposition::default();
    old_names::write(&context.shards, &mut text);
    let mut reply = reply(StatusCode::OK, full(text.finish()));
    set(&mut reply, CONTENT_TYPE, FORMAT);
    set(&mut reply, CACHE_CONTROL, "no-store");
    // As the old router does.
    set(&mut reply, CONNECTION, "close");
    reply
}
