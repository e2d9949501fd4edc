//! A vhost and its groups of users, compiled.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use config::{GroupConfig, VhostConfig};

use super::{AddressRules, Hosts};

/// The group of users that are in no other.
const DEFAULT_GROUP: &str = "$default";
/// The group whose settings hold for connections that the router makes.
const CONNECTOR_GROUP: &str = "$connector";
/// The user that stands for all that are in no other group.
const EVERYONE: &str = "*";

/// A group of users.
#[derive(Debug)]
pub struct Group {
    /// Numbers and permissions, as configured.
    pub config: GroupConfig,
    /// From where its users may connect.
    pub hosts: Hosts,
    /// What its users may receive from.
    pub sources: Arc<AddressRules>,
    /// What they may send to.
    pub targets: Arc<AddressRules>,
}

impl Group {
    fn new(config: &GroupConfig, addresses_of: &dyn Fn(&str) -> Vec<IpAddr>) -> Self {
        Self {
            config: config.clone(),
            hosts: Hosts::new(&config.remote_hosts, addresses_of),
            sources: Arc::new(AddressRules::new(&config.sources)),
            targets: Arc::new(AddressRules::new(&config.targets)),
        }
    }
}

/// A vhost.
#[derive(Debug)]
pub struct Vhost {
    /// Its name.
    pub name: Box<str>,
    /// Its other names.
    pub aliases: Vec<Box<str>>,
    /// Connections at a time.
    pub max_connections: u32,
    /// Connections at a time of one user, unless the group says otherwise.
    pub max_connections_per_user: u32,
    /// Connections at a time from one host, unless the group says otherwise.
    pub max_connections_per_host: u32,
    /// Bytes of the largest message, unless the group says otherwise; 0: no limit. `None`: as the policy says.
    pub max_message_size: Option<u64>,
    groups: Vec<Group>,
    /// Groups by user.
    by_user: HashMap<Box<str>, usize>,
    /// The group of users in no other group.
    others: Option<usize>,
}

impl Vhost {
    /// Compiles what is configured; for `addresses_of` see [`Hosts::new`].
    pub fn new(config: &VhostConfig, addresses_of: &dyn Fn(&str) -> Vec<IpAddr>) -> Self {
        let groups: Vec<Group> = config.groups.iter().map(|group| Group::new(group, addresses_of)).collect();
        let mut by_user = HashMap::new();
        for (index, group) in config.groups.iter().enumerate() {
            by_user.extend(group.users.iter().map(|user| (Box::from(user.as_str()), index)));
        }
        let named = |name: &str| config.groups.iter().position(|group| group.name == name);
        let others = by_user.get(EVERYONE).copied();
        Self {
            name: config.hostname.as_str().into(),
            aliases: config.aliases.iter().map(|alias| alias.as_str().into()).collect(),
            max_connections: config.max_connections,
            max_connections_per_user: config.max_connections_per_user,
            max_connections_per_host: config.max_connections_per_host,
            max_message_size: config.max_message_size,
            groups,
            by_user,
            others: others.or_else(|| named(DEFAULT_GROUP).filter(|_| config.allow_unknown_user)),
        }
    }

    /// The group of a user: the one that names it; else the one that names `*`; else, if unknown users are allowed,
    /// `$default`.
    pub fn group_of(&self, user: Option<&str>) -> Option<&Group> {
        let named = user.and_then(|user| self.by_user.get(user)).copied();
        self.groups.get(named.or(self.others)?)
    }

    /// The group for connections that the router makes.
    pub fn connector_group(&self) -> Option<&Group> {
        self.groups.iter().find(|group| group.config.name == CONNECTOR_GROUP)
    }
}
