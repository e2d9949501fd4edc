//! What vhosts have to agree on with each other: every name stands for one vhost.

use crate::configuration::Settings;
use crate::draft::Draft;
use management::schema::{Class, Invalid};
use std::collections::{HashMap, HashSet};

/// The names of the vhosts so far.
#[derive(Default)]
pub(crate) struct VhostNames<'d> {
    hostnames: HashSet<&'d str>,
    /// Each with the vhost that it stands for.
    aliases: HashMap<&'d str, &'d str>,
}

impl<'d> VhostNames<'d> {
    /// Checks the names of a vhost against those of earlier ones, and adds them.
    pub(crate) fn check(&mut self, draft: &'d Draft<'d>) -> Result<(), Invalid> {
        let Settings::Vhost(vhost) = &draft.settings else { return Ok(()) };
        let name = vhost.hostname.as_str();
        let wrong = |attribute: &str, detail: String| {
            let text = format!("Policy '{name}' is invalid: {detail}");
            Err(Invalid::attribute(attribute, Class::Policy, text).hint("choose another name").late())
        };
        if let Some(other) = self.aliases.get(name) {
            let detail =
                format!("Policy is creating vhost '{name}' but that name is already an alias for vhost '{other}'");
            return wrong("hostname", detail);
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
        self.hostnames.insert(name);
        self.aliases.extend(vhost.aliases.iter().map(|alias| (alias.as_str(), name)));
        Ok(())
    }
}
