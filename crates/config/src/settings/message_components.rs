//! What of each message is logged: `messageLoggingComponents`.

use management::schema::{Class, Invalid};

/// The properties of a message that can be logged, in the order in which they are printed.
pub const NAMES: [&str; 14] = [
    "message-id",
    "user-id",
    "to",
    "subject",
    "reply-to",
    "correlation-id",
    "content-type",
    "content-encoding",
    "absolute-expiry-time",
    "creation-time",
    "group-id",
    "group-sequence",
    "reply-to-group-id",
    "app-properties",
];

/// A set of message properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MessageComponents(u16);

impl MessageComponents {
    /// Nothing is logged.
    pub const NONE: MessageComponents = MessageComponents(0);

    /// Everything is logged.
    pub const ALL: MessageComponents = MessageComponents((1 << NAMES.len()) - 1);

    /// Whether nothing is to be logged.
    pub fn is_none(self) -> bool {
        self == MessageComponents::NONE
    }

    /// Whether the property of this index in [`NAMES`] is to be logged.
    pub fn contains(self, index: usize) -> bool {
        index < NAMES.len() && self.0 & (1 << index) != 0
    }

    /// Whether the property of this name is to be logged.
    pub fn includes(self, name: &str) -> bool {
        NAMES.iter().position(|known| *known == name).is_some_and(|index| self.contains(index))
    }

    /// Reads `none`, `all`, or names separated by commas.
    ///
    /// # Errors
    /// If a name is none of [`NAMES`].
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let mut set = MessageComponents::NONE;
        for word in text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
            match word {
                "none" => return Ok(MessageComponents::NONE),
                "all" => return Ok(MessageComponents::ALL),
                _ => match NAMES.iter().position(|known| *known == word) {
                    Some(index) => set.0 |= 1 << index,
                    None => return Err(unknown(word)),
                },
            }
        }
        Ok(set)
    }
}

fn unknown(word: &str) -> Invalid {
    let text = format!("Unknown message component '{word}'");
    Invalid::attribute("messageLoggingComponents", Class::Value, text)
        .hint(format!("write none, all, or some of {}", NAMES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_selects_those_properties() {
        let set = MessageComponents::parse("user-id,to, app-properties").unwrap();
        assert!(set.includes("to") && set.includes("user-id") && set.includes("app-properties"));
        assert!(!set.includes("subject"));
    }

    #[test]
    fn none_anywhere_in_the_list_means_nothing() {
        assert!(MessageComponents::parse("to,none").unwrap().is_none());
    }

    #[test]
    fn a_name_that_is_no_property_is_refused() {
        assert!(MessageComponents::parse("body").unwrap_err().text.contains("'body'"));
    }
}
