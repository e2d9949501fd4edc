//! What the user said about TLS.

use std::path::{Path, PathBuf};

use config::SslProfileConfig;
use management::Attributes;
use security::tls::{ClientTls, Profile, ServerTrust};

use super::ClientError;

/// What the user said about TLS.
#[derive(Clone, Default)]
pub struct TlsOptions {
    /// The client's certificate, and perhaps its key.
    pub certificate: Option<PathBuf>,
    /// The client's key.
    pub key: Option<PathBuf>,
    /// Password of the key.
    pub key_password: Option<String>,
    /// Certificates of authorities to trust; those of the system, if not given.
    pub trust_file: Option<PathBuf>,
    /// The server's certificate may be for another host.
    pub any_host: bool,
}

impl std::fmt::Debug for TlsOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("TlsOptions");
        shown.field("certificate", &self.certificate).field("key", &self.key).field("trust_file", &self.trust_file);
        shown.field("any_host", &self.any_host).finish_non_exhaustive()
    }
}

impl TlsOptions {
    /// Whether the user said anything that has no meaning without TLS.
    pub(crate) fn ask_for_tls(&self) -> bool {
        self.certificate.is_some() || self.trust_file.is_some()
    }

    /// What sessions are made of.
    ///
    /// # Errors
    /// If a file cannot be used.
    pub(crate) fn load(&self) -> Result<ClientTls, ClientError> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let given = [
            ("name", Some("options".to_owned())),
            ("caCertFile", self.trust_file.as_deref().map(text)),
            ("certFile", self.certificate.as_deref().map(text)),
            ("privateKeyFile", self.key.as_deref().map(text)),
            ("password", self.key_password.as_ref().map(|password| format!("literal:{password}"))),
        ];
        let given = given.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
        let failed = |error: String| ClientError::Tls(error);
        let config = SslProfileConfig::from_attributes(&Attributes(given.collect()))
            .map_err(|error| failed(error.to_string()))?;
        let trust = if self.any_host { ServerTrust::Authority } else { ServerTrust::Host };
        // The names that messages use are those of a profile; what each file is for is plain all the same.
        let profile = Profile::load(&config).map_err(|error| failed(error.to_string()))?;
        ClientTls::new(&profile, trust).map_err(|error| failed(error.to_string()))
    }
}
