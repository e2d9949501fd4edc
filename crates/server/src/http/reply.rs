//! Answers.

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, SERVER, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};
use std::io;

/// What the old router says it is.
const PRODUCT: &str = "qpid-dispatch-router";
const PLAIN: &str = "text/plain; charset=utf-8";

/// The body of an answer.
pub(super) type Body = BoxBody<Bytes, io::Error>;
/// An answer.
pub(super) type Reply = Response<Body>;

/// An answer with what all have.
pub(super) fn reply(status: StatusCode, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    set(&mut reply, SERVER, PRODUCT);
    // Nothing is to be taken for something else than it says.
    set(&mut reply, X_CONTENT_TYPE_OPTIONS, "nosniff");
    reply
}

/// An answer of plain text, good for this moment only.
pub(super) fn text(status: StatusCode, text: impl Into<String>) -> Reply {
    let mut reply = reply(status, full(text.into()));
    set(&mut reply, CONTENT_TYPE, PLAIN);
    set(&mut reply, CACHE_CONTROL, "no-store");
    reply
}

/// An answer without a body.
pub(super) fn bare(status: StatusCode) -> Reply {
    reply(status, Empty::new().map_err(|never| match never {}).boxed())
}

/// A body that is there.
pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed()
}

/// Sets a header to a text of the program's.
pub(super) fn set(reply: &mut Reply, name: HeaderName, value: &'static str) {
    reply.headers_mut().insert(name, HeaderValue::from_static(value));
}
