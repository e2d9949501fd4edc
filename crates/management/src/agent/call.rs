//! Operations that take arguments.

use super::later::Later;
use super::reply::Reply;
use super::request::Request;
use super::view::Seen;
use super::{body_attributes, first};
use crate::attributes::Attributes;
use crate::backend::{Backend, RequestContext};
use crate::failure::Failure;
use crate::schema::{self, Call};
use amqp::Value;

/// Properties of a request that say what it is about, and are no arguments.
const ADDRESSING: [&str; 5] = ["operation", "type", "entityType", "name", "identity"];

/// Has the target do it.
pub(super) fn answer(
    call: &'static Call,
    request: &Request<'_>,
    target: &Seen,
    context: &RequestContext,
    backend: &mut dyn Backend,
) -> Result<Reply, Failure> {
    let given = arguments(request)?;
    let arguments = schema::validate_arguments(call, &given).map_err(first)?;
    backend.requested_by(context);
    let later = Later::to(request);
    if backend.call_later(target.ty, call.name, &arguments, later) {
        return Ok(Reply::Later);
    }
    let answer = backend.call(target.ty, &target.backend_identity, call.name, &arguments)?;
    Ok(Reply::ok(Value::Map(answer.to_map_without_nulls())))
}

/// What is in the body, and those application properties that do not say what the request is about.
fn arguments(request: &Request<'_>) -> Result<Attributes, Failure> {
    let mut given = if request.body.is_null() { Attributes::new() } else { body_attributes(&request.body)? };
    for (key, value) in request.properties().iter() {
        match key.as_text() {
            Some(name) if !ADDRESSING.contains(&name) && !given.contains(name) => given.set(name, value.clone()),
            _ => {}
        }
    }
    Ok(given)
}
