//! Entities that are only remembered: what they say takes effect nowhere (`dummy`, to try management out).

use management::{Attributes, EntityType, Failure};

/// The entity types kept here.
const KEPT: [&str; 2] = ["authServicePlugin", "dummy"];
/// How many of one type are kept: management must not be a way to fill memory.
const MOST: usize = 100_000;

/// Entities that are only remembered.
#[derive(Default)]
pub(crate) struct DataEntities {
    all: Vec<(&'static EntityType, Attributes)>,
}

impl DataEntities {
    /// Whether entities of this type are only remembered.
    pub(crate) fn keeps(entity_type: &EntityType) -> bool {
        KEPT.contains(&entity_type.short)
    }

    pub(super) fn rows(&self, entity_type: &EntityType) -> Vec<Attributes> {
        self.all.iter().filter(|(ty, _)| *ty == entity_type).map(|(_, row)| row.clone()).collect()
    }

    /// Remembers one.
    pub(crate) fn create(
        &mut self,
        entity_type: &'static EntityType,
        attributes: Attributes,
    ) -> Result<Attributes, Failure> {
        if self.all.len() >= MOST {
            return Err(Failure::internal(format!("There are {MOST} entities of this kind; delete some first")));
        }
        self.all.push((entity_type, attributes.clone()));
        Ok(attributes)
    }

    /// What the one with this identity would be with these changes.
    pub(super) fn changed(
        &self,
        entity_type: &EntityType,
        identity: &str,
        changes: Attributes,
    ) -> Result<Attributes, Failure> {
        let found = self.all.iter().find(|(ty, row)| *ty == entity_type && row.text("identity") == Some(identity));
        let mut changed = found.map(|(_, row)| row.clone()).ok_or_else(Failure::not_found)?;
        for (name, value) in changes.iter() {
            changed.set(name, value.clone());
        }
        Ok(changed)
    }

    /// Puts other attributes in the place of those it has.
    pub(super) fn replace(
        &mut self,
        entity_type: &EntityType,
        identity: &str,
        attributes: Attributes,
    ) -> Result<Attributes, Failure> {
        let found = self.all.iter_mut().find(|(ty, row)| *ty == entity_type && row.text("identity") == Some(identity));
        let (_, row) = found.ok_or_else(Failure::not_found)?;
        *row = attributes.clone();
        Ok(attributes)
    }

    /// Forgets the one with this identity. False: there is none.
    pub(super) fn delete(&mut self, entity_type: &EntityType, identity: &str) -> bool {
        let before = self.all.len();
        self.all.retain(|(ty, row)| *ty != entity_type || row.text("identity") != Some(identity));
        self.all.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::Value;

    fn dummy() -> &'static EntityType {
        management::schema::entity_type("dummy").unwrap()
    }

    fn attributes(pairs: &[(&str, &str)]) -> Attributes {
        Attributes(pairs.iter().map(|(name, text)| ((*name).to_owned(), Value::String((*text).to_owned()))).collect())
    }

    #[test]
    fn an_update_changes_only_what_it_names() {
        let mut data = DataEntities::default();
        data.create(dummy(), attributes(&[("identity", "dummy/0"), ("arg1", "a"), ("arg2", "b")])).unwrap();
        let changed = data.changed(dummy(), "dummy/0", attributes(&[("arg1", "c")])).unwrap();
        assert_eq!((changed.text("arg1"), changed.text("arg2")), (Some("c"), Some("b")));
    }

    #[test]
    fn what_is_deleted_is_gone() {
        let mut data = DataEntities::default();
        data.create(dummy(), attributes(&[("identity", "dummy/0")])).unwrap();
        assert!(data.delete(dummy(), "dummy/0"));
        assert!(!data.delete(dummy(), "dummy/0"));
    }
}
