//! How a connector authenticates.

use std::sync::Arc;

use config::{ConnectorConfig, Secret};
use cyrus::Cyrus;
use security::{ClientMechanisms, OffloadedClient};

use super::{Authentication, wake};
use crate::control::resolve::system_words;
use crate::shard::SaslClientFactory;

/// What we can do without Cyrus SASL.
const OWN: [&str; 6] = ["EXTERNAL", "SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN", "ANONYMOUS"];

impl Authentication {
    /// How a connector authenticates.
    ///
    /// # Errors
    /// A sentence: the mechanisms configured, or the password, cannot be had.
    pub(crate) fn of_connector(&self, connector: &ConnectorConfig) -> Result<SaslClientFactory, String> {
        let password = connector.sasl_password.as_ref().map(reveal).transpose()?;
        let names = connector.connection.sasl_mechanisms.clone().filter(|names| !names.is_empty());
        let mut mechanisms = ClientMechanisms::new();
        if let (Some(user), Some(password)) = (&connector.sasl_username, password) {
            mechanisms = mechanisms.password(user.clone(), password);
        }
        if let Some(only) = &names {
            mechanisms = mechanisms.only(only.iter().map(String::as_str));
        }
        let through_cyrus = self.wants_cyrus(names.as_deref())?;
        let this = self.clone();
        Ok(Arc::new(move |underneath, handle| {
            let mut mechanisms = mechanisms.clone();
            if underneath.identity.is_some() {
                mechanisms = mechanisms.external();
            }
            if through_cyrus {
                mechanisms = mechanisms.cyrus(handle.hostname().unwrap_or_default(), underneath.strength);
            }
            if mechanisms.may_block() {
                Box::new(OffloadedClient::new(Box::new(mechanisms), this.0.workers.clone(), wake(handle)))
            } else {
                Box::new(mechanisms)
            }
        }))
    }

    /// Whether mechanisms of Cyrus SASL may be used: where there is a choice, if it is there.
    fn wants_cyrus(&self, names: Option<&[String]>) -> Result<bool, String> {
        let is_own = |name: &&String| OWN.iter().any(|own| own.eq_ignore_ascii_case(name));
        if names.is_some_and(|names| names.iter().all(|name| is_own(&name))) {
            return Ok(false);
        }
        let folder = self.0.cyrus.folder.as_deref();
        let started = Cyrus::load(security::tell_cyrus)
            .and_then(|cyrus| cyrus.start_client(folder))
            .map_err(|error| error.to_string());
        match (started, names) {
            (Ok(()), _) => Ok(true),
            (Err(error), Some(names)) if !names.iter().any(|name| is_own(&name)) => {
                Err(format!("connector saslMechanisms '{}': {error}", names.join(" ")))
            }
            (Err(_), _) => Ok(false),
        }
    }
}

/// The password. As with the old router, a file that is not there keeps nobody from starting: the error is logged, and
/// attempts to connect fail.
fn reveal(password: &Secret) -> Result<String, String> {
    if let Secret::File(path) = password
        && let Err(error) = std::fs::File::open(path)
    {
        let reason = system_words(&error);
        logging::log!(CONN_MGR, Error, "Unable to open password file {path}, error: {reason}");
        return Ok(String::new());
    }
    password.reveal()
}
