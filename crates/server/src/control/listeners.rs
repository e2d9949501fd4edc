//! All listeners: opening, announcing and closing them.

use crate::control::listener::{Listener, Stand, usable};
use crate::control::lookup::{Asker, Lookups};
use crate::control::resolve::system_words;
use crate::control::settings;
use crate::http::{Http, Site};
use crate::shard::{ListenerId, ListenerSpec, Shards, bind_all};
use config::{ListenerConfig, OpenPolicy};
use management::Attributes;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

/// A listener without which the router must not run cannot listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequiredListenerFailed {
    /// `host:port` as configured.
    pub(crate) host_port: String,
}

/// The listeners of this router, in order of creation.
pub(crate) struct Listeners {
    shards: Shards,
    lookups: Lookups,
    http: Http,
    last_id: u64,
    /// Their peers may not speak for other users; see [`settings::of_listener`].
    own_user_id_only: bool,
    all: BTreeMap<ListenerId, Listener>,
}

impl Listeners {
    pub(crate) fn new(shards: Shards, lookups: Lookups, http: Http, policy: Option<OpenPolicy>) -> Self {
        let own_user_id_only = policy.is_some_and(|policy| !policy.allow_user_id_proxy);
        Listeners { shards, lookups, http, last_id: 0, own_user_id_only, all: BTreeMap::new() }
    }

    /// Adds a listener and starts to open it; [`Listeners::looked_up`] goes on.
    pub(crate) fn add(&mut self, attributes: Attributes, config: ListenerConfig, required: bool) {
        self.last_id += 1;
        let id = ListenerId(self.last_id);
        let listener = Listener { attributes, config, required, stand: Stand::LookingUp };
        let (target, role) = (listener.target(), listener.config.connection.role);
        logging::log!(CONN_MGR, Info, "Configured Listener: {} proto=any, role={role}", target.text());
        self.all.insert(id, listener);
        self.lookups.start(Asker::Listener(id), target);
    }

    /// The host's name was looked up: opens the listener.
    ///
    /// # Errors
    /// If the router must stop because of it.
    pub(crate) fn looked_up(
        &mut self,
        id: ListenerId,
        found: Result<Vec<SocketAddr>, String>,
    ) -> Result<(), RequiredListenerFailed> {
        let Some(listener) = self.all.get_mut(&id) else {
            return Ok(()); // deleted in the meantime
        };
        let opened = found.and_then(|addresses| {
            let spec = ListenerSpec {
                id,
                host_port: listener.target().text(),
                addresses: usable(addresses),
                settings: settings::of_listener(&listener.config, self.own_user_id_only),
                sasl: settings::sasl_of_listener(&listener.config),
                sasl_required: listener.config.authenticate_peer,
            };
            let opened = if listener.is_http() {
                listen_for_http(&mut self.http, spec, &listener.config)
            } else {
                self.shards.listen(spec)
            };
            opened.map_err(|error| system_words(&error))
        });
        match opened {
            Ok(bound) => {
                if listener.is_http() {
                    logging::log!(HTTP, Notice, "{}", listener.announcement(&bound));
                } else {
                    logging::log!(SERVER, Notice, "{}", listener.announcement(&bound));
                }
                listener.stand = Stand::Listening(bound);
                Ok(())
            }
            Err(reason) => self.failed(id, &reason),
        }
    }

    /// A listener cannot listen, or no longer.
    ///
    /// # Errors
    /// If the router must stop because of it.
    pub(crate) fn failed(&mut self, id: ListenerId, reason: &str) -> Result<(), RequiredListenerFailed> {
        let Some(listener) = self.all.get_mut(&id) else { return Ok(()) };
        let host_port = listener.target().text();
        let name = listener.name().to_owned();
        let was = std::mem::replace(&mut listener.stand, Stand::Failed);
        logging::log!(SERVER, Error, "Listener error on {host_port}: {reason} - listen on {host_port} ({name})");
        if listener.required && was == Stand::LookingUp {
            logging::log!(CONN_MGR, Error, "Listen on {host_port} failed during initial config");
            logging::log!(SERVER, Critical, "Shutting down, required listener failed {host_port}");
            return Err(RequiredListenerFailed { host_port });
        }
        Ok(())
    }

    /// Whether no listener of the configuration file is still on its way.
    pub(crate) fn required_ones_listen(&self) -> bool {
        self.all.values().all(|listener| !listener.required || listener.stand != Stand::LookingUp)
    }

    /// The addresses that are listened on, as `host:port`.
    pub(crate) fn listening_on(&self) -> Vec<String> {
        let bound = self.all.values().filter_map(|listener| match &listener.stand {
            Stand::Listening(bound) => Some(bound),
            Stand::LookingUp | Stand::Failed => None,
        });
        bound.flatten().map(ToString::to_string).collect()
    }

    /// Stops listening and forgets the listener with this identity; its connections stay. False: there is none.
    pub(crate) fn remove(&mut self, identity: &str) -> bool {
        let found = self.all.iter().find(|(_, listener)| listener.attributes.text("identity") == Some(identity));
        let Some((&id, listener)) = found else { return false };
        logging::log!(CONN_MGR, Info, "Deleted Listener: {}", listener.target().text());
        if listener.is_http() {
            self.http.stop_listening(id);
        } else {
            self.shards.stop_listening(id);
        }
        self.all.remove(&id);
        true
    }

    /// All listeners, in order of creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Listener> {
        self.all.values()
    }
}

/// Opens a listener that serves HTTP.
fn listen_for_http(http: &mut Http, spec: ListenerSpec, config: &ListenerConfig) -> io::Result<Vec<SocketAddr>> {
    let (sockets, bound) = bind_all(&spec.addresses)?;
    let site = Site::new(spec.id, spec.host_port.clone(), config, Shards::accepting(spec));
    http.listen(site, sockets)?;
    Ok(bound)
}
