//! From sections as they are written to entities that are valid one by one.

use crate::configuration::Settings;
use crate::report::Report;
use crate::source::{Source, Span};
use crate::syntax::{AttributeNode, SectionNode};
use management::schema::{self, AttributeType, Class, Invalid, Source as From, Validated};
use management::{Attributes, EntityType, names};
use std::collections::{HashMap, HashSet};

/// An entity that is valid by itself, and where its parts stand.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub(crate) source: &'a Source,
    pub(crate) node: SectionNode,
    pub(crate) entity_type: &'static EntityType,
    pub(crate) attributes: Attributes,
    pub(crate) settings: Settings,
    /// Attributes that were left out because something is wrong with them.
    pub(crate) faulty: Vec<String>,
}

impl Draft<'_> {
    /// Where an attribute stands; the section's name if it is not there.
    pub(crate) fn span_of(&self, attribute: &str) -> Span {
        find(self.entity_type, &self.node, attribute).map_or(self.node.span, |node| node.value_span)
    }

    /// Whether the attribute was written, not filled in.
    pub(crate) fn is_written(&self, attribute: &str) -> bool {
        find(self.entity_type, &self.node, attribute).is_some()
    }
}

/// Turns sections into drafts. What is wrong with one is reported, and does not keep its other attributes, nor other
/// sections, from being judged.
pub(crate) fn drafts<'a>(source: &'a Source, sections: Vec<SectionNode>, report: &mut Report) -> Vec<Draft<'a>> {
    let mut drafts: Vec<Draft<'a>> = Vec::with_capacity(sections.len());
    let mut serials: HashMap<&str, u64> = HashMap::new();
    for node in sections {
        let Some(entity_type) = entity_type_of(source, &node, report) else { continue };
        let Some((mut attributes, faulty)) = validated(source, &node, entity_type, report) else { continue };
        let serial = serials.entry(entity_type.short).or_default();
        names::assign(entity_type, &mut attributes, *serial);
        *serial += 1;
        match Settings::from_attributes(entity_type, &attributes) {
            Ok(settings) => drafts.push(Draft { source, node, entity_type, attributes, settings, faulty }),
            // What is wrong with the entity as a whole may follow from an attribute that was left out.
            Err(invalid) if invalid.attribute.is_none() && !faulty.is_empty() => {}
            Err(invalid) => report_invalid(source, &node, entity_type, invalid, report),
        }
    }
    drafts
}

/// The type of entity that a section is about.
fn entity_type_of(source: &Source, node: &SectionNode, report: &mut Report) -> Option<&'static EntityType> {
    let written = source.text().get(node.span.start..node.span.end).unwrap_or("");
    let found = schema::entity_type_of_section(&node.name).or_else(|| schema::entity_type(written));
    let expected = Some("the name of a section".to_owned());
    let Some(entity_type) = found.filter(|ty| !ty.is_abstract) else {
        let text = format!("No such entity type '{}{}'", schema::PREFIX, node.name);
        let hint = match schema::suggest_section(&node.name) {
            Some(known) => format!("write {known}"),
            None => "remove the section".to_owned(),
        };
        report.invalid(source, node.span, Invalid::entity(Class::Validation, text).hint(hint), expected);
        return None;
    };
    if entity_type.short == "console" {
        report.warn(source, node.span, "Section 'console' has no effect any more; remove it");
        return None;
    }
    if !can_be_configured(entity_type) {
        let text = format!("Entity type '{}' cannot be configured: the router creates it itself", entity_type.full);
        let hint = match entity_type.short {
            "vhostUserGroupSettings" => "write the group into groups: { } of its vhost",
            _ => "remove the section",
        };
        report.invalid(source, node.span, Invalid::entity(Class::Validation, text).hint(hint), expected);
        return None;
    }
    Some(entity_type)
}

/// Whether entities of the type come from configuration.
fn can_be_configured(entity_type: &'static EntityType) -> bool {
    let by_management_only = entity_type.short == "router.connection.linkRoute";
    let creatable = entity_type.has_operation("CREATE") && !by_management_only;
    creatable || matches!(entity_type.short, "router" | "policy" | "log")
}

/// Checks the section's attributes against the schema. Reports the faulty ones, and gives the others and the names of
/// those; nothing if the others alone are no entity.
fn validated(
    source: &Source,
    node: &SectionNode,
    entity_type: &'static EntityType,
    report: &mut Report,
) -> Option<(Attributes, Vec<String>)> {
    let mut given = Attributes(node.attributes.iter().map(|node| (node.name.clone(), node.value.clone())).collect());
    let mut faulty = Vec::new();
    let mut result = schema::validate_create(entity_type, &given, From::File);
    if let Err(wrong) = result {
        faulty = wrong.iter().filter_map(|invalid| invalid.attribute.clone()).collect();
        for invalid in wrong {
            report_invalid(source, node, entity_type, invalid, report);
        }
        let left_out: HashSet<&str> = faulty.iter().map(String::as_str).collect();
        given.0.retain(|(name, _)| {
            let present_name = entity_type.attribute_formerly(name).map_or(name.as_str(), |attribute| attribute.name);
            !left_out.contains(name.as_str()) && !left_out.contains(present_name)
        });
        result = schema::validate_create(entity_type, &given, From::File);
    }
    let validated = result.ok()?;
    warn_about(source, node, entity_type, &validated, report);
    Some((validated.attributes, faulty))
}

fn warn_about(
    source: &Source,
    node: &SectionNode,
    entity_type: &'static EntityType,
    validated: &Validated,
    report: &mut Report,
) {
    let key_of = |name: &str| {
        node.attributes.iter().find(|attribute| attribute.name == name).map_or(node.span, |attribute| attribute.key)
    };
    for deprecation in &validated.deprecations {
        report.warn(source, key_of(deprecation.attribute), deprecation.to_string());
    }
    for name in &validated.left_out {
        let text = format!("Attribute '{name}' of '{}' is set by the router itself; the value is ignored", node.name);
        report.warn(source, key_of(name), text);
    }
    for attribute in &node.attributes {
        if let Some(swallowed) = swallowed_attribute(attribute, entity_type) {
            let text = format!(
                "'{swallowed}:' is part of the value of '{}'; write each attribute on a line of its own",
                attribute.name
            );
            report.warn(source, attribute.value_span, text);
        }
    }
    for (name, text) in crate::settings::remarks_on_profile(&validated.attributes) {
        report.warn(source, key_of(name), text);
    }
    for name in ["password", "saslPassword"] {
        if validated.attributes.text(name).is_some_and(|text| crate::Secret::parse(text).is_plain()) {
            let text = "It is unsafe to provide plain text passwords in the config file";
            report.warn(source, key_of(name), text);
        }
    }
}

fn report_invalid(
    source: &Source,
    node: &SectionNode,
    entity_type: &'static EntityType,
    mut invalid: Invalid,
    report: &mut Report,
) {
    let name = invalid.attribute.clone().unwrap_or_default();
    let known = entity_type.attribute(&name);
    let (span, expected) = match (find(entity_type, node, &name), known) {
        // The value is at fault.
        (Some(attribute), Some(known)) => {
            add_hint_about_value(attribute, &mut invalid);
            (attribute.value_span, Some(expected_of(known.kind)))
        }
        // The name is.
        (Some(attribute), None) => (attribute.key, Some(format!("an attribute of {}", entity_type.section))),
        (None, _) => (node.span, None),
    };
    let span =
        if span.start == span.end { find(entity_type, node, &name).map_or(node.span, |it| it.key) } else { span };
    report.invalid(source, span, invalid, expected);
}

/// The name of another attribute of the same entity that a text contains as if it were given there: a value goes on to the end of
/// its line, so `host: 0.0.0.0; port: amqp` is one attribute.
fn swallowed_attribute(attribute: &AttributeNode, entity_type: &'static EntityType) -> Option<&'static str> {
    let words = attribute.value.as_text()?.split_whitespace().skip(1);
    let mut names = words.filter_map(|word| entity_type.attribute(word.strip_suffix(':')?));
    names.find(|other| other.name != attribute.name).map(|other| other.name)
}

/// What often is the reason of an unusable value: two attributes on a line, or a comment without a blank before it.
fn add_hint_about_value(attribute: &AttributeNode, invalid: &mut Invalid) {
    let Some(text) = attribute.value.as_text() else { return };
    let more = if text.split_whitespace().skip(1).any(|word| word.ends_with(':')) {
        "write each attribute on a line of its own"
    } else if text.contains('#') {
        "put a blank before # to begin a comment"
    } else {
        return;
    };
    invalid.hint = Some(match invalid.hint.take() {
        Some(hint) => format!("{more}; {hint}"),
        None => more.to_owned(),
    });
}

/// The attribute as it was written, be it by its former name.
fn find<'n>(entity_type: &'static EntityType, node: &'n SectionNode, name: &str) -> Option<&'n AttributeNode> {
    let formerly = entity_type.attribute(name).and_then(|attribute| attribute.deprecated_name);
    let mut attributes = node.attributes.iter();
    attributes.find(|attribute| attribute.name == name || Some(attribute.name.as_str()) == formerly)
}

fn expected_of(kind: AttributeType) -> String {
    match kind {
        AttributeType::String | AttributeType::EntityId => "text".to_owned(),
        AttributeType::Path => "the path of a file or directory".to_owned(),
        AttributeType::Integer => "a whole number".to_owned(),
        AttributeType::Boolean => "yes or no".to_owned(),
        AttributeType::List => "a list: [ value, ... ]".to_owned(),
        AttributeType::Map => "a map: { key: value ... }".to_owned(),
        AttributeType::Properties => "a map: { \"key\": value, ... }".to_owned(),
        AttributeType::Enum(words) => words.join(", "),
    }
}
