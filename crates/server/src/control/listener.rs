//! A listener: what it is told to do, and how far it has come.

use crate::control::resolve::HostPort;
use crate::shard::{ListenerTls, SaslServerFactory};
use config::ListenerConfig;
use management::Attributes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// How far a listener has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// Its host's name is being looked up.
    LookingUp,
    /// It listens on these addresses.
    Listening(Vec<SocketAddr>),
    /// It does not listen. It may try again.
    Failed,
}

/// When a listener that could not listen tries again. (The old router does not: who creates a listener on a port that is in use
/// has to delete it and create it again.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Again {
    /// When, in the shards' time.
    pub(crate) at: Duration,
    /// The pause before that.
    pause: Duration,
    /// What went wrong, which the log was told.
    pub(crate) reason: String,
}

impl Again {
    /// The first pause; each further one is twice as long.
    const FIRST: Duration = Duration::from_secs(1);
    /// The longest.
    const LONGEST: Duration = Duration::from_secs(30);

    /// After what may have been a first failure.
    pub(crate) fn after(before: Option<&Self>, now: Duration, reason: &str) -> Self {
        let pause = before.map_or(Self::FIRST, |before| (before.pause * 2).min(Self::LONGEST));
        Self { at: now + pause, pause, reason: reason.to_owned() }
    }
}

/// A configured listener.
pub(crate) struct Listener {
    /// What management shows of the configuration.
    pub(crate) attributes: Attributes,
    pub(crate) config: ListenerConfig,
    /// The router must not run without it: it comes from the configuration file.
    pub(crate) required: bool,
    pub(crate) tls: Option<Arc<ListenerTls>>,
    pub(crate) stand: Stand,
    /// It could not listen, and tries again.
    pub(crate) again: Option<Again>,
    /// Connections that came in by it.
    pub(crate) accepted: Arc<AtomicU64>,
    /// The mechanisms that it offers.
    pub(crate) sasl: SaslServerFactory,
}

impl Listener {
    /// Where it is to listen.
    pub(crate) fn target(&self) -> HostPort {
        let ListenerConfig { host, port, socket_address_family: family, .. } = &self.config;
        HostPort { host: host.clone(), port: port.clone(), family: *family }
    }

    /// The name given by the user, or the identity.
    pub(crate) fn name(&self) -> &str {
        self.attributes.text("name").unwrap_or_default()
    }

    /// What its operator should know: that anybody on the network may connect. `None`: not anybody may.
    pub(crate) fn exposure(&self, bound: &[SocketAddr]) -> Option<String> {
        let open = bound.iter().find(|address| !address.ip().is_loopback())?;
        let remedy = match (self.config.authenticate_peer, self.config.is_http()) {
            (true, _) => return None,
            (false, true) => "set authenticatePeer: yes with an sslProfile",
            (false, false) => "set authenticatePeer: yes",
        };
        Some(format!(
            "Listener '{}' is open to the network on {open}, and takes peers without authentication: {remedy}, or let it \
             listen on a loopback address",
            self.name()
        ))
    }

    /// Whether it does not listen now.
    #[cfg(test)]
    pub(crate) fn has_failed(&self) -> bool {
        self.stand == Stand::Failed
    }

    /// The old router's words for a listener that now listens: where the system chose the port, the actual address and
    /// the listener's name.
    pub(crate) fn announcement(&self, bound: &[SocketAddr]) -> String {
        let system_chose = self.config.port.parse() == Ok(0);
        let listening = if self.config.is_http() { "Listening for HTTP" } else { "Listening" };
        match bound.first() {
            Some(address) if system_chose => format!("{listening} on {address} ({})", self.name()),
            _ => format!("{listening} on {}", self.target().text()),
        }
    }
}

/// Leaves out the addresses of a kind that this machine does not have, as long as others remain: a machine without
/// IPv6 can still listen on "all addresses".
pub(crate) fn usable(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    if addresses.len() < 2 {
        return addresses;
    }
    let can_bind = |address: &SocketAddr| std::net::UdpSocket::bind((address.ip(), 0)).is_ok();
    let usable: Vec<SocketAddr> = addresses.iter().copied().filter(can_bind).collect();
    if usable.is_empty() { addresses } else { usable }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::Value;

    fn listener(port: &str) -> Listener {
        let text = |text: &str| Value::String(text.to_owned());
        let pairs = [("host", text("127.0.0.1")), ("port", text(port)), ("name", text("l0"))];
        let attributes = Attributes(pairs.map(|(name, value)| (name.to_owned(), value)).to_vec());
        let config = ListenerConfig::from_attributes(&attributes).unwrap();
        Listener {
            attributes,
            config,
            required: false,
            tls: None,
            stand: Stand::LookingUp,
            again: None,
            accepted: Arc::default(),
            sasl: std::sync::Arc::new(|_, _| Box::new(security::ServerMechanisms::new())),
        }
    }

    fn exposed(attributes: &[(&str, Value)], bound: &str) -> bool {
        let mut listener = listener("5672");
        for (name, value) in attributes {
            listener.attributes.set(*name, value.clone());
        }
        listener.config = ListenerConfig::from_attributes(&listener.attributes).unwrap();
        listener.exposure(&[bound.parse().unwrap()]).is_some()
    }

    #[test]
    fn a_listener_that_takes_anybody_from_the_network_is_told_of() {
        assert!(exposed(&[], "0.0.0.0:5672") && exposed(&[], "[::]:5672") && exposed(&[], "10.0.0.1:5672"));
    }

    #[test]
    fn a_listener_for_this_machine_or_for_peers_that_authenticate_is_nothing_to_tell_of() {
        assert!(!exposed(&[], "127.0.0.1:5672") && !exposed(&[], "[::1]:5672"));
        assert!(!exposed(&[("authenticatePeer", Value::Bool(true))], "0.0.0.0:5672"));
    }

    #[test]
    fn a_listener_is_announced_as_configured() {
        let bound = ["127.0.0.1:5672".parse().unwrap()];
        assert_eq!(listener("amqp").announcement(&bound), "Listening on 127.0.0.1:amqp");
    }

    #[test]
    fn a_port_that_the_system_chose_is_announced_with_the_name() {
        let bound = ["127.0.0.1:40001".parse().unwrap()];
        assert_eq!(listener("0").announcement(&bound), "Listening on 127.0.0.1:40001 (l0)");
    }

    #[test]
    fn pauses_between_attempts_to_listen_double_up_to_a_bound() {
        let mut pauses = Vec::new();
        let mut again = None;
        for _ in 0..8 {
            let next = Again::after(again.as_ref(), Duration::from_secs(100), "in use");
            pauses.push((next.at - Duration::from_secs(100)).as_secs());
            again = Some(next);
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30, 30]);
    }

    #[test]
    fn addresses_that_cannot_be_bound_are_left_out_if_others_can() {
        let (here, elsewhere) = ("127.0.0.1:1".parse().unwrap(), "192.0.2.1:1".parse().unwrap());
        assert_eq!(usable(vec![here, elsewhere]), [here]);
    }

    #[test]
    fn the_only_address_is_tried_whatever_it_is() {
        let elsewhere = "192.0.2.1:1".parse().unwrap();
        assert_eq!(usable(vec![elsewhere]), [elsewhere]);
    }
}
