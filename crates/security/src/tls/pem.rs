//! Certificates and revocation lists from PEM files.

use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};

use super::error::{FileKind, TlsError, content, read, words};

/// Largest file that is read, in bytes: the certificates of all public authorities are a tenth of it.
const LARGEST: usize = 16 * 1024 * 1024;

/// The certificates in a file, in order; at least one. Text around them is left aside, as OpenSSL does.
pub(super) fn certificates(what: FileKind, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = certificates_in(what, path, &read(what, path)?)?;
    if found.is_empty() {
        return Err(content(what, path, "has no certificate in it: a block that begins with BEGIN CERTIFICATE"));
    }
    Ok(found)
}

fn certificates_in(what: FileKind, path: &Path, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    if text.len() > LARGEST {
        return Err(content(what, path, "is too large to be a file of certificates"));
    }
    // OpenSSL writes those with trust settings, and some old tools "X509": the same certificate inside.
    let text = String::from_utf8_lossy(text).replace(" X509 CERTIFICATE-----", " CERTIFICATE-----");
    let broken = |error| content(what, path, format!("is not well-formed PEM: {error}"));
    CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<_, _>>().map_err(broken)
}

/// Whom a profile trusts.
pub(super) struct Authorities {
    /// Their certificates.
    pub(super) certificates: Vec<CertificateDer<'static>>,
    /// Certificates that they have taken back.
    pub(super) revoked: Vec<CertificateRevocationListDer<'static>>,
}

/// The authorities in a file, or in all files of a directory; at least one.
pub(super) fn authorities(path: &Path) -> Result<Authorities, TlsError> {
    let what = FileKind::Authorities;
    let failed = |error: std::io::Error| TlsError::File { what, path: path.to_owned(), reason: words(&error) };
    let mut found = Authorities { certificates: Vec::new(), revoked: Vec::new() };
    if std::fs::metadata(path).map_err(failed)?.is_dir() {
        let mut files: Vec<_> = std::fs::read_dir(path).map_err(failed)?.flatten().map(|file| file.path()).collect();
        files.sort();
        for file in files.into_iter().filter(|file| file.is_file()) {
            // Other things may lie there; OpenSSL looks only at what it needs.
            if let Ok(more) = read(what, &file).and_then(|text| in_text(&file, &text)) {
                found.certificates.extend(more.certificates);
                found.revoked.extend(more.revoked);
            }
        }
    } else {
        found = in_text(path, &read(what, path)?)?;
    }
    if found.certificates.is_empty() {
        return Err(content(what, path, "has no certificate in it: a block that begins with BEGIN CERTIFICATE"));
    }
    Ok(found)
}

fn in_text(path: &Path, text: &[u8]) -> Result<Authorities, TlsError> {
    let certificates = certificates_in(FileKind::Authorities, path, text)?;
    let revoked: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(text).collect();
    let broken = |error| content(FileKind::Authorities, path, format!("is not well-formed PEM: {error}"));
    Ok(Authorities { certificates, revoked: revoked.map_err(broken)? })
}
