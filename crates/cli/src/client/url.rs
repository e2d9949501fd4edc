//! Where to connect to, and as whom: `[amqp://][user[:password]@]host[:port][/address]`.

use std::fmt;

/// The address of the management node of the router that one is connected to.
pub const DEFAULT_MANAGEMENT: &str = "$management";

/// A parsed URL. All parts but the host may be absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// `amqp` or `amqps`; others are taken like `amqp`.
    pub scheme: String,
    /// Who to authenticate as.
    pub user: Option<String>,
    /// With what.
    pub password: Option<String>,
    /// Host name or IP address, without the brackets of IPv6.
    pub host: String,
    /// As given, a number or a service name; `amqp` or `amqps` if absent.
    pub port: String,
    /// The part behind the host: an AMQP address.
    pub path: Option<String>,
}

impl Url {
    /// Reads a URL.
    ///
    /// # Errors
    /// A sentence, if the port is neither a number nor the name of a service.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("amqp", text));
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, Some(path.to_owned()).filter(|path| !path.is_empty())),
            None => (rest, None),
        };
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let (user, password) = match user.map(|user| user.split_once(':').unwrap_or((user, ""))) {
            Some((user, "")) => (Some(decode(user)), None),
            Some((user, password)) => (Some(decode(user)), Some(decode(password))),
            None => (None, None),
        };
        let (host, port) = split_port(host);
        let port = if port.is_empty() { scheme } else { port };
        let url = Url {
            scheme: scheme.to_owned(),
            user,
            password,
            host: if host.is_empty() { "0.0.0.0" } else { host }.to_owned(),
            port: port.to_owned(),
            path,
        };
        url.port_number().ok_or_else(|| format!("Not a valid port number or service name: '{port}'"))?;
        Ok(url)
    }

    /// The port as a number.
    pub fn port_number(&self) -> Option<u16> {
        match self.port.as_str() {
            "amqps" => Some(5671),
            "amqp" => Some(5672),
            // The port of an unknown scheme, which is taken like amqp.
            port if port == self.scheme => Some(5672),
            port => port.parse().ok(),
        }
    }

    /// Has TLS spoken, if it is wanted, at the port that the URL has anyway.
    pub(crate) fn use_tls_if(&mut self, wanted: bool) {
        if wanted && !self.is_tls() {
            "amqps".clone_into(&mut self.scheme);
        }
    }

    /// Whether the scheme asks for TLS.
    pub fn is_tls(&self) -> bool {
        self.scheme == "amqps"
    }
}

/// The URL as the old tools show it in errors: without user and password, brackets around IPv6.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Url { scheme, host, port, path, .. } = self;
        if host.contains(':') {
            write!(f, "{scheme}://[{host}]:{port}")
        } else {
            write!(f, "{scheme}://{host}:{port}")
        }?;
        path.iter().try_for_each(|path| write!(f, "/{path}"))
    }
}

fn split_port(text: &str) -> (&str, &str) {
    if let Some((host, port)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (host, port.strip_prefix(':').unwrap_or(port));
    }
    text.rsplit_once(':').unwrap_or((text, ""))
}

/// Undoes percent-encoding; what is not well encoded stays as it is.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'%').then(|| after.get(..2)).flatten().and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Url {
        Url::parse(text).expect("valid")
    }

    #[test]
    fn a_bare_host_gets_scheme_and_port() {
        let url = parse("host");
        assert_eq!((url.to_string().as_str(), url.port_number()), ("amqp://host:amqp", Some(5672)));
    }

    #[test]
    fn nothing_at_all_means_this_machine() {
        assert_eq!(parse("").to_string(), "amqp://0.0.0.0:amqp");
    }

    #[test]
    fn user_and_password_are_decoded_and_not_shown() {
        let url = parse("amqps://a%40b:p%3Aw@host:1/queue/x");
        assert_eq!((url.user.as_deref(), url.password.as_deref()), (Some("a@b"), Some("p:w")));
        assert_eq!(url.to_string(), "amqps://host:1/queue/x");
        assert!(url.is_tls());
    }

    #[test]
    fn ipv6_stands_in_brackets() {
        let url = parse("[::1]:15700");
        assert_eq!((url.host.as_str(), url.port_number()), ("::1", Some(15700)));
        assert_eq!(url.to_string(), "amqp://[::1]:15700");
    }

    #[test]
    fn a_port_that_is_none_is_named() {
        assert_eq!(Url::parse("host:xx"), Err("Not a valid port number or service name: 'xx'".to_owned()));
    }

    #[test]
    fn a_percent_sign_that_encodes_nothing_stays() {
        assert_eq!(parse("100%:x%2@host").user.as_deref(), Some("100%"));
    }
}
