//! What `listener` and `connector` sections have in common.

use super::message_components::MessageComponents;
use super::open_properties;
use super::read::Reader;
use super::words::{Role, StripAnnotations};
use amqp::Map;
use management::Attributes;
use management::schema::Invalid;
use std::time::Duration;

/// Credit that an incoming link gets when nothing else is configured, in deliveries.
pub const DEFAULT_LINK_CAPACITY: u32 = 250;

/// Settings of the connections that a listener accepts or a connector makes.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionSettings {
    /// The name given by the user; `None`: the entity is called by its identity.
    pub name: Option<String>,
    /// Who is expected at the other end.
    pub role: Role,
    /// What a message pays for travelling here, when the peer is a router.
    pub cost: u32,
    /// Name of the `sslProfile`.
    pub ssl_profile: Option<String>,
    /// SASL mechanisms that may be used; `None`: all there are.
    pub sasl_mechanisms: Option<Vec<String>>,
    /// Largest frame that this router receives, in bytes; at least 512, the least that AMQP allows (2.3.1).
    pub max_frame_size: u32,
    /// Largest number of sessions, 1 to 32768.
    pub max_sessions: u32,
    /// Frames that a session may have in flight towards the router; `None`: no limit of its own.
    pub max_session_frames: Option<u32>,
    /// How long a silent peer is tolerated; zero: for ever.
    pub idle_timeout: Duration,
    /// Which way router annotations are removed.
    pub strip_annotations: StripAnnotations,
    /// Credit of each incoming link, in deliveries.
    pub link_capacity: u32,
    /// What of each message goes to log module MESSAGE.
    pub message_logging: MessageComponents,
    /// Vhost whose policy applies, whatever the peer's open says.
    pub policy_vhost: Option<String>,
    /// Additional properties of the open that is sent.
    pub open_properties: Map,
}

impl ConnectionSettings {
    /// Reads what both entities have in common.
    ///
    /// # Errors
    /// If a number is out of range or openProperties are malformed.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let role = read.word("role", Role::parse)?.unwrap_or(Role::Normal);
        let sessions = read.count("maxSessions")?.unwrap_or(0);
        Ok(ConnectionSettings {
            name: read.text("name"),
            role,
            cost: read.count("cost")?.unwrap_or(1),
            ssl_profile: read.text("sslProfile"),
            sasl_mechanisms: read.text("saslMechanisms").map(|list| words_of(&list)),
            max_frame_size: read.count("maxFrameSize")?.unwrap_or(16384).max(512),
            max_sessions: if (1..=32768).contains(&sessions) { sessions } else { 32768 },
            max_session_frames: read.count("maxSessionFrames")?.filter(|frames| *frames > 0),
            idle_timeout: Duration::from_secs(read.count("idleTimeoutSeconds")?.map_or(16, u64::from)),
            strip_annotations: read
                .word("stripAnnotations", StripAnnotations::parse)?
                .unwrap_or(StripAnnotations::Both),
            link_capacity: read.count("linkCapacity")?.filter(|credit| *credit > 0).unwrap_or(DEFAULT_LINK_CAPACITY),
            message_logging: MessageComponents::parse(attributes.text("messageLoggingComponents").unwrap_or("none"))?,
            policy_vhost: read.text("policyVhost"),
            open_properties: open_properties::read(attributes, role)?,
        })
    }
}

/// The words of a list that is separated by blanks or commas.
fn words_of(list: &str) -> Vec<String> {
    list.split([' ', '\t', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
