//! A whole configuration.

use crate::place::Place;
use crate::problem::Warning;
use crate::settings::{
    AddressConfig, AuthServiceConfig, AutoLinkConfig, BindingConfig, ConnectorConfig, ExchangeConfig, LinkRouteConfig,
    ListenerConfig, LogConfig, PolicyConfig, QueueConfig, QueueTemplateConfig, RouterConfig, SslProfileConfig,
    StoreConfig, TopicConfig, VhostConfig,
};
use management::schema::Invalid;
use management::{Attributes, EntityType};

/// A valid configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What the `router` entity says.
    pub router: RouterConfig,
    /// All entities in the order in which they are to be put to work: logs first; the router; the policy; profiles,
    /// addresses, routes, exchanges and vhosts; at last connectors and then listeners, so that these open only when
    /// everything else is ready. There is always one router and one policy.
    pub entities: Vec<Entity>,
    /// What the operator should be warned about.
    pub warnings: Vec<Warning>,
}

/// An entity of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Its type.
    pub entity_type: &'static EntityType,
    /// Its attributes as the schema has completed them, with `type`, `name` and (but for those to whom the core gives
    /// one) `identity`: what management shows.
    pub attributes: Attributes,
    /// Where its section begins; `None` if it was added because the file has none.
    pub place: Option<Place>,
    /// What the attributes mean.
    pub settings: Settings,
}

/// What the attributes of an entity mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Settings {
    /// `log`
    Log(LogConfig),
    /// `router`
    Router(Box<RouterConfig>),
    /// `policy`
    Policy(PolicyConfig),
    /// `sslProfile`
    SslProfile(Box<SslProfileConfig>),
    /// `authServicePlugin`
    AuthService(AuthServiceConfig),
    /// `address`
    Address(AddressConfig),
    /// `linkRoute`
    LinkRoute(LinkRouteConfig),
    /// `autoLink`
    AutoLink(AutoLinkConfig),
    /// `exchange`
    Exchange(ExchangeConfig),
    /// `binding`
    Binding(BindingConfig),
    /// `store`
    Store(StoreConfig),
    /// `queue`
    Queue(Box<QueueConfig>),
    /// `queueTemplate`
    QueueTemplate(Box<QueueTemplateConfig>),
    /// `topic`
    Topic(Box<TopicConfig>),
    /// `vhost`
    Vhost(Box<VhostConfig>),
    /// `connector`
    Connector(Box<ConnectorConfig>),
    /// `listener`
    Listener(Box<ListenerConfig>),
    /// An entity whose attributes need no interpretation.
    Other,
}

impl Settings {
    /// Reads what validated attributes mean. A creation through management is judged by the same function as a file.
    ///
    /// # Errors
    /// What the schema alone cannot know: values that do not go together, or have a form of their own.
    pub fn from_attributes(entity_type: &EntityType, attributes: &Attributes) -> Result<Self, Invalid> {
        Ok(match entity_type.short {
            "log" => Settings::Log(LogConfig::from_attributes(attributes)?),
            "router" => Settings::Router(Box::new(RouterConfig::from_attributes(attributes)?)),
            "policy" => Settings::Policy(PolicyConfig::from_attributes(attributes)?),
            "sslProfile" => Settings::SslProfile(Box::new(SslProfileConfig::from_attributes(attributes)?)),
            "authServicePlugin" => Settings::AuthService(AuthServiceConfig::from_attributes(attributes)?),
            "router.config.address" => Settings::Address(AddressConfig::from_attributes(attributes)?),
            "router.config.linkRoute" => Settings::LinkRoute(LinkRouteConfig::from_attributes(attributes)?),
            "router.config.autoLink" => Settings::AutoLink(AutoLinkConfig::from_attributes(attributes)?),
            "router.config.exchange" => Settings::Exchange(ExchangeConfig::from_attributes(attributes)?),
            "router.config.binding" => Settings::Binding(BindingConfig::from_attributes(attributes)?),
            "store" => Settings::Store(StoreConfig::from_attributes(attributes)?),
            "queue" => Settings::Queue(Box::new(QueueConfig::from_attributes(attributes)?)),
            "queueTemplate" => Settings::QueueTemplate(Box::new(QueueTemplateConfig::from_attributes(attributes)?)),
            "topic" => Settings::Topic(Box::new(TopicConfig::from_attributes(attributes)?)),
            "vhost" => Settings::Vhost(Box::new(VhostConfig::from_attributes(attributes)?)),
            "connector" => Settings::Connector(Box::new(ConnectorConfig::from_attributes(attributes)?)),
            "listener" => Settings::Listener(Box::new(ListenerConfig::from_attributes(attributes)?)),
            _ => Settings::Other,
        })
    }
}

/// Defines a method of [`Config`] that goes through the entities of a kind.
macro_rules! entities_of {
    ($($(#[$about:meta])* $name:ident: $variant:ident => $settings:ty;)+) => {
        impl Config {
            $($(#[$about])*
            pub fn $name(&self) -> impl Iterator<Item = (&Entity, &$settings)> {
                self.entities.iter().filter_map(|entity| match &entity.settings {
                    Settings::$variant(settings) => {
                        let settings: &$settings = settings;
                        Some((entity, settings))
                    }
                    _ => None,
                })
            })+
        }
    };
}

entities_of! {
    /// The modules whose logging is configured.
    logs: Log => LogConfig;
    /// The policy: there is exactly one.
    policies: Policy => PolicyConfig;
    /// TLS profiles.
    ssl_profiles: SslProfile => SslProfileConfig;
    /// Remote authentication services.
    auth_services: AuthService => AuthServiceConfig;
    /// How addresses are treated.
    addresses: Address => AddressConfig;
    /// Link routes.
    link_routes: LinkRoute => LinkRouteConfig;
    /// Links to be attached by the router.
    auto_links: AutoLink => AutoLinkConfig;
    /// Exchanges.
    exchanges: Exchange => ExchangeConfig;
    /// Bindings of exchanges.
    bindings: Binding => BindingConfig;
    /// The store: there is one at most.
    stores: Store => StoreConfig;
    /// Queues.
    queues: Queue => QueueConfig;
    /// Queues that are made when they are needed.
    queue_templates: QueueTemplate => QueueTemplateConfig;
    /// Topics.
    topics: Topic => TopicConfig;
    /// Policy definitions of vhosts, those of the policy directory included.
    vhosts: Vhost => VhostConfig;
    /// Connections to be made.
    connectors: Connector => ConnectorConfig;
    /// Where to listen.
    listeners: Listener => ListenerConfig;
}
