//! Queries for entities with certain values.

use amqp::{Map, Value};

/// The entities that have all these values, with the attributes that were asked for; all attributes if none were.
pub(super) fn meeting(entities: Vec<Map>, conditions: &Map, asked_for: &[String]) -> Vec<Value> {
    let meets = |entity: &Map| {
        conditions.iter().all(|(name, wanted)| {
            name.as_text().and_then(|name| entity.get(name)).map_or(wanted.is_null(), |value| is(value, wanted))
        })
    };
    let narrowed = |mut entity: Map| {
        for (name, _) in conditions.iter().filter(|_| !asked_for.is_empty()) {
            if let Some(name) = name.as_text().filter(|name| !asked_for.iter().any(|asked| asked == name)) {
                entity.remove(name);
            }
        }
        Value::Map(entity)
    };
    entities.into_iter().filter(meets).map(narrowed).collect()
}

/// Whether a value is the one that was written on the command line.
fn is(value: &Value, wanted: &Value) -> bool {
    let truth = |text: &str| matches!(text.to_ascii_lowercase().as_str(), "yes" | "true" | "on" | "1");
    match (value, wanted) {
        (Value::Bool(value), Value::String(text)) => *value == truth(text),
        (value, Value::String(text)) => {
            value.as_text() == Some(text) || value.as_i64().is_some_and(|number| text.parse() == Ok(number))
        }
        (value, wanted) => value == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(prefix: &str, waypoint: bool) -> Map {
        Map::from_iter([
            ("prefix", Value::from(prefix)),
            ("waypoint", Value::Bool(waypoint)),
            ("priority", Value::Int(4)),
        ])
    }

    fn found(condition: (&str, Value), asked_for: &[&str]) -> Vec<Value> {
        let asked_for: Vec<String> = asked_for.iter().map(|name| (*name).to_owned()).collect();
        meeting(vec![entity("a", true), entity("b", false)], &Map::from_iter([condition]), &asked_for)
    }

    #[test]
    fn entities_with_another_value_are_left_out() {
        assert_eq!(found(("waypoint", "yes".into()), &[]), [Value::Map(entity("a", true))]);
        assert_eq!(found(("waypoint", Value::Bool(false)), &[]), [Value::Map(entity("b", false))]);
        assert_eq!(found(("priority", "4".into()), &[]).len(), 2);
        assert_eq!(found(("none", "4".into()), &[]).len(), 0);
    }

    #[test]
    fn what_was_not_asked_for_is_not_shown() {
        let without = Map::from_iter([("prefix", Value::from("b")), ("priority", Value::Int(4))]);
        assert_eq!(found(("waypoint", "no".into()), &["prefix", "priority"]), [Value::Map(without)]);
    }
}
