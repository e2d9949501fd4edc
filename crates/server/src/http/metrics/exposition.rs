//! Families of metrics, each with what it is and its samples; and the text format that they are shown in.

use std::fmt::{Display, Write};

/// What kind of number a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only goes up, until the router is started again.
    Counter,
    /// Counts of values by size.
    Histogram,
}

/// Families that are being written.
#[derive(Default)]
pub(crate) struct Exposition(Vec<Family>);

/// One family, to which samples are added.
pub(crate) struct Family {
    /// A name that the text format allows.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// One line.
    pub(crate) help: &'static str,
    pub(crate) samples: Vec<Sample>,
}

/// A number, and of what.
pub(crate) struct Sample {
    /// What the family's name goes on with.
    pub(crate) suffix: &'static str,
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) value: String,
}

impl Exposition {
    /// Begins a family. Its name is one that the format allows; the help is one line.
    pub(crate) fn family(&mut self, name: &str, kind: Kind, help: &'static str) -> &mut Family {
        let family = Family { name: name.to_owned(), kind, help, samples: Vec::new() };
        self.0.push_mut(family)
    }

    /// A family of one sample.
    pub(crate) fn single(&mut self, name: &str, kind: Kind, help: &'static str, value: impl Display) {
        self.family(name, kind, help).sample(&[], value);
    }

    /// What was written.
    pub(crate) fn families(&self) -> &[Family] {
        &self.0
    }

    /// The text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for family in &self.0 {
            family.write(&mut text);
        }
        text
    }
}

impl Family {
    /// Adds a sample with these labels.
    pub(crate) fn sample(&mut self, labels: &[(&'static str, &str)], value: impl Display) {
        self.sample_of("", labels, value);
    }

    /// Adds a sample whose name goes on with `suffix`.
    pub(crate) fn sample_of(&mut self, suffix: &'static str, labels: &[(&'static str, &str)], value: impl Display) {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.samples.push(Sample { suffix, labels, value: value.to_string() });
    }

    fn write(&self, text: &mut String) {
        let Self { name, kind, help, samples } = self;
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for Sample { suffix, labels, value } in samples {
            text.push_str(name);
            text.push_str(suffix);
            for (index, (name, value)) in labels.iter().enumerate() {
                text.push(if index == 0 { '{' } else { ',' });
                text.push_str(name);
                text.push_str("=\"");
                escape(text, value);
                text.push('"');
            }
            if !labels.is_empty() {
                text.push('}');
            }
            let _ = writeln!(text, " {value}");
        }
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
        let family = text.family("deliveries_total", Kind::Counter, "Deliveries.");
        family.sample(&[("address", "a"), ("kind", "in")], 3);
        family.sample(&[], 4.5);
        let expected = "# HELP deliveries_total Deliveries.\n# TYPE deliveries_total counter\n\
                        deliveries_total{address=\"a\",kind=\"in\"} 3\ndeliveries_total 4.5\n";
        assert_eq!(text.text(), expected);
    }

    #[test]
    fn no_label_can_end_its_quotes_or_its_line() {
        let mut text = Exposition::default();
        text.family("m", Kind::Gauge, "M.").sample(&[("l", "a\"} 1\nb\\")], 0);
        assert!(text.text().ends_with("m{l=\"a\\\"} 1\\nb\\\\\"} 0\n"));
    }
}
