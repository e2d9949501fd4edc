//! All listeners: opening, announcing and closing them.

use crate::authentication::Authentication;
use crate::control::listener::{Again, Listener, Stand, usable};
use crate::control::live_profile::LiveProfile;
use crate::control::lookup::{Asker, Lookups};
use crate::control::profiles::Profiles;
use crate::control::resolve::system_words;
use crate::control::settings;
use crate::http::{Http, Site};
use crate::shard::{ListenerId, ListenerSpec, ListenerTls, Shards, bind_all};
use config::ListenerConfig;
use management::Attributes;
use security::tls::ClientCertificate;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

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
    authentication: Authentication,
    http: Http,
    last_id: u64,
    profiles: Profiles,
    all: BTreeMap<ListenerId, Listener>,
}

impl Listeners {
    pub(crate) fn new(
        shards: Shards,
        lookups: Lookups,
        authentication: Authentication,
        http: Http,
        profiles: Profiles,
    ) -> Self {
        Listeners { shards, lookups, authentication, http, last_id: 0, profiles, all: BTreeMap::new() }
    }

    /// Adds a listener and starts to open it; [`Listeners::looked_up`] goes on.
    ///
    /// # Errors
    /// If its `sslProfile` is not there, or the mechanisms that it is to offer cannot be had.
    pub(crate) fn add(&mut self, attributes: Attributes, config: ListenerConfig, required: bool) -> Result<(), String> {
        let profile = config.connection.ssl_profile.as_deref().filter(|name| !name.is_empty());
        let tls = profile.map(|name| self.profiles.find(name)).transpose()?;
        let tls = tls.map(|profile| tls_of_listener(&config, profile));
        let sasl = self.authentication.of_listener(&config)?;
        self.last_id += 1;
        let id = ListenerId(self.last_id);
        let stand = Stand::LookingUp;
        let listener =
            Listener { attributes, config, required, tls, stand, again: None, sasl, accepted: Arc::default() };
        let (target, role) = (listener.target(), listener.config.connection.role);
        let of_profile = settings::of_profile(&listener.config.connection);
        logging::log!(CONN_MGR, Info, "Configured Listener: {} proto=any, role={role}{of_profile}", target.text());
        self.all.insert(id, listener);
        self.lookups.start(Asker::Listener(id), target);
        Ok(())
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
                settings: settings::of_listener(&listener.config),
                tls: listener.tls.clone(),
                sasl: Arc::clone(&listener.sasl),
                sasl_required: listener.config.authenticate_peer,
                accepted: Arc::clone(&listener.accepted),
            };
            let opened = if listener.config.is_http() {
                listen_for_http(&mut self.http, spec, &listener.config)
            } else {
                self.shards.listen(spec)
            };
            opened.map_err(|error| system_words(&error))
        });
        match opened {
            Ok(bound) => {
                if listener.config.is_http() {
                    logging::log!(HTTP, Notice, "{}", listener.announcement(&bound));
                } else {
                    logging::log!(SERVER, Notice, "{}", listener.announcement(&bound));
                }
                if let Some(warning) = listener.exposure(&bound) {
                    logging::log!(CONN_MGR, Warning, "{warning}");
                }
                listener.stand = Stand::Listening(bound);
                listener.again = None;
                Ok(())
            }
            Err(reason) => self.failed(id, &reason),
        }
    }

    /// When a listener that could not listen tries again.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.all.values().filter_map(|listener| Some(listener.again.as_ref()?.at)).min()
    }

    /// Has those try again whose time has come. Their hosts are looked up again, too.
    pub(crate) fn begin_due(&mut self) {
        let now = self.shards.now();
        for (&id, listener) in &mut self.all {
            if let Some(again) = listener.again.as_mut().filter(|again| again.at <= now) {
                // Until it is known what comes of this.
                again.at = Duration::MAX;
                self.lookups.start(Asker::Listener(id), listener.target());
            }
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
        let known = listener.again.as_ref().is_some_and(|again| again.reason == reason);
        let initial = listener.required && was == Stand::LookingUp && listener.again.is_none();
        if !known {
            logging::log!(SERVER, Error, "Listener error on {host_port}: {reason} - listen on {host_port} ({name})");
        }
        if !initial {
            listener.again = Some(Again::after(listener.again.as_ref(), self.shards.now(), reason));
        } else {
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
        if listener.config.is_http() {
            self.http.stop_listening(id);
        } else {
            self.shards.stop_listening(id);
        }
        self.all.remove(&id);
        true
    }

    /// Stops listening everywhere; connections stay. The listeners are still known.
    pub(crate) fn close_all(&mut self) {
        for (&id, listener) in &mut self.all {
            if listener.config.is_http() {
                self.http.stop_listening(id);
            } else {
                self.shards.stop_listening(id);
            }
            listener.stand = Stand::Failed;
            listener.again = None;
        }
    }

    /// All listeners, in order of creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Listener> {
        self.all.values()
    }
}

/// Opens a listener that serves HTTP.
fn listen_for_http(http: &mut Http, spec: ListenerSpec, config: &ListenerConfig) -> io::Result<Vec<SocketAddr>> {
    let (sockets, bound) = bind_all(&spec.addresses)?;
    http.listen(Site::new(config, spec), sockets)?;
    Ok(bound)
}

/// What a listener does about TLS. As with the old router, clients have to show a certificate where EXTERNAL is among the
/// mechanisms named.
fn tls_of_listener(config: &ListenerConfig, profile: Arc<LiveProfile>) -> Arc<ListenerTls> {
    let mechanisms = config.connection.sasl_mechanisms.as_deref().unwrap_or_default();
    let external = mechanisms.iter().any(|name| name.eq_ignore_ascii_case("EXTERNAL"));
    // Over HTTP there is no other way to authenticate.
    let client = if external || config.is_http() && config.authenticate_peer {
        ClientCertificate::Required
    } else {
        ClientCertificate::NotAsked
    };
    let current = move || profile.server(client).map_err(|error| format!("{}: {error}", error.words_of_listener()));
    Arc::new(ListenerTls { required: config.require_ssl, current: Arc::new(current) })
}
