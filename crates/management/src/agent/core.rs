//! The habits of the core agent.

use super::query::{requested_columns, table};
use super::reply::Reply;
use super::request::Request;
use super::{body_attributes, first};
use crate::attributes::Attributes;
use crate::backend::{Backend, RequestContext};
use crate::failure::{Failure, status};
use crate::repr::repr_words;
use crate::schema::{self, CONNECTION, CONSOLE, EntityType, LINK, PREFIX, ROUTER, Source};
use amqp::{Map, Value};

/// From this many columns on the core agent reports all that there are.
const MANY_COLUMNS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Query,
    Create,
    Read,
    Update,
    Delete,
}

/// A request that is for the core agent.
pub(super) struct Call {
    operation: Operation,
    ty: &'static EntityType,
}

/// Whether the request is for the core agent: one of its operations, in exact spelling, on one of its types under its
/// fully qualified name.
pub(super) fn takes(request: &Request<'_>) -> Option<Call> {
    let operation = match request.word("operation")? {
        "QUERY" => Operation::Query,
        "CREATE" => Operation::Create,
        "READ" => Operation::Read,
        "UPDATE" => Operation::Update,
        "DELETE" => Operation::Delete,
        _ => return None,
    };
    let name = request.word("entityType").or_else(|| request.word("type"))?;
    let ty = schema::entity_type(name).filter(|ty| name.starts_with(PREFIX) && !ty.core_columns.is_empty())?;
    Some(Call { operation, ty })
}

impl Call {
    /// What was asked for, for an error text.
    pub(super) fn describe(&self) -> String {
        let operation = match self.operation {
            Operation::Query => "QUERY",
            Operation::Create => "CREATE",
            Operation::Read => "READ",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        };
        format!("{operation} of {}", self.ty.full)
    }

    /// Whether nobody may do this.
    fn is_forbidden(&self) -> bool {
        let ty = self.ty;
        match self.operation {
            _ if *ty == CONSOLE => true,
            Operation::Query => false,
            Operation::Delete => *ty == ROUTER || *ty == CONNECTION,
            Operation::Create | Operation::Read | Operation::Update => *ty == ROUTER,
        }
    }

    /// Whether entities of the type can do this.
    fn is_implemented(&self) -> bool {
        match self.operation {
            Operation::Query | Operation::Read => true,
            Operation::Create => self.ty.has_operation("CREATE"),
            Operation::Delete => self.ty.has_operation("DELETE"),
            Operation::Update => *self.ty == CONNECTION || *self.ty == LINK,
        }
    }

    /// The body of a refusal.
    fn empty_body(&self) -> Value {
        match self.operation {
            Operation::Query => table(&[], []),
            Operation::Create => Value::Null,
            Operation::Read | Operation::Update | Operation::Delete => Value::Map(Map::new()),
        }
    }
}

/// Answers a request.
pub(super) fn answer(call: &Call, request: &Request<'_>, context: &RequestContext, backend: &mut dyn Backend) -> Reply {
    backend.requested_by(context);
    let result = if call.is_forbidden() {
        Err(Failure::forbidden())
    } else if !call.is_implemented() {
        Err(not_implemented(call))
    } else {
        match call.operation {
            Operation::Query => Ok(query(call.ty, request, backend)),
            Operation::Create => create(call.ty, request, context, backend),
            Operation::Read => read(call.ty, request, backend),
            Operation::Update => update(call.ty, request, context, backend),
            Operation::Delete => delete(call.ty, request, context, backend),
        }
    };
    result.unwrap_or_else(|failure| Reply::Failed(failure, call.empty_body()))
}

fn not_implemented(call: &Call) -> Failure {
    let operation = call.describe();
    let operation = operation.split(' ').next().unwrap_or_default();
    let known = repr_words(call.ty.all_operations());
    let text = format!("Operation '{operation}' not implemented for '{}' {known}", call.ty.full);
    Failure::new(status::NOT_IMPLEMENTED, text)
}

fn query(ty: &'static EntityType, request: &Request<'_>, backend: &mut dyn Backend) -> Reply {
    let asked = requested_columns(&request.body).unwrap_or_default();
    let names: Vec<&str> = asked.iter().filter_map(|name| name.as_text()).collect();
    let columns = if names.is_empty() || names.len() >= MANY_COLUMNS { ty.core_columns } else { &names };
    let count = request.number("count").and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
    let Ok(offset) = usize::try_from(request.number("offset").unwrap_or(0)) else {
        return Reply::ok(table(columns, []));
    };
    let entities: Vec<_> = backend.page(ty, offset, count).into_iter().map(|entity| core_view(ty, entity)).collect();
    Reply::ok(table(columns, &entities))
}

/// An instance, called as the core agent calls it: the router by its id, and numbered one.
fn core_view(ty: &EntityType, mut entity: Attributes) -> Attributes {
    if *ty == ROUTER {
        let id = entity.get("id").cloned().unwrap_or(Value::Null);
        entity.set("name", id);
        entity.set("identity", Value::from("1"));
    }
    entity
}

/// The instance that a request means: by its identity, else by its name.
fn find(ty: &'static EntityType, request: &Request<'_>, backend: &mut dyn Backend) -> Result<Attributes, Failure> {
    let (key, value) = match (request.text("identity"), request.text("name")) {
        (Some(identity), _) => ("identity", identity),
        (None, Some(name)) => ("name", name),
        (None, None) if ty.short == "router.config.binding" => {
            return Err(Failure::bad_request("No binding name or identity provided"));
        }
        (None, None) => return Err(Failure::bad_request("No name or identity provided")),
    };
    backend.find(ty, key, &value).ok_or_else(Failure::not_found)
}

fn identity_of(entity: &Attributes) -> String {
    entity.text("identity").unwrap_or_default().to_owned()
}

/// All columns of an entity, nulls included.
fn body(ty: &EntityType, entity: &Attributes) -> Value {
    let value = |name: &&'static str| (Value::from(*name), entity.get(name).cloned().unwrap_or(Value::Null));
    Value::Map(Map(ty.core_columns.iter().map(value).collect()))
}

fn create(
    ty: &'static EntityType,
    request: &Request<'_>,
    context: &RequestContext,
    backend: &mut dyn Backend,
) -> Result<Reply, Failure> {
    let mut attributes = body_attributes(&request.body)?;
    if let Some(name) = request.text("name") {
        attributes.set("name", Value::String(name));
    }
    let validated = schema::validate_create(ty, &attributes, Source::Management).map_err(first)?;
    let created = backend.create(ty, validated.attributes, context)?;
    Ok(Reply::Done(status::CREATED, body(ty, &created)))
}

fn read(ty: &'static EntityType, request: &Request<'_>, backend: &mut dyn Backend) -> Result<Reply, Failure> {
    if *ty == CONNECTION && request.get("identity").is_none() {
        return Err(Failure::bad_request("Name not supported. Identity required"));
    }
    find(ty, request, backend).map(|entity| Reply::ok(body(ty, &entity)))
}

fn update(
    ty: &'static EntityType,
    request: &Request<'_>,
    context: &RequestContext,
    backend: &mut dyn Backend,
) -> Result<Reply, Failure> {
    // For connections the core agent has one answer to whatever is wrong.
    let puzzled = |failure: Failure| if *ty == CONNECTION { bad_request() } else { failure };
    if *ty == CONNECTION && request.get("identity").is_none() {
        return Err(bad_request());
    }
    let current = find(ty, request, backend).map_err(puzzled)?;
    let given = body_attributes(&request.body).map_err(puzzled)?;
    if *ty == CONNECTION && given.0.is_empty() {
        return Err(bad_request());
    }
    let changes = schema::validate_update(ty, &current, &given).map_err(|_| bad_request())?.attributes;
    let identity = identity_of(&current);
    let updated = if changes.0.is_empty() { current } else { backend.update(ty, &identity, changes, context)? };
    Ok(Reply::ok(body(ty, &updated)))
}

fn bad_request() -> Failure {
    Failure::bad_request(status::phrase(status::BAD_REQUEST))
}

fn delete(
    ty: &'static EntityType,
    request: &Request<'_>,
    context: &RequestContext,
    backend: &mut dyn Backend,
) -> Result<Reply, Failure> {
    let identity = identity_of(&find(ty, request, backend)?);
    backend.delete(ty, &identity, context)?;
    Ok(Reply::deleted())
}
