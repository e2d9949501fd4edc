//! The `sslProfile` and `authServicePlugin` sections.

use super::read::Reader;
use super::secret::Secret;
use management::Attributes;
use management::schema::{Class, Invalid};

/// What an `sslProfile` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct SslProfileConfig {
    /// The name that listeners and connectors refer to.
    pub name: String,
    /// Cipher suites, in OpenSSL's notation.
    pub ciphers: Option<String>,
    /// Versions of TLS that may be used; `None`: all there are.
    pub protocols: Option<Vec<String>>,
    /// PEM file of the trusted authorities.
    pub ca_cert_file: Option<String>,
    /// PEM file of the own certificate chain.
    pub cert_file: Option<String>,
    /// PEM file of the own private key.
    pub private_key_file: Option<String>,
    /// Password of the private key.
    pub password: Option<Secret>,
    /// Which fields of a peer's certificate make up its user id.
    pub uid_format: Option<String>,
    /// JSON file that maps user ids to names.
    pub uid_name_mapping_file: Option<String>,
}

/// The versions of TLS that can be written in `protocols`.
const PROTOCOLS: [&str; 4] = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

impl SslProfileConfig {
    /// Reads the settings of an `sslProfile` entity.
    ///
    /// # Errors
    /// If it has no name, or a protocol or the uid format is unknown.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let protocols = read.text("protocols").map(|text| protocols(&text)).transpose()?;
        let password = read.text("password").map(|text| Secret::parse(&text));
        Ok(SslProfileConfig {
            name: name_of(attributes, "sslProfile")?,
            ciphers: read.text("ciphers"),
            protocols,
            ca_cert_file: read.text("caCertFile"),
            cert_file: read.text("certFile"),
            private_key_file: read.text("privateKeyFile"),
            password: password.or_else(|| read.text("passwordFile").map(Secret::File)),
            uid_format: read.text("uidFormat").map(|text| uid_format(&text)).transpose()?,
            uid_name_mapping_file: read.text("uidNameMappingFile"),
        })
    }
}

fn protocols(text: &str) -> Result<Vec<String>, Invalid> {
    let words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    words
        .map(|word| {
            if PROTOCOLS.contains(&word) {
                return Ok(word.to_owned());
            }
            let text = format!("Unknown protocol '{word}' in sslProfile");
            Err(Invalid::attribute("protocols", Class::Value, text)
                .hint(format!("write some of {}, separated by blanks", PROTOCOLS.join(" "))))
        })
        .collect()
}

/// Checks a `uidFormat`: letters out of `csloun125`, none twice.
fn uid_format(text: &str) -> Result<String, Invalid> {
    let wrong = |letter: char, what: &str| {
        let text = format!("{what} component '{letter}' in uidFormat");
        Invalid::attribute("uidFormat", Class::Value, text)
            .hint("use each of the letters c s l o u n 1 2 5 at most once")
    };
    for (index, letter) in text.char_indices() {
        if !"csloun125".contains(letter) {
            return Err(wrong(letter, "Unrecognized"));
        }
        if text[..index].contains(letter) {
            return Err(wrong(letter, "Duplicate"));
        }
    }
    Ok(text.to_owned())
}

/// What an `authServicePlugin` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct AuthServiceConfig {
    /// The name that listeners refer to.
    pub name: String,
    /// Host of the service.
    pub host: String,
    /// Port number or service name.
    pub port: String,
    /// The realm: hostname of the SASL exchange.
    pub realm: Option<String>,
    /// Name of the `sslProfile`.
    pub ssl_profile: Option<String>,
}

impl AuthServiceConfig {
    /// Reads the settings of an `authServicePlugin` entity; the former `authService: host:port` is understood.
    ///
    /// # Errors
    /// If it has no name or no host.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let (mut host, mut port) = (read.text("host"), read.text_or("port", "amqp"));
        if let (None, Some(service)) = (&host, read.text("authService")) {
            match service.rsplit_once(':') {
                Some((before, after)) => {
                    host = Some(before.to_owned());
                    after.clone_into(&mut port);
                }
                None => host = Some(service),
            }
        }
        let name = name_of(attributes, "authServicePlugin")?;
        let Some(host) = host.filter(|host| !host.is_empty()) else {
            let text = format!("No host for authServicePlugin {name}");
            return Err(Invalid::attribute("host", Class::Value, text).hint("add host: and port: of the service"));
        };
        Ok(AuthServiceConfig { name, host, port, realm: read.text("realm"), ssl_profile: read.text("sslProfile") })
    }
}

fn name_of(attributes: &Attributes, entity: &str) -> Result<String, Invalid> {
    attributes.text("name").filter(|name| !name.is_empty()).map(str::to_owned).ok_or_else(|| {
        Invalid::attribute("name", Class::Validation, format!("No name for {entity}"))
            .hint("add a name: others refer to it")
    })
}
