//! Queues, templates and topics as management sees them. All that it takes to answer for them is the store: so another thread
//! than the control plane's can, when the disk has a part in it.

use super::{level_of, queue, store};
use crate::store::StoreHandle;
use amqp::Value;
use config::Settings;
use management::schema::QUEUE_SETTINGS;
use management::{Attributes, Backend, EntityType, Failure, RequestContext};

/// What is kept in a store.
pub(crate) struct Kept(pub(crate) StoreHandle);

impl Kept {
    /// Whether entities of a type are.
    pub(crate) fn has(entity_type: &'static EntityType) -> bool {
        entity_type.is_a(&QUEUE_SETTINGS)
    }

    /// What the attributes mean.
    fn settings(entity_type: &'static EntityType, attributes: &Attributes) -> Result<Settings, Failure> {
        Settings::from_attributes(entity_type, attributes).map_err(|invalid| invalid.told_in_full().into())
    }

    fn named(&mut self, entity_type: &'static EntityType, attributes: &Attributes) -> Result<Attributes, Failure> {
        let key = if entity_type.short == "queueTemplate" { "pattern" } else { "address" };
        let name = attributes.text(key).unwrap_or_default();
        self.find(entity_type, key, name).ok_or_else(Failure::not_found)
    }
}

impl Backend for Kept {
    fn list(&mut self, entity_type: &'static EntityType) -> Vec<Attributes> {
        match entity_type.short {
            "queue" => queue::rows(&self.0, entity_type),
            "queueTemplate" => store::template_rows(&self.0, entity_type),
            "topic" => store::topic_rows(&self.0, entity_type),
            _ => Vec::new(),
        }
    }

    fn page(&mut self, entity_type: &'static EntityType, offset: usize, count: usize) -> Vec<Attributes> {
        match entity_type.short {
            "queue" => queue::page(&self.0, entity_type, offset, count),
            _ => self.list(entity_type).into_iter().skip(offset).take(count).collect(),
        }
    }

    fn find(&mut self, entity_type: &'static EntityType, attribute: &str, value: &str) -> Option<Attributes> {
        match entity_type.short {
            "queue" => queue::find(&self.0, entity_type, attribute, value),
            _ => self.list(entity_type).into_iter().find(|entity| entity.text(attribute) == Some(value)),
        }
    }

    fn create(
        &mut self,
        entity_type: &'static EntityType,
        attributes: Attributes,
        _context: &RequestContext,
    ) -> Result<Attributes, Failure> {
        match Self::settings(entity_type, &attributes)? {
            Settings::Queue(config) => queue::create(&self.0, *config)?,
            Settings::QueueTemplate(config) => store::create_template(&self.0, *config)?,
            Settings::Topic(config) => store::create_topic(&self.0, *config)?,
            _ => return Err(Failure::not_found()),
        }
        self.named(entity_type, &attributes)
    }

    fn update(
        &mut self,
        entity_type: &'static EntityType,
        identity: &str,
        changes: Attributes,
        _context: &RequestContext,
    ) -> Result<Attributes, Failure> {
        let mut row = self.find(entity_type, "identity", identity).ok_or_else(Failure::not_found)?;
        for (name, value) in changes.iter() {
            row.set(name, value.clone());
        }
        match Self::settings(entity_type, &row)? {
            Settings::Queue(config) => queue::update(&self.0, *config)?,
            Settings::QueueTemplate(config) => store::update_template(&self.0, *config)?,
            Settings::Topic(config) => store::update_topic(&self.0, *config)?,
            _ => return Err(Failure::not_found()),
        }
        self.named(entity_type, &row)
    }

    fn delete(
        &mut self,
        entity_type: &'static EntityType,
        identity: &str,
        context: &RequestContext,
    ) -> Result<(), Failure> {
        let deleted = match entity_type.short {
            "queue" => queue::delete(&self.0, identity, context.forced)?,
            "queueTemplate" => store::delete_template(&self.0, identity)?,
            "topic" => store::delete_topic(&self.0, identity, context.forced)?,
            _ => false,
        };
        if deleted { Ok(()) } else { Err(Failure::not_found()) }
    }

    fn call(
        &mut self,
        entity_type: &'static EntityType,
        identity: &str,
        operation: &str,
        arguments: &Attributes,
    ) -> Result<Attributes, Failure> {
        match entity_type.short {
            "queue" => queue::call(&self.0, identity, operation, arguments),
            _ => Err(Failure::not_found()),
        }
    }

    fn log_entries(&self, _limit: Option<usize>) -> Vec<Value> {
        Vec::new()
    }

    fn management_nodes(&self) -> Vec<String> {
        Vec::new()
    }

    fn log_enabled(&self, level: &str) -> bool {
        logging::enabled(logging::Module::Agent, level_of(level))
    }

    fn log(&mut self, level: &str, text: &str) {
        logging::write(logging::Module::Agent, level_of(level), None, format_args!("{text}"));
    }
}
