//! What a certificate says of its owner, to those who have nothing but the certificate.

use x509_parser::prelude::{FromDer, X509Certificate};

use super::{hostname, subject};

/// The subject of a certificate (DER), as OpenSSL prints it with `-nameopt RFC2253`: in printable ASCII, whatever is in it.
/// `None`: it is no certificate.
pub fn subject_of(certificate: &[u8]) -> Option<String> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    Some(subject::rfc2253(parsed.subject()))
}

/// Whether a certificate (DER) is for this host; `None`: it is no certificate.
pub fn is_for_host(certificate: &[u8], host: &str) -> Option<bool> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    Some(hostname::matches(&parsed, host))
}
