//! The operations of the management node itself.

use super::configuration::type_of;
use super::later::Later;
use super::query::{requested_columns, table};
use super::reply::Reply;
use super::request::Request;
use super::view;
use crate::backend::{Backend, RequestContext};
use crate::failure::{Failure, status};
use crate::repr::repr;
use crate::schema::{self, EntityType};
use amqp::{Map, Value};
use std::collections::BTreeSet;

/// The deepest indentation of GET-JSON-SCHEMA, in blanks a level.
const MAX_INDENT: usize = 16;

/// Answers a request for an operation that the management node has.
pub(super) fn answer(
    operation: &str,
    request: &Request<'_>,
    context: &RequestContext,
    backend: &mut dyn Backend,
) -> Result<Reply, Failure> {
    Ok(Reply::ok(match operation {
        "QUERY" => query(request, backend)?,
        "GET-TYPES" => by_type(request, |ty| ty.bases().map(|base| Value::from(base.full)).collect())?,
        "GET-ATTRIBUTES" => by_type(request, |ty| ty.all_attributes().map(|it| Value::from(it.name)).collect())?,
        "GET-OPERATIONS" => by_type(request, |ty| {
            ty.all_operations().chain(ty.calls.iter().map(|call| call.name)).map(Value::from).collect()
        })?,
        "GET-ANNOTATIONS" => Value::Map(Map::new()),
        "GET-MGMT-NODES" => Value::List(backend.management_nodes().into_iter().map(Value::String).collect()),
        "GET-SCHEMA" => Value::Map(match entity_type(request)? {
            Some(own) if schema::own_types().contains(&own) => schema::own_schema_map(own),
            _ => schema::schema_map(),
        }),
        "GET-JSON-SCHEMA" => {
            let indent = request.number("indent").and_then(|indent| usize::try_from(indent).ok());
            Value::String(schema::schema_json(indent.map(|indent| indent.min(MAX_INDENT))))
        }
        "GET-LOG" => Value::List(backend.log_entries(limit(request)?)),
        "RELOAD" => {
            backend.requested_by(context);
            match backend.reload(Later::to(request))? {
                Some(told) => Value::List(told.into_iter().map(Value::String).collect()),
                None => return Ok(Reply::Later),
            }
        }
        // The old router can profile its own scripts; there is nothing like it here.
        "PROFILE" => return Err(Failure::bad_request("Profiler not started")),
        _ => {
            let text = format!("Operation '{operation}' not implemented");
            return Err(Failure::new(status::NOT_IMPLEMENTED, text));
        }
    }))
}

/// How many log entries are asked for; all, if the number is not positive.
fn limit(request: &Request<'_>) -> Result<Option<usize>, Failure> {
    let Some(given) = request.get("limit") else { return Ok(None) };
    let Some(limit) = request.number("limit") else {
        let text = format!("ValueError: invalid literal for int() with base 10: {}", repr(given));
        return Err(Failure::internal(text));
    };
    Ok(usize::try_from(limit).ok().filter(|limit| *limit > 0))
}

/// The type that a request is limited to.
fn entity_type(request: &Request<'_>) -> Result<Option<&'static EntityType>, Failure> {
    let named = request.get("entityType").filter(|name| name.as_text() != Some(""));
    named.map(type_of).transpose()
}

/// All types, or the given one and those that extend it. Types of this router's own are among them only by their name.
fn types_of(base: Option<&'static EntityType>) -> impl Iterator<Item = &'static EntityType> {
    let named = schema::own_types().iter().filter(move |ty| Some(**ty) == base);
    schema::entity_types().iter().chain(named).copied().filter(move |ty| base.is_none_or(|base| ty.is_a(base)))
}

/// A map from types to lists: of all types, or of the given one and those that extend it.
fn by_type(request: &Request<'_>, list: impl Fn(&'static EntityType) -> Vec<Value>) -> Result<Value, Failure> {
    let base = entity_type(request)?;
    let types = types_of(base);
    Ok(Value::Map(Map(types.map(|ty| (Value::from(ty.full), Value::List(list(ty)))).collect())))
}

fn query(request: &Request<'_>, backend: &mut dyn Backend) -> Result<Value, Failure> {
    let base = entity_type(request)?;
    let asked = requested_columns(&request.body)
        .ok_or_else(|| Failure::bad_request("'attributeNames' must be a list of names"))?;
    let columns = if asked.is_empty() { columns(base) } else { checked_columns(&asked, base)? };
    if let Some(own) = base.filter(|base| schema::own_types().contains(base)) {
        let number = |name| request.number(name).and_then(|number| usize::try_from(number).ok());
        let (offset, count) = (number("offset").unwrap_or(0), number("count").unwrap_or(usize::MAX));
        let entities = view::page_of_own(own, offset, count, backend);
        return Ok(table(&columns, &entities));
    }
    let entities = match base {
        Some(base) => view::of_base(base, backend),
        None => view::all(backend),
    };
    Ok(table(&columns, entities.iter().map(|seen| &seen.attributes)))
}

/// All columns there are for a type: its attributes in their order, or for several types the names of all, sorted.
fn columns(base: Option<&'static EntityType>) -> Vec<&'static str> {
    match base {
        Some(ty) if !ty.is_abstract => names_of(ty).collect(),
        _ => types_of(base).flat_map(names_of).collect::<BTreeSet<_>>().into_iter().collect(),
    }
}

fn names_of(ty: &'static EntityType) -> impl Iterator<Item = &'static str> {
    ty.all_attributes().map(|attribute| attribute.name)
}

/// The columns asked for, if there are such.
fn checked_columns<'a>(asked: &[&'a Value], base: Option<&'static EntityType>) -> Result<Vec<&'a str>, Failure> {
    let known: BTreeSet<&str> =
        columns(base).into_iter().chain(base.map_or(&[][..], |ty| ty.core_columns).iter().copied()).collect();
    // Repeated names would make the answer larger than all that there is to tell.
    if asked.len() > known.len() {
        return Err(Failure::bad_request(format!("More than {} names of attributes", known.len())));
    }
    let unknown = asked.iter().filter(|name| !name.as_text().is_some_and(|name| known.contains(name)));
    let unknown: Vec<Value> = unknown.map(|name| (*name).clone()).collect();
    if unknown.is_empty() {
        return Ok(asked.iter().filter_map(|name| name.as_text()).collect());
    }
    let of_type = base.map(|ty| format!(" for type {}", ty.full)).unwrap_or_default();
    let text = format!("Unknown attributes {}{of_type}.", repr(&Value::List(unknown)));
    Err(Failure::new(status::NOT_FOUND, text))
}
