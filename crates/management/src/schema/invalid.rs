//! What is wrong with the attributes given for an entity.

use crate::failure::{Failure, status};

/// The kind of mistake, by the names that the old router prints before its error texts and scripts look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The schema does not allow it.
    Validation,
    /// The value of an attribute is not acceptable.
    Value,
    /// A value is of the wrong type.
    Type,
    /// An attribute contains what it must not contain.
    Attribute,
    /// Text that should be JSON is not.
    Json,
    /// The router refuses the setting when it applies it.
    Configuration,
    /// A policy definition is wrong.
    Policy,
    /// The entity's own rules, beyond the schema, do not allow it.
    General,
}

impl Class {
    /// The name to print: `ValidationError`, ...
    pub fn name(self) -> &'static str {
        match self {
            Class::Validation => "ValidationError",
            Class::Value => "ValueError",
            Class::Type => "TypeError",
            Class::Attribute => "AttributeError",
            Class::Json => "JSONDecodeError",
            Class::Configuration => "CError",
            Class::Policy => "PolicyError",
            Class::General => "Exception",
        }
    }
}

/// One mistake in the attributes of an entity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Invalid {
    /// The attribute at fault; `None` if it is the entity as a whole.
    pub attribute: Option<String>,
    /// What kind of mistake.
    pub class: Class,
    /// The mistake, in the words of the old router where it has any.
    pub text: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// Whether the old router only finds it when it puts the entity to work, after it has read the whole file. It then
    /// reports the class and the text, but not the file.
    pub late: bool,
}

impl Invalid {
    /// A mistake in one attribute.
    pub fn attribute(attribute: impl Into<String>, class: Class, text: impl Into<String>) -> Self {
        Invalid { attribute: Some(attribute.into()), class, text: text.into(), hint: None, late: false }
    }

    /// A mistake in the entity as a whole.
    pub fn entity(class: Class, text: impl Into<String>) -> Self {
        Invalid { attribute: None, class, text: text.into(), hint: None, late: false }
    }

    /// Adds what to write instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Marks it as one that the old router finds late.
    #[must_use]
    pub fn late(mut self) -> Self {
        self.late = true;
        self
    }

    /// With attribute, mistake and remedy in the text, for a reply that has nothing else.
    #[must_use]
    pub fn told_in_full(mut self) -> Self {
        if let Some(attribute) = self.attribute.as_ref().filter(|attribute| !self.text.contains(attribute.as_str())) {
            self.text = format!("{attribute}: {}", self.text);
        }
        if let Some(hint) = &self.hint {
            self.text = format!("{}; {hint}", self.text);
        }
        self
    }

    /// The text with the name of its class before it.
    pub fn classified(&self) -> String {
        format!("{}: {}", self.class.name(), self.text)
    }
}

impl From<Invalid> for Failure {
    /// How a management reply reports it. What the old router finds when it puts an entity to work it reports as a failure
    /// of its own, with the name of the class; all else is a bad request.
    fn from(invalid: Invalid) -> Self {
        match invalid.class {
            Class::Configuration | Class::Policy => Failure::internal(invalid.classified()),
            _ => Failure::new(status::BAD_REQUEST, invalid.text),
        }
    }
}
