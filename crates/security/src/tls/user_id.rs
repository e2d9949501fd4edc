//! Who the owner of a certificate is: `uidFormat` and `uidNameMappingFile`.

use std::collections::HashMap;
use std::path::Path;

use aws_lc_rs::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA512, digest};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::error::{FileKind, TlsError, content, read};
use super::subject;

/// How the owners of certificates are called.
#[derive(Debug, Default)]
pub struct UserIds {
    format: String,
    /// Names for ids.
    names: HashMap<String, String>,
}

impl UserIds {
    /// By a format (`uidFormat`) and a file of names for what it yields, each if there is one.
    ///
    /// # Errors
    /// If the file cannot be read, or is no JSON object of texts.
    pub fn new(format: Option<&str>, names: Option<&Path>) -> Result<Self, TlsError> {
        let names = names.map(load).transpose()?.unwrap_or_default();
        Ok(Self { format: format.unwrap_or_default().to_owned(), names })
    }

    /// The letters of the format that mean nothing; such a format is not used.
    pub fn unknown_letter(&self) -> Option<char> {
        self.format.chars().find(|letter| !"csloun125".contains(*letter))
    }

    /// What the owner of this certificate (DER) is called; `None` if it is no certificate. Without a format, or if nothing of what it asks for is there, it is
    /// the subject.
    pub fn of(&self, certificate: &[u8]) -> Option<String> {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        let by_format = self.unknown_letter().is_none().then(|| self.by_format(certificate, &parsed)).flatten();
        let Some(id) = by_format else { return Some(subject::rfc2253(parsed.subject())) };
        let name = self.names.get(&id).cloned();
        Some(name.unwrap_or(id))
    }

    fn by_format(&self, der: &[u8], certificate: &X509Certificate<'_>) -> Option<String> {
        let field = |oid| subject::first_field(certificate, oid);
        let parts = self.format.chars().filter_map(|letter| match letter {
            'c' => field("2.5.4.6"),
            's' => field("2.5.4.8"),
            'l' => field("2.5.4.7"),
            'o' => field("2.5.4.10"),
            'u' => field("2.5.4.11"),
            'n' => field("2.5.4.3"),
            '1' => Some(fingerprint(&SHA1_FOR_LEGACY_USE_ONLY, der)),
            '2' => Some(fingerprint(&SHA256, der)),
            '5' => Some(fingerprint(&SHA512, der)),
            _ => None,
        });
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        (!parts.is_empty()).then(|| parts.join(";"))
    }
}

/// Of the whole certificate, in small hexadecimal digits.
fn fingerprint(algorithm: &'static Algorithm, der: &[u8]) -> String {
    digest(algorithm, der).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn load(path: &Path) -> Result<HashMap<String, String>, TlsError> {
    serde_json::from_slice(&read(FileKind::Names, path)?)
        .map_err(|error| content(FileKind::Names, path, format!("is no JSON object of ids with a name each: {error}")))
}
