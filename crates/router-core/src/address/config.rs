//! `address` entities: how the addresses that match a pattern are treated.

use std::collections::{BTreeMap, BTreeSet};

use super::pattern::{Pattern, PatternTree};
use crate::{AddressConfigError, AddressConfigSnapshot, NewAddressConfig, Treatment};

/// Highest phase.
const MAX_PHASE: i64 = 9;
/// Highest priority.
const MAX_PRIORITY: i64 = 9;

/// A valid `address` entity.
#[derive(Debug)]
pub(crate) struct AddressConfig {
    id: u64,
    name: Option<String>,
    /// As given.
    text: String,
    given_as_prefix: bool,
    pattern: Pattern,
    pub(crate) distribution: Treatment,
    waypoint: bool,
    pub(crate) ingress_phase: u8,
    pub(crate) egress_phase: u8,
    pub(crate) priority: Option<u8>,
    pub(crate) fallback: bool,
}

impl AddressConfig {
    /// Checks what was given.
    fn validate(id: u64, new: NewAddressConfig) -> Result<Self, AddressConfigError> {
        use AddressConfigError as E;
        let (text, given_as_prefix, pattern) = match (new.prefix, new.pattern) {
            (None, None) => return Err(E::NeitherPrefixNorPattern),
            (Some(_), Some(_)) => return Err(E::BothPrefixAndPattern),
            (Some(prefix), None) if prefix.is_empty() => return Err(E::EmptyPrefix),
            (None, Some(pattern)) if pattern.is_empty() => return Err(E::EmptyPattern),
            (Some(prefix), None) => {
                let pattern = Pattern::parse_prefix(&prefix).ok_or(E::PrefixWithoutTokens)?;
                (prefix, true, pattern)
            }
            (None, Some(text)) => {
                let pattern = Pattern::parse(&text).ok_or(E::PatternWithoutTokens)?;
                (text, false, pattern)
            }
        };
        let (ingress, egress) = (new.ingress_phase.unwrap_or(0), new.egress_phase.unwrap_or(0));
        if new.fallback && (new.waypoint || ingress != 0 || egress != 0) {
            return Err(E::FallbackWithPhases);
        }
        let phase = |given: i64| {
            let in_range = (0..=MAX_PHASE).contains(&given);
            u8::try_from(given).ok().filter(|_| in_range).ok_or(E::PhaseOutOfRange)
        };
        let (ingress, egress) = (phase(ingress)?, phase(egress)?);
        let (ingress_phase, egress_phase) = if new.waypoint { (0, 1) } else { (ingress, egress) };
        let priority = match new.priority {
            None | Some(-1) => None,
            Some(given) if (0..=MAX_PRIORITY).contains(&given) => u8::try_from(given).ok(),
            Some(_) => return Err(E::PriorityOutOfRange),
        };
        Ok(Self {
            id,
            name: new.name,
            text,
            given_as_prefix,
            pattern,
            distribution: new.distribution,
            waypoint: new.waypoint,
            ingress_phase,
            egress_phase,
            priority,
            fallback: new.fallback,
        })
    }

    fn snapshot(&self) -> AddressConfigSnapshot<'_> {
        AddressConfigSnapshot {
            name: self.name.as_deref(),
            id: self.id,
            prefix: self.given_as_prefix.then_some(&self.text),
            pattern: (!self.given_as_prefix).then_some(&self.text),
            distribution: self.distribution,
            waypoint: self.waypoint,
            ingress_phase: self.ingress_phase,
            egress_phase: self.egress_phase,
            priority: self.priority,
            fallback: self.fallback,
        }
    }
}

/// What creating an entity led to.
#[derive(Debug)]
pub(crate) struct Created {
    /// Identity.
    pub(crate) id: u64,
    /// The pattern as given and as it is now, if it had to be rewritten.
    pub(crate) rewritten: Option<(String, String)>,
}

/// All `address` entities.
#[derive(Default)]
pub(crate) struct AddressConfigs {
    tree: PatternTree<u64>,
    by_id: BTreeMap<u64, AddressConfig>,
    names: BTreeSet<String>,
    /// How many have an ingress phase other than 0.
    phased: usize,
}

impl AddressConfigs {
    /// Adds an entity with identity `id`, or says why not and changes nothing.
    pub(crate) fn create(&mut self, id: u64, new: NewAddressConfig) -> Result<Created, AddressConfigError> {
        let config = AddressConfig::validate(id, new)?;
        if config.name.as_ref().is_some_and(|name| self.names.contains(name)) {
            return Err(AddressConfigError::NameInUse);
        }
        if !self.tree.insert(&config.pattern, id) {
            return Err(AddressConfigError::AlreadyExists);
        }
        let rewritten = match config.given_as_prefix {
            false => config.pattern.rewritten(&config.text).map(|now| (config.text.clone(), now)),
            true => None,
        };
        self.phased += usize::from(config.ingress_phase != 0);
        self.names.extend(config.name.clone());
        self.by_id.insert(id, config);
        Ok(Created { id, rewritten })
    }

    /// Removes an entity; false if there is none with this identity.
    pub(crate) fn delete(&mut self, id: u64) -> bool {
        let Some(config) = self.by_id.remove(&id) else { return false };
        self.tree.remove(&config.pattern);
        if let Some(name) = &config.name {
            self.names.remove(name);
        }
        self.phased -= usize::from(config.ingress_phase != 0);
        true
    }

    /// The entity that fits an address text best.
    fn best(&self, text: &str) -> Option<&AddressConfig> {
        self.by_id.get(self.tree.best(text)?)
    }

    /// The phase in which a tenant's messages for `text` enter without being told another. Most routers have but one
    /// phase: then this costs nothing.
    pub(crate) fn ingress_phase(&self, tenant: &str, text: &str) -> u8 {
        if self.phased == 0 { 0 } else { self.best_for(tenant, text).map_or(0, |config| config.ingress_phase) }
    }

    /// The entity that fits a tenant's address best.
    pub(crate) fn best_for(&self, tenant: &str, text: &str) -> Option<&AddressConfig> {
        if tenant.is_empty() { self.best(text) } else { self.best(&format!("{tenant}{text}")) }
    }

    /// All entities, in order of identity.
    pub(crate) fn snapshots(&self) -> Vec<AddressConfigSnapshot<'_>> {
        self.by_id.values().map(AddressConfig::snapshot).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(prefix: &str) -> NewAddressConfig {
        NewAddressConfig { prefix: Some(prefix.into()), ..Default::default() }
    }

    fn refusal(new: NewAddressConfig) -> String {
        AddressConfigs::default().create(1, new).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_said_in_the_old_routers_words() {
        let pattern = |text: &str| NewAddressConfig { pattern: Some(text.into()), ..Default::default() };
        let both = NewAddressConfig { pattern: Some("a".into()), ..prefix("a") };
        let phase = NewAddressConfig { ingress_phase: Some(10), ..prefix("a") };
        let priority = NewAddressConfig { priority: Some(10), ..prefix("a") };
        let fallback = NewAddressConfig { fallback: true, waypoint: true, ..prefix("a") };
        for (new, text) in [
            (NewAddressConfig::default(), "Either a 'prefix' or 'pattern' attribute must be provided"),
            (both, "Cannot specify both a 'prefix' and a 'pattern' attribute"),
            (prefix(""), "Prefix must be a non-empty string type"),
            (pattern(""), "Pattern must be a non-empty string type"),
            (prefix("./"), "Prefix invalid - no tokens"),
            (pattern("/"), "Pattern invalid - no tokens"),
            (fallback, "Fallback cannot be specified with waypoint or non-zero ingress and egress phases"),
            (phase, "Phase values must be between 0 and 9"),
            (priority, "Priority value, if present, must be between 0 and QDR_MAX_PRIORITY"),
        ] {
            assert_eq!(refusal(new), text);
        }
    }

    #[test]
    fn a_name_is_used_once() {
        let mut configs = AddressConfigs::default();
        configs.create(1, NewAddressConfig { name: Some("n".into()), ..prefix("a") }).unwrap();
        let second = configs.create(2, NewAddressConfig { name: Some("n".into()), ..prefix("b") });
        assert_eq!(second.unwrap_err(), AddressConfigError::NameInUse);
    }

    #[test]
    fn a_refused_creation_leaves_no_trace() {
        let mut configs = AddressConfigs::default();
        configs.create(1, prefix("a")).unwrap();
        configs.create(2, NewAddressConfig { name: Some("n".into()), ..prefix("a/") }).unwrap_err();
        configs.create(3, NewAddressConfig { name: Some("n".into()), ..prefix("b") }).unwrap();
        assert_eq!(configs.snapshots().iter().map(|config| config.id).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn a_waypoint_has_phases_0_and_1_whatever_else_is_said() {
        let mut configs = AddressConfigs::default();
        let new = NewAddressConfig { waypoint: true, ingress_phase: Some(3), egress_phase: Some(4), ..prefix("a") };
        configs.create(1, new).unwrap();
        let config = configs.best("a.b").unwrap();
        assert_eq!((config.ingress_phase, config.egress_phase), (0, 1));
    }

    #[test]
    fn a_deleted_entity_no_longer_matches() {
        let mut configs = AddressConfigs::default();
        configs.create(1, prefix("a")).unwrap();
        assert!(configs.delete(1));
        assert!(configs.best("a").is_none() && !configs.delete(1));
    }

    #[test]
    fn priority_minus_one_is_no_priority() {
        let mut configs = AddressConfigs::default();
        configs.create(1, NewAddressConfig { priority: Some(-1), ..prefix("a") }).unwrap();
        assert_eq!(configs.snapshots()[0].priority, None);
    }
}
