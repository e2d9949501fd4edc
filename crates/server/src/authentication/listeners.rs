//! What a listener offers.

use std::sync::Arc;

use config::ListenerConfig;
use security::{CyrusServer, CyrusTerms, Mechanisms, OffloadedServer, ServerMechanisms, Underneath, UserBase, Workers};

use super::guard::Guard;
use super::relay::{Relay, Service};
use super::{Authentication, wake};
use crate::shard::{SaslHandle, SaslServerFactory};

/// Mechanisms for which nobody has to be asked.
const SIMPLE: [&str; 2] = ["ANONYMOUS", "EXTERNAL"];
/// Mechanisms that there are with a file of users.
const WITH_USERS: [&str; 6] = ["ANONYMOUS", "EXTERNAL", "PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512"];

/// What stands behind the mechanisms of a listener.
enum Source {
    /// Nobody, or the file of users.
    Own(Option<Arc<UserBase>>),
    /// The library.
    Cyrus(&'static cyrus::Cyrus),
    /// An authentication service.
    Service(Arc<Service>),
}

/// What a listener says of mechanisms.
struct Offer {
    source: Source,
    only: Option<Vec<String>>,
    /// `authenticatePeer`. As with the old router, ANONYMOUS is not offered then.
    authenticate: bool,
    /// `requireEncryption`
    encrypt: bool,
}

impl Authentication {
    /// The mechanisms that a listener offers to each of its connections.
    ///
    /// # Errors
    /// A sentence: they cannot be had.
    pub(crate) fn of_listener(&self, listener: &ListenerConfig) -> Result<SaslServerFactory, String> {
        let offer = Offer {
            source: self.source(listener)?,
            only: listener.connection.sasl_mechanisms.clone().filter(|names| !names.is_empty()),
            authenticate: listener.authenticate_peer,
            encrypt: listener.require_encryption,
        };
        let this = self.clone();
        Ok(Arc::new(move |underneath, handle| {
            let mechanisms = offer.mechanisms(&this, underneath, handle);
            let shared = &this.0;
            let penalties = Arc::clone(&shared.penalties);
            Box::new(Guard::new(mechanisms, penalties, shared.runtime.clone(), underneath, handle))
        }))
    }

    fn source(&self, listener: &ListenerConfig) -> Result<Source, String> {
        if let Some(name) = &listener.sasl_plugin {
            let service = self.0.services.lock().get(name).cloned();
            let service = service.ok_or_else(|| format!("Cannot find sasl plugin {name}"))?;
            let profile = service.ssl_profile.as_deref().filter(|name| !name.is_empty());
            let profile = profile.map(|name| self.0.profiles.find(name)).transpose()?;
            return Ok(Source::Service(Arc::new(Service::new(service, profile, &self.0.router_id))));
        }
        let names = listener.connection.sasl_mechanisms.as_deref().filter(|names| !names.is_empty());
        let all_in = |known: &[&str]| names.is_some_and(|names| names.iter().all(|name| is_in(known, name)));
        if all_in(&SIMPLE) {
            return Ok(Source::Own(None));
        }
        if let Some(users) = &self.0.users {
            return match names {
                Some(names) if !names.iter().any(|name| is_in(&WITH_USERS, name)) => Err(format!(
                    "listener saslMechanisms '{}': with usersFile there are {}; others need Cyrus SASL, which is used \
                     when usersFile is not set",
                    names.join(" "),
                    WITH_USERS.join(" ")
                )),
                _ => Ok(Source::Own(Some(Arc::clone(users)))),
            };
        }
        // Those who come by HTTP are authenticated by their certificates.
        let is_http = listener.http || listener.http_root_dir.is_some();
        match self.cyrus_server() {
            Ok(cyrus) => Ok(Source::Cyrus(cyrus)),
            // Who asks for nothing in particular is served with what there is.
            Err(error) if names.is_none() && (is_http || !listener.authenticate_peer) && !self.0.cyrus.wanted => {
                // A library that is there and does not start has a configuration that somebody meant to be used.
                if cyrus::Cyrus::load(security::tell_cyrus).is_ok() {
                    logging::log!(SERVER, Warning, "Only ANONYMOUS and EXTERNAL are offered: {error}");
                } else {
                    logging::log!(SERVER, Debug, "Only ANONYMOUS and EXTERNAL are offered: {error}");
                }
                Ok(Source::Own(None))
            }
            Err(error) => {
                let what = match names {
                    Some(names) => format!("listener saslMechanisms '{}'", names.join(" ")),
                    None if listener.authenticate_peer => "listener authenticatePeer".to_owned(),
                    None => "router saslConfigDir or saslConfigName".to_owned(),
                };
                Err(format!(
                    "{what} needs users. {error}. Or set usersFile in the router section (see `waystation user`)"
                ))
            }
        }
    }
}

impl Offer {
    fn mechanisms(&self, this: &Authentication, underneath: &Underneath, handle: &SaslHandle) -> Box<dyn Mechanisms> {
        let workers = || this.0.workers.clone();
        match &self.source {
            Source::Own(users) => self.own(users.as_ref(), workers(), underneath, handle),
            Source::Cyrus(cyrus) => {
                let terms = cyrus::Terms {
                    external_strength: underneath.strength,
                    external_user: underneath.identity.clone(),
                    no_anonymous: self.authenticate,
                    encrypt: self.encrypt,
                };
                let server = CyrusServer::new(CyrusTerms { cyrus, terms, only: self.only.clone() });
                Box::new(OffloadedServer::new(Box::new(server), workers(), wake(handle)))
            }
            Source::Service(service) => {
                let relays = Arc::clone(&this.0.relays);
                Box::new(Relay::new(Arc::clone(service), self.only.clone(), &this.0.runtime, relays, handle))
            }
        }
    }

    fn own(
        &self,
        users: Option<&Arc<UserBase>>,
        workers: Workers,
        underneath: &Underneath,
        handle: &SaslHandle,
    ) -> Box<dyn Mechanisms> {
        let mut mechanisms = ServerMechanisms::new();
        // None of these encrypts.
        if self.encrypt && !underneath.encrypted {
            return Box::new(mechanisms);
        }
        if let Some(identity) = &underneath.identity {
            mechanisms = mechanisms.external(identity.clone());
        }
        if let Some(users) = users {
            mechanisms = mechanisms.users(Arc::clone(users));
        }
        if !self.authenticate {
            mechanisms = mechanisms.anonymous();
        }
        if let Some(only) = &self.only {
            mechanisms = mechanisms.only(only.iter().map(String::as_str));
        }
        match users {
            Some(_) => Box::new(OffloadedServer::new(Box::new(mechanisms), workers, wake(handle))),
            None => Box::new(mechanisms),
        }
    }
}

fn is_in(known: &[&str], name: &str) -> bool {
    known.iter().any(|known| known.eq_ignore_ascii_case(name))
}
