//! The text format: families of metrics, each with what it is and its samples.

use std::fmt::{self, Display, Write};

/// What kind of number a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only goes up, until the router is started again.
    Counter,
    /// Counts of values by size.
    Histogram,
}

/// A text that is being written.
#[derive(Default)]
pub(super) struct Exposition(String);

/// One family, to which samples are added.
pub(super) struct Family<'t> {
    text: &'t mut String,
    name: &'t str,
}

impl Exposition {
    /// Begins a family. Its name is one that the format allows; the help is one line.
    pub(super) fn family<'t>(&'t mut self, name: &'t str, kind: Kind, help: &str) -> Family<'t> {
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
        };
        self.line(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        Family { text: &mut self.0, name }
    }

    /// A family of one sample.
    pub(super) fn single(&mut self, name: &str, kind: Kind, help: &str, value: impl Display) {
        self.family(name, kind, help).sample(&[], value);
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.0
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(line);
    }
}

impl Family<'_> {
    /// Adds a sample with these labels.
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.sample_of("", labels, value);
    }

    /// Adds a sample whose name goes on with `suffix`.
    pub(super) fn sample_of(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        self.text.push_str(self.name);
        self.text.push_str(suffix);
        for (index, (name, value)) in labels.iter().enumerate() {
            self.text.push(if index == 0 { '{' } else { ',' });
            self.text.push_str(name);
            self.text.push_str("=\"");
            escape(self.text, value);
            self.text.push('"');
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, " {value}");
    }
}

/// A label's value as it stands between quotes.
fn escape(text: &mut String, value: &str) {
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_says_what_it_is_and_lists_its_samples() {
        let mut text = Exposition::default();
        let mut family = text.family("deliveries_total", Kind::Counter, "Deliveries.");
        family.sample(&[("address", "a"), ("kind", "in")], 3);
        family.sample(&[], 4.5);
        let expected = "# HELP deliveries_total Deliveries.\n# TYPE deliveries_total counter\n\
                        deliveries_total{address=\"a\",kind=\"in\"} 3\ndeliveries_total 4.5\n";
        assert_eq!(text.finish(), expected);
    }

    #[test]
    fn no_label_can_end_its_quotes_or_its_line() {
        let mut text = Exposition::default();
        text.family("m", Kind::Gauge, "M.").sample(&[("l", "a\"} 1\nb\\")], 0);
        assert!(text.finish().ends_with("m{l=\"a\\\"} 1\\nb\\\\\"} 0\n"));
    }
}
