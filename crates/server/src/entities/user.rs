//! `user`: the users in the router's own file (`usersFile`), which `waystation user` changes, too.

use crate::authentication::Authentication;
use amqp::Value;
use management::{Attributes, EntityType, Failure};
use security::UsersError;

/// All users.
pub(super) fn rows(authentication: &Authentication, entity_type: &EntityType) -> Vec<Attributes> {
    let Some(base) = authentication.users() else { return Vec::new() };
    let users = base.users();
    let row = |name: &str| row(entity_type, name, users.mechanisms(name).unwrap_or_default());
    users.names().map(row).collect()
}

fn row(entity_type: &EntityType, name: &str, mechanisms: Vec<&'static str>) -> Attributes {
    let mechanisms = mechanisms.into_iter().map(|name| Value::String(name.to_owned())).collect();
    Attributes::new()
        .with("name", Value::from(name))
        .with("identity", Value::String(identity(name)))
        .with("type", Value::from(entity_type.full))
        .with("mechanisms", Value::List(mechanisms))
}

fn identity(name: &str) -> String {
    format!("user/{name}")
}

/// Adds a user.
pub(super) fn create(
    authentication: &Authentication,
    entity_type: &EntityType,
    attributes: &Attributes,
) -> Result<Attributes, Failure> {
    let name = attributes.text("name").unwrap_or_default().to_owned();
    set(authentication, &name, attributes, false)?;
    shown(authentication, entity_type, &name)
}

/// Gives a user another password.
pub(super) fn update(
    authentication: &Authentication,
    entity_type: &EntityType,
    identity: &str,
    changes: &Attributes,
) -> Result<Attributes, Failure> {
    let name = name_of(identity).ok_or_else(Failure::not_found)?;
    set(authentication, name, changes, true)?;
    shown(authentication, entity_type, name)
}

/// Removes a user. False: there is none of that name.
pub(super) fn delete(authentication: &Authentication, identity: &str) -> Result<bool, Failure> {
    let Some(base) = authentication.users() else { return Ok(false) };
    let Some(name) = name_of(identity) else { return Ok(false) };
    match base.change(|users| users.remove(name)) {
        Ok(()) => Ok(true),
        Err(UsersError::Unknown(_)) => Ok(false),
        Err(error) => Err(failure(&error)),
    }
}

fn set(authentication: &Authentication, name: &str, given: &Attributes, exists: bool) -> Result<(), Failure> {
    let base = authentication.users().ok_or_else(|| {
        Failure::bad_request(
            "This router has no users of its own: set usersFile in the router section of its configuration",
        )
    })?;
    let password = given.text("password").filter(|password| !password.is_empty());
    let password = password.ok_or_else(|| Failure::bad_request("No password for the user"))?;
    base.change(|users| match (users.contains(name), exists) {
        (true, false) => Err(UsersError::Exists(name.to_owned())),
        (false, true) => Err(UsersError::Unknown(name.to_owned())),
        _ => users.set(name, password).map(drop),
    })
    .map_err(|error| failure(&error))
}

fn shown(authentication: &Authentication, entity_type: &EntityType, name: &str) -> Result<Attributes, Failure> {
    let found = rows(authentication, entity_type).into_iter().find(|row| row.text("name") == Some(name));
    found.ok_or_else(Failure::not_found)
}

fn name_of(identity: &str) -> Option<&str> {
    identity.strip_prefix("user/")
}

fn failure(error: &UsersError) -> Failure {
    match error {
        UsersError::Unknown(_) => Failure::not_found(),
        UsersError::Name { .. } | UsersError::Password(_) | UsersError::Exists(_) => {
            Failure::bad_request(error.to_string())
        }
        _ => Failure::internal(error.to_string()),
    }
}
