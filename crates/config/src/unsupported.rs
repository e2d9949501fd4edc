//! What is valid but cannot be run by this version yet.

use crate::configuration::{Config, Entity};
use crate::place::Place;
use management::{Attributes, EntityType};

/// Something valid that this version cannot run yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The kind of section.
    pub entity: &'static str,
    /// Where it stands.
    pub place: Option<Place>,
    /// A sentence for the operator.
    pub sentence: String,
}

impl Config {
    /// All that this version cannot run yet. A router must not start with a configuration for which this is not empty:
    /// nothing is ignored in silence. Vhost policies are among it, unless they come to an [`OpenPolicy`](crate::OpenPolicy),
    /// which the router has to honour.
    pub fn unsupported(&self) -> Vec<Unsupported> {
        let open_policy = self.open_policy().is_some();
        let of_entity = |entity: &Entity| {
            let sentence = match entity.entity_type.short {
                "policy" => policy(&entity.attributes, open_policy),
                _ => unsupported(entity.entity_type, &entity.attributes),
            }?;
            Some(Unsupported { entity: entity.entity_type.section, place: entity.place.clone(), sentence })
        };
        self.entities.iter().filter_map(of_entity).collect()
    }
}

/// Whether an entity needs what this version does not have yet: then a sentence that says so. A creation through
/// management is refused for the same reasons as a file.
pub fn unsupported(entity_type: &EntityType, attributes: &Attributes) -> Option<String> {
    match entity_type.short {
        "policy" => policy(attributes, false),
        _ => None,
    }
}

fn sentence(what: &str, feature: &str) -> String {
    format!("This version does not support {feature} yet: {what} cannot be used.")
}

fn policy(attributes: &Attributes, open: bool) -> Option<String> {
    let at_default = |name: &str, default: i64| attributes.integer(name).is_none_or(|number| number == default);
    if attributes.boolean("enableVhostPolicy") == Some(true) && !open {
        return Some(sentence("policy enableVhostPolicy", "vhost policies"));
    }
    if !at_default("maxConnections", 65535) {
        return Some(sentence("policy maxConnections", "limits for connections"));
    }
    if !at_default("maxMessageSize", 0) {
        return Some(sentence("policy maxMessageSize", "limits for the size of messages"));
    }
    None
}
