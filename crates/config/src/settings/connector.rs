//! The `connector` section.

use super::connection::ConnectionSettings;
use super::read::Reader;
use super::secret::Secret;
use super::words::AddressFamily;
use management::Attributes;
use management::schema::Invalid;

/// What a `connector` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorConfig {
    /// What a listener has too.
    pub connection: ConnectionSettings,
    /// Address or name to connect to.
    pub host: String,
    /// Port number or service name.
    pub port: String,
    /// Which kind of address the host is resolved to.
    pub protocol_family: Option<AddressFamily>,
    /// Accepted, without effect, as in the old router.
    pub allow_redirect: bool,
    /// Check that the server's certificate is for this host.
    pub verify_hostname: bool,
    /// SASL user name.
    pub sasl_username: Option<String>,
    /// SASL password.
    pub sasl_password: Option<Secret>,
}

impl ConnectorConfig {
    /// Reads the settings of a `connector` entity.
    ///
    /// # Errors
    /// If a number is out of range or openProperties are malformed.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        Ok(ConnectorConfig {
            connection: ConnectionSettings::from_attributes(attributes)?,
            host: read.text_or("host", "127.0.0.1"),
            port: read.text_or("port", "amqp"),
            protocol_family: read.word("protocolFamily", AddressFamily::parse)?,
            allow_redirect: read.flag("allowRedirect", true),
            verify_hostname: read.flag("verifyHostname", true),
            sasl_username: read.text("saslUsername"),
            sasl_password: read.text("saslPassword").map(|text| Secret::parse_for_sasl(&text)),
        })
    }
}
