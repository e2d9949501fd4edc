//! The `policy` section.

use super::read::Reader;
use management::Attributes;
use management::schema::{Class, Invalid};

/// What the `policy` entity says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyConfig {
    /// Connections that may be open at the same time, of whatever kind.
    pub max_connections: u32,
    /// Largest message, in bytes; `None`: no limit.
    pub max_message_size: Option<u64>,
    /// The rules of `vhost` entities apply.
    pub enable_vhost_policy: bool,
    /// Names of vhosts may contain wild cards.
    pub enable_vhost_name_patterns: bool,
    /// Directory of further vhost definitions.
    pub policy_dir: Option<String>,
    /// Vhost that applies when there is none for the peer's hostname.
    pub default_vhost: String,
}

impl PolicyConfig {
    /// Reads the settings of the `policy` entity.
    ///
    /// # Errors
    /// If a number is negative.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let size = read.number("maxMessageSize", 0, i64::MAX)?.unwrap_or(0);
        if attributes.integer("maxConnections").is_some_and(|count| count < 0) {
            let text = "Configuration: maxConnections must be >= 0";
            return Err(Invalid::attribute("maxConnections", Class::Configuration, text)
                .hint("write 0 or more")
                .late());
        }
        Ok(PolicyConfig {
            max_connections: read.count("maxConnections")?.unwrap_or(65535),
            max_message_size: u64::try_from(size).ok().filter(|size| *size > 0),
            enable_vhost_policy: read.flag("enableVhostPolicy", false),
            enable_vhost_name_patterns: read.flag("enableVhostNamePatterns", false),
            policy_dir: read.text("policyDir"),
            default_vhost: read.text_or("defaultVhost", "$default"),
        })
    }
}
