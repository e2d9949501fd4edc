//! What the management agent's entities are and do, in this router.

mod address;
mod address_config;
mod allocator;
mod attributes;
mod auto_link;
mod certificate;
mod connection;
mod connector;
mod data;
mod exchange;
mod kept;
mod link;
mod link_route;
mod log;
mod log_stats;
mod node;
mod opening;
mod peek;
mod policy;
mod queue;
mod redeclare;
mod reload;
mod router;
mod ssl_profile;
mod store;
mod user;
mod vhost;
mod vhost_stats;

pub(crate) use address_config::add as add_address_config;
pub(crate) use allocator::pools as allocator_pools;
pub(crate) use auto_link::add as add_auto_link;
pub(crate) use data::DataEntities;
pub(crate) use exchange::{add as add_exchange, add_binding};
pub(crate) use kept::Kept;
pub(crate) use link_route::add as add_link_route;
pub(crate) use log::LogEntities;
pub(crate) use opening::{Opener, StoreSlot};
pub(crate) use redeclare::Report;
pub(crate) use reload::{Loaded, is_kept};
pub(crate) use router::RouterEntity;

use crate::authentication::Authentication;
use crate::control::connectors::Connectors;
use crate::control::edges::Edges;
use crate::control::errands::{Errands, For};
use crate::control::listeners::Listeners;
use crate::control::network::Network;
use crate::control::policies::{Policies, vhost_of};
use crate::control::profiles::Profiles;
use crate::control::uplink::EdgeUplink;
use crate::shard::Shards;
use amqp::Value;
use config::Settings;
use management::{Attributes, Backend, EntityType, Failure, Later, RequestContext};

/// Everything that is managed.
pub(crate) struct Entities {
    pub(crate) shards: Shards,
    /// The queues, if there is a place for them.
    pub(crate) store: StoreSlot,
    pub(crate) router: RouterEntity,
    pub(crate) policies: Policies,
    pub(crate) logs: LogEntities,
    pub(crate) listeners: Listeners,
    pub(crate) connectors: Connectors,
    pub(crate) profiles: Profiles,
    /// The network of routers, if this router is a member.
    pub(crate) network: Option<Network>,
    /// The edge routers at this router, and whoever else sends heartbeats.
    pub(crate) edges: Edges,
    /// The uplink, if it is an edge router.
    pub(crate) uplink: Option<EdgeUplink>,
    pub(crate) data: DataEntities,
    /// Who peers and we are.
    pub(crate) authentication: Authentication,
    /// The configuration file, and what it said.
    pub(crate) loaded: Loaded,
    /// Requests that others are answering.
    pub(crate) errands: Errands,
    /// Number of the connection by which the request came that is answered now.
    pub(crate) requester: Option<u64>,
}

impl Entities {
    /// What the attributes mean. Refuses what a configuration file would not start with, and in the same words.
    fn check(&self, entity_type: &'static EntityType, attributes: &Attributes) -> Result<Settings, Failure> {
        let own = management::schema::own_types().contains(&entity_type);
        let settings = Settings::from_attributes(entity_type, attributes)
            .map_err(|invalid| if own { invalid.told_in_full() } else { invalid })?;
        config::check_role(entity_type, attributes, self.router.config().mode)?;
        Ok(settings)
    }
}

/// What the store does, which is not there if the configuration has none.
impl Entities {
    fn kept(&self) -> Result<Kept, Failure> {
        self.store.found().map(Kept).map_err(Failure::bad_request)
    }

    /// Sees to it that what the configuration says of the store and its queues is so. Returned is what it was like that is so
    /// no longer, for who did not expect it.
    ///
    /// # Errors
    /// Why it cannot be.
    pub(crate) fn declare(&mut self, settings: Settings) -> Result<Option<String>, String> {
        let done = match settings {
            Settings::Store(config) => self.store.open(&self.shards, config).map(|()| None),
            settings => store::declare(&self.store.found()?, settings),
        };
        done.map_err(|error| error.to_string())
    }
}

impl Backend for Entities {
    fn requested_by(&mut self, context: &RequestContext) {
        self.requester = context.connection_id;
    }

    fn list(&mut self, entity_type: &'static EntityType) -> Vec<Attributes> {
        match entity_type.short {
            "router" => vec![self.router.row(&self.shards)],
            "connection" => connection::rows(&self.shards, entity_type),
            "router.link" => link::rows(&self.shards, entity_type),
            "router.node" => node::rows(self.network.as_ref(), entity_type),
            "router.address" => address::rows(&self.shards, entity_type),
            "router.config.address" => address_config::rows(&self.shards, entity_type),
            "router.config.autoLink" => auto_link::rows(&self.shards, entity_type),
            "router.config.linkRoute" => link_route::rows(&self.shards, entity_type),
            "router.config.exchange" => exchange::rows(&self.shards, entity_type),
            "router.config.binding" => exchange::binding_rows(&self.shards, entity_type),
            "router.connection.linkRoute" => link_route::connection_rows(&self.shards, entity_type, self.requester),
            "listener" => self.listeners.iter().map(|listener| listener.attributes.clone()).collect(),
            "sslProfile" => ssl_profile::rows(&self.profiles),
            "certificate" => certificate::rows(&self.profiles, entity_type),
            "connector" => connector::rows(&self.connectors),
            "log" => self.logs.rows(),
            "logStats" => log_stats::rows(entity_type),
            "allocator" => allocator::rows(&self.shards, entity_type),
            "user" => user::rows(&self.authentication, entity_type),
            "store" => self.store.get().map(|store| store::rows(&store, entity_type)).unwrap_or_default(),
            _ if Kept::has(entity_type) => self.kept().map(|mut kept| kept.list(entity_type)).unwrap_or_default(),
            "policy" => vec![policy::row(&self.policies, &self.shards)],
            "vhost" => vhost::rows(&self.policies),
            "vhostStats" => vhost_stats::rows(&self.policies, &self.shards, entity_type),
            _ => self.data.rows(entity_type),
        }
    }

    fn page(&mut self, entity_type: &'static EntityType, offset: usize, count: usize) -> Vec<Attributes> {
        match self.kept() {
            Ok(mut kept) if Kept::has(entity_type) => kept.page(entity_type, offset, count),
            _ => self.list(entity_type).into_iter().skip(offset).take(count).collect(),
        }
    }

    fn find(&mut self, entity_type: &'static EntityType, attribute: &str, value: &str) -> Option<Attributes> {
        match self.kept() {
            Ok(mut kept) if Kept::has(entity_type) => kept.find(entity_type, attribute, value),
            _ => self.list(entity_type).into_iter().find(|entity| entity.text(attribute) == Some(value)),
        }
    }

    fn create(
        &mut self,
        entity_type: &'static EntityType,
        attributes: Attributes,
        context: &RequestContext,
    ) -> Result<Attributes, Failure> {
        if Kept::has(entity_type) {
            return self.kept()?.create(entity_type, attributes, context);
        }
        let settings = self.check(entity_type, &attributes)?;
        match settings {
            Settings::Listener(config) => {
                // Whether it can listen shows in the log, as with the old router: its name may take long to look up.
                self.listeners.add(attributes.clone(), *config, false).map_err(Failure::bad_request)?;
                Ok(attributes)
            }
            Settings::SslProfile(config) => Ok(ssl_profile::create(&self.profiles, attributes, *config)),
            Settings::AuthService(service) => {
                let created = self.data.create(entity_type, attributes)?;
                self.authentication.add_service(service);
                Ok(created)
            }
            Settings::Connector(config) => connector::create(&mut self.connectors, attributes, *config),
            Settings::Address(_) => address_config::create(&self.shards, entity_type, &attributes),
            Settings::AutoLink(config) => auto_link::create(&self.shards, entity_type, config),
            Settings::LinkRoute(config) => link_route::create(&self.shards, entity_type, config),
            Settings::Exchange(config) => exchange::create(&self.shards, entity_type, config),
            Settings::Binding(config) => exchange::create_binding(&self.shards, entity_type, config),
            Settings::Vhost(config) => self.policies.create(attributes, *config),
            Settings::Store(config) => {
                self.declare(Settings::Store(config)).map_err(Failure::bad_request)?;
                self.list(entity_type).into_iter().next().ok_or_else(Failure::not_found)
            }
            _ if entity_type.short == "router.connection.linkRoute" => {
                link_route::create_for_connection(&self.shards, entity_type, &attributes, context)
            }
            _ if entity_type.short == "user" => user::create(&self.authentication, entity_type, &attributes),
            _ if DataEntities::keeps(entity_type) => self.data.create(entity_type, attributes),
            _ => Err(Failure::new(
                management::status::NOT_IMPLEMENTED,
                format!("This version cannot create a '{}'", entity_type.short),
            )),
        }
    }

    fn update(
        &mut self,
        entity_type: &'static EntityType,
        identity: &str,
        changes: Attributes,
        context: &RequestContext,
    ) -> Result<Attributes, Failure> {
        match entity_type.short {
            "log" => self.logs.update(identity, changes, &self.shards),
            "connection" => connection::update(&self.shards, entity_type, identity, &changes, context),
            "vhost" => {
                let changed = self.policies.changed(identity, &changes)?;
                let vhost = vhost_of(self.check(entity_type, &changed)?)?;
                self.policies.replace(identity, changed, vhost)
            }
            _ if Kept::has(entity_type) => self.kept()?.update(entity_type, identity, changes, context),
            "user" => user::update(&self.authentication, entity_type, identity, &changes),
            "router.link" => link::update(&self.shards, entity_type, identity, &changes),
            "sslProfile" => {
                let changed = self.profiles.changed(identity, &changes)?;
                match self.check(entity_type, &changed)? {
                    Settings::SslProfile(config) => Ok(ssl_profile::create(&self.profiles, changed, *config)),
                    _ => Err(Failure::not_found()),
                }
            }
            _ => {
                let changed = self.data.changed(entity_type, identity, changes)?;
                self.check(entity_type, &changed)?;
                self.data.replace(entity_type, identity, changed)
            }
        }
    }

    fn delete(
        &mut self,
        entity_type: &'static EntityType,
        identity: &str,
        context: &RequestContext,
    ) -> Result<(), Failure> {
        let deleted = match entity_type.short {
            "listener" => self.listeners.remove(identity),
            "sslProfile" => self.profiles.remove(identity),
            "connector" => self.connectors.remove(identity),
            "vhost" => self.policies.delete(identity),
            "router.config.address" => address_config::delete(&self.shards, identity),
            "router.config.autoLink" => auto_link::delete(&self.shards, identity),
            "router.config.linkRoute" | "router.connection.linkRoute" => link_route::delete(&self.shards, identity),
            "router.config.exchange" => exchange::delete(&self.shards, identity),
            "router.config.binding" => exchange::delete_binding(&self.shards, identity),
            _ if Kept::has(entity_type) => return self.kept()?.delete(entity_type, identity, context),
            "user" => user::delete(&self.authentication, identity)?,
            "authServicePlugin" => {
                self.authentication.remove_service(identity.strip_prefix("authServicePlugin/").unwrap_or(identity));
                self.data.delete(entity_type, identity)
            }
            _ => self.data.delete(entity_type, identity),
        };
        if deleted { Ok(()) } else { Err(Failure::not_found()) }
    }

    fn call(
        &mut self,
        entity_type: &'static EntityType,
        identity: &str,
        operation: &str,
        arguments: &Attributes,
    ) -> Result<Attributes, Failure> {
        match entity_type.short {
            _ if Kept::has(entity_type) => self.kept()?.call(entity_type, identity, operation, arguments),
            "store" => Err(Failure::internal("No thread can be started")),
            _ => Err(Failure::not_found()),
        }
    }

    fn call_later(
        &mut self,
        entity_type: &'static EntityType,
        operation: &str,
        arguments: &Attributes,
        later: Later,
    ) -> bool {
        match (entity_type.short, operation, self.store.get()) {
            ("store", "BACKUP", Some(store)) => store::back_up(&self.shards, &store, arguments, later),
            _ => false,
        }
    }

    fn reload(&mut self, later: Later) -> Result<Option<Vec<String>>, Failure> {
        let report = self.read_again().map_err(Failure::bad_request)?;
        let context = RequestContext { connection_id: self.requester, ..RequestContext::default() };
        Ok(self.finish(report, context, For::Requester(later)))
    }

    fn log_entries(&self, limit: Option<usize>) -> Vec<Value> {
        logging::recent(limit).into_iter().map(log::entry_as_value).collect()
    }

    fn management_nodes(&self) -> Vec<String> {
        // A router on its own has no network to name nodes of, not even itself.
        node::management_addresses(self.network.as_ref())
    }

    fn log_enabled(&self, level: &str) -> bool {
        logging::enabled(logging::Module::Agent, level_of(level))
    }

    fn log(&mut self, level: &str, text: &str) {
        logging::write(logging::Module::Agent, level_of(level), None, format_args!("{text}"));
    }
}

fn level_of(name: &str) -> logging::Level {
    logging::Level::from_name(name).unwrap_or(logging::Level::Info)
}
