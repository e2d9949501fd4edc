//! A whole configuration.

use crate::place::Place;
use crate::settings::{
    AddressConfig, AuthServiceConfig, AutoLinkConfig, BindingConfig, ConnectorConfig, ExchangeConfig, LinkRouteConfig,
    ListenerConfig, LogConfig, PolicyConfig, RouterConfig, SslProfileConfig,
};
use management::Attributes;
use std::ops::Deref;

/// An entity of the configuration: what it says, and where it says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Section<T> {
    /// Where the section begins; `None` for one that was added because the file has none.
    pub place: Option<Place>,
    /// The attributes as the schema has completed them: what management shows.
    pub attributes: Attributes,
    /// What they mean.
    pub settings: T,
}

impl<T> Deref for Section<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.settings
    }
}

/// A valid configuration. Entities of a kind stand in the order of the file; it is meant to be applied in the order of
/// these fields, so that listeners open only when everything else is ready.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// One for each module that the file configures.
    pub logs: Vec<Section<LogConfig>>,
    /// The router itself.
    pub router: Section<RouterConfig>,
    /// The policy.
    pub policy: Section<PolicyConfig>,
    /// TLS profiles.
    pub ssl_profiles: Vec<Section<SslProfileConfig>>,
    /// Remote authentication services.
    pub auth_services: Vec<Section<AuthServiceConfig>>,
    /// How addresses are treated.
    pub addresses: Vec<Section<AddressConfig>>,
    /// Link routes.
    pub link_routes: Vec<Section<LinkRouteConfig>>,
    /// Links to be attached by the router.
    pub auto_links: Vec<Section<AutoLinkConfig>>,
    /// Exchanges.
    pub exchanges: Vec<Section<ExchangeConfig>>,
    /// Bindings of exchanges.
    pub bindings: Vec<Section<BindingConfig>>,
    /// Policy definitions of vhosts, those of the policy directory included.
    pub vhosts: Vec<Section<()>>,
    /// Entities that only serve to try management out.
    pub dummies: Vec<Section<()>>,
    /// Connections to be made.
    pub connectors: Vec<Section<ConnectorConfig>>,
    /// Where to listen.
    pub listeners: Vec<Section<ListenerConfig>>,
}

/// Something valid that this version cannot run yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The kind of section.
    pub entity: &'static str,
    /// Where it stands.
    pub place: Option<Place>,
    /// A sentence for the operator.
    pub sentence: String,
}
