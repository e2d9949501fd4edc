//! All vhosts: which one holds for a host name?

use std::collections::HashMap;
use std::sync::Arc;

use config::PolicyConfig;
use router_core::{Pattern, PatternTree};

use super::Vhost;

/// The policy at a moment. It is replaced as a whole when a vhost changes.
#[derive(Debug, Default)]
pub struct Policy {
    vhosts: Vec<Arc<Vhost>>,
    /// By name and by alias.
    by_name: HashMap<Box<str>, usize>,
    /// By names and aliases that are patterns, if they may be.
    patterns: PatternTree<usize>,
    default: Option<usize>,
    /// Bytes of the largest message where neither group nor vhost says so; 0: no limit.
    max_message_size: u64,
}

impl Policy {
    /// From compiled vhosts.
    pub fn new(config: &PolicyConfig, vhosts: Vec<Arc<Vhost>>) -> Self {
        let mut policy = Self { max_message_size: config.max_message_size.unwrap_or(0), ..Self::default() };
        for (index, vhost) in vhosts.iter().enumerate() {
            policy.by_name.insert(vhost.name.clone(), index);
        }
        policy.default = policy.by_name.get(config.default_vhost.as_str()).copied();
        for (index, vhost) in vhosts.iter().enumerate() {
            // The names of vhosts come before the aliases of others.
            for alias in &vhost.aliases {
                policy.by_name.entry(alias.clone()).or_insert(index);
            }
            if config.enable_vhost_name_patterns {
                let names = vhost.aliases.iter().chain([&vhost.name]);
                for pattern in names.filter_map(|name| Pattern::parse(name)) {
                    policy.patterns.insert(&pattern, index);
                }
            }
        }
        policy.vhosts = vhosts;
        policy
    }

    /// The vhost for a host name: the one of this name or alias, the one whose pattern fits best, or the default.
    pub fn find(&self, hostname: &str) -> Option<&Arc<Vhost>> {
        let exact = self.by_name.get(hostname).copied();
        let found = exact.or_else(|| self.patterns.best(hostname).copied()).or(self.default)?;
        self.vhosts.get(found)
    }

    /// Bytes of the largest message where neither group nor vhost says so; 0: no limit.
    pub fn max_message_size(&self) -> u64 {
        self.max_message_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::VhostConfig;
    use management::Attributes;

    fn vhost(hostname: &str, aliases: &str) -> VhostConfig {
        let attributes = Attributes::new().with("hostname", hostname.into()).with("aliases", aliases.into());
        VhostConfig::from_attributes(&attributes).unwrap()
    }

    fn policy(patterns: bool, vhosts: &[VhostConfig]) -> Policy {
        let attributes = Attributes::new().with("enableVhostNamePatterns", patterns.into());
        let config = PolicyConfig::from_attributes(&attributes).unwrap();
        let compiled = vhosts.iter().map(|vhost| Arc::new(Vhost::new(vhost, &|_| Vec::new())));
        Policy::new(&config, compiled.collect())
    }

    fn found(policy: &Policy, hostname: &str) -> Option<String> {
        policy.find(hostname).map(|vhost| vhost.name.to_string())
    }

    #[test]
    fn a_vhost_is_found_by_its_name_and_its_aliases() {
        let policy = policy(false, &[vhost("a.example", "b.example, c.example")]);
        assert_eq!(found(&policy, "a.example").as_deref(), Some("a.example"));
        assert_eq!(found(&policy, "c.example").as_deref(), Some("a.example"));
        assert_eq!(found(&policy, "d.example"), None);
    }

    #[test]
    fn names_are_patterns_only_if_the_policy_says_so() {
        let vhosts = [vhost("*.example", "")];
        assert_eq!(found(&policy(false, &vhosts), "a.example"), None);
        assert_eq!(found(&policy(true, &vhosts), "a.example").as_deref(), Some("*.example"));
    }

    #[test]
    fn the_pattern_that_fits_best_wins() {
        let policy = policy(true, &[vhost("#.example", ""), vhost("*.example", ""), vhost("a.example", "")]);
        assert_eq!(found(&policy, "a.example").as_deref(), Some("a.example"));
        assert_eq!(found(&policy, "b.example").as_deref(), Some("*.example"));
        assert_eq!(found(&policy, "c.b.example").as_deref(), Some("#.example"));
    }

    #[test]
    fn the_default_holds_where_no_other_does() {
        let policy = policy(false, &[vhost("a.example", ""), vhost("$default", "")]);
        assert_eq!(found(&policy, "elsewhere").as_deref(), Some("$default"));
    }
}
