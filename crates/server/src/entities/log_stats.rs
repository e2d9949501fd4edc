//! `logStats`: how much each module has to say.

use crate::entities::attributes::Row;
use logging::{Level, Module};
use management::{Attributes, EntityType};

/// A row for each module.
pub(super) fn rows(entity_type: &EntityType) -> Vec<Attributes> {
    Module::ALL.iter().map(|&module| row(module, entity_type)).collect()
}

fn row(module: Module, entity_type: &EntityType) -> Attributes {
    let counts = logging::counts(module);
    let mut row = Row::new();
    for level in Level::ALL {
        row = row.count(&format!("{level}Count"), counts.of(level));
    }
    row.text("name", module.name()).text("identity", format!("logStats/{module}")).text("type", entity_type.full).done()
}
