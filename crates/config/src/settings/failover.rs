//! Alternative addresses that a listener tells its clients: `failoverUrls`.

use management::schema::{Class, Invalid};

/// Where else a client can connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailoverServer {
    /// `amqp`, `amqps`, ...; `None` if it was not written.
    pub scheme: Option<String>,
    /// Host name or address.
    pub host: String,
    /// Port number or service name; 5672 if it was not written.
    pub port: String,
}

impl FailoverServer {
    /// Reads a list of `[scheme://]host[:port]` separated by commas; blanks do not count.
    ///
    /// # Errors
    /// If an item of the list has no host.
    pub fn parse_list(list: &str) -> Result<Vec<Self>, Invalid> {
        let list: String = list.chars().filter(|c| !c.is_whitespace()).collect();
        list.split(',').filter(|item| !item.is_empty()).map(FailoverServer::parse).collect()
    }

    fn parse(item: &str) -> Result<Self, Invalid> {
        let (scheme, rest) = match item.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_owned()).filter(|scheme| !scheme.is_empty()), rest),
            None => (None, item),
        };
        let (host, port) = split_port(rest);
        if host.is_empty() {
            let hint = "write host, host:port or scheme://host:port, separated by commas";
            let text = "Value: No network host in failover item";
            return Err(Invalid::attribute("failoverUrls", Class::Configuration, text).hint(hint).late());
        }
        Ok(FailoverServer { scheme, host: host.to_owned(), port: port.unwrap_or("5672").to_owned() })
    }
}

/// Splits `host:port`; an IPv6 address that has a port is in brackets.
fn split_port(text: &str) -> (&str, Option<&str>) {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (host, rest.strip_prefix(':').filter(|port| !port.is_empty()));
    }
    match text.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port).filter(|port| !port.is_empty())),
        Some(_) => (text, None),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_and_port_may_be_left_out() {
        let list = FailoverServer::parse_list("some-host").unwrap();
        assert_eq!(list, [FailoverServer { scheme: None, host: "some-host".into(), port: "5672".into() }]);
    }

    #[test]
    fn blanks_in_the_list_do_not_count() {
        let list = FailoverServer::parse_list("amqps://a:1 , b:2").unwrap();
        assert_eq!((list[0].scheme.as_deref(), &*list[0].host, &*list[1].port), (Some("amqps"), "a", "2"));
    }

    #[test]
    fn an_item_without_a_host_is_refused() {
        assert_eq!(
            FailoverServer::parse_list("amqp://:5672").unwrap_err().text,
            "Value: No network host in failover item"
        );
    }

    #[test]
    fn an_ipv6_address_in_brackets_keeps_its_colons() {
        let list = FailoverServer::parse_list("amqp://[::1]:9").unwrap();
        assert_eq!((&*list[0].host, &*list[0].port), ("::1", "9"));
    }
}
