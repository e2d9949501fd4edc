//! Lines for the router's log.

use std::fmt::Write;

/// The log module that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// `ROUTER`
    Router,
    /// `ROUTER_CORE`: the edge protocol's lines.
    RouterCore,
    /// `ROUTER_HELLO`
    RouterHello,
    /// `ROUTER_LS`
    RouterLs,
    /// `ROUTER_MA`
    RouterMa,
}

impl Module {
    /// The name that configurations and log lines use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Router => "ROUTER",
            Self::RouterCore => "ROUTER_CORE",
            Self::RouterHello => "ROUTER_HELLO",
            Self::RouterLs => "ROUTER_LS",
            Self::RouterMa => "ROUTER_MA",
        }
    }
}

/// Log levels, low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `trace`
    Trace,
    /// `debug`
    Debug,
    /// `info`
    Info,
    /// `notice`
    Notice,
    /// `warning`
    Warning,
    /// `error`
    Error,
    /// `critical`
    Critical,
}

/// Text between quotes, as the old router's logs have it.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other if other == quote => {
                out.push('\\');
                out.push(other);
            }
            // Writing to a string cannot fail.
            other if other.is_control() => _ = write!(out, "\\x{:02x}", u32::from(other)),
            other => out.push(other),
        }
    }
    out.push(quote);
    out
}

/// `['A', 'B']`
pub(crate) fn list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<String> = items.into_iter().map(quoted).collect();
    format!("[{}]", items.join(", "))
}

/// `{'A': 1, 'B': 2}`
pub(crate) fn map<'a, V: std::fmt::Display>(entries: impl IntoIterator<Item = (&'a str, V)>) -> String {
    let entries: Vec<String> = entries.into_iter().map(|(key, value)| format!("{}: {value}", quoted(key))).collect();
    format!("{{{}}}", entries.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_as_in_the_old_routers_logs() {
        assert_eq!(quoted("A"), "'A'");
        assert_eq!(quoted("it's"), "\"it's\"");
        assert_eq!(quoted("a\\b\n\u{1}"), "'a\\\\b\\n\\x01'");
    }

    #[test]
    fn lists_and_maps_are_written_as_in_the_old_routers_logs() {
        assert_eq!(list(["A", "B"]), "['A', 'B']");
        assert_eq!(map([("A", 1), ("B", 2)]), "{'A': 1, 'B': 2}");
    }
}
