//! Private keys, in all forms in which installations have them.

use std::path::Path;
use std::sync::Arc;

use pkcs8::EncryptedPrivateKeyInfo;
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::Kdf;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};
use rustls::sign::SigningKey;

use super::error::{FileKind, TlsError, content, read};
use super::old_key;

/// Rounds of PBKDF2 that a file may ask for: some seconds of work. OpenSSL writes 2048; 600,000 are recommended today.
const MOST_ROUNDS: u32 = 4_000_000;
/// Bytes that scrypt may need. OpenSSL writes files for 16 MiB.
const MOST_MEMORY: u64 = 256 * 1024 * 1024;

/// The password of a key, asked for only if the key needs it.
pub(super) type Password<'p> = &'p dyn Fn() -> Result<String, TlsError>;

/// The first private key of a file.
pub(super) fn load(path: &Path, password: Password<'_>) -> Result<Arc<dyn SigningKey>, TlsError> {
    let text = String::from_utf8_lossy(&read(FileKind::Key, path)?).into_owned();
    let der = find(path, &text, password)?;
    rustls::crypto::aws_lc_rs::sign::any_supported_type(&der).map_err(|error| {
        content(FileKind::Key, path, format!("holds a key that cannot be used ({error}): use RSA, ECDSA or Ed25519"))
    })
}

fn find(path: &Path, text: &str, password: Password<'_>) -> Result<PrivateKeyDer<'static>, TlsError> {
    let wrong = |reason: &str| content(FileKind::Key, path, reason);
    let Some(block) = Block::first(text, |label| label.ends_with("PRIVATE KEY")) else {
        return Err(wrong("has no private key in it: a block that begins with BEGIN and ends with PRIVATE KEY"));
    };
    let bytes = block.bytes().ok_or_else(|| wrong("is not well-formed PEM"))?;
    if block.label == "ENCRYPTED PRIVATE KEY" {
        return decrypt(path, &bytes, &password()?);
    }
    let bytes = match block.header("DEK-Info") {
        Some(info) => old_key::decrypt(info, &bytes, password()?.as_bytes()).map_err(|reason| wrong(&reason))?,
        None => bytes,
    };
    match block.label {
        "PRIVATE KEY" => Ok(PrivatePkcs8KeyDer::from(bytes).into()),
        "RSA PRIVATE KEY" => Ok(PrivatePkcs1KeyDer::from(bytes).into()),
        "EC PRIVATE KEY" => Ok(PrivateSec1KeyDer::from(bytes).into()),
        other => Err(wrong(&format!("holds a {other}, which TLS has no use for: use RSA, ECDSA or Ed25519"))),
    }
}

/// PKCS #8 with a password (PBES2, RFC 8018).
fn decrypt(path: &Path, der: &[u8], password: &str) -> Result<PrivateKeyDer<'static>, TlsError> {
    let wrong = |reason: String| content(FileKind::Key, path, reason);
    let info = EncryptedPrivateKeyInfo::try_from(der).map_err(|_| {
        wrong(
            "is encrypted in a way that is not supported: write it anew with `openssl pkcs8 -topk8 -v2 aes-256-cbc`"
                .to_owned(),
        )
    })?;
    if !is_within_reason(&info.encryption_algorithm) {
        return Err(wrong("takes too much work to decrypt: write it anew with `openssl pkcs8 -topk8`".to_owned()));
    }
    let decrypted = info
        .decrypt(password)
        .map_err(|error| wrong(format!("cannot be decrypted ({error}): is the password right?")))?;
    Ok(PrivatePkcs8KeyDer::from(decrypted.as_bytes().to_vec()).into())
}

/// Whether the work that a file asks for is such as a file written with care asks for.
fn is_within_reason(scheme: &EncryptionScheme<'_>) -> bool {
    let EncryptionScheme::Pbes2(parameters) = scheme else { return true };
    match &parameters.kdf {
        Kdf::Pbkdf2(kdf) => kdf.iteration_count <= MOST_ROUNDS,
        Kdf::Scrypt(kdf) => {
            // RFC 7914, section 2: 128 * N * r bytes, and p times the work.
            let lanes = u64::from(kdf.block_size).saturating_mul(u64::from(kdf.parallelization));
            kdf.cost_parameter.saturating_mul(lanes).saturating_mul(128) <= MOST_MEMORY
        }
        // The library knows no other.
        _ => false,
    }
}

/// A block of a PEM file (RFC 7468), with the header lines of its predecessor (RFC 1421).
struct Block<'t> {
    label: &'t str,
    headers: Vec<(&'t str, &'t str)>,
    body: Vec<&'t str>,
}

impl<'t> Block<'t> {
    /// The first block whose label is wanted. What stands around it is left aside.
    fn first(text: &'t str, wanted: impl Fn(&str) -> bool) -> Option<Self> {
        let mut lines = text.lines().map(str::trim);
        loop {
            let label = lines.next()?.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----"));
            let Some(label) = label.filter(|label| wanted(label)) else { continue };
            let mut block = Self { label, headers: Vec::new(), body: Vec::new() };
            for line in lines {
                if line.starts_with("-----END ") {
                    return Some(block);
                }
                match line.split_once(':') {
                    Some((name, value)) => block.headers.push((name.trim(), value.trim())),
                    None => block.body.push(line),
                }
            }
            return None;
        }
    }

    fn header(&self, name: &str) -> Option<&'t str> {
        self.headers.iter().find(|(header, _)| *header == name).map(|(_, value)| *value)
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        use rustls::pki_types::pem::PemObject;
        // The library's own decoder, given the block without its headers.
        let body = self.body.join("\n");
        let text = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
        PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes()).ok().map(|key| key.secret_pkcs8_der().to_vec())
    }
}
