//! From a configuration to a running router.

mod failure;
mod identity;
#[cfg(test)]
mod tests;

pub(crate) use failure::StartFailure;
pub(crate) use identity::random_text;

use crate::authentication::Authentication;
use crate::control::connectors::Connectors;
use crate::control::edges::Edges;
use crate::control::errands::Errands;
use crate::control::listeners::Listeners;
use crate::control::lookup::Lookups;
use crate::control::network::Network;
use crate::control::plane::Plane;
use crate::control::policies::Policies;
use crate::control::profiles::Profiles;
use crate::control::report::Questions;
use crate::control::resolve::Resolver;
use crate::control::uplink::EdgeUplink;
use crate::entities::{
    DataEntities, Entities, Loaded, LogEntities, RouterEntity, StoreSlot, add_address_config, add_auto_link,
    add_binding, add_exchange, add_link_route, is_kept,
};
use crate::http::{Context, Http};
use crate::process::memory;
use crate::shard::{ShardEvent, Shards};
use crate::telemetry::{self, Hops, Telemetry};
use crate::{ConfigSource, DISPATCH_VERSION, Options};
use config::{Config, Distribution, Entity, Mode, RouterConfig, Settings};
use management::Agent;
use router_core::{RouterSettings, Treatment};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Where management listens: for clients at this router, for clients anywhere, and for the router itself.
const MANAGEMENT_ADDRESSES: [&str; 3] = ["L$_management_internal", "M0$management", "L$management"];

/// Loads the configuration and puts it to work, in the order that the old router has: logs first, listeners last.
///
/// Listeners and connectors are on their way when this returns. Must be called on the control plane's runtime.
///
/// # Errors
/// Whatever keeps the router from starting.
pub(crate) fn start(options: &Options) -> Result<Plane, StartFailure> {
    start_resolving(options, Resolver::of_system())
}

/// The same with names looked up by whoever is given.
fn start_resolving(options: &Options, resolver: Resolver) -> Result<Plane, StartFailure> {
    let mut config = load(&options.config)?;
    identity::complete(&mut config).map_err(|error| StartFailure::System("read random numbers", error))?;
    let logs = start_logs(&config)?;

    let (events, receiver) = mpsc::unbounded_channel();
    let shards = start_shards(options, &config.router, events)?;
    let (lookups, looked_up) = Lookups::new(resolver);
    let (questions, asked) = Questions::new();
    let context = Context::new(shards.clone(), questions);
    let telemetry = start_telemetry(&context)?;
    let http = Http::new(context);
    let profiles = Profiles::default();
    let authentication = Authentication::start(&config.router, profiles.clone()).map_err(StartFailure::Setting)?;
    let store = StoreSlot::default();
    let entities = Entities {
        router: RouterEntity::new(&config, shards.now()),
        policies: Policies::start(&shards, lookups.clone(), &config),
        logs,
        listeners: Listeners::new(shards.clone(), lookups.clone(), authentication.clone(), http, profiles.clone()),
        connectors: Connectors::new(shards.clone(), lookups, authentication.clone(), profiles.clone()),
        profiles,
        network: (config.router.mode == Mode::Interior).then(|| Network::start(&shards, &config.router)),
        edges: Edges::start(&shards),
        uplink: (config.router.mode == Mode::Edge)
            .then(|| EdgeUplink::start(&shards, config.router.id.as_deref().unwrap_or_default())),
        data: DataEntities::default(),
        authentication,
        loaded: Loaded::new(options.config.clone(), config.entities.clone()),
        errands: Errands::new(&shards, store.clone()),
        requester: None,
        store,
        shards: shards.clone(),
    };
    let next_tick = shards.now();
    activate_management(&shards);
    let mut plane = Plane {
        shards,
        agent: Agent::new(),
        entities,
        events: receiver,
        lookups: looked_up,
        inbox: Default::default(),
        questions: asked,
        next_tick,
        _telemetry: telemetry,
    };
    let workers = config.router.worker_threads;
    apply_all(&mut plane.entities, &options.config, config.entities)?;
    logging::log!(SERVER, Notice, "Operational, {workers} Threads Running (process ID {})", std::process::id());
    if let Some(memory) = memory::describe() {
        logging::log!(SERVER, Notice, "{memory}");
    }
    Ok(plane)
}

fn load(source: &ConfigSource) -> Result<Config, StartFailure> {
    match source {
        ConfigSource::File(path) => Config::load(path).map_err(|errors| StartFailure::Config(Box::new(errors))),
        ConfigSource::BuiltIn => {
            let state = config::state_directory(|name| std::env::var_os(name));
            Ok(Config::built_in(state.as_deref()))
        }
    }
}

/// Applies the `log` sections, and then says what the configuration gives rise to say.
fn start_logs(config: &Config) -> Result<LogEntities, StartFailure> {
    logging::set_timestamp_style(logging::TimestampStyle {
        format: config.router.timestamp_format.clone(),
        utc: config.router.timestamps_in_utc,
    });
    let mut logs = LogEntities::default();
    for (entity, _) in config.logs() {
        logs.configure(&entity.attributes).map_err(StartFailure::Setting)?;
    }
    for warning in &config.warnings {
        logging::log!(AGENT, Warning, "{warning}");
    }
    Ok(logs)
}

fn start_shards(
    options: &Options,
    router: &RouterConfig,
    events: mpsc::UnboundedSender<ShardEvent>,
) -> Result<Shards, StartFailure> {
    let id = router.id.clone().unwrap_or_default();
    logging::log!(SERVER, Info, "Container Name: {id}");
    match router.mode {
        Mode::Standalone => logging::log!(ROUTER, Info, "Router started in Standalone mode"),
        Mode::Interior => logging::log!(ROUTER, Info, "Router started in Interior mode, area=0 id={id}"),
        Mode::Edge => logging::log!(ROUTER, Info, "Router started in Edge mode"),
    }
    logging::log!(ROUTER, Info, "Version: {DISPATCH_VERSION}");
    let settings = RouterSettings {
        router_id: id,
        mode: match router.mode {
            Mode::Standalone => router_core::Mode::Standalone,
            Mode::Interior => router_core::Mode::Interior,
            Mode::Edge => router_core::Mode::Edge,
        },
        default_treatment: match router.default_distribution {
            Distribution::Multicast => Treatment::Multicast,
            Distribution::Closest => Treatment::Closest,
            Distribution::Balanced => Treatment::Balanced,
            Distribution::Unavailable => Treatment::Unavailable,
        },
        test_hooks: options.test_hooks,
        allow_resumable_link_route: router.allow_resumable_link_route,
        random: Box::new(identity::random),
    };
    let shards = Shards::start(settings, router.worker_threads, events)
        .map_err(|error| StartFailure::System("start the first worker thread", error))?;
    if let Some(bytes) = router.transit_bytes {
        shards.limit_transit(bytes);
    }
    Ok(shards)
}

/// Starts the exporter of OpenTelemetry, if the environment asks for one. Before the first connection, so that all are watched.
fn start_telemetry(context: &Context) -> Result<Option<Telemetry>, StartFailure> {
    let read = telemetry::Settings::read(|name| std::env::var(name).ok()).map_err(StartFailure::Setting)?;
    let Some(settings) = read else { return Ok(None) };
    let hops = settings.traces.then(Arc::<Hops>::default);
    if let Some(hops) = &hops {
        context.shards.note_hops(Arc::clone(hops));
    }
    let telemetry = Telemetry::start(settings, context.clone(), hops);
    telemetry.map(Some).map_err(|error| StartFailure::System("start the exporter of OpenTelemetry", error))
}

/// Lets management listen.
fn activate_management(shards: &Shards) {
    logging::log!(AGENT, Info, "Activating management agent on $_management_internal");
    shards.with_core(|core, host, now| {
        core.log_start(host);
        for address in MANAGEMENT_ADDRESSES {
            core.subscribe(now, host, address);
        }
    });
}

/// Puts the entities of the configuration to work, in their order. Nobody asked for the built-in store: where it cannot be
/// kept, a router without queues is better than none.
fn apply_all(entities: &mut Entities, source: &ConfigSource, all: Vec<Entity>) -> Result<(), StartFailure> {
    let mut without_queues = false;
    for entity in all {
        let kept = is_kept(&entity);
        if kept && without_queues {
            continue;
        }
        match apply(entities, entity) {
            Err(StartFailure::Store(reason)) if kept && matches!(source, ConfigSource::BuiltIn) => {
                logging::log!(AGENT, Warning, "There are no queues: {reason}");
                without_queues = true;
            }
            done => done?,
        }
    }
    Ok(())
}

/// Puts one entity of the configuration to work.
fn apply(
    entities: &mut Entities,
    Entity { entity_type, attributes, settings, .. }: Entity,
) -> Result<(), StartFailure> {
    match settings {
        // Before the shards were started, or right after.
        Settings::Log(_) | Settings::Router(_) | Settings::Policy(_) | Settings::Vhost(_) => Ok(()),
        Settings::Address(_) => add_address_config(&entities.shards, &attributes).map(drop).map_err(|e| e.to_string()),
        Settings::AutoLink(auto) => add_auto_link(&entities.shards, auto).map(drop),
        Settings::LinkRoute(route) => add_link_route(&entities.shards, route).map(drop),
        Settings::Exchange(exchange) => add_exchange(&entities.shards, exchange).map(drop),
        Settings::Binding(binding) => add_binding(&entities.shards, binding).map(drop),
        Settings::SslProfile(profile) => {
            entities.profiles.add(attributes, *profile);
            Ok(())
        }
        Settings::AuthService(service) => {
            entities.authentication.add_service(service);
            entities.data.create(entity_type, attributes).map(drop).map_err(|failure| failure.description)
        }
        Settings::Store(_) | Settings::Queue(_) | Settings::QueueTemplate(_) | Settings::Topic(_) => {
            let name = ["address", "pattern"].into_iter().find_map(|key| attributes.text(key)).map(str::to_owned);
            let before = entities.declare(settings).map_err(|problem| {
                StartFailure::Store(match name {
                    Some(name) => {
                        let short = entity_type.short;
                        format!("The {short} '{name}' cannot be as the configuration says: {problem}")
                    }
                    None => format!("The store cannot be opened: {problem}"),
                })
            })?;
            before.iter().for_each(|told| logging::log!(AGENT, Warning, "{told}"));
            Ok(())
        }
        Settings::Listener(listener) => entities.listeners.add(attributes, *listener, true),
        Settings::Connector(connector) => entities.connectors.add(attributes, *connector),
        _ => entities.data.create(entity_type, attributes).map(drop).map_err(|failure| failure.description),
    }
    .map_err(StartFailure::Setting)
}
