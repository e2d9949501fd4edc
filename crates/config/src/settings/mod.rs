//! What the entities of a configuration say, as typed structures.
//!
//! Each is built from attributes that the schema has validated; creating an entity through management uses the same
//! functions, so a file and a request are judged alike.

mod addressing;
mod connection;
mod connector;
mod exchange;
mod failover;
mod listener;
mod log;
mod message_components;
mod open_properties;
mod policy;
mod queue;
mod read;
mod router;
mod routes;
mod secret;
mod security;
mod store;
mod vhost;
mod vhost_group;
mod words;

pub use addressing::{AddressConfig, AddressMatch, MAX_DIGIT};
pub use connection::{ConnectionSettings, DEFAULT_LINK_CAPACITY};
pub use connector::ConnectorConfig;
pub use exchange::{BindingConfig, ExchangeConfig};
pub use failover::FailoverServer;
pub use listener::ListenerConfig;
pub use log::LogConfig;
pub use message_components::{MessageComponents, NAMES as MESSAGE_COMPONENTS};
pub use policy::PolicyConfig;
pub use queue::{QueueConfig, QueueTemplateConfig, TopicConfig};
pub use router::{MAX_ROUTER_ID, RouterConfig, check_router_id};
pub use routes::{AutoLinkConfig, LinkRouteConfig, RouteVia};
pub use secret::Secret;
pub(crate) use security::remarks_on_profile;
pub use security::{AuthServiceConfig, SslProfileConfig};
pub use store::StoreConfig;
pub use vhost::VhostConfig;
pub use vhost_group::{AddressList, GroupConfig, RemoteHost};
pub use words::{AddressFamily, Direction, Distribution, MatchMethod, Mode, Role, StripAnnotations};
