//! The servers a connector may turn to: the configured one, and those its peers told of.
//!
//! The old router's rules: a peer's `failover-server-list` replaces what former peers told, an empty one clears it, and
//! the configured server and the one in use always stay.

use amqp::{Map, Value};

/// Addresses tried this often before the next one has its turn.
const TRIES_EACH: u32 = 2;
/// More than any operator lists; a peer must not make this router's memory grow.
const MOST_SERVERS: usize = 64;
/// Longest host name or port taken from a peer: that of a domain name.
const MOST_CHARACTERS: usize = 255;

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// `amqp` or `amqps`.
    pub(crate) scheme: String,
    /// Address or name.
    pub(crate) host: String,
    /// Number or service name.
    pub(crate) port: String,
}

impl Server {
    /// The server that a connector's attributes name.
    pub(crate) fn configured(host: &str, port: &str, tls: bool) -> Self {
        let scheme = if tls { "amqps" } else { "amqp" };
        Server { scheme: scheme.to_owned(), host: host.to_owned(), port: port.to_owned() }
    }

    fn same_place(&self, other: &Server) -> bool {
        self.host == other.host && self.port == other.port
    }

    /// The server that a list's entry, or the error of a redirection, names.
    pub(crate) fn from_entry(entry: &Map) -> Option<Self> {
        let text = |key: &str| {
            let value = entry.0.iter().find(|(name, _)| plain_text(name).as_deref() == Some(key));
            value.and_then(|(_, value)| plain_text(value)).filter(|text| text.len() <= MOST_CHARACTERS)
        };
        Some(Server {
            host: text("network-host").filter(|host| !host.is_empty())?,
            port: text("port").unwrap_or_else(|| "5672".to_owned()),
            scheme: text("scheme").unwrap_or_else(|| "amqp".to_owned()),
        })
    }
}

/// A string, a symbol, or a number written out.
fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Symbol(symbol) => Some(symbol.as_str().to_owned()),
        number => management::attributes::integer(number).map(|number| number.to_string()),
    }
}

/// The `failover-server-list` among the properties of a peer's open; `None` if it has none.
pub(crate) fn advertised(properties: &Map) -> Option<Vec<Server>> {
    let (_, list) = properties.0.iter().find(|(key, _)| plain_text(key).as_deref() == Some("failover-server-list"))?;
    let Value::List(entries) = list else { return None };
    let servers = entries.iter().filter_map(|entry| match entry {
        Value::Map(entry) => Server::from_entry(entry),
        _ => None,
    });
    Some(servers.take(MOST_SERVERS).collect())
}

/// The servers in the order of their turns. Never empty: the configured one comes first.
#[derive(Debug)]
pub(crate) struct FailoverList {
    servers: Vec<Server>,
    current: usize,
    /// Attempts that failed on the current server since it had its turn.
    failed: u32,
    /// Where the current one has sent us, for one attempt.
    aside: Option<Server>,
}

impl FailoverList {
    /// A list of the configured server only.
    pub(crate) fn new(configured: Server) -> Self {
        FailoverList { servers: vec![configured], current: 0, failed: 0, aside: None }
    }

    /// The server in use, or next to be tried.
    pub(crate) fn current(&self) -> &Server {
        // `current` is an index into `servers` at all times: both are changed together below.
        self.aside.as_ref().unwrap_or(&self.servers[self.current])
    }

    /// The server in use sends us to another one.
    pub(crate) fn turn_aside(&mut self, server: Server) {
        self.aside = Some(server);
    }

    /// Whether there is more than the configured server.
    pub(crate) fn has_alternatives(&self) -> bool {
        self.servers.len() > 1
    }

    /// An attempt failed, or the connection was lost.
    pub(crate) fn failed(&mut self) {
        if self.aside.take().is_some() {
            // Who sent us there is asked again.
            return;
        }
        self.failed += 1;
        if self.failed >= TRIES_EACH {
            self.failed = 0;
            self.current = (self.current + 1) % self.servers.len();
        }
    }

    /// The current server was reached.
    pub(crate) fn succeeded(&mut self) {
        self.failed = 0;
    }

    /// Takes over what a peer told. Returns the hosts that are new.
    pub(crate) fn learn(&mut self, advertised: Vec<Server>) -> Vec<String> {
        let mut servers = vec![self.servers[0].clone()];
        if self.current != 0 {
            servers.push(self.servers[self.current].clone());
        }
        self.current = servers.len() - 1;
        for server in advertised {
            if !servers.iter().any(|known| known.same_place(&server)) {
                servers.push(server);
            }
        }
        let former = std::mem::replace(&mut self.servers, servers);
        let is_new = |server: &&Server| !former.iter().any(|known| known.same_place(server));
        self.servers.iter().filter(is_new).map(|server| server.host.clone()).collect()
    }

    /// The connector's `failoverUrls`, beginning with the server in use.
    pub(crate) fn urls(&self) -> String {
        let in_turn = self.servers[self.current..].iter().chain(&self.servers[..self.current]);
        let from_current = self.aside.iter().chain(in_turn);
        let urls: Vec<String> =
            from_current.map(|server| format!("{}://{}:{}", server.scheme, server.host, server.port)).collect();
        urls.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str) -> Server {
        Server::configured(host, "5672", false)
    }

    fn list(others: &[&str]) -> FailoverList {
        let mut list = FailoverList::new(server("configured"));
        list.learn(others.iter().map(|host| server(host)).collect());
        list
    }

    #[test]
    fn each_server_is_tried_twice_before_the_next_has_its_turn() {
        let mut list = list(&["b"]);
        let mut tried = Vec::new();
        for _ in 0..5 {
            tried.push(list.current().host.clone());
            list.failed();
        }
        assert_eq!(tried, ["configured", "configured", "b", "b", "configured"]);
    }

    #[test]
    fn a_server_that_was_reached_has_both_tries_again() {
        let mut list = list(&["b"]);
        list.failed();
        list.succeeded();
        list.failed();
        assert_eq!(list.current().host, "configured");
    }

    #[test]
    fn a_new_list_replaces_the_former_but_keeps_configured_and_current() {
        let mut list = list(&["b", "c"]);
        list.failed();
        list.failed();
        list.learn(vec![server("d"), server("b")]);
        assert_eq!(list.urls(), "amqp://b:5672, amqp://d:5672, amqp://configured:5672");
    }

    #[test]
    fn a_redirection_is_followed_once_and_takes_nobodys_turn() {
        let mut list = list(&["b"]);
        list.failed();
        list.turn_aside(server("elsewhere"));
        assert_eq!(list.current().host, "elsewhere");
        assert_eq!(list.urls(), "amqp://elsewhere:5672, amqp://configured:5672, amqp://b:5672");
        list.failed();
        assert_eq!(list.current().host, "configured");
        list.failed();
        assert_eq!(list.current().host, "b");
    }

    #[test]
    fn an_empty_list_clears_the_former() {
        let mut list = list(&["b"]);
        list.learn(Vec::new());
        assert_eq!(list.urls(), "amqp://configured:5672");
    }

    #[test]
    fn only_new_hosts_are_reported() {
        let mut list = list(&["b"]);
        assert_eq!(list.learn(vec![server("b"), server("c")]), ["c"]);
    }

    #[test]
    fn entries_that_make_no_sense_are_passed_over() {
        let entry = |host: &str| Value::Map(Map(vec![("network-host".into(), host.into())]));
        let list = Value::List(vec![entry("a"), Value::Null, entry(""), entry("b")]);
        let properties = Map(vec![(Value::Symbol("failover-server-list".into()), list)]);
        let hosts: Vec<_> = advertised(&properties).unwrap().into_iter().map(|server| server.host).collect();
        assert_eq!(hosts, ["a", "b"]);
    }

    #[test]
    fn an_entry_defaults_to_amqp_on_its_registered_port_and_needs_a_host() {
        let entry = |pairs: &[(&str, &str)]| {
            let pair = |(key, value): &(&str, &str)| (Value::Symbol((*key).into()), Value::String((*value).into()));
            Server::from_entry(&Map(pairs.iter().map(pair).collect()))
        };
        assert_eq!(entry(&[("network-host", "h")]), Some(Server::configured("h", "5672", false)));
        assert_eq!(entry(&[("port", "1")]), None);
    }
}
