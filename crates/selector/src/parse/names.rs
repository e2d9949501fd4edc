//! What a name stands for.

use super::Parser;
use crate::MAX_NAMES;
use crate::error::Complaint;
use crate::fields::Field;
use crate::name;

impl Parser<'_> {
    pub(super) fn field(&mut self, name: &str) -> Result<Field, Complaint> {
        if let Some(field) = name::standard(name) {
            return Ok(Field::Standard(field));
        }
        if name.starts_with(name::STANDARD) {
            return Err(self.unknown(name));
        }
        let number = match name.strip_prefix(name::ANNOTATION) {
            Some(annotation) => self.annotations.number(annotation).map(Field::Annotation),
            None => self.application.number(name).map(Field::Application),
        };
        number.ok_or_else(|| {
            let expected = format!("at most {MAX_NAMES} different names");
            self.complain(&expected, "name fewer properties in one selector")
        })
    }

    fn unknown(&self, name: &str) -> Complaint {
        let known: Vec<_> = name::names().filter(|known| known.starts_with(name::STANDARD)).collect();
        let wanted = name.to_ascii_lowercase().replace('-', "_");
        let remedy = match known.iter().find(|known| **known == wanted || starts_alike(known, &wanted)) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("choose one of {}", known.join(", ")),
        };
        self.complain("a field of the message's header or properties", &remedy)
    }
}

/// Whether two names agree in their first letters behind the prefix.
fn starts_alike(known: &str, wanted: &str) -> bool {
    let end = name::STANDARD.len() + 3;
    known.get(..end).is_some_and(|start| wanted.starts_with(start))
}
