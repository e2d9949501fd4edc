//! What a connection may do, fixed when it opens.

use std::sync::Arc;

use super::{AddressRules, Addresses, Group, Policy, Vhost};

/// What an authentication service says of a user: the addresses for which it has permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authorised {
    /// Addresses that may be received from; `*` at the end of one stands for any end, and `*` alone for every address.
    pub sources: Vec<String>,
    /// Addresses that may be sent to, likewise.
    pub targets: Vec<String>,
}

/// What a connection may do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The vhost whose rules these are; empty where only an authentication service has a say.
    pub vhost: Box<str>,
    /// The group of users.
    pub group: Box<str>,
    /// Bytes; `None`: as the listener says.
    pub max_frame_size: Option<u32>,
    /// Bytes of the incoming window of a session; `None`: as the listener says.
    pub max_session_window: Option<u64>,
    /// `None`: as the listener says.
    pub max_sessions: Option<u32>,
    /// Links on which the peer sends.
    pub max_senders: Option<u32>,
    /// Links on which the peer receives.
    pub max_receivers: Option<u32>,
    /// Bytes of a message that comes in; `None`: no limit.
    pub max_message_size: Option<u64>,
    /// Receivers may ask for an address made up by the router.
    pub allow_dynamic_source: bool,
    /// Senders may leave the address to each message.
    pub allow_anonymous_sender: bool,
    /// Messages may name another user than the one who sends them.
    pub allow_user_id_proxy: bool,
    /// Links may have waypoint capabilities.
    pub allow_waypoint_links: bool,
    /// Links may have fall-back capability.
    pub allow_fallback_links: bool,
    /// Link routes may be created for the own connection.
    pub allow_dynamic_link_routes: bool,
    /// Connections may be closed through management.
    pub allow_admin_status_update: bool,
    /// What may be received from.
    pub sources: Addresses,
    /// What may be sent to.
    pub targets: Addresses,
}

/// In configuration 0 stands for no limit.
fn limit<N: Default + PartialEq>(number: Option<N>) -> Option<N> {
    number.filter(|number| *number != N::default())
}

impl Settings {
    /// For a user of a group.
    pub fn new(policy: &Policy, vhost: &Vhost, group: &Group, user: Option<&str>) -> Self {
        let config = &group.config;
        let size = config.max_message_size.or(vhost.max_message_size).unwrap_or(policy.max_message_size());
        Self {
            vhost: vhost.name.clone(),
            group: config.name.as_str().into(),
            max_frame_size: limit(config.max_frame_size),
            max_session_window: limit(config.max_session_window),
            max_sessions: limit(config.max_sessions),
            max_senders: limit(config.max_senders),
            max_receivers: limit(config.max_receivers),
            max_message_size: limit(Some(size)),
            allow_dynamic_source: config.allow_dynamic_source,
            allow_anonymous_sender: config.allow_anonymous_sender,
            allow_user_id_proxy: config.allow_user_id_proxy,
            allow_waypoint_links: config.allow_waypoint_links,
            allow_fallback_links: config.allow_fallback_links,
            allow_dynamic_link_routes: config.allow_dynamic_link_routes,
            allow_admin_status_update: config.allow_admin_status_update,
            sources: Addresses::new(&group.sources, user),
            targets: Addresses::new(&group.targets, user),
        }
    }

    /// For a user of whom only an authentication service speaks. What it does not speak of is not allowed, as with the
    /// old router; of numbers there is no limit.
    pub fn authorised(authorised: &Authorised, user: Option<&str>) -> Self {
        let (sources, targets) = authorised.addresses(user);
        Self {
            vhost: Box::default(),
            group: Box::default(),
            max_frame_size: None,
            max_session_window: None,
            max_sessions: None,
            max_senders: None,
            max_receivers: None,
            max_message_size: None,
            allow_dynamic_source: true,
            allow_anonymous_sender: true,
            allow_user_id_proxy: false,
            allow_waypoint_links: false,
            allow_fallback_links: false,
            allow_dynamic_link_routes: false,
            allow_admin_status_update: false,
            sources,
            targets,
        }
    }

    /// Where both a vhost and an authentication service have a say, addresses are the service's to allow.
    #[must_use]
    pub fn with(self, authorised: &Authorised, user: Option<&str>) -> Self {
        let (sources, targets) = authorised.addresses(user);
        Self { allow_dynamic_source: true, allow_anonymous_sender: true, sources, targets, ..self }
    }
}

impl Authorised {
    fn addresses(&self, user: Option<&str>) -> (Addresses, Addresses) {
        let compiled = |list: &[String]| {
            let rules = AddressRules::of_list(list.iter().map(String::as_str));
            Addresses::new(&Arc::new(rules), user)
        };
        (compiled(&self.sources), compiled(&self.targets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authorised() -> Authorised {
        Authorised { sources: vec!["in*".into()], targets: vec!["out".into()] }
    }

    #[test]
    fn an_authentication_service_allows_the_addresses_that_it_names() {
        let settings = Settings::authorised(&authorised(), Some("bob"));
        assert!(settings.sources.allow("in-1") && settings.targets.allow("out"));
        assert!(!settings.sources.allow("out") && !settings.targets.allow("in-1"));
    }

    #[test]
    fn what_an_authentication_service_does_not_speak_of_is_not_allowed() {
        let settings = Settings::authorised(&authorised(), Some("bob"));
        assert!(!settings.allow_user_id_proxy && !settings.allow_waypoint_links && !settings.allow_admin_status_update);
    }
}
