//! How to connect and authenticate.

use std::time::Duration;

use super::{ClientError, TlsOptions, Url};
use security::tls::ClientTls;

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Where to.
    pub url: Url,
    /// How long to wait for each thing that the peer has to do; zero: for ever.
    pub timeout: Duration,
    /// How to authenticate.
    pub sasl: SaslOptions,
    /// What the user said about TLS.
    pub tls: TlsOptions,
    /// The host named in the open; the URL's if absent. A multi-tenant listener takes it as the tenant.
    pub virtual_host: Option<String>,
    /// The name by which this end calls itself; one that nobody else has if absent.
    pub container: Option<String>,
}

/// How to authenticate. It has no `Debug` of its own making that shows the password.
#[derive(Clone, Default)]
pub struct SaslOptions {
    /// Mechanisms that may be used; `None`: any.
    pub mechanisms: Option<Vec<String>>,
    /// Who to authenticate as.
    pub user: Option<String>,
    /// With what.
    pub password: Option<String>,
    /// Speak SASL even if there is nothing to say but ANONYMOUS. (The old tools skip SASL then.)
    pub always: bool,
}

impl std::fmt::Debug for SaslOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SaslOptions").field("mechanisms", &self.mechanisms).field("user", &self.user).finish()
    }
}

/// Bits, as SASL counts them; all that matters is that it is enough.
const TLS_STRENGTH: u32 = 256;

impl ConnectOptions {
    /// Plain options for a URL: five seconds of patience, SASL as the old tools use it.
    pub fn new(url: Url) -> Self {
        Self {
            url,
            timeout: Duration::from_secs(5),
            sasl: SaslOptions::default(),
            tls: TlsOptions::default(),
            virtual_host: None,
            container: None,
        }
    }

    /// The SASL client, if SASL is to be spoken.
    pub(crate) fn mechanisms(&self) -> Option<security::ClientMechanisms> {
        let user = self.sasl.user.clone().or_else(|| self.url.user.clone());
        let password = self.sasl.password.clone().or_else(|| self.url.password.clone());
        // Over TLS the old tools speak SASL, too.
        let always = self.sasl.always || self.url.is_tls();
        if user.is_none() && self.sasl.mechanisms.is_none() && !always {
            return None;
        }
        // Some mechanisms only Cyrus SASL has; it is loaded when one of them is used.
        let strength = if self.url.is_tls() { TLS_STRENGTH } else { 0 };
        let mut mechanisms = security::ClientMechanisms::new().cyrus(&self.url.host, strength);
        if let Some(user) = user {
            mechanisms = mechanisms.password(user, password.unwrap_or_default());
        }
        let named = self.sasl.mechanisms.as_ref().is_some_and(|only| only.iter().any(|name| name == "EXTERNAL"));
        if named || self.tls.certificate.is_some() {
            mechanisms = mechanisms.external();
        }
        if let Some(only) = &self.sasl.mechanisms {
            mechanisms = mechanisms.only(only.iter().map(String::as_str));
        }
        Some(mechanisms)
    }

    /// What TLS needs, if the URL asks for it.
    ///
    /// # Errors
    /// [`ClientError::Tls`] if a file that it needs cannot be used.
    pub(crate) fn client_tls(&self) -> Result<Option<ClientTls>, ClientError> {
        self.url.is_tls().then(|| self.tls.load()).transpose()
    }
}

/// The names in a list as options take it: separated by blanks or commas.
pub fn names(list: &str) -> Vec<String> {
    list.split([' ', ',']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
