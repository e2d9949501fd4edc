//! Names and passwords in the form in which they are compared (SASLprep, RFC 4013).

use std::borrow::Cow;

/// A name or password, prepared: characters that look the same are the same.
///
/// # Errors
/// It has characters that must not be in it, or none at all.
pub fn prepare(text: &str) -> Result<Cow<'_, str>, &'static str> {
    match stringprep::saslprep(text) {
        Ok(prepared) if prepared.is_empty() => Err("it is empty"),
        Ok(prepared) => Ok(prepared),
        Err(_) => Err("it has characters that names and passwords must not have, such as control characters"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_look_the_same_are_the_same() {
        // The Roman numeral nine, and a no-break space.
        assert_eq!(prepare("\u{2168}").as_deref(), Ok("IX"));
        assert_eq!(prepare("a\u{a0}b").as_deref(), Ok("a b"));
    }

    #[test]
    fn control_characters_are_refused() {
        assert!(prepare("a\u{7}b").is_err());
    }

    #[test]
    fn nothing_is_refused() {
        assert!(prepare("").is_err());
    }
}
