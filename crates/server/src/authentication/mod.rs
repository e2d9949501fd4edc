//! Who is at the other end? The mechanisms that listeners offer and connectors use, put together from the configuration.
//!
//! Users are known by the file of users (`usersFile`), by Cyrus SASL, or by an authentication service. Whatever may block
//! is done by threads of its own; whoever fails waits, and is told nothing but that it failed.

mod connectors;
mod guard;
mod listeners;
mod penalties;
mod relay;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use config::{AuthServiceConfig, RouterConfig};
use cyrus::Cyrus;
use parking_lot::Mutex;
use security::{UserBase, Wake, Workers};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::control::profiles::Profiles;
use crate::shard::SaslHandle;
use penalties::Penalties;

/// Threads for steps that may block. Each may wait for a service that does not answer; the others go on.
const THREADS: usize = 16;
/// Steps that may wait for a thread. Those that find no room fail at once.
const WAITING: usize = 1024;
/// Connections to authentication services at once.
const RELAYS: usize = 1024;

/// What authenticates, in this router. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Authentication(Arc<Shared>);

struct Shared {
    users: Option<Arc<UserBase>>,
    cyrus: CyrusConfig,
    workers: Workers,
    penalties: Arc<Penalties>,
    profiles: Profiles,
    services: Mutex<BTreeMap<String, Arc<AuthServiceConfig>>>,
    relays: Arc<Semaphore>,
    runtime: Handle,
    router_id: String,
}

/// Where Cyrus SASL finds its configuration.
struct CyrusConfig {
    folder: Option<String>,
    name: String,
    /// The configuration says so: that it is wanted.
    wanted: bool,
}

/// The name that Cyrus SASL's configuration has when nothing else is said.
const USUAL_NAME: &str = "qdrouterd";

impl Authentication {
    /// As the router's section of the configuration says. Must be called on the control plane's runtime.
    ///
    /// # Errors
    /// A sentence: the file of users cannot be used.
    pub(crate) fn start(config: &RouterConfig, profiles: Profiles) -> Result<Self, String> {
        let folder = config.sasl_config_dir.clone();
        let wanted = folder.is_some() || config.sasl_config_name != USUAL_NAME;
        let users = match &config.users_file {
            Some(_) if folder.is_some() => {
                return Err("usersFile and saslConfigDir are two ways to have users: say one of them".to_owned());
            }
            Some(path) => Some(Arc::new(UserBase::open(Path::new(path)).map_err(|error| error.to_string())?)),
            None => None,
        };
        Ok(Self(Arc::new(Shared {
            users,
            cyrus: CyrusConfig { folder, name: config.sasl_config_name.clone(), wanted },
            workers: Workers::new(THREADS, WAITING),
            penalties: Arc::default(),
            profiles,
            services: Mutex::default(),
            relays: Arc::new(Semaphore::new(RELAYS)),
            runtime: Handle::current(),
            router_id: config.id.clone().unwrap_or_default(),
        })))
    }

    /// The users of the router's own file, if it has one.
    pub(crate) fn users(&self) -> Option<&Arc<UserBase>> {
        self.0.users.as_ref()
    }

    /// Makes an authentication service known, to listeners that are made afterwards.
    pub(crate) fn add_service(&self, service: AuthServiceConfig) {
        self.0.services.lock().insert(service.name.clone(), Arc::new(service));
    }

    /// Forgets an authentication service; listeners that use it go on to do so.
    pub(crate) fn remove_service(&self, name: &str) {
        self.0.services.lock().remove(name);
    }

    /// Cyrus SASL, with its server's side started.
    fn cyrus_server(&self) -> Result<&'static Cyrus, String> {
        let cyrus = Cyrus::load(security::tell_cyrus).map_err(|error| error.to_string())?;
        let CyrusConfig { folder, name, .. } = &self.0.cyrus;
        cyrus.start_server(folder.as_deref(), name).map_err(|error| {
            let place = folder.as_ref().map_or_else(String::new, |folder| format!(" in {folder}"));
            format!("{error}: see its configuration {name}.conf{place}")
        })?;
        Ok(cyrus)
    }
}

/// Has a connection ask its mechanisms again.
fn wake(handle: &SaslHandle) -> Wake {
    let handle = handle.clone();
    Arc::new(move || handle.poke())
}
