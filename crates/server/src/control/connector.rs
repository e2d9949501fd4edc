//! A connector: what it is told to do, and what it should do next.

use crate::control::failover::{FailoverList, Server, advertised};
use crate::control::live_profile::LiveProfile;
use crate::control::resolve::HostPort;
use crate::control::retry::{Failed, Retry};
use crate::shard::{ConnectionSettings, Repetition, SaslClientFactory};
use amqp::Map;
use config::ConnectorConfig;
use management::Attributes;
use security::tls::{ClientTls, ServerTrust, TlsError};
use std::sync::Arc;
use std::time::Duration;

/// The router's monotonic time.
type Now = Duration;

/// Servers that send us on, one to the next, are followed so far.
const MOST_REDIRECTIONS: u32 = 8;

/// What a connector is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waits for its next attempt.
    Waiting {
        /// When it is due.
        until: Now,
    },
    /// Looks the host's name up.
    LookingUp,
    /// Connects, or exchanges opens.
    Attempting {
        /// Number of the connection.
        connection: u64,
    },
    /// Has a connection.
    Open {
        /// Number of the connection.
        connection: u64,
    },
}

/// A configured connector.
pub(crate) struct Connector {
    /// What management shows of the configuration.
    pub(crate) attributes: Attributes,
    pub(crate) config: ConnectorConfig,
    /// For each of its connections.
    pub(crate) settings: Arc<ConnectionSettings>,
    tls: Option<Arc<LiveProfile>>,
    pub(crate) sasl: Option<SaslClientFactory>,
    /// What the log says of its failures.
    pub(crate) failures: Arc<Repetition>,
    servers: FailoverList,
    retry: Retry,
    phase: Phase,
    tried: bool,
    message: String,
    /// Where the peer sends us with its close.
    redirection: Option<Server>,
    /// Redirections followed since something else ended an attempt or a connection.
    redirections: u32,
}

impl Connector {
    /// A connector whose first attempt is due at once.
    pub(crate) fn new(
        attributes: Attributes,
        config: ConnectorConfig,
        settings: Arc<ConnectionSettings>,
        tls: Option<Arc<LiveProfile>>,
        sasl: Option<SaslClientFactory>,
        now: Now,
    ) -> Self {
        let configured = Server::configured(&config.host, &config.port, config.connection.ssl_profile.is_some());
        let retry = Retry::new(settings.role.is_router());
        Connector {
            attributes,
            config,
            settings,
            tls,
            sasl,
            failures: Arc::default(),
            servers: FailoverList::new(configured),
            retry,
            phase: Phase::Waiting { until: now },
            tried: false,
            message: String::new(),
            redirection: None,
            redirections: 0,
        }
    }

    /// When [`Connector::begin`] is to be called; `None` while an attempt or a connection is there.
    pub(crate) fn due(&self) -> Option<Now> {
        match self.phase {
            Phase::Waiting { until } => Some(until),
            _ => None,
        }
    }

    /// Begins an attempt: the server whose name is to be looked up.
    pub(crate) fn begin(&mut self) -> HostPort {
        self.phase = Phase::LookingUp;
        self.target()
    }

    /// The server in use, or next to be tried.
    pub(crate) fn target(&self) -> HostPort {
        let Server { host, port, .. } = self.servers.current().clone();
        HostPort { host, port, family: self.config.protocol_family }
    }

    /// What its `sslProfile` says now, if it has one.
    ///
    /// # Errors
    /// Why the profile cannot be used.
    pub(crate) fn tls(&self) -> Result<Option<ClientTls>, TlsError> {
        let trust = if self.config.verify_hostname { ServerTrust::Host } else { ServerTrust::Authority };
        self.tls.as_ref().map(|profile| profile.client(trust)).transpose()
    }

    /// Logs that its `sslProfile` keeps it from connecting, in the old router's words, and returns what is to be shown.
    pub(crate) fn cannot_set_up(&self, connection: u64, error: &TlsError) -> String {
        let host_port = self.target().text();
        let words = error.words_of_connector();
        let message = format!("[C{connection}] Connection to {host_port} failed: {words}: {error}");
        if self.failures.is_news(&message) {
            logging::log!(SERVER, Error, "{words} for connection [C{connection}] to {host_port}: {error}");
            logging::log!(SERVER, Error, "[C{connection}] Connection aborted due to internal setup error");
            logging::log!(SERVER, Info, "{message}");
        } else {
            logging::log!(SERVER, Debug, "{message}");
        }
        message
    }

    /// The look-up is over, and a connection with this number is being made.
    pub(crate) fn attempting(&mut self, connection: u64) {
        self.phase = Phase::Attempting { connection };
    }

    /// The opens were exchanged; `properties` are those of the peer's. Returns the hosts that it named as alternatives
    /// and that are new.
    pub(crate) fn opened(&mut self, connection: u64, properties: Option<&Map>, message: String) -> Vec<String> {
        self.phase = Phase::Open { connection };
        self.failures.forget();
        self.message = message;
        self.servers.succeeded();
        self.retry.succeeded();
        properties.and_then(advertised).map(|servers| self.servers.learn(servers)).unwrap_or_default()
    }

    /// The peer closes the connection and names another server, which is turned to when the end of the connection is told.
    /// Returns that server, if it is.
    pub(crate) fn redirected(&mut self, info: &Map) -> Option<String> {
        let followed = self.config.allow_redirect && self.redirections < MOST_REDIRECTIONS;
        self.redirection = Server::from_entry(info).filter(|_| followed);
        self.redirection.as_ref().map(|server| format!("{}:{}", server.host, server.port))
    }

    /// The attempt failed, or the connection was lost. `random` is any number.
    pub(crate) fn failed(&mut self, message: String, now: Now, random: u8) {
        if let Some(server) = self.redirection.take() {
            self.redirections += 1;
            self.servers.turn_aside(server);
            self.message = message;
            self.phase = Phase::Waiting { until: now };
            return;
        }
        self.redirections = 0;
        let failed = match self.phase {
            _ if self.servers.has_alternatives() => Failed::WithAlternatives,
            Phase::Open { .. } => Failed::Connection,
            _ => Failed::Attempt,
        };
        let pause = self.retry.pause(failed, random);
        self.servers.failed();
        self.tried = true;
        self.message = message;
        self.phase = Phase::Waiting { until: now + pause };
    }

    /// The number of the connection that it has or makes.
    pub(crate) fn connection(&self) -> Option<u64> {
        match self.phase {
            Phase::Attempting { connection } | Phase::Open { connection } => Some(connection),
            _ => None,
        }
    }

    /// `connectionStatus`, in the old router's words.
    pub(crate) fn status(&self) -> &'static str {
        match self.phase {
            Phase::Open { .. } => "SUCCESS",
            Phase::Waiting { .. } if !self.tried => "INITIALIZING",
            _ => "CONNECTING",
        }
    }

    /// `connectionMsg`: what the log last said about it; empty before the first attempt is over.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// `failoverUrls`.
    pub(crate) fn failover_urls(&self) -> String {
        self.servers.urls()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Duration::from_secs(100);

    fn connector() -> Connector {
        let attributes = Attributes::default();
        let config = ConnectorConfig::from_attributes(&attributes).unwrap();
        Connector::new(attributes, config, Arc::default(), None, None, NOW)
    }

    fn pause(connector: &Connector) -> Duration {
        connector.due().unwrap() - NOW
    }

    fn with_alternative() -> Connector {
        let mut connector = connector();
        connector.servers.learn(vec![Server::configured("other", "1", false)]);
        connector
    }

    #[test]
    fn the_first_attempt_is_due_at_once() {
        assert_eq!((pause(&connector()), connector().status()), (Duration::ZERO, "INITIALIZING"));
    }

    #[test]
    fn an_attempt_that_fails_is_repeated_after_five_seconds() {
        let mut connector = connector();
        connector.begin();
        connector.attempting(1);
        connector.failed("refused".into(), NOW, 0);
        assert_eq!((pause(&connector), connector.status()), (Duration::from_secs(5), "CONNECTING"));
    }

    #[test]
    fn a_lost_connection_is_made_again_after_two_seconds() {
        let mut connector = connector();
        connector.begin();
        connector.opened(1, None, "opened".into());
        connector.failed("lost".into(), NOW, 0);
        assert_eq!(pause(&connector), Duration::from_secs(2));
    }

    #[test]
    fn with_alternatives_the_next_attempt_comes_after_one_second() {
        let mut connector = with_alternative();
        connector.begin();
        connector.failed("refused".into(), NOW, 0);
        assert_eq!(pause(&connector), Duration::from_secs(1));
    }

    fn elsewhere() -> Map {
        Map(vec![("network-host".into(), "elsewhere".into()), ("port".into(), "77".into())])
    }

    #[test]
    fn a_redirection_is_followed_at_once_and_after_that_server_the_configured_one_has_its_turn() {
        let mut connector = connector();
        connector.begin();
        connector.opened(1, None, "opened".into());
        assert_eq!(connector.redirected(&elsewhere()).as_deref(), Some("elsewhere:77"));
        connector.failed("redirected".into(), NOW, 0);
        assert_eq!((pause(&connector), connector.target().text()), (Duration::ZERO, "elsewhere:77".to_owned()));
        connector.failed("refused".into(), NOW, 0);
        assert_eq!((pause(&connector), connector.target().host), (Duration::from_secs(5), "127.0.0.1".to_owned()));
    }

    #[test]
    fn servers_that_send_each_other_on_are_not_followed_for_ever() {
        let mut connector = connector();
        let mut followed = 0;
        while connector.redirected(&elsewhere()).is_some() {
            connector.failed("redirected".into(), NOW, 0);
            followed += 1;
        }
        connector.failed("redirected".into(), NOW, 0);
        assert_eq!((followed, pause(&connector)), (8, Duration::from_secs(5)));
    }

    #[test]
    fn a_connector_that_may_not_be_redirected_is_not() {
        let mut connector = connector();
        connector.config.allow_redirect = false;
        assert_eq!(connector.redirected(&elsewhere()), None);
    }

    #[test]
    fn status_and_message_tell_of_an_open_connection() {
        let mut connector = connector();
        connector.begin();
        connector.opened(7, None, "[C7] Connection Opened".into());
        assert_eq!((connector.status(), connector.message()), ("SUCCESS", "[C7] Connection Opened"));
        assert_eq!((connector.due(), connector.connection()), (None, Some(7)));
    }
}
