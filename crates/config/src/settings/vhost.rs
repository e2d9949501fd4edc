//! The `vhost` section.

use super::read::Reader;
use super::vhost_group::{GroupConfig, check_number, listed};
use amqp::Value;
use management::Attributes;
use management::repr::plain;
use management::schema::{Class, Invalid};
use std::collections::{HashMap, HashSet};

/// The most connections that can be allowed.
pub(super) const MAX_CONNECTIONS: i64 = 65535;

/// What a `vhost` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct VhostConfig {
    /// The name of the vhost.
    pub hostname: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// Connections at a time.
    pub max_connections: u32,
    /// Connections at a time of one user.
    pub max_connections_per_user: u32,
    /// Connections at a time from one host.
    pub max_connections_per_host: u32,
    /// Largest message, in bytes; `None`: as the policy says.
    pub max_message_size: Option<u64>,
    /// Users that are in no group belong to group `$default`.
    pub allow_unknown_user: bool,
    /// The groups of users.
    pub groups: Vec<GroupConfig>,
}

impl VhostConfig {
    /// Reads the settings of a `vhost` entity.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let hostname = read.text_or("hostname", "");
        let wrong = |attribute: &str, detail: String| {
            let text = format!("Policy '{hostname}' is invalid: {detail}");
            Invalid::attribute(attribute, Class::Policy, text).late()
        };
        let count = |name: &str| -> Result<Option<i64>, Invalid> {
            let most = if name == "maxMessageSize" { i64::MAX } else { MAX_CONNECTIONS };
            let Some(value) = attributes.get(name) else { return Ok(None) };
            let of_vhost = |error| format!("Policy vhost '{hostname}' option '{name}' has error '{error}'.");
            check_number(value, most).map(Some).map_err(|error| wrong(name, of_vhost(error)))
        };
        let connections = |name: &str| -> Result<u32, Invalid> {
            let most = u32::try_from(MAX_CONNECTIONS).unwrap_or(u32::MAX);
            Ok(count(name)?.and_then(|count| u32::try_from(count).ok()).unwrap_or(most))
        };
        let vhost = VhostConfig {
            aliases: attributes.get("aliases").map(aliases).unwrap_or_default(),
            max_connections: connections("maxConnections")?,
            max_connections_per_user: connections("maxConnectionsPerUser")?,
            max_connections_per_host: connections("maxConnectionsPerHost")?,
            max_message_size: count("maxMessageSize")?.and_then(|size| u64::try_from(size).ok()),
            allow_unknown_user: read.flag("allowUnknownUser", false),
            groups: groups(&hostname, attributes.get("groups")).map_err(|detail| wrong("groups", detail))?,
            hostname: hostname.clone(),
        };
        vhost.check_aliases().map_err(|detail| wrong("aliases", detail))?;
        vhost.check_groups().map_err(|detail| wrong("groups", detail))?;
        Ok(vhost)
    }

    /// What its operator should know: options of groups that have no effect.
    pub fn warnings(&self) -> Vec<String> {
        let of_group = |group: &GroupConfig| -> Vec<String> {
            let prefix = format!("Policy vhost '{}' user group '{}'", self.hostname, group.name);
            group.ignored.iter().map(|option| format!("{prefix} option '{option}' is ignored.")).collect()
        };
        self.groups.iter().flat_map(of_group).collect()
    }

    fn check_aliases(&self) -> Result<(), String> {
        let mut earlier = HashSet::new();
        for alias in &self.aliases {
            let of_vhost = format!("Policy vhost '{}' option 'aliases' value '{alias}'", self.hostname);
            if *alias == self.hostname {
                return Err(format!("{of_vhost} duplicates vhost name"));
            }
            if !earlier.insert(alias) {
                return Err(format!("{of_vhost} is duplicated"));
            }
        }
        Ok(())
    }

    fn check_groups(&self) -> Result<(), String> {
        let mut group_of: HashMap<&str, &str> = HashMap::new();
        for group in &self.groups {
            for user in &group.users {
                match group_of.insert(user, &group.name) {
                    Some(other) if other != group.name => {
                        return Err(format!(
                            "Policy vhost '{}' user '{user}' is in multiple user groups '{other}' and '{}'",
                            self.hostname, group.name
                        ));
                    }
                    _ => {}
                }
            }
        }
        if self.allow_unknown_user && !self.groups.iter().any(|group| group.name == "$default") {
            return Err(format!(
                "Policy vhost '{}' allows connections by default but default settings are not defined",
                self.hostname
            ));
        }
        Ok(())
    }
}

/// Names separated by commas or blanks, or a list of them.
fn aliases(value: &Value) -> Vec<String> {
    let items = match value {
        Value::List(items) => items.iter().map(plain).collect(),
        text => listed(&plain(text)),
    };
    let words = items.iter().flat_map(|item| item.split_whitespace());
    words.map(str::to_owned).collect()
}

fn groups(hostname: &str, value: Option<&Value>) -> Result<Vec<GroupConfig>, String> {
    let map = match value {
        None => return Ok(Vec::new()),
        Some(Value::Map(map)) => map,
        Some(other) => {
            let kind = kind_of(other);
            return Err(format!("Policy vhost '{hostname}' option 'groups' must be of type 'dict' but is '{kind}'"));
        }
    };
    map.iter()
        .map(|(name, settings)| {
            let name = plain(name);
            match settings {
                Value::Map(settings) => GroupConfig::from_map(hostname, &name, settings),
                other => Err(format!(
                    "Policy vhost '{hostname}' user group '{name}' must be of type 'dict' but is '{}'",
                    kind_of(other)
                )),
            }
        })
        .collect()
}

/// The kind of a value, in the old router's words.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::String(_) | Value::Symbol(_) => "str",
        Value::List(_) | Value::Array(_) => "list",
        Value::Map(_) => "dict",
        Value::Float(_) | Value::Double(_) => "float",
        _ => "int",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::Map;

    fn vhost(groups: &[(&str, &[(&str, &str)])]) -> Attributes {
        let map = |members: &[(&str, &str)]| {
            Value::Map(Map(members.iter().map(|(key, value)| (Value::from(*key), Value::from(*value))).collect()))
        };
        let groups = groups.iter().map(|(name, members)| (Value::from(*name), map(members))).collect();
        Attributes::new().with("hostname", Value::from("h")).with("groups", Value::Map(Map(groups)))
    }

    fn reason(attributes: &Attributes) -> String {
        VhostConfig::from_attributes(attributes).unwrap_err().text
    }

    #[test]
    fn a_group_keeps_its_settings() {
        let attributes = vhost(&[("g", &[("users", "a, b"), ("maxSessions", "3"), ("allowDynamicSource", "yes")])]);
        let vhost = VhostConfig::from_attributes(&attributes).unwrap();
        assert_eq!(vhost.groups[0].users, ["a", "b"]);
        assert_eq!((vhost.groups[0].max_sessions, vhost.groups[0].allow_dynamic_source), (Some(3), true));
    }

    #[test]
    fn a_number_that_is_none_is_refused_in_the_old_routers_words() {
        let expected = "Policy 'h' is invalid: Policy vhost 'h' user group 'g' option 'maxSessions' has error \
                        'Value 'x' does not resolve to an integer.'.";
        assert_eq!(reason(&vhost(&[("g", &[("maxSessions", "x")])])), expected);
    }

    #[test]
    fn a_user_belongs_to_one_group_only() {
        let text = reason(&vhost(&[("g", &[("users", "a,b")]), ("h", &[("users", "b")])]));
        assert!(text.ends_with("user 'b' is in multiple user groups 'g' and 'h'"));
    }

    #[test]
    fn a_list_and_its_pattern_exclude_each_other() {
        let text = reason(&vhost(&[("g", &[("sources", "a"), ("sourcePattern", "b")])]));
        assert!(text.contains("specifies conflicting 'sources' and 'sourcePattern' attributes"));
    }

    #[test]
    fn unknown_users_need_a_default_group() {
        let attributes = vhost(&[]).with("allowUnknownUser", Value::Bool(true));
        assert!(reason(&attributes).ends_with("allows connections by default but default settings are not defined"));
    }

    #[test]
    fn an_alias_may_not_be_the_name_itself() {
        let attributes = vhost(&[]).with("aliases", Value::from("x, h"));
        assert!(reason(&attributes).ends_with("option 'aliases' value 'h' duplicates vhost name"));
    }
}
