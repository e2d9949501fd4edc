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
    /// Versions of TLS that may be used, as written; `None`: all there are.
    pub protocols: Option<Vec<String>>,
    /// PEM file of the trusted authorities.
    pub ca_cert_file: Option<String>,
    /// PEM file of the own certificate chain.
    pub cert_file: Option<String>,
    /// PEM file of the own private key.
    pub private_key_file: Option<String>,
    /// Password of the private key.
    pub password: Option<Secret>,
    /// Which fields of a peer's certificate make up its user id; as written, letters that mean nothing included.
    pub uid_format: Option<String>,
    /// JSON file that maps user ids to names.
    pub uid_name_mapping_file: Option<String>,
}

impl SslProfileConfig {
    /// Reads the settings of an `sslProfile` entity.
    ///
    /// # Errors
    /// If it has no name. What else is wrong with it shows when a connection needs it, as with the old router.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let words = |text: String| {
            text.split([' ', ',', ';', '\t']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let password = read.text("password").map(|text| Secret::parse(&text));
        Ok(SslProfileConfig {
            name: name_of(attributes, "sslProfile")?,
            ciphers: read.text("ciphers"),
            protocols: read.text("protocols").map(words),
            ca_cert_file: read.text("caCertFile"),
            cert_file: read.text("certFile"),
            private_key_file: read.text("privateKeyFile"),
            password: password.or_else(|| read.text("passwordFile").map(Secret::File)),
            uid_format: read.text("uidFormat"),
            uid_name_mapping_file: read.text("uidNameMappingFile"),
        })
    }
}

/// What is wrong with the attributes of a profile that could be used all the same, by attribute. The old router says so
/// only when a connection needs it.
pub(crate) fn remarks_on_profile(attributes: &Attributes) -> Vec<(&'static str, String)> {
    let letter = attributes.text("uidFormat").and_then(|text| text.chars().find(|it| !"csloun125".contains(*it)));
    let letter = letter.map(|letter| {
        let text = format!(
            "Unrecognized component '{letter}' in uidFormat: users are called by the subject of their certificate instead"
        );
        ("uidFormat", text)
    });
    let words = attributes.text("protocols").unwrap_or_default().split([' ', ',', ';', '\t']);
    let mut unknown = words.filter(|word| !word.is_empty() && !PROTOCOLS.contains(word));
    let unknown = unknown.next().map(|word| {
        let text = format!("Unknown protocol '{word}': no connection can be made with this profile");
        ("protocols", text)
    });
    letter.into_iter().chain(unknown).collect()
}

/// The versions of TLS that can be written in `protocols`.
const PROTOCOLS: [&str; 4] = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

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
