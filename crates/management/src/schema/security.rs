//! TLS profiles and remote authentication.

use super::base::{CONFIGURATION_ENTITY, OPERATIONAL_ENTITY};
use super::build::{full, integer, list, path, text};
use super::entity_type::EntityType;

/// Material and rules for TLS.
pub static SSL_PROFILE: EntityType = EntityType::new(
    "sslProfile",
    full!("sslProfile"),
    &CONFIGURATION_ENTITY,
    "Certificates, keys and rules for TLS, which listeners and connectors refer to by name.",
)
.operations(&["CREATE", "DELETE"])
.own_operations(&["UPDATE"])
.attributes(&[
    text("ciphers", "The cipher suites that may be used, in OpenSSL's notation.").create().update(),
    text("protocols", "The TLS versions that may be used, such as `TLSv1.2 TLSv1.3`; all if not given.").create().update(),
    path("caCertFile", "PEM file of the authorities that are trusted, or a directory of such files; what the system trusts if not given.").create().update().formerly("certDb"),
    path("certFile", "PEM file of the own certificate and its chain.").create().update(),
    path("privateKeyFile", "PEM file of the own private key.").create().update().formerly("keyFile"),
    path("passwordFile", "File with the password of the private key; write `password: file:...` instead.")
        .create()
        .update()
        .deprecated(),
    text(
        "password",
        "Password of the private key: `env:NAME` for an environment variable, `file:PATH` for the first line of a file, \
         `pass:TEXT` or `literal:TEXT` for the text itself.",
    )
    .create()
    .update()
    .hidden(),
    text(
        "uidFormat",
        "Which parts of a peer's certificate make up its user id: c country, s state, l locality, o organisation, \
         u unit, n common name, and the fingerprints 1 (SHA-1), 2 (SHA-256), 5 (SHA-512), in the order written.",
    )
    .create()
    .update(),
    text("uidNameMappingFile", "JSON file that maps user ids to the names to be used instead.")
        .create()
        .update()
        .formerly("displayNameFile"),
]);

/// A certificate of a profile.
pub static CERTIFICATE: EntityType = EntityType::new(
    "certificate",
    full!("certificate"),
    &OPERATIONAL_ENTITY,
    "A certificate in a file of an sslProfile. The old router has no such type; it is not listed among all types.",
)
.attributes(&[
    text("profile", "The name of the sslProfile."),
    text("use", "`own`: what the router shows to its peers; `authority`: what it trusts."),
    text("subject", "Whose it is, as OpenSSL writes it with `-nameopt RFC2253`."),
    text("file", "The file that it is in."),
    text("notBefore", "From when it is valid: a timestamp."),
    text("notAfter", "Until when it is valid: a timestamp."),
    integer("daysLeft", "How many whole days it is still valid; negative if it has expired."),
]);

/// A service that authenticates clients.
pub static AUTH_SERVICE_PLUGIN: EntityType = EntityType::new(
    "authServicePlugin",
    full!("authServicePlugin"),
    &CONFIGURATION_ENTITY,
    "A service that authenticates clients for the router, and may say what addresses they can use.",
)
.operations(&["CREATE", "DELETE"])
.attributes(&[
    text("authService", "Host and port of the service, `host:port`; use host and port instead.").create().deprecated(),
    text("host", "Host of the service.").default_text("").create(),
    text("port", "Port number or service name of the service.").default_text("amqp").create(),
    text("realm", "The realm that is given to the service as SASL host name.").create().formerly("saslInitHostname"),
    text("sslProfile", "The TLS profile for connections to the service.").create().formerly("authSslProfile"),
]);

/// A user of the router's own.
pub static USER: EntityType = EntityType::new(
    "user",
    full!("user"),
    &OPERATIONAL_ENTITY,
    "A user in the file that the router's usersFile names. (Not in Qpid Dispatch Router.)",
)
.operations(&["CREATE", "UPDATE", "DELETE"])
.attributes(&[
    text("password", "The user's password; it is never shown.").create().update().hidden(),
    list("mechanisms", "The SASL mechanisms by which the user can be authenticated, beside PLAIN."),
]);
