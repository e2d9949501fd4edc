//! The side that accepts.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::Ticketer;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::SingleCertAndKey;

use super::error::TlsError;
use super::profile::Profile;
use super::user_id::UserIds;
use super::verify::Clients;

/// Whether clients are asked for a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificate {
    /// They are not.
    NotAsked,
    /// Only those with one that is trusted get in.
    Required,
}

/// What a listener needs for its sessions.
#[derive(Clone)]
pub struct ServerTls {
    pub(super) config: Arc<ServerConfig>,
    pub(super) user_ids: Arc<UserIds>,
}

impl ServerTls {
    /// From a profile.
    ///
    /// # Errors
    /// If the profile does not say what a server needs.
    pub fn new(profile: &Profile, client: ClientCertificate) -> Result<Self, TlsError> {
        let own = profile.own.clone().ok_or(TlsError::NoCertificate)?;
        let verifier = match client {
            ClientCertificate::NotAsked => WebPkiClientVerifier::no_client_auth(),
            ClientCertificate::Required => {
                let authorities = profile.authorities.as_ref().ok_or(TlsError::NoAuthorities)?;
                Arc::new(Clients::new(&profile.provider, authorities).ok_or(TlsError::NoAuthorities)?)
            }
        };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&profile.provider));
        let builder = builder
            .with_protocol_versions(&profile.versions)
            .map_err(|error| TlsError::Ciphers(format!("ciphers and protocols do not fit together: {error}")))?;
        let mut config =
            builder.with_client_cert_verifier(verifier).with_cert_resolver(Arc::new(SingleCertAndKey::from(own)));
        // Sessions are resumed by tickets, which cost no memory here. A new profile has new keys for them, so that nobody
        // gets in by what was trusted before.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.ticketer = Ticketer::new().map_err(|error| TlsError::Library(error.to_string()))?;
        // Connections last: one to come back with is enough.
        config.send_tls13_tickets = 1;
        Ok(Self { config: Arc::new(config), user_ids: Arc::clone(&profile.user_ids) })
    }
}
