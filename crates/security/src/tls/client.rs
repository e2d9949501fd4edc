//! The side that connects.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::sign::SingleCertAndKey;

use super::error::TlsError;
use super::pem::Authorities;
use super::profile::Profile;
use super::verify::Servers;

/// Which servers are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerTrust {
    /// Those whose certificate comes from an authority of the profile (or of the system, if it names none), and is for
    /// the host that was asked for.
    Host,
    /// Those whose certificate comes from such an authority, whatever host it is for.
    Authority,
}

/// What a connector needs for its sessions.
#[derive(Clone)]
pub struct ClientTls {
    pub(super) config: Arc<ClientConfig>,
    has_certificate: bool,
}

impl ClientTls {
    /// From a profile.
    ///
    /// # Errors
    /// If the profile does not say what a client needs.
    pub fn new(profile: &Profile, trust: ServerTrust) -> Result<Self, TlsError> {
        let provider = &profile.provider;
        let system;
        let authorities = match &profile.authorities {
            Some(authorities) => authorities,
            None => {
                system = of_the_system();
                &system
            }
        };
        let verifier =
            Servers::new(provider, authorities, trust == ServerTrust::Host).ok_or(TlsError::NobodyTrusted)?;
        let builder = ClientConfig::builder_with_provider(Arc::clone(provider));
        let builder = builder
            .with_protocol_versions(&profile.versions)
            .map_err(|error| TlsError::Ciphers(format!("ciphers and protocols do not fit together: {error}")))?;
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &profile.own {
            Some(own) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(own)))),
            None => builder.with_no_client_auth(),
        };
        config.resumption = Resumption::in_memory_sessions(16);
        Ok(Self { config: Arc::new(config), has_certificate: profile.own.is_some() })
    }

    /// Whether this end can show a certificate.
    pub fn has_certificate(&self) -> bool {
        self.has_certificate
    }

    /// The configuration of the TLS library, for those who drive sessions themselves.
    pub fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.config)
    }
}

/// The authorities that the system trusts.
fn of_the_system() -> Authorities {
    // What cannot be read is left out; with none at all the caller fails.
    let found = rustls_native_certs::load_native_certs();
    Authorities { certificates: found.certs, revoked: Vec::new() }
}
