//! What queues, topics, templates and the store have to agree on with each other.

use crate::configuration::Settings;
use crate::draft::Draft;
use management::schema::{Class, Invalid};
use std::collections::HashMap;

/// What the sections before the present one have taken, and whether there is a store at all.
pub(crate) struct Kept<'d> {
    store: bool,
    /// By address or pattern.
    taken: HashMap<(&'static str, &'d str), &'d Draft<'d>>,
}

impl<'d> Kept<'d> {
    pub(crate) fn new(drafts: &[Draft<'_>]) -> Self {
        Self { store: drafts.iter().any(|draft| draft.entity_type.short == "store"), taken: HashMap::new() }
    }

    /// There is one store, and one meaning of each address.
    pub(crate) fn unique(&mut self, draft: &'d Draft<'d>) -> Result<(), Invalid> {
        let (attribute, kind, value) = match &draft.settings {
            Settings::Store(_) => ("path", "store", "store"),
            Settings::Queue(queue) => ("address", "address", queue.settings.address.as_ref()),
            Settings::Topic(topic) => ("address", "address", topic.address.as_str()),
            Settings::QueueTemplate(template) => ("pattern", "pattern", template.pattern.as_str()),
            _ => return Ok(()),
        };
        let Some(other) = self.taken.insert((kind, value), draft) else { return Ok(()) };
        let line = other.source.place(other.node.span.start).line;
        let section = other.entity_type.section;
        let invalid = match kind {
            "store" => Invalid::attribute(attribute, Class::Validation, "There is a store already")
                .hint(format!("remove one of the two sections; the other is in line {line}")),
            _ => Invalid::attribute(attribute, Class::Validation, format!("There is a {section} '{value}' already"))
                .hint(format!("choose another {kind} or remove the section; the other is in line {line}")),
        };
        Err(invalid)
    }

    /// What is to survive a restart needs a place.
    pub(crate) fn has_store(&self, draft: &Draft<'_>) -> Result<(), Invalid> {
        let (durable, name) = match &draft.settings {
            Settings::Queue(queue) => (queue.settings.durable, queue.settings.address.as_ref()),
            Settings::Topic(topic) => (topic.subscription.durable, topic.address.as_str()),
            Settings::QueueTemplate(template) => (template.settings.durable, template.pattern.as_str()),
            _ => return Ok(()),
        };
        if self.store || !durable {
            return Ok(());
        }
        let section = draft.entity_type.section;
        let text = format!("The {section} '{name}' is durable, but there is no store to keep its messages in");
        Err(Invalid::entity(Class::Validation, text)
            .hint("add a section store { path: /var/lib/waystation }, or write durable: no"))
    }
}
