//! All `sslProfile`s: what they say now, and who uses them.
//!
//! A listener or a connector holds on to its profile and asks it for each connection, so that what management changes, or
//! what changes on disk, counts from the next connection on. A profile that is deleted stays for those who use it.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::SslProfileConfig;
use management::Attributes;
use parking_lot::Mutex;
use security::tls::{ClientCertificate, ClientTls, Profile, ServerTls, ServerTrust, TlsError, Validity};

/// The profiles of this router, by name.
#[derive(Clone, Default)]
pub(crate) struct Profiles(Arc<Mutex<BTreeMap<String, Entry>>>);

struct Entry {
    /// What management shows; `None`: it was deleted, and someone may still use it.
    attributes: Option<Attributes>,
    live: Arc<LiveProfile>,
}

impl Profiles {
    /// Adds a profile, or puts it in the place of one that was deleted. What cannot be used of it is logged: it counts
    /// only when a connection needs it, as with the old router, and may be mended by then.
    pub(crate) fn add(&self, attributes: Attributes, config: SslProfileConfig) {
        let mut all = self.0.lock();
        let name = config.name.clone();
        match all.get_mut(&name) {
            Some(entry) => {
                entry.attributes = Some(attributes);
                entry.live.replace(config);
            }
            None => {
                let live = Arc::new(LiveProfile::new(config));
                all.insert(name, Entry { attributes: Some(attributes), live });
            }
        }
    }

    /// Deletes the one with this identity. False: there is none.
    pub(crate) fn remove(&self, identity: &str) -> bool {
        let mut all = self.0.lock();
        let found = all.values_mut().find(|entry| {
            entry.attributes.as_ref().is_some_and(|attributes| attributes.text("identity") == Some(identity))
        });
        let Some(entry) = found else { return false };
        entry.attributes = None;
        all.retain(|_, entry| entry.attributes.is_some() || Arc::strong_count(&entry.live) > 1);
        true
    }

    /// What management shows of them.
    pub(crate) fn rows(&self) -> Vec<Attributes> {
        self.0.lock().values().filter_map(|entry| entry.attributes.clone()).collect()
    }

    /// Until when the certificates of each are valid, by the profile's name.
    pub(crate) fn validities(&self) -> Vec<(String, Validity)> {
        let all = self.0.lock();
        let of_entry = |(name, entry): (&String, &Entry)| {
            let validities = entry.live.0.lock().loaded.as_ref().map(Profile::validities).unwrap_or_default();
            validities.into_iter().map(|validity| (name.clone(), validity)).collect::<Vec<_>>()
        };
        all.iter().filter(|(_, entry)| entry.attributes.is_some()).flat_map(of_entry).collect()
    }

    /// The one with this name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<LiveProfile>, String> {
        let all = self.0.lock();
        let entry = all.get(name).filter(|entry| entry.attributes.is_some());
        let live = entry.map(|entry| Arc::clone(&entry.live));
        live.ok_or_else(|| format!("There is no sslProfile '{name}': create it first, or correct the name"))
    }
}

/// What a profile says now.
pub(crate) struct LiveProfile(Mutex<State>);

struct State {
    loaded: Result<Profile, TlsError>,
    /// What was made of it, for those who use it.
    servers: Vec<(ClientCertificate, ServerTls)>,
    clients: Vec<(ServerTrust, ClientTls)>,
}

impl LiveProfile {
    fn new(config: SslProfileConfig) -> Self {
        let loaded = load(&config);
        Self(Mutex::new(State { loaded, servers: Vec::new(), clients: Vec::new() }))
    }

    fn replace(&self, config: SslProfileConfig) {
        let loaded = load(&config);
        *self.0.lock() = State { loaded, servers: Vec::new(), clients: Vec::new() };
    }

    /// For a connection that a listener has accepted.
    ///
    /// # Errors
    /// Why the profile cannot be used.
    pub(crate) fn server(&self, client: ClientCertificate) -> Result<ServerTls, TlsError> {
        let State { loaded, servers, .. } = &mut *self.0.lock();
        if let Some((_, tls)) = servers.iter().find(|(of, _)| *of == client) {
            return Ok(tls.clone());
        }
        let tls = ServerTls::new(loaded.as_ref().map_err(Clone::clone)?, client)?;
        servers.push((client, tls.clone()));
        Ok(tls)
    }

    /// For a connection that a connector makes.
    ///
    /// # Errors
    /// Why the profile cannot be used.
    pub(crate) fn client(&self, trust: ServerTrust) -> Result<ClientTls, TlsError> {
        let State { loaded, clients, .. } = &mut *self.0.lock();
        if let Some((_, tls)) = clients.iter().find(|(of, _)| *of == trust) {
            return Ok(tls.clone());
        }
        let tls = ClientTls::new(loaded.as_ref().map_err(Clone::clone)?, trust)?;
        clients.push((trust, tls.clone()));
        Ok(tls)
    }
}

/// Loads a profile, and says what there is to say about it.
fn load(config: &SslProfileConfig) -> Result<Profile, TlsError> {
    let name = &config.name;
    let loaded = Profile::load(config);
    match &loaded {
        Ok(profile) => {
            for remark in profile.remarks() {
                logging::log!(CONN_MGR, Warning, "sslProfile {name}: {remark}");
            }
        }
        Err(error) => logging::log!(CONN_MGR, Error, "sslProfile {name} cannot be used: {error}"),
    }
    loaded
}
