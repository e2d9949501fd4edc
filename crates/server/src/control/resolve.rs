//! From a configured host and port to socket addresses.
//!
//! Looking a name up can take as long as a name server likes, so it happens on threads of its own; addresses are
//! read at once.

use config::AddressFamily;
use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

/// A host and a port as configured.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HostPort {
    /// Address or name; empty: all addresses of this machine.
    pub(crate) host: String,
    /// Number or service name.
    pub(crate) port: String,
    /// Which kind of address is wanted; `None`: any.
    pub(crate) family: Option<AddressFamily>,
}

/// Finds the addresses of a name, for as long as that takes: it is called on a thread that may block.
#[derive(Clone)]
pub(crate) struct Resolver(Arc<Find>);

type Find = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

impl Resolver {
    /// Asks the system.
    pub(crate) fn of_system() -> Self {
        Self::of(|host, port| (host, port).to_socket_addrs().map(Vec::from_iter))
    }

    /// Asks whoever is to be asked.
    pub(crate) fn of(find: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    async fn look_up(&self, host: String, port: u16) -> Result<Vec<SocketAddr>, String> {
        let find = Arc::clone(&self.0);
        match tokio::task::spawn_blocking(move || find(&host, port)).await {
            Ok(Ok(addresses)) => Ok(addresses),
            Ok(Err(error)) => Err(system_words(&error)),
            Err(_) => Err("the name look-up was cut short".to_owned()),
        }
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

impl HostPort {
    /// `host:port`, as logs and management show it.
    pub(crate) fn text(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The addresses, in the order in which they are to be tried; never an empty list.
    ///
    /// # Errors
    /// What is wrong with host or port, in the system's words.
    pub(crate) async fn resolve(self, resolver: &Resolver) -> Result<Vec<SocketAddr>, String> {
        let port = port_number(&self.port)?;
        let addresses = match self.host_without_lookup() {
            Some(addresses) => addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect(),
            None => match (resolver.look_up(self.host.clone(), port).await, self.loopback()) {
                (Err(_), Some(loopback)) => vec![SocketAddr::new(loopback, port)],
                (found, _) => found?,
            },
        };
        let wanted: Vec<SocketAddr> = addresses.into_iter().filter(|address| self.wants(address)).collect();
        if wanted.is_empty() {
            return Err("Address family for hostname not supported".to_owned());
        }
        Ok(wanted)
    }

    fn host_without_lookup(&self) -> Option<Vec<IpAddr>> {
        if self.host.is_empty() {
            return Some(vec![Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()]);
        }
        self.host.parse().ok().map(|address| vec![address])
    }

    /// The address of `localhost` where no file says it, as on systems that were just put together: it is that of this machine
    /// always (RFC 6761, section 6.3).
    fn loopback(&self) -> Option<IpAddr> {
        self.host.eq_ignore_ascii_case("localhost").then(|| match self.family {
            Some(AddressFamily::IPv6) => Ipv6Addr::LOCALHOST.into(),
            _ => Ipv4Addr::LOCALHOST.into(),
        })
    }

    fn wants(&self, address: &SocketAddr) -> bool {
        match self.family {
            None => true,
            Some(AddressFamily::IPv4) => address.is_ipv4(),
            Some(AddressFamily::IPv6) => address.is_ipv6(),
        }
    }
}

/// The system's own words, without what the standard library puts around them.
pub(crate) fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}

/// The number of a port given as number or service name.
fn port_number(port: &str) -> Result<u16, String> {
    if let Ok(number) = port.parse() {
        return Ok(number);
    }
    if let Some(number) = registered_port(&fs::read_to_string("/etc/services").unwrap_or_default(), port) {
        return Ok(number);
    }
    match port {
        // Small systems have no list of services.
        "amqp" => Ok(5672),
        "amqps" => Ok(5671),
        _ => Err("Servname not supported for ai_socktype".to_owned()),
    }
}

/// The TCP port of a service in the form of `/etc/services`: name, `port/protocol`, aliases.
fn registered_port(services: &str, name: &str) -> Option<u16> {
    services.lines().find_map(|line| {
        let mut words = line.split('#').next().unwrap_or_default().split_ascii_whitespace();
        let (official, port) = (words.next()?, words.next()?);
        let port = port.strip_suffix("/tcp")?.parse().ok()?;
        (official == name || words.any(|alias| alias == name)).then_some(port)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn resolve(host: &str, port: &str, family: Option<AddressFamily>) -> Result<Vec<SocketAddr>, String> {
        HostPort { host: host.to_owned(), port: port.to_owned(), family }.resolve(&Resolver::of_system()).await
    }

    #[tokio::test]
    async fn no_host_means_all_addresses_of_both_families() {
        let addresses = resolve("", "0", None).await.unwrap();
        assert_eq!(addresses, ["0.0.0.0:0".parse().unwrap(), "[::]:0".parse().unwrap()]);
    }

    #[tokio::test]
    async fn a_family_leaves_the_other_out() {
        assert_eq!(resolve("", "7", Some(AddressFamily::IPv4)).await.unwrap(), ["0.0.0.0:7".parse().unwrap()]);
    }

    #[tokio::test]
    async fn an_address_of_the_wrong_family_is_refused() {
        assert!(resolve("127.0.0.1", "7", Some(AddressFamily::IPv6)).await.is_err());
    }

    #[tokio::test]
    async fn amqp_is_a_port_on_every_system() {
        assert_eq!(resolve("127.0.0.1", "amqp", None).await.unwrap(), ["127.0.0.1:5672".parse().unwrap()]);
    }

    #[tokio::test]
    async fn localhost_is_this_machine_though_nobody_knows_the_name() {
        let nobody = Resolver::of(|_, _| Err(io::Error::other("Temporary failure in name resolution")));
        let resolve = async |host: &str, family| {
            HostPort { host: host.to_owned(), port: "7".to_owned(), family }.resolve(&nobody).await
        };
        assert_eq!(resolve("localhost", None).await.unwrap(), ["127.0.0.1:7".parse().unwrap()]);
        assert_eq!(resolve("localhost", Some(AddressFamily::IPv6)).await.unwrap(), ["[::1]:7".parse().unwrap()]);
        assert!(resolve("elsewhere", None).await.is_err());
    }

    #[tokio::test]
    async fn a_port_that_is_no_service_is_refused() {
        assert!(resolve("127.0.0.1", "no-such-service", None).await.is_err());
    }

    #[test]
    fn services_are_found_by_alias_and_only_for_tcp() {
        let services = "domain 53/udp\nhttp 80/tcp www # web\n#amqp 1/tcp\n";
        assert_eq!(registered_port(services, "www"), Some(80));
        assert_eq!(registered_port(services, "domain"), None);
        assert_eq!(registered_port(services, "amqp"), None);
    }

    #[test]
    fn the_systems_words_come_without_the_error_number() {
        let error = io::Error::from_raw_os_error(libc::EADDRINUSE);
        assert_eq!(system_words(&error), "Address already in use");
    }
}
