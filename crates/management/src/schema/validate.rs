//! Are these attributes valid for an entity? Checking, coercing, renaming and completing them.

use super::coerce::coerce;
use super::entity_type::{Attribute, AttributeType, Call, DefaultValue, EntityType};
use super::invalid::{Class, Invalid};
use super::{ROUTER, suggest};
use crate::attributes::{Attributes, number};
use amqp::Value;
use std::fmt;

/// Where attributes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A configuration file.
    File,
    /// A management request.
    Management,
}

/// A name that is accepted but should no longer be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// The name that was used.
    pub attribute: &'static str,
    /// The entity type, by the name that sections have.
    pub entity: &'static str,
    /// The name to use instead, if there is one.
    pub replacement: Option<&'static str>,
}

impl fmt::Display for Deprecation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attribute '{}' of entity '{}' has been deprecated.", self.attribute, self.entity)?;
        match self.replacement {
            Some(replacement) => write!(f, " Use '{replacement}' instead"),
            None => Ok(()),
        }
    }
}

/// Attributes that are valid.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Validated {
    /// All attributes under their present names, with values of the right types, `type` and defaults included.
    pub attributes: Attributes,
    /// The names that should no longer be used, for a warning.
    pub deprecations: Vec<Deprecation>,
    /// Attributes of a file that only the router itself sets, and that were left out, for a warning.
    pub left_out: Vec<&'static str>,
}

/// Checks, coerces and completes the attributes given for a creation.
///
/// # Errors
/// All that is wrong with them.
pub fn validate_create(ty: &'static EntityType, given: &Attributes, source: Source) -> Result<Validated, Vec<Invalid>> {
    let mut validation = Validation { ty, source, result: Validated::default(), wrong: Vec::new() };
    for (name, value) in given.iter().filter(|(_, value)| **value != Value::Null) {
        validation.take(name, value, given);
    }
    validation.finish()
}

/// Checks, coerces and completes the arguments given for an operation.
///
/// # Errors
/// All that is wrong with them.
pub fn validate_arguments(call: &Call, given: &Attributes) -> Result<Attributes, Vec<Invalid>> {
    let mut arguments = Attributes::new();
    let mut wrong = Vec::new();
    for (name, value) in given.iter().filter(|(_, value)| **value != Value::Null) {
        match call.arguments.iter().find(|known| known.name == name).map(|known| coerce(known, value)) {
            Some(Ok(value)) => arguments.set(name, value),
            Some(Err(mut invalid)) => {
                invalid.text = format!("{} {name}: {}", call.name, invalid.text);
                wrong.push(invalid);
            }
            None => {
                let known: Vec<&str> = call.arguments.iter().map(|known| known.name).collect();
                let text = format!("{} has no argument '{name}'; it has {}", call.name, known.join(", "));
                wrong.push(Invalid::attribute(name, Class::Validation, text));
            }
        }
    }
    for missing in call.arguments {
        if arguments.contains(missing.name) {
            continue;
        }
        if missing.required && !given.contains(missing.name) {
            let text = format!("{} needs the argument '{}'", call.name, missing.name);
            wrong.push(Invalid::attribute(missing.name, Class::Validation, text));
        }
        if let Some(default) = missing.default {
            arguments.set(missing.name, default_value(default));
        }
    }
    if wrong.is_empty() { Ok(arguments) } else { Err(wrong) }
}

/// The core agent asks for nothing: what is missing it finds out itself, in words of its own.
fn is_core(ty: &EntityType) -> bool {
    !ty.core_columns.is_empty() && *ty != ROUTER
}

/// A wrong value in the words of the core agent.
fn core_words(attribute: &Attribute, mut invalid: Invalid) -> Invalid {
    match (attribute.name, attribute.kind) {
        ("matchMethod", _) => "Exchange matchMethod must be either 'amqp' or 'mqtt'".clone_into(&mut invalid.text),
        (name, AttributeType::Enum(_)) => invalid.text = format!("Invalid value for '{name}'"),
        _ => {}
    }
    invalid
}

struct Validation {
    ty: &'static EntityType,
    source: Source,
    result: Validated,
    wrong: Vec<Invalid>,
}

impl Validation {
    fn take(&mut self, name: &str, value: &Value, given: &Attributes) {
        if name == "type" {
            return;
        }
        let Some(attribute) = self.find(name, given) else { return };
        if !self.may_be_given(attribute) {
            return;
        }
        match coerce(attribute, value) {
            // What is no text is no address; the core agent says so in words of its own.
            Ok(_) if self.quietly_core() && matches!(attribute.name, "prefix" | "pattern") => {
                self.result.attributes.set(attribute.name, value.clone());
            }
            Ok(value) => self.result.attributes.set(attribute.name, value),
            Err(invalid) if self.quietly_core() => self.wrong.push(core_words(attribute, invalid)),
            Err(invalid) => self.wrong.push(self.prefixed(invalid)),
        }
    }

    /// The attribute meant by a name, present or former; notes what is wrong or deprecated about the name.
    fn find(&mut self, name: &str, given: &Attributes) -> Option<&'static Attribute> {
        let entity = self.ty.section;
        if let Some(attribute) = self.ty.attribute(name) {
            if attribute.deprecated {
                let deprecation = Deprecation { attribute: attribute.name, entity, replacement: None };
                self.result.deprecations.push(deprecation);
            }
            return Some(attribute);
        }
        if let Some(attribute) = self.ty.attribute_formerly(name) {
            let old = attribute.deprecated_name.unwrap_or_default();
            if self.quietly_core() {
                return Some(attribute).filter(|attribute| !given.contains(attribute.name));
            }
            if given.contains(attribute.name) {
                self.wrong.push(self.prefixed(both_names(self.ty, old, attribute.name)));
                return None;
            }
            self.result.deprecations.push(Deprecation { attribute: old, entity, replacement: Some(attribute.name) });
            return Some(attribute);
        }
        // What the core agent reports under another name than the file's may come back in a creation.
        if self.quietly_core() && name == "fallback" {
            return self.ty.attribute("enableFallback");
        }
        if self.quietly_core() && self.ty.core_columns.contains(&name) {
            return None;
        }
        let text = format!("Unknown attribute '{name}' for '{}'", self.ty.full);
        let unknown = Invalid::attribute(name, Class::Validation, text);
        self.wrong.push(match self.source {
            Source::File => self.prefixed(with_suggestion(self.ty, name, unknown)),
            Source::Management if self.is_own() => self.prefixed(with_suggestion(self.ty, name, unknown)),
            Source::Management => unknown,
        });
        None
    }

    /// Whether a request to the core agent is judged, who neither warns nor minds what he reports himself.
    fn quietly_core(&self) -> bool {
        self.source == Source::Management && is_core(self.ty)
    }

    /// Whether the attribute is one to be given at a creation; notes it if not.
    fn may_be_given(&mut self, attribute: &'static Attribute) -> bool {
        let creatable = attribute.create || attribute.required;
        match self.source {
            _ if creatable && attribute.name != "type" => true,
            Source::File if attribute.update => true,
            Source::File => {
                self.result.left_out.push(attribute.name);
                false
            }
            Source::Management if self.quietly_core() => false,
            Source::Management => {
                let text = format!("Cannot set attribute '{}' in CREATE", attribute.name);
                self.wrong.push(Invalid::attribute(attribute.name, Class::Validation, text));
                false
            }
        }
    }

    /// Whether the type is one that only this router has.
    fn is_own(&self) -> bool {
        super::own_types().contains(&self.ty)
    }

    /// The old router puts the type before texts about values.
    fn prefixed(&self, mut invalid: Invalid) -> Invalid {
        // What only this router has is told so that a person can act on it.
        if self.source == Source::Management && self.is_own() {
            return invalid.told_in_full();
        }
        invalid.text = format!("{}: {}", self.ty.full, invalid.text);
        invalid
    }

    fn finish(mut self) -> Result<Validated, Vec<Invalid>> {
        let refused = |name: &str, wrong: &[Invalid]| wrong.iter().any(|it| it.attribute.as_deref() == Some(name));
        for attribute in self.ty.all_attributes().filter(|attribute| attribute.required && attribute.name != "type") {
            let there = self.result.attributes.contains(attribute.name) || refused(attribute.name, &self.wrong);
            if !there && !self.quietly_core() {
                let text = format!("Missing required attribute '{}'", attribute.name);
                let invalid = Invalid::entity(Class::Validation, text).hint(format!("add {}:", attribute.name));
                self.wrong.push(self.prefixed(invalid));
            }
        }
        if !self.wrong.is_empty() {
            return Err(self.wrong);
        }
        self.result.attributes.set("type", Value::from(self.ty.full));
        for attribute in self.ty.all_attributes() {
            if let (Some(default), false) = (attribute.default, self.result.attributes.contains(attribute.name)) {
                self.result.attributes.set(attribute.name, default_value(default));
            }
        }
        Ok(self.result)
    }
}

fn default_value(default: DefaultValue) -> Value {
    match default {
        DefaultValue::Text(text) => Value::from(text),
        DefaultValue::Integer(value) => number(value),
        DefaultValue::Boolean(truth) => Value::Bool(truth),
    }
}

fn both_names(ty: &EntityType, old: &str, new: &str) -> Invalid {
    let text = format!("Both '{old}' and '{new}' cannot be specified for entity '{}'", ty.section);
    Invalid::attribute(old, Class::Validation, text).hint(format!("remove {old}: it is the former name of {new}"))
}

/// Adds the attribute that was meant instead of one that does not exist.
fn with_suggestion(ty: &'static EntityType, name: &str, unknown: Invalid) -> Invalid {
    match suggest::attribute(ty, name) {
        Some(known) => unknown.hint(format!("write {known}")),
        None => unknown.hint("remove it"),
    }
}

/// Why an attribute cannot be updated.
fn why_fixed(attribute: &Attribute) -> &'static str {
    match (attribute.create, attribute.name) {
        (false, "name" | "identity" | "type") | (true, "address" | "pattern") => {
            "it says which entity is meant: create another one instead"
        }
        (true, _) => "it is given when the entity is created: delete it, and create another one",
        (false, _) => "it is what the router reports, and is not set",
    }
}

/// Checks and coerces the attributes given for an update of an instance. What is the same as before is left out of the
/// result; null means that an attribute is to be unset.
///
/// # Errors
/// All that is wrong with them.
pub fn validate_update(
    ty: &'static EntityType,
    current: &Attributes,
    given: &Attributes,
) -> Result<Validated, Vec<Invalid>> {
    let mut validation = Validation { ty, source: Source::Management, result: Validated::default(), wrong: Vec::new() };
    for (name, value) in given.0.iter().map(|(name, value)| (name.as_str(), value)) {
        if current.get(name).is_some_and(|before| before == value) {
            continue;
        }
        let Some(attribute) = validation.find(name, given) else { continue };
        if !attribute.update {
            let text = format!("Cannot update attribute '{}' in UPDATE", attribute.name);
            let refused = Invalid::attribute(attribute.name, Class::Validation, text);
            validation.wrong.push(if validation.is_own() {
                refused.hint(why_fixed(attribute)).told_in_full()
            } else {
                refused
            });
            continue;
        }
        let value = match value {
            Value::Null => Ok(Value::Null),
            value => coerce(attribute, value),
        };
        match value {
            Ok(value) => validation.result.attributes.set(attribute.name, value),
            Err(invalid) => {
                let invalid = validation.prefixed(invalid);
                validation.wrong.push(invalid);
            }
        }
    }
    if validation.wrong.is_empty() { Ok(validation.result) } else { Err(validation.wrong) }
}
