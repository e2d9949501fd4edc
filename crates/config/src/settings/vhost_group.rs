//! A group of users of a vhost, and what it may do.

use super::vhost::{MAX_CONNECTIONS, kind_of};
use amqp::{Map, Value};
use management::repr::plain;
use management::schema::VHOST_USER_GROUP_SETTINGS;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The settings of a group of users.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupConfig {
    /// The name of the group; `$default` is for users in no other group, `$connector` for outgoing connections.
    pub name: String,
    /// Its users.
    pub users: Vec<String>,
    /// Where they may connect from.
    pub remote_hosts: Vec<RemoteHost>,
    /// Connections at a time of one user; `None`: as the vhost says.
    pub max_connections_per_user: Option<u32>,
    /// Connections at a time from one host; `None`: as the vhost says.
    pub max_connections_per_host: Option<u32>,
    /// Largest message, in bytes; `None`: as the vhost says.
    pub max_message_size: Option<u64>,
    /// Largest frame, in bytes; `None`: as the listener says.
    pub max_frame_size: Option<u32>,
    /// Incoming window of a session, in bytes; `None`: as the listener says.
    pub max_session_window: Option<u64>,
    /// Sessions of a connection; `None`: as the listener says.
    pub max_sessions: Option<u32>,
    /// Senders of a connection; `None`: any number.
    pub max_senders: Option<u32>,
    /// Receivers of a connection; `None`: any number.
    pub max_receivers: Option<u32>,
    /// Receivers may ask for dynamic sources.
    pub allow_dynamic_source: bool,
    /// Senders may be anonymous.
    pub allow_anonymous_sender: bool,
    /// Messages may carry another user's id.
    pub allow_user_id_proxy: bool,
    /// Links may have waypoint capabilities.
    pub allow_waypoint_links: bool,
    /// Link routes may be created for the own connection.
    pub allow_dynamic_link_routes: bool,
    /// Connections may be closed through management.
    pub allow_admin_status_update: bool,
    /// Links may have fall-back capability.
    pub allow_fallback_links: bool,
    /// What may be received from.
    pub sources: AddressList,
    /// What may be sent to.
    pub targets: AddressList,
    /// Options that groups do not have. They have no effect, as with the old router, and are warned of.
    pub ignored: Vec<String>,
}

/// Addresses that may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressList {
    /// None.
    Nothing,
    /// These, where `*` at the end stands for anything.
    Addresses(Vec<String>),
    /// Those that fit one of these patterns.
    Patterns(Vec<String>),
}

/// Where users may connect from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteHost {
    /// Anywhere.
    Any,
    /// A host name or address.
    Host(String),
    /// All addresses from one to another, these included.
    Range(IpAddr, IpAddr),
}

const USER_TOKEN: &str = "${user}";

impl GroupConfig {
    /// Reads the settings of a group; the error is the detail of the old router's text.
    pub(super) fn from_map(vhost: &str, name: &str, map: &Map) -> Result<Self, String> {
        let group = Group { prefix: format!("Policy vhost '{vhost}' user group '{name}'"), map };
        Ok(GroupConfig {
            name: name.to_owned(),
            users: group.list("users")?,
            remote_hosts: group.remote_hosts()?,
            max_connections_per_user: group.count("maxConnectionsPerUser", MAX_CONNECTIONS)?,
            max_connections_per_host: group.count("maxConnectionsPerHost", MAX_CONNECTIONS)?,
            max_message_size: group.size("maxMessageSize")?,
            max_frame_size: group.count("maxFrameSize", i64::from(u32::MAX))?,
            max_session_window: group.size("maxSessionWindow")?,
            max_sessions: group.count("maxSessions", i64::from(u32::MAX))?,
            max_senders: group.count("maxSenders", i64::from(u32::MAX))?,
            max_receivers: group.count("maxReceivers", i64::from(u32::MAX))?,
            allow_dynamic_source: group.flag("allowDynamicSource", false)?,
            allow_anonymous_sender: group.flag("allowAnonymousSender", false)?,
            allow_user_id_proxy: group.flag("allowUserIdProxy", false)?,
            allow_waypoint_links: group.flag("allowWaypointLinks", true)?,
            allow_dynamic_link_routes: group.flag("allowDynamicLinkRoutes", true)?,
            allow_admin_status_update: group.flag("allowAdminStatusUpdate", true)?,
            allow_fallback_links: group.flag("allowFallbackLinks", true)?,
            sources: group.addresses("sources", "sourcePattern")?,
            targets: group.addresses("targets", "targetPattern")?,
            ignored: group.unknown_names(),
        })
    }
}

/// A group as it was written, and what its error texts begin with.
struct Group<'a> {
    prefix: String,
    map: &'a Map,
}

impl Group<'_> {
    fn unknown_names(&self) -> Vec<String> {
        let names = self.map.iter().map(|(key, _)| plain(key));
        names.filter(|name| VHOST_USER_GROUP_SETTINGS.attribute(name).is_none()).collect()
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn number(&self, name: &str, most: i64) -> Result<Option<i64>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = check_number(value, most);
        number.map(Some).map_err(|error| format!("{} option '{name}' has error '{error}'.", self.prefix))
    }

    fn count(&self, name: &str, most: i64) -> Result<Option<u32>, String> {
        Ok(self.number(name, most)?.and_then(|number| u32::try_from(number).ok()))
    }

    fn size(&self, name: &str) -> Result<Option<u64>, String> {
        Ok(self.number(name, i64::MAX)?.and_then(|number| u64::try_from(number).ok()))
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(default),
            Some(Value::Bool(truth)) => Ok(*truth),
            Some(value) => match plain(value).to_ascii_lowercase().as_str() {
                "yes" | "true" | "on" => Ok(true),
                "no" | "false" | "off" => Ok(false),
                _ => Err(format!("{} option '{name}' has illegal boolean value '{}'.", self.prefix, plain(value))),
            },
        }
    }

    /// Items separated by commas, or a list of them.
    fn list(&self, name: &str) -> Result<Vec<String>, String> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(listed(text)),
            Some(Value::List(items)) => {
                let items = items.iter().map(|item| plain(item).trim().to_owned());
                Ok(items.filter(|item| !item.is_empty()).collect())
            }
            Some(other) => Err(format!(
                "{} option '{name}' has illegal value '{}'. Type must be 'str' or 'list' but is '{};",
                self.prefix,
                plain(other),
                kind_of(other)
            )),
        }
    }

    fn remote_hosts(&self) -> Result<Vec<RemoteHost>, String> {
        let translated = |host: String| {
            RemoteHost::parse(&host).map_err(|error| {
                let prefix = &self.prefix;
                format!("{prefix} option 'remoteHosts' connectionOption '{host}' failed to translate: '{error}'.")
            })
        };
        self.list("remoteHosts")?.into_iter().map(translated).collect()
    }

    fn addresses(&self, list: &str, pattern: &str) -> Result<AddressList, String> {
        match (self.get(list), self.get(pattern)) {
            (None, None) => Ok(AddressList::Nothing),
            (Some(_), Some(_)) => Err(format!(
                "{} specifies conflicting '{list}' and '{pattern}' attributes. Use only one or the other.",
                self.prefix
            )),
            (Some(_), None) => self.user_tokens(list, false).map(AddressList::Addresses),
            (None, Some(_)) => self.user_tokens(pattern, true).map(AddressList::Patterns),
        }
    }

    /// A list of addresses in which the user's name may be put in; in patterns only as the first or last token.
    fn user_tokens(&self, name: &str, pattern: bool) -> Result<Vec<String>, String> {
        let items = self.list(name)?;
        for item in &items {
            let of_item = format!("{} policy key '{name}' item '{item}'", self.prefix);
            if item.matches(USER_TOKEN).count() > 1 {
                return Err(format!("{of_item} contains multiple user subtitution tokens"));
            }
            let at_an_end = item.starts_with(USER_TOKEN) || item.ends_with(USER_TOKEN);
            if pattern && item.contains(USER_TOKEN) && !at_an_end {
                let text = "may contain match pattern '${user}' as a prefix or a suffix only.";
                return Err(format!("{of_item} {text}"));
            }
        }
        Ok(items)
    }
}

impl RemoteHost {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(RemoteHost::Any);
        }
        if let Some((network, length)) = text.split_once('/') {
            return Self::network(network, length);
        }
        // A dash also occurs in host names; a range has an address before it.
        let Some((low, high)) =
            text.split_once('-').and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim())))
        else {
            return Ok(RemoteHost::Host(text.to_owned()));
        };
        let high: IpAddr = high.parse().map_err(|_| format!("'{high}' is no address"))?;
        match (low, high) {
            (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) if low <= high => {
                Ok(RemoteHost::Range(low, high))
            }
            (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) => {
                Err("host specs in range must have lower numeric address first".to_owned())
            }
            _ => Err("mixed IPv4 and IPv6 host specs in range not allowed".to_owned()),
        }
    }

    /// All addresses of a network, given by one of them and the length of what they have in common.
    fn network(address: &str, length: &str) -> Result<Self, String> {
        let address: IpAddr = address.trim().parse().map_err(|_| format!("'{address}' is no address"))?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let length: u32 = length
            .trim()
            .parse()
            .ok()
            .filter(|length| *length <= bits)
            .ok_or_else(|| format!("'{length}' is no number of bits from 0 to {bits}"))?;
        Ok(match address {
            IpAddr::V4(address) => {
                let rest = u32::MAX.checked_shr(length).unwrap_or(0);
                let first = address.to_bits() & !rest;
                RemoteHost::Range(Ipv4Addr::from_bits(first).into(), Ipv4Addr::from_bits(first | rest).into())
            }
            IpAddr::V6(address) => {
                let rest = u128::MAX.checked_shr(length).unwrap_or(0);
                let first = address.to_bits() & !rest;
                RemoteHost::Range(Ipv6Addr::from_bits(first).into(), Ipv6Addr::from_bits(first | rest).into())
            }
        })
    }
}

/// The number in a value, from 0 to `most`; the error is the old router's.
pub(super) fn check_number(value: &Value, most: i64) -> Result<i64, String> {
    let text = plain(value);
    let Some(number) = value.as_i64().or_else(|| text.trim().parse().ok()) else {
        return Err(format!("Value '{text}' does not resolve to an integer."));
    };
    if number < 0 {
        return Err(format!("Value '{number}' is below minimum '0'."));
    }
    if number > most {
        return Err(format!("Value '{number}' is above maximum '{most}'."));
    }
    Ok(number)
}

/// The items of a list that is separated by commas; an item may have blanks inside.
pub(super) fn listed(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_addresses_includes_both_ends() {
        let range = RemoteHost::parse("10.0.0.1-10.0.0.9").unwrap();
        assert_eq!(range, RemoteHost::Range("10.0.0.1".parse().unwrap(), "10.0.0.9".parse().unwrap()));
    }

    #[test]
    fn a_dash_in_a_host_name_makes_no_range() {
        assert_eq!(RemoteHost::parse("my-host").unwrap(), RemoteHost::Host("my-host".into()));
    }

    #[test]
    fn a_range_that_runs_backwards_is_refused() {
        assert!(RemoteHost::parse("10.0.0.9-10.0.0.1").is_err());
    }

    #[test]
    fn a_network_is_all_addresses_that_begin_alike() {
        let range = |low: &str, high: &str| Ok(RemoteHost::Range(low.parse().unwrap(), high.parse().unwrap()));
        assert_eq!(RemoteHost::parse("10.1.2.3/16"), range("10.1.0.0", "10.1.255.255"));
        assert_eq!(RemoteHost::parse("10.1.2.3/32"), range("10.1.2.3", "10.1.2.3"));
        assert_eq!(RemoteHost::parse("0.0.0.0/0"), range("0.0.0.0", "255.255.255.255"));
        assert_eq!(RemoteHost::parse("fd00::1/127"), range("fd00::", "fd00::1"));
        assert!(RemoteHost::parse("10.0.0.0/33").is_err() && RemoteHost::parse("host/8").is_err());
    }

    #[test]
    fn the_items_of_a_list_may_have_blanks_inside() {
        assert_eq!(listed("a b ,  c,"), ["a b", "c"]);
    }

    #[test]
    fn numbers_keep_all_64_bits() {
        assert_eq!(check_number(&Value::from("5368709120"), i64::MAX), Ok(5_368_709_120));
    }
}
