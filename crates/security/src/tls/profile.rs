//! What an `sslProfile` says, with the contents of its files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use config::SslProfileConfig;
use rustls::SupportedProtocolVersion;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::CertificateDer;
use rustls::sign::CertifiedKey;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::ciphers;
use super::error::{FileKind, TlsError};
use super::key;
use super::pem::{self, Authorities};
use super::protocols;
use super::user_id::UserIds;

/// A profile, loaded.
pub struct Profile {
    pub(super) name: String,
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) versions: Vec<&'static SupportedProtocolVersion>,
    pub(super) own: Option<Arc<CertifiedKey>>,
    pub(super) authorities: Option<Authorities>,
    pub(super) user_ids: Arc<UserIds>,
    authorities_path: Option<PathBuf>,
    certificate_path: Option<PathBuf>,
    remarks: Vec<String>,
}

/// Until when a certificate is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The file it is in.
    pub file: PathBuf,
    /// It is one of those that are trusted, not the own one.
    pub trusted: bool,
    /// Whose it is.
    pub subject: String,
    /// Seconds since 1970 from which it is valid.
    pub not_before: i64,
    /// Seconds since 1970 until which it is valid.
    pub not_after: i64,
}

impl Validity {
    /// Whole days left at this time; negative: it has expired.
    pub fn days_left(&self, now: SystemTime) -> i64 {
        let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
        (self.not_after - now).div_euclid(24 * 60 * 60)
    }
}

impl Profile {
    /// Loads what the profile's files say.
    ///
    /// # Errors
    /// If something that the profile names cannot be used.
    pub fn load(config: &SslProfileConfig) -> Result<Self, TlsError> {
        let path = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(PathBuf::from);
        let (authorities_path, certificate_path) = (path(&config.ca_cert_file), path(&config.cert_file));
        let authorities = authorities_path.as_deref().map(pem::authorities).transpose()?;
        let (versions, remark) = protocols::evaluate(config.protocols.as_deref())?;
        let speaks = |version| versions.iter().any(|known| known.version == version);
        let chosen = ciphers::evaluate(
            config.ciphers.as_deref(),
            speaks(rustls::ProtocolVersion::TLSv1_2),
            speaks(rustls::ProtocolVersion::TLSv1_3),
        )?;
        let provider = CryptoProvider { cipher_suites: chosen.suites, ..aws_lc_rs::default_provider() };
        let own = own(config, certificate_path.as_deref(), path(&config.private_key_file).as_deref())?;
        let user_ids = UserIds::new(config.uid_format.as_deref(), path(&config.uid_name_mapping_file).as_deref())?;
        let mut remarks: Vec<String> = remark.into_iter().collect();
        if !chosen.missing.is_empty() {
            remarks.push(format!("{} in ciphers name nothing that is available", chosen.missing.join(", ")));
        }
        Ok(Self {
            name: config.name.clone(),
            provider: Arc::new(provider),
            versions,
            own,
            authorities,
            user_ids: Arc::new(user_ids),
            authorities_path,
            certificate_path,
            remarks,
        })
    }

    /// The profile's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What of the profile is not available and was left out, a sentence each.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The first letter of `uidFormat` that means nothing; such a format is not used.
    pub fn unknown_uid_letter(&self) -> Option<char> {
        self.user_ids.unknown_letter()
    }

    /// Until when the profile's own certificates are valid, and those it trusts.
    pub fn validities(&self) -> Vec<Validity> {
        let own = self.own.iter().flat_map(|own| &own.cert);
        let own =
            self.certificate_path.iter().flat_map(|path| own.clone().filter_map(|der| validity(path, der, false)));
        let trusted = self.authorities.iter().flat_map(|authorities| &authorities.certificates);
        let trusted =
            self.authorities_path.iter().flat_map(|path| trusted.clone().filter_map(|der| validity(path, der, true)));
        own.chain(trusted).collect()
    }
}

fn validity(file: &Path, der: &CertificateDer<'_>, trusted: bool) -> Option<Validity> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let validity = certificate.validity();
    Some(Validity {
        file: file.to_owned(),
        trusted,
        subject: super::subject::rfc2253(certificate.subject()),
        not_before: validity.not_before.timestamp(),
        not_after: validity.not_after.timestamp(),
    })
}

/// The profile's own certificate and key.
fn own(
    config: &SslProfileConfig,
    certificate: Option<&Path>,
    key: Option<&Path>,
) -> Result<Option<Arc<CertifiedKey>>, TlsError> {
    let Some(certificate) = certificate else { return Ok(None) };
    let chain = pem::certificates(FileKind::Certificate, certificate)?;
    // Both may be in one file.
    let key = key.unwrap_or(certificate);
    let password = || match &config.password {
        Some(secret) => secret.reveal().map_err(TlsError::Password),
        None => Err(TlsError::Password(format!("'{}' is encrypted, and password is not given", key.display()))),
    };
    let own = CertifiedKey::new(chain, key::load(key, &password)?);
    match own.keys_match() {
        Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch)) => {
            Err(TlsError::Mismatch { certificate: certificate.to_owned(), key: key.to_owned() })
        }
        // A certificate or key of which that cannot be said may still do.
        _ => Ok(Some(Arc::new(own))),
    }
}
