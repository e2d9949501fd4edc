//! The `listener` section.

use super::connection::ConnectionSettings;
use super::failover::FailoverServer;
use super::read::Reader;
use super::words::AddressFamily;
use management::Attributes;
use management::schema::Invalid;
use std::time::Duration;

/// What a `listener` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct ListenerConfig {
    /// What a connector has too.
    pub connection: ConnectionSettings,
    /// Address to listen on; empty: all.
    pub host: String,
    /// Port number or service name; `0` lets the system choose.
    pub port: String,
    /// Which kind of address the host is resolved to.
    pub socket_address_family: Option<AddressFamily>,
    /// Peers must authenticate.
    pub authenticate_peer: bool,
    /// Name of the `authServicePlugin` that authenticates peers.
    pub sasl_plugin: Option<String>,
    /// Peers must encrypt, by TLS or SASL.
    pub require_encryption: bool,
    /// Peers must use TLS.
    pub require_ssl: bool,
    /// Accepted, without effect, as in the old router.
    pub trusted_certs_file: Option<String>,
    /// How long a peer may take until its open has arrived; zero: no limit configured.
    pub initial_handshake_timeout: Duration,
    /// The peer's hostname is put before its addresses.
    pub multi_tenant: bool,
    /// Alternatives told to clients.
    pub failover: Vec<FailoverServer>,
    /// HTTP: offer `/healthz`.
    pub healthz: bool,
    /// HTTP: offer `/metrics`.
    pub metrics: bool,
    /// HTTP: accept WebSockets.
    pub websockets: bool,
    /// Speak HTTP on this port.
    pub http: bool,
    /// HTTP: directory of the files that are served.
    pub http_root_dir: Option<String>,
}

impl ListenerConfig {
    /// Reads the settings of a `listener` entity.
    ///
    /// # Errors
    /// If a number is out of range, or the fail-over list or openProperties are malformed.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        Ok(ListenerConfig {
            connection: ConnectionSettings::from_attributes(attributes)?,
            host: read.text_or("host", ""),
            port: read.text_or("port", "amqp"),
            socket_address_family: read.word("socketAddressFamily", AddressFamily::parse)?,
            authenticate_peer: read.flag("authenticatePeer", false),
            sasl_plugin: read.text("saslPlugin"),
            require_encryption: read.flag("requireEncryption", false),
            require_ssl: read.flag("requireSsl", false),
            trusted_certs_file: read.text("trustedCertsFile"),
            initial_handshake_timeout: Duration::from_secs(
                read.count("initialHandshakeTimeoutSeconds")?.map_or(0, u64::from),
            ),
            multi_tenant: read.flag("multiTenant", false),
            failover: FailoverServer::parse_list(attributes.text("failoverUrls").unwrap_or(""))?,
            healthz: read.flag("healthz", true),
            metrics: read.flag("metrics", true),
            websockets: read.flag("websockets", true),
            http: read.flag("http", false),
            http_root_dir: read.text("httpRootDir"),
        })
    }

    /// Whether HTTP is spoken on its port.
    pub fn is_http(&self) -> bool {
        self.http || self.http_root_dir.is_some()
    }
}
