//! Making a value fit the type of its attribute.

use super::entity_type::{Attribute, AttributeType};
use super::invalid::{Class, Invalid};
use super::suggest;
use crate::attributes::number;
use crate::repr::{plain, repr, repr_words};
use amqp::{Map, Value};

/// Turns a value into what the attribute takes: text becomes a number or truth value where one is asked for, numbers
/// become text, the number of a word in an enumeration becomes the word.
///
/// # Errors
/// If there is no such value.
pub(super) fn coerce(attribute: &Attribute, value: &Value) -> Result<Value, Invalid> {
    let result = match attribute.kind {
        AttributeType::String | AttributeType::Path | AttributeType::EntityId => text(value),
        AttributeType::Integer => integer(value),
        AttributeType::Boolean => boolean(value),
        AttributeType::Enum(words) => choice(words, value),
        AttributeType::List => list(value),
        AttributeType::Map => match value {
            Value::Map(_) => Ok(value.clone()),
            _ => Err(Wrong::new("Value must be a map", "write { key: value ... }")),
        },
        AttributeType::Properties => properties(value),
    };
    result.map_err(|wrong| Invalid::attribute(attribute.name, Class::Validation, wrong.text).hint(wrong.hint))
}

struct Wrong {
    text: String,
    hint: String,
}

impl Wrong {
    fn new(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Wrong { text: text.into(), hint: hint.into() }
    }
}

/// Text out of any scalar, or out of a list of them, which is written with commas.
fn text(value: &Value) -> Result<Value, Wrong> {
    Ok(Value::String(match value {
        Value::String(text) => text.clone(),
        Value::Binary(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::List(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Array(array) => array.items.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Map(_) | Value::Described(_) => {
            return Err(Wrong::new(format!("Invalid value for string: {}", repr(value)), "write plain text"));
        }
        _ => plain(value),
    }))
}

fn integer(value: &Value) -> Result<Value, Wrong> {
    let parsed = match value {
        Value::Bool(truth) => Some(i64::from(*truth)),
        Value::String(text) => parse_integer(text),
        Value::Symbol(symbol) => parse_integer(symbol.as_str()),
        _ => value.as_i64(),
    };
    parsed.map(number).ok_or_else(|| {
        Wrong::new(format!("invalid literal for int() with base 10: {}", repr(value)), "write a whole number")
    })
}

fn parse_integer(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

fn boolean(value: &Value) -> Result<Value, Wrong> {
    let truth = match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => parse_boolean(text),
        Value::Symbol(symbol) => parse_boolean(symbol.as_str()),
        _ => value.as_i64().map(|number| number != 0),
    };
    truth.map(Value::Bool).ok_or_else(|| {
        Wrong::new(format!("Invalid Boolean value '{}'", repr(value)), "write yes or no (or true, false)")
    })
}

fn parse_boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" => Some(true),
        "no" | "false" | "off" => Some(false),
        _ => None,
    }
}

fn choice(words: &'static [&'static str], value: &Value) -> Result<Value, Wrong> {
    let word = match value {
        Value::String(text) => words.iter().find(|word| *word == text),
        Value::Symbol(symbol) => words.iter().find(|word| **word == symbol.as_str()),
        _ => value.as_i64().and_then(|index| usize::try_from(index).ok()).and_then(|index| words.get(index)),
    };
    word.map(|word| Value::String((*word).to_owned())).ok_or_else(|| {
        let text = format!("Invalid value for enum{}: {}", repr_words(words.iter().copied()), repr(value));
        let meant = value.as_text().and_then(|text| suggest::word(text, words));
        Wrong::new(text, meant.map_or_else(|| one_of(words), |word| format!("write {word}")))
    })
}

fn one_of(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, [])) => format!("write {last}"),
        Some((last, others)) => format!("write {} or {last}", others.join(", ")),
        None => String::new(),
    }
}

fn list(value: &Value) -> Result<Value, Wrong> {
    match value {
        Value::List(_) => Ok(value.clone()),
        Value::Array(array) => Ok(Value::List(array.items.clone())),
        _ => Err(Wrong::new("Value must be a list", "write [ value, ... ]")),
    }
}

/// A map that can go into the properties of an open: its keys are text in ASCII.
fn properties(value: &Value) -> Result<Value, Wrong> {
    let Value::Map(map) = value else {
        return Err(Wrong::new("Properties must be a map", "write { \"key\": value, ... }"));
    };
    let key_of = |key: &Value| key.as_text().filter(|text| text.is_ascii()).map(str::to_owned);
    let entries = map.iter().map(|(key, value)| match key_of(key) {
        Some(text) => Ok((Value::String(text), value.clone())),
        None => Err(Wrong::new("Property keys must be ASCII encoded", "use keys of ASCII characters")),
    });
    Ok(Value::Map(Map(entries.collect::<Result<_, _>>()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{LISTENER, VHOST};

    fn listener(attribute: &str, value: impl Into<Value>) -> Result<Value, String> {
        coerce(LISTENER.attribute(attribute).unwrap(), &value.into()).map_err(|invalid| invalid.text)
    }

    #[test]
    fn text_becomes_a_number_where_one_is_asked_for() {
        assert_eq!(listener("cost", " 12 "), Ok(Value::Int(12)));
    }

    #[test]
    fn a_number_becomes_text_where_that_is_asked_for() {
        assert_eq!(listener("port", 5672u16), Ok(Value::from("5672")));
    }

    #[test]
    fn numbers_keep_all_64_bits() {
        let size = coerce(VHOST.attribute("maxMessageSize").unwrap(), &Value::from("5368709120")).unwrap();
        assert_eq!(size, Value::Long(5_368_709_120));
    }

    #[test]
    fn words_for_yes_and_no_are_taken_in_any_case() {
        for (word, truth) in [("YES", true), ("On", true), ("true", true), ("no", false), ("OFF", false)] {
            assert_eq!(listener("http", word), Ok(Value::Bool(truth)));
        }
    }

    #[test]
    fn a_word_that_is_neither_yes_nor_no_is_refused_in_the_old_routers_text() {
        assert_eq!(listener("http", "maybe"), Err("Invalid Boolean value ''maybe''".to_owned()));
    }

    #[test]
    fn the_number_of_a_word_stands_for_the_word() {
        assert_eq!(listener("role", 2), Ok(Value::from("route-container")));
    }

    #[test]
    fn a_word_that_is_no_choice_is_refused_with_the_choices() {
        let text = "Invalid value for enum['normal', 'inter-router', 'route-container', 'edge']: 'foo'";
        assert_eq!(listener("role", "foo"), Err(text.to_owned()));
    }

    #[test]
    fn a_list_of_names_becomes_text_with_commas() {
        let names = Value::List(vec![Value::from("a"), Value::from("b")]);
        assert_eq!(coerce(VHOST.attribute("aliases").unwrap(), &names).unwrap(), Value::from("a,b"));
    }

    #[test]
    fn properties_must_be_a_map_with_ascii_keys() {
        assert_eq!(listener("openProperties", "x"), Err("Properties must be a map".to_owned()));
        let map = Map(vec![(Value::from("schlüssel"), Value::Int(1))]);
        assert_eq!(listener("openProperties", Value::Map(map)), Err("Property keys must be ASCII encoded".to_owned()));
    }
}
