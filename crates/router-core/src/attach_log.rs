//! Termini as the log shows them when a link is attached.

use std::fmt;

use amqp::terminus::{ExpiryPolicy, Source, Target, TargetTerminus};
use amqp::{Map, Symbol, Value};

/// A value in the form of the protocol trace.
struct Data<'a>(&'a Value);

impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        amqp::trace::value(&mut text, self.0);
        f.write_str(&text)
    }
}

/// What sources and targets have in common.
#[derive(Default)]
struct Terminus<'a> {
    coordinator: bool,
    address: Option<&'a str>,
    dynamic: bool,
    durable: u32,
    expiry_policy: ExpiryPolicy,
    distribution_mode: Option<&'a str>,
    timeout: u32,
    capabilities: &'a [Symbol],
    filter: Option<&'a Map>,
    outcomes: &'a [Symbol],
    properties: Option<&'a Map>,
}

impl fmt::Display for Terminus<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        if self.coordinator {
            f.write_str("<coordinator>")?;
        } else {
            f.write_str(if self.dynamic { "(dyn)" } else { "" })?;
            f.write_str(self.address.filter(|address| !address.is_empty()).unwrap_or("<none>"))?;
        }
        f.write_str(match self.durable {
            1 => " dur:config",
            2 => " dur:deliveries",
            _ => "",
        })?;
        f.write_str(match self.expiry_policy {
            ExpiryPolicy::LinkDetach => " expire:link",
            ExpiryPolicy::SessionEnd => " expire:sess",
            ExpiryPolicy::ConnectionClose => " expire:conn",
            ExpiryPolicy::Never => "",
        })?;
        if let Some(mode @ ("copy" | "move")) = self.distribution_mode {
            write!(f, " dist:{mode}")?;
        }
        if self.timeout > 0 {
            write!(f, " timeout:{}", self.timeout)?;
        }
        symbols(f, "caps", self.capabilities)?;
        map(f, "flt", self.filter)?;
        symbols(f, "outcomes", self.outcomes)?;
        map(f, "props", self.properties)?;
        f.write_str("}")
    }
}

fn symbols(f: &mut fmt::Formatter<'_>, label: &str, symbols: &[Symbol]) -> fmt::Result {
    match symbols {
        [] => Ok(()),
        [one] => write!(f, " {label}:{}", Data(&Value::Symbol(one.clone()))),
        several => write!(f, " {label}:{}", Data(&Value::symbols(several.iter().cloned()))),
    }
}

fn map(f: &mut fmt::Formatter<'_>, label: &str, map: Option<&Map>) -> fmt::Result {
    match map {
        Some(map) => write!(f, " {label}:{}", Data(&Value::Map(map.clone()))),
        None => Ok(()),
    }
}

/// A source as text; a missing one looks like one without address.
pub(crate) fn source(source: Option<&Source>) -> impl fmt::Display {
    source.map_or_else(Terminus::default, |source| Terminus {
        coordinator: false,
        address: source.address.as_deref(),
        dynamic: source.dynamic,
        durable: source.durable,
        expiry_policy: source.expiry_policy,
        distribution_mode: source.distribution_mode.as_ref().map(Symbol::as_str),
        timeout: source.timeout,
        capabilities: &source.capabilities,
        filter: source.filter.as_ref(),
        outcomes: &source.outcomes,
        properties: source.dynamic_node_properties.as_ref(),
    })
}

/// A target as text.
pub(crate) fn target(target: Option<&TargetTerminus>) -> impl fmt::Display {
    match target {
        None => Terminus::default(),
        Some(TargetTerminus::Coordinator { capabilities }) => {
            Terminus { coordinator: true, capabilities, ..Terminus::default() }
        }
        Some(TargetTerminus::Target(target)) => plain_target(target),
    }
}

fn plain_target(target: &Target) -> Terminus<'_> {
    Terminus {
        address: target.address.as_deref(),
        dynamic: target.dynamic,
        durable: target.durable,
        expiry_policy: target.expiry_policy,
        timeout: target.timeout,
        capabilities: &target.capabilities,
        properties: target.dynamic_node_properties.as_ref(),
        ..Terminus::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_source_shows_address_and_expiry() {
        let given = Source { address: Some("foo".into()), ..Source::default() };
        assert_eq!(source(Some(&given)).to_string(), "{foo expire:sess}");
    }

    #[test]
    fn a_missing_source_and_one_without_address_look_alike() {
        assert_eq!(source(None).to_string(), source(Some(&Source::default())).to_string());
        assert_eq!(source(None).to_string(), "{<none> expire:sess}");
    }

    #[test]
    fn everything_else_is_shown_when_it_is_there() {
        let given = Source {
            dynamic: true,
            durable: 2,
            expiry_policy: ExpiryPolicy::Never,
            timeout: 30,
            distribution_mode: Some("copy".into()),
            capabilities: vec!["qd.waypoint.3".into()],
            ..Source::default()
        };
        let expected = "{(dyn)<none> dur:deliveries dist:copy timeout:30 caps::\"qd.waypoint.3\"}";
        assert_eq!(source(Some(&given)).to_string(), expected);
    }

    #[test]
    fn a_coordinator_is_named() {
        let given = TargetTerminus::Coordinator { capabilities: vec![] };
        assert_eq!(target(Some(&given)).to_string(), "{<coordinator> expire:sess}");
    }
}
