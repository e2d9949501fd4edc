//! Properties that the user adds to the open of a connection: `openProperties`.

use super::words::Role;
use amqp::{Map, Symbol, Value};
use management::Attributes;
use management::schema::{Class, Invalid};

const ATTRIBUTE: &str = "openProperties";

/// Keys that the router itself sets, or that clients take for fail-over data.
const RESERVED: [&str; 7] =
    ["product", "version", "failover-server-list", "network-host", "port", "scheme", "hostname"];

/// Beginnings of keys that belong to the router.
const RESERVED_PREFIXES: [&str; 2] = ["qd.", "x-opt-qd."];

/// Reads and checks the properties; the keys of the map that is returned are symbols.
pub(super) fn read(attributes: &Attributes, role: Role) -> Result<Map, Invalid> {
    let Some(value) = attributes.get(ATTRIBUTE) else { return Ok(Map::default()) };
    let Value::Map(map) = value else { return Err(wrong(Class::Validation, "Properties must be a map")) };
    if matches!(role, Role::InterRouter | Role::Edge) && !map.0.is_empty() {
        return Err(wrong(Class::Validation, format!("openProperties not allowed for role {role}"))
            .late()
            .hint("remove openProperties, or use role normal or route-container"));
    }
    let mut properties = Vec::with_capacity(map.0.len());
    for (key, value) in &map.0 {
        let key = match key {
            Value::String(key) => key.as_str(),
            Value::Symbol(key) => key.as_str(),
            _ => return Err(wrong(Class::Validation, "Property keys must be ASCII encoded")),
        };
        check_key(key)?;
        properties.push((Value::Symbol(Symbol(key.to_owned())), value.clone()));
    }
    Ok(Map(properties))
}

fn check_key(key: &str) -> Result<(), Invalid> {
    if !key.is_ascii() {
        return Err(wrong(Class::Validation, "Property keys must be ASCII encoded"));
    }
    if RESERVED.contains(&key) || RESERVED_PREFIXES.iter().any(|prefix| key.starts_with(prefix)) {
        return Err(wrong(Class::Validation, format!("Reserved key '{key}' not allowed in openProperties"))
            .late()
            .hint("choose another key: this one belongs to the router"));
    }
    Ok(())
}

fn wrong(class: Class, text: impl Into<String>) -> Invalid {
    Invalid::attribute(ATTRIBUTE, class, text)
}
