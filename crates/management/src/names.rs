//! How entities are called: their identities, and the names of those that were given none.

use crate::attributes::Attributes;
use crate::repr::plain;
use crate::schema::EntityType;
use amqp::Value;

/// Sets `identity` as the old router makes it from the other attributes, and `name` to the same if there is none.
///
/// `serial` numbers the instances of types whose attributes do not tell them apart. Types that the core agent answers
/// for have numbers as identities, given by the core; here they only get a name, in which they are numbered.
pub fn assign(ty: &'static EntityType, attributes: &mut Attributes, serial: u64) {
    if !ty.core_columns.is_empty() && !ty.singleton {
        if !attributes.contains("name") {
            attributes.set("name", Value::String(format!("{}/{serial}", ty.section)));
        }
        return;
    }
    if let Some(address) = address_of(ty, attributes) {
        attributes.set("identity", Value::String(format!("{}/{address}", ty.short)));
        if !attributes.contains("name") {
            attributes.set("name", Value::String(address));
        }
        return;
    }
    let identity = format!("{}/{}", ty.short, identifier(ty, attributes).unwrap_or_else(|| serial.to_string()));
    if !attributes.contains("name") {
        attributes.set("name", Value::String(identity.clone()));
    }
    attributes.set("identity", Value::String(identity));
}

/// What entities are called that are nothing but an address, or a pattern of addresses.
fn address_of(ty: &EntityType, attributes: &Attributes) -> Option<String> {
    match ty.short {
        "queue" | "topic" => attributes.get("address").map(plain),
        "queueTemplate" => attributes.get("pattern").map(plain),
        "store" => Some("store".to_owned()),
        _ => None,
    }
}

/// What follows the type in an identity, for types whose attributes tell instances apart.
fn identifier(ty: &EntityType, attributes: &Attributes) -> Option<String> {
    let text = |name: &str| attributes.get(name).map(plain);
    match ty.short {
        "listener" | "connector" => {
            let address = format!("{}:{}", text("host").unwrap_or_default(), text("port").unwrap_or_default());
            Some(text("name").map_or_else(|| address.clone(), |name| format!("{address}:{name}")))
        }
        "log" | "logStats" => text("module"),
        "router" | "router.node" => text("id"),
        "sslProfile" | "authServicePlugin" | "user" => text("name"),
        "vhost" => text("hostname"),
        "vhostStats" => text("hostname").or_else(|| text("id")),
        "allocator" => text("typeName"),
        // The old router names the policy after an attribute that it does not have.
        "policy" => Some("None".to_owned()),
        _ => None,
    }
}

/// An entity as log lines and error texts show it: `ListenerEntity(host=0.0.0.0, port=amqp, ...)`, passwords hidden.
pub fn display(ty: &'static EntityType, attributes: &Attributes) -> String {
    let mut shown: Vec<(&str, String)> =
        attributes.iter().map(|(name, value)| (name, shown_value(ty, name, value))).collect();
    shown.sort();
    let shown: Vec<String> = shown.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}({})", class_name(ty), shown.join(", "))
}

fn shown_value(ty: &'static EntityType, name: &str, value: &Value) -> String {
    if ty.attribute(name).is_some_and(|attribute| attribute.hidden) {
        return "*".repeat(8);
    }
    plain(value)
}

/// The old router's name for the implementation of a type.
fn class_name(ty: &EntityType) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    match ty.short {
        "dummy" => "Entity".to_owned(),
        _ => format!("{}Entity", ty.section.split('.').map(capital).collect::<String>()),
    }
}

/// The text that refuses an entity because another has the same value of a unique attribute.
pub fn duplicate_text(ty: &'static EntityType, attribute: &str, new: &Attributes, existing: &Attributes) -> String {
    let (new, existing) = (display(ty, new), display(ty, existing));
    format!("adding {new} duplicates unique attribute '{attribute}' from existing {existing}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{ADDRESS, CONNECTOR, DUMMY, LISTENER, LOG, POLICY};

    fn named(ty: &'static EntityType, given: &[(&str, &str)]) -> (Option<String>, Option<String>) {
        let mut attributes = given
            .iter()
            .fold(Attributes::new(), |attributes, (name, value)| attributes.with(*name, Value::from(*value)));
        assign(ty, &mut attributes, 7);
        (attributes.text("identity").map(str::to_owned), attributes.text("name").map(str::to_owned))
    }

    fn both(text: &str) -> (Option<String>, Option<String>) {
        (Some(text.to_owned()), Some(text.to_owned()))
    }

    #[test]
    fn a_listener_is_called_by_its_host_and_port() {
        assert_eq!(named(&LISTENER, &[("host", "0.0.0.0"), ("port", "amqp")]), both("listener/0.0.0.0:amqp"));
    }

    #[test]
    fn the_name_of_a_listener_is_part_of_its_identity() {
        let (identity, name) = named(&LISTENER, &[("host", ""), ("port", "5672"), ("name", "l0")]);
        assert_eq!((identity.as_deref(), name.as_deref()), (Some("listener/:5672:l0"), Some("l0")));
    }

    #[test]
    fn a_log_entity_is_called_by_its_module() {
        assert_eq!(named(&LOG, &[("module", "AGENT")]), both("log/AGENT"));
    }

    #[test]
    fn the_policy_has_the_old_routers_odd_identity() {
        assert_eq!(named(&POLICY, &[]), both("policy/None"));
    }

    #[test]
    fn passwords_are_not_shown() {
        let attributes = Attributes::new().with("saslPassword", Value::from("hush")).with("host", Value::from("h"));
        assert_eq!(display(&CONNECTOR, &attributes), "ConnectorEntity(host=h, saslPassword=********)");
    }

    #[test]
    fn what_nothing_tells_apart_is_numbered() {
        assert_eq!(named(&DUMMY, &[]), both("dummy/7"));
    }

    #[test]
    fn an_address_gets_a_name_but_no_identity_since_that_is_the_cores() {
        assert_eq!(named(&ADDRESS, &[]), (None, Some("address/7".to_owned())));
    }
}
