//! What vhosts have to agree on with each other: every name stands for one vhost.

use crate::settings::VhostConfig;
use management::schema::{Class, Invalid};
use router_core::Pattern;
use std::collections::{HashMap, HashSet};

/// The names of the vhosts so far.
#[derive(Default)]
pub(crate) struct VhostNames<'d> {
    hostnames: HashSet<&'d str>,
    /// Each with the vhost that it stands for.
    aliases: HashMap<&'d str, &'d str>,
    /// Names and aliases in the one form that a pattern has, if they may be patterns.
    patterns: Vec<Pattern>,
}

/// Checks the names of a vhost against those of others that there are already; `patterns`: names may be patterns.
///
/// # Errors
/// If one is taken.
pub fn check_vhost_names<'v>(
    vhost: &'v VhostConfig,
    others: impl Iterator<Item = &'v VhostConfig>,
    patterns: bool,
) -> Result<(), Invalid> {
    let mut names = VhostNames::default();
    others.for_each(|other| names.add(other, patterns));
    names.check(vhost, patterns)
}

impl<'d> VhostNames<'d> {
    /// Checks the names of a vhost against those of earlier ones, and adds them.
    pub(crate) fn check(&mut self, vhost: &'d VhostConfig, patterns: bool) -> Result<(), Invalid> {
        let name = vhost.hostname.as_str();
        let wrong = |attribute: &str, text: String| {
            Err(Invalid::attribute(attribute, Class::Policy, text).hint("choose another name").late())
        };
        if let Some(other) = self.aliases.get(name) {
            let text = "Policy is creating vhost";
            return wrong("hostname", format!("{text} '{name}' but that name is already an alias for vhost '{other}'"));
        }
        for alias in &vhost.aliases {
            let of_vhost = format!("Policy for vhost '{name}'");
            if self.hostnames.contains(alias.as_str()) {
                let detail = format!("defines alias '{alias}' which conflicts with an existing vhost named '{alias}'");
                return wrong("aliases", format!("{of_vhost} {detail}"));
            }
            if let Some(other) = self.aliases.get(alias.as_str()) {
                let detail = format!("alias '{alias}' conflicts with existing alias for vhost '{other}'");
                return wrong("aliases", format!("{of_vhost} {detail}"));
            }
        }
        if patterns && let Some(alias) = self.taken_pattern(vhost) {
            let attribute = if alias == name { "hostname" } else { "aliases" };
            let detail = format!("alias '{alias}' optimized pattern conflicts with existing pattern");
            return wrong(attribute, format!("Policy for vhost '{name}' {detail}"));
        }
        self.add(vhost, patterns);
        Ok(())
    }

    /// The first name of a vhost that is a pattern which another has, be it written in another way.
    fn taken_pattern<'v>(&self, vhost: &'v VhostConfig) -> Option<&'v str> {
        let mut own = Vec::new();
        for name in names_of(vhost) {
            // What is no pattern matches nothing.
            let Some(pattern) = Pattern::parse(name) else { continue };
            if self.patterns.contains(&pattern) || own.contains(&pattern) {
                return Some(name);
            }
            own.push(pattern);
        }
        None
    }

    fn add(&mut self, vhost: &'d VhostConfig, patterns: bool) {
        self.hostnames.insert(&vhost.hostname);
        self.aliases.extend(vhost.aliases.iter().map(|alias| (alias.as_str(), vhost.hostname.as_str())));
        if patterns {
            self.patterns.extend(names_of(vhost).filter_map(Pattern::parse));
        }
    }
}

fn names_of(vhost: &VhostConfig) -> impl Iterator<Item = &str> {
    [&vhost.hostname].into_iter().chain(&vhost.aliases).map(String::as_str)
}
