//! What a service's open says of the client that it has authenticated.

use amqp::{Map, Value};
use security::policy::Authorised;

/// Who a client is, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The name by which it is known from now on; empty where the service gives none.
    pub(super) user: String,
    /// The addresses that it may use; `None`: the service leaves that to others.
    pub(super) authorised: Option<Authorised>,
}

/// Addresses in one answer; no service of this world has so many for one user.
const MOST_ADDRESSES: usize = 10_000;

impl Identity {
    /// Reads the properties of the service's open.
    pub(super) fn read(properties: Option<&Map>) -> Self {
        let user = properties.and_then(|map| map.get("authenticated-identity")).and_then(name).unwrap_or_default();
        let permissions = properties.and_then(|map| map.get("address-authz"));
        let authorised = match permissions {
            Some(Value::Map(addresses)) => Some(authorised(addresses)),
            _ => None,
        };
        Self { user, authorised }
    }
}

/// The subject of a token, as a map has it, or the name alone.
fn name(identity: &Value) -> Option<String> {
    match identity {
        Value::Map(claims) => claims.get("sub").and_then(Value::as_text).map(str::to_owned),
        other => other.as_text().map(str::to_owned),
    }
}

fn authorised(addresses: &Map) -> Authorised {
    let mut found = Authorised::default();
    for (address, permissions) in addresses.0.iter().take(MOST_ADDRESSES) {
        let Some(address) = address.as_text() else { continue };
        for permission in permissions.as_sequence().unwrap_or_default().iter().filter_map(Value::as_text) {
            match permission {
                "send" => found.targets.push(address.to_owned()),
                "recv" => found.sources.push(address.to_owned()),
                _ => {}
            }
        }
    }
    found
}
