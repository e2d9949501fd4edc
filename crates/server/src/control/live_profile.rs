//! One `sslProfile`, as its files are now.

use config::{Secret, SslProfileConfig};
use parking_lot::Mutex;
use security::tls::{ClientCertificate, ClientTls, Profile, ServerTls, ServerTrust, TlsError, Validity};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What a profile says now.
pub(crate) struct LiveProfile(Mutex<State>);

struct State {
    config: SslProfileConfig,
    /// What its files looked like when they were loaded.
    stamps: Vec<Stamp>,
    loaded: Result<Profile, TlsError>,
    /// What was made of it, for those who use it.
    servers: Vec<(ClientCertificate, ServerTls)>,
    clients: Vec<(ServerTrust, ClientTls)>,
}

impl State {
    fn new(config: SslProfileConfig) -> Self {
        // First: what changes while it is loaded has changed since.
        let stamps = stamps(&config);
        let loaded = Profile::load(&config);
        report(&config.name, &loaded);
        Self { config, stamps, loaded, servers: Vec::new(), clients: Vec::new() }
    }
}

impl LiveProfile {
    /// Loads it.
    pub(crate) fn new(config: SslProfileConfig) -> Self {
        Self(Mutex::new(State::new(config)))
    }

    /// It says something else from now on.
    pub(crate) fn replace(&self, config: SslProfileConfig) {
        let state = State::new(config);
        *self.0.lock() = state;
    }

    /// Loads it again if its files have changed. If they cannot be used as they are now, what was there before stays in
    /// use: perhaps only one of two files has been written yet.
    pub(crate) fn look(&self) {
        let (config, before) = {
            let state = self.0.lock();
            (state.config.clone(), state.stamps.clone())
        };
        if stamps(&config) == before {
            return;
        }
        let fresh = State::new(config);
        let name = fresh.config.name.clone();
        let mut state = self.0.lock();
        if state.config != fresh.config {
            return; // management was faster
        }
        if fresh.loaded.is_err() && state.loaded.is_ok() {
            logging::log!(CONN_MGR, Error, "sslProfile {name}: what was loaded before stays in use");
            state.stamps = fresh.stamps;
        } else {
            logging::log!(CONN_MGR, Info, "sslProfile {name}: files have changed, new connections go by them");
            *state = fresh;
        }
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

    /// Until when its certificates are valid.
    pub(crate) fn validities(&self) -> Vec<Validity> {
        self.0.lock().loaded.as_ref().map(Profile::validities).unwrap_or_default()
    }
}

/// Says what there is to say about a profile that was loaded.
fn report(name: &str, loaded: &Result<Profile, TlsError>) {
    match loaded {
        Ok(profile) => {
            for remark in profile.remarks() {
                logging::log!(CONN_MGR, Warning, "sslProfile {name}: {remark}");
            }
        }
        Err(error) => logging::log!(CONN_MGR, Error, "sslProfile {name} cannot be used: {error}"),
    }
}

/// What tells one state of a file from another: a link that leads elsewhere counts as a change, too.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp(PathBuf, Option<(u64, u64, u64, i64, i64)>);

impl Stamp {
    fn of(path: &Path) -> Self {
        let meta = std::fs::metadata(path).ok();
        let told = meta.map(|meta| (meta.dev(), meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec()));
        Self(path.to_owned(), told)
    }
}

fn stamps(config: &SslProfileConfig) -> Vec<Stamp> {
    let password = match &config.password {
        Some(Secret::File(path)) => Some(path),
        _ => None,
    };
    let SslProfileConfig { ca_cert_file, cert_file, private_key_file, uid_name_mapping_file, .. } = config;
    let files = [ca_cert_file, cert_file, private_key_file, uid_name_mapping_file];
    let files = files.into_iter().flatten().chain(password).filter(|path| !path.is_empty());
    let mut stamps = Vec::new();
    for path in files.map(Path::new) {
        stamps.push(Stamp::of(path));
        // Authorities may be in a directory.
        let mut inside: Vec<_> = std::fs::read_dir(path).into_iter().flatten().flatten().collect();
        inside.sort_by_key(std::fs::DirEntry::path);
        stamps.extend(inside.iter().map(|file| Stamp::of(&file.path())));
    }
    stamps
}
