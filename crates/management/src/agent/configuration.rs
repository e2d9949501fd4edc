//! The habits of the configuration agent.

use super::reply::Reply;
use super::request::Request;
use super::view::{self, Seen};
use super::{Agent, body_attributes, call, first, node};
use crate::attributes::Attributes;
use crate::backend::{Backend, RequestContext};
use crate::failure::{Failure, status};
use crate::names;
use crate::repr::{plain, repr, repr_words};
use crate::schema::{self, ENTITY, EntityType, MANAGEMENT, Source};
use amqp::Value;

/// Answers a request.
pub(super) fn answer(
    agent: &mut Agent,
    request: &Request<'_>,
    context: &RequestContext,
    backend: &mut dyn Backend,
) -> Result<Reply, Failure> {
    let Some(operation) = request.operation() else {
        return Err(Failure::bad_request(format!("No 'operation' property: {}", request.describe())));
    };
    if operation == "CREATE" {
        return create(agent, request, context, backend);
    }
    let requested = match request.get("type") {
        None => &ENTITY,
        Some(name) => type_of(name)?,
    };
    let target = find(request, requested, backend)?;
    if !target.ty.is_a(requested) {
        let text = format!("Entity type '{}' does not extend requested type '{}'", target.ty.full, requested.full);
        return Err(Failure::bad_request(text));
    }
    if !target.ty.has_operation(&operation) {
        return Err(not_implemented(&operation, target.ty));
    }
    match operation.as_str() {
        "READ" => read(request, requested, &target),
        "UPDATE" => update(request, &target, context, backend),
        "DELETE" => {
            let forced = request.get("force").is_some_and(|force| plain(force).eq_ignore_ascii_case("true"));
            delete(&target, &RequestContext { forced, ..context.clone() }, backend)
        }
        "CALLME" => Ok(Reply::ok(Value::Map(request.properties().clone()))),
        _ => match target.ty.call(&operation) {
            Some(operation) => call::answer(operation, request, &target, context, backend),
            None => node::answer(&operation, request, context, backend),
        },
    }
}

/// The entity type of this name.
pub(super) fn type_of(name: &Value) -> Result<&'static EntityType, Failure> {
    let name = plain(name);
    schema::entity_type(&name).ok_or_else(|| Failure::bad_request(format!("No such entity type '{name}'")))
}

fn not_implemented(operation: &str, ty: &'static EntityType) -> Failure {
    let known = repr_words(ty.all_operations().chain(ty.calls.iter().map(|call| call.name)));
    let text = format!("Operation '{operation}' not implemented for '{}' {known}", ty.full);
    Failure::new(status::NOT_IMPLEMENTED, text)
}

/// The entity that a request means: the one of this name or identity; without these, the management node.
fn find(request: &Request<'_>, requested: &'static EntityType, backend: &mut dyn Backend) -> Result<Seen, Failure> {
    let (name, identity) = (request.text("name"), request.text("identity"));
    let missing = |text: String| Failure::new(status::NOT_FOUND, text);
    let by_key = |key: &str, value: &str, backend: &mut dyn Backend| lookup(requested, key, value, backend);
    match (name, identity) {
        (None, None) if MANAGEMENT.is_a(requested) => Ok(view::management()),
        (None, None) => Err(Failure::bad_request(format!("{}: No name or identity provided", requested.full))),
        (Some(name), None) => {
            by_key("name", &name, backend).ok_or_else(|| missing(format!("No entity with name={name}")))
        }
        (None, Some(identity)) => {
            by_key("identity", &identity, backend).ok_or_else(|| missing(format!("No entity with identity={identity}")))
        }
        (Some(name), Some(identity)) => {
            let found = by_key("name", &name, backend);
            let found = found.ok_or_else(|| missing(format!("No entity with name={name} identity={identity}")))?;
            if found.key("identity") == identity {
                return Ok(found);
            }
            Err(Failure::bad_request(format!("Conflicting name={name} identity={identity}")))
        }
    }
}

/// Finds an entity by name or identity; if several types have one of that name, one of the requested type.
fn lookup(requested: &'static EntityType, key: &str, value: &str, backend: &mut dyn Backend) -> Option<Seen> {
    // There may be very many of them.
    if schema::own_types().contains(&requested) {
        return view::one_of_own(requested, key, value, backend);
    }
    let find = |entities: Vec<Seen>| entities.into_iter().find(|seen| seen.key(key) == value);
    find(view::of_base(requested, backend)).or_else(|| find(view::all(backend)))
}

fn read(request: &Request<'_>, requested: &EntityType, target: &Seen) -> Result<Reply, Failure> {
    if request.get("type").is_some() && target.ty != requested {
        let text = format!("Entity type '{}' does not match requested type '{}'", target.ty.full, requested.full);
        return Err(Failure::new(status::NOT_FOUND, text));
    }
    Ok(Reply::ok(Value::Map(target.attributes.to_map_without_nulls())))
}

fn create(
    agent: &mut Agent,
    request: &Request<'_>,
    context: &RequestContext,
    backend: &mut dyn Backend,
) -> Result<Reply, Failure> {
    let Some(type_name) = request.get("type") else {
        let name = repr(&request.text("name").into());
        return Err(Failure::bad_request(format!("No 'type' attribute in {{'type': None, 'name': {name}}}")));
    };
    let ty = type_of(type_name)?;
    if !ty.has_operation("CREATE") {
        return Err(not_implemented("CREATE", ty));
    }
    let attributes = attributes_for(ty, request)?;
    let validated = schema::validate_create(ty, &attributes, Source::Management).map_err(first)?;
    for deprecation in &validated.deprecations {
        backend.log("warning", &deprecation.to_string());
    }
    let attributes = named(agent, ty, validated.attributes, backend)?;
    let created = backend.create(ty, attributes, context)?;
    backend.log("debug", &format!("Add entity: {}", names::display(ty, &created)));
    Ok(Reply::Done(status::CREATED, Value::Map(created.to_map_without_nulls())))
}

/// The attributes given for a creation, with the name out of the request's properties.
fn attributes_for(ty: &EntityType, request: &Request<'_>) -> Result<Attributes, Failure> {
    let mut attributes = body_attributes(&request.body)?;
    if attributes.contains("identity") {
        return Err(Failure::bad_request("Cannot set attribute 'identity' in CREATE"));
    }
    if attributes.get("type").is_some_and(|given| schema::entity_type(&plain(given)) != Some(ty)) {
        return Err(Failure::bad_request("Conflicting values for 'type'"));
    }
    if let Some(name) = request.text("name") {
        if attributes.get("name").is_some_and(|given| plain(given) != name) {
            return Err(Failure::bad_request("Conflicting values for 'name'"));
        }
        attributes.set("name", Value::String(name));
    }
    Ok(attributes)
}

/// Gives a new entity its identity and name, and makes sure that no other of its type has them.
fn named(
    agent: &mut Agent,
    ty: &'static EntityType,
    attributes: Attributes,
    backend: &mut dyn Backend,
) -> Result<Attributes, Failure> {
    // Who keeps many of a type sees to it himself that no two are called alike.
    let existing = if ty.is_a(&schema::QUEUE_SETTINGS) { Vec::new() } else { backend.list(ty) };
    loop {
        let mut candidate = attributes.clone();
        let serial = agent.next_serial();
        names::assign(ty, &mut candidate, serial);
        let same = |key: &str| {
            let value = candidate.text(key);
            existing.iter().find(|other| value.is_some() && other.text(key) == value)
        };
        let clash = ["name", "identity"].into_iter().find_map(|key| same(key).map(|other| (key, other)));
        match clash {
            None => return Ok(candidate),
            // The number is in use: entities from the configuration file are numbered as well.
            Some((key, _)) if !attributes.contains(key) && is_numbered(&candidate, key, serial) => {}
            Some((key, other)) => {
                return Err(Failure::bad_request(names::duplicate_text(ty, key, &candidate, other)));
            }
        }
    }
}

/// Whether a name or identity was made with this number.
fn is_numbered(attributes: &Attributes, key: &str, serial: u64) -> bool {
    attributes.text(key).is_some_and(|text| text.rsplit('/').next() == Some(serial.to_string().as_str()))
}

fn update(
    request: &Request<'_>,
    target: &Seen,
    context: &RequestContext,
    backend: &mut dyn Backend,
) -> Result<Reply, Failure> {
    let given = body_attributes(&request.body)?;
    let validated = schema::validate_update(target.ty, &target.attributes, &given).map_err(first)?;
    for deprecation in &validated.deprecations {
        backend.log("warning", &deprecation.to_string());
    }
    let updated = if validated.attributes.0.is_empty() {
        target.attributes.clone()
    } else {
        backend.update(target.ty, &target.backend_identity, validated.attributes, context)?
    };
    Ok(Reply::ok(Value::Map(updated.to_map_without_nulls())))
}

fn delete(target: &Seen, context: &RequestContext, backend: &mut dyn Backend) -> Result<Reply, Failure> {
    backend.delete(target.ty, &target.backend_identity, context)?;
    backend.log("debug", &format!("Remove {} entity: {}", target.ty.section, target.key("identity")));
    Ok(Reply::deleted())
}
