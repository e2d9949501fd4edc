//! `--log`: the newest lines of the log.

use amqp::Value;
use management::repr;

use crate::qdstat::table::Block;

/// Entries are lists of module, level, text, file, line, and the time in seconds since the epoch.
pub(super) fn blocks(entries: &Value) -> Vec<Block> {
    entries.as_sequence().unwrap_or_default().iter().filter_map(Value::as_sequence).map(line).collect()
}

fn line(entry: &[Value]) -> Block {
    let text = |index: usize| entry.get(index).map(repr::plain).unwrap_or_default();
    let seconds = entry.get(5).and_then(Value::as_u64).unwrap_or(0);
    let time = logging::time_text("%a %b %e %H:%M:%S %Y", seconds, false);
    Block::Line(format!("{time} {} ({}) {}", text(0), text(1), text(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_time_module_level_and_text() {
        let entry =
            ["AGENT".into(), "debug".into(), "hello".into(), Value::Null, Value::Null, 1_796_029_615_u64.into()];
        let [Block::Line(line)] = &blocks(&Value::List(vec![Value::List(entry.to_vec())]))[..] else {
            panic!("a line")
        };
        assert!(line.ends_with(" 2026 AGENT (debug) hello"), "{line}");
    }

    #[test]
    fn odd_entries_are_passed_over() {
        assert_eq!(blocks(&Value::List(vec![Value::from(1_u8)])), []);
        assert_eq!(blocks(&Value::Null), []);
    }
}
