//! What vhosts have to agree on with each other: every name stands for one vhost.

use crate::configuration::Settings;
use crate::draft::Draft;
use crate::settings::VhostConfig;
use management::schema::{Class, Invalid};

/// Checks the names of a vhost against those of earlier ones.
pub(crate) fn check(draft: &Draft<'_>, earlier: &[Draft<'_>]) -> Result<(), Invalid> {
    let Settings::Vhost(vhost) = &draft.settings else { return Ok(()) };
    let others = earlier.iter().filter_map(|other| match &other.settings {
        Settings::Vhost(other) => Some(other.as_ref()),
        _ => None,
    });
    for other in others {
        compare(vhost, other)?;
    }
    Ok(())
}

fn compare(vhost: &VhostConfig, other: &VhostConfig) -> Result<(), Invalid> {
    let (name, other_name) = (&vhost.hostname, &other.hostname);
    let wrong = |attribute: &str, detail: String| {
        let text = format!("Policy '{name}' is invalid: {detail}");
        Err(Invalid::attribute(attribute, Class::Policy, text).hint("choose another name").late())
    };
    if other.aliases.contains(name) {
        let detail =
            format!("Policy is creating vhost '{name}' but that name is already an alias for vhost '{other_name}'");
        return wrong("hostname", detail);
    }
    for alias in &vhost.aliases {
        if alias == other_name {
            let detail = format!(
                "Policy for vhost '{name}' defines alias '{alias}' which conflicts with an existing vhost named '{alias}'"
            );
            return wrong("aliases", detail);
        }
        if other.aliases.contains(alias) {
            let detail = format!(
                "Policy for vhost '{name}' alias '{alias}' conflicts with existing alias for vhost '{other_name}'"
            );
            return wrong("aliases", detail);
        }
    }
    Ok(())
}
