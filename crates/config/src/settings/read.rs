//! Reading typed values out of attributes that the schema has already validated.

use management::Attributes;
use management::schema::{Class, Invalid};

/// A view of an entity's attributes. The schema has coerced every value to its type and filled in the defaults, so what
/// is missing here is an attribute without a default, and the fallbacks below only matter for attributes that did
/// not pass through the schema.
pub(crate) struct Reader<'a>(pub(crate) &'a Attributes);

impl Reader<'_> {
    /// Text, or nothing if it is not given or empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.text(name).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Text that may be empty.
    pub(crate) fn text_or(&self, name: &str, default: &str) -> String {
        self.0.text(name).unwrap_or(default).to_owned()
    }

    /// A truth value.
    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        self.0.boolean(name).unwrap_or(default)
    }

    /// A number that must lie in a range.
    pub(crate) fn number(&self, name: &str, low: i64, high: i64) -> Result<Option<i64>, Invalid> {
        let Some(number) = self.0.integer(name) else { return Ok(None) };
        if (low..=high).contains(&number) {
            return Ok(Some(number));
        }
        let text = format!("Value {number} of '{name}' is not between {low} and {high}");
        Err(Invalid::attribute(name, Class::Value, text).hint(format!("write a number from {low} to {high}")))
    }

    /// A number that is not negative and fits 32 bits.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u32>, Invalid> {
        Ok(self.number(name, 0, i64::from(u32::MAX))?.and_then(|number| u32::try_from(number).ok()))
    }

    /// One of the words of a choice.
    pub(crate) fn word<T>(&self, name: &str, parse: fn(&str) -> Option<T>) -> Result<Option<T>, Invalid> {
        let Some(word) = self.0.text(name) else { return Ok(None) };
        match parse(word) {
            Some(choice) => Ok(Some(choice)),
            None => Err(Invalid::attribute(name, Class::Validation, format!("Invalid value for '{name}': '{word}'"))),
        }
    }
}
