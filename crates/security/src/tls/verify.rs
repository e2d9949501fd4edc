//! Whether a peer's certificate is one to be trusted.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::hostname;
use super::pem::Authorities;

/// Certificates that are trusted by themselves, whatever else is said in them: the old router takes a server's own
/// certificate in `caCertFile`, too.
#[derive(Debug)]
struct Trusted(Vec<CertificateDer<'static>>);

impl Trusted {
    /// Whether it is one of these, and valid now. `None`: it is none.
    fn verdict(&self, certificate: &CertificateDer<'_>, now: UnixTime) -> Option<Result<(), Error>> {
        self.0.contains(certificate).then(|| {
            let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
            let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
            let validity = parsed.validity();
            if now < validity.not_before.timestamp() {
                return Err(CertificateError::NotValidYet.into());
            }
            if now > validity.not_after.timestamp() {
                return Err(CertificateError::Expired.into());
            }
            Ok(())
        })
    }
}

fn roots(certificates: &[CertificateDer<'static>]) -> Arc<RootCertStore> {
    let mut store = RootCertStore::empty();
    // One that cannot be read can be nobody's issuer; the others stay.
    store.add_parsable_certificates(certificates.iter().cloned());
    Arc::new(store)
}

/// Verifies servers.
#[derive(Debug)]
pub(super) struct Servers {
    by_issuer: Arc<WebPkiServerVerifier>,
    trusted: Trusted,
    /// The certificate must be for the host that was asked for.
    verify_hostname: bool,
}

impl Servers {
    /// None if nobody is trusted.
    pub(super) fn new(
        provider: &Arc<CryptoProvider>,
        authorities: &Authorities,
        verify_hostname: bool,
    ) -> Option<Self> {
        let roots = roots(&authorities.certificates);
        let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
        let builder = builder.with_crls(authorities.revoked.iter().cloned()).allow_unknown_revocation_status();
        let trusted = Trusted(authorities.certificates.clone());
        Some(Self { by_issuer: builder.build().ok()?, trusted, verify_hostname })
    }

    fn verify_name(&self, certificate: &CertificateDer<'_>, host: &ServerName<'_>) -> Result<(), Error> {
        if !self.verify_hostname {
            return Ok(());
        }
        let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
        if hostname::matches(&parsed, &host.to_str()) {
            return Ok(());
        }
        let context =
            CertificateError::NotValidForNameContext { expected: host.to_owned(), presented: names_of(&parsed) };
        Err(context.into())
    }
}

fn names_of(certificate: &X509Certificate<'_>) -> Vec<String> {
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let names = alternative.iter().flat_map(|extension| &extension.value.general_names).map(ToString::to_string);
    names.chain(super::subject::common_names(certificate)).collect()
}

impl ServerCertVerifier for Servers {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(verdict) = self.trusted.verdict(certificate, now) {
            verdict?;
        } else {
            match self.by_issuer.verify_server_cert(certificate, intermediates, host, ocsp, now) {
                // The name is looked at last: everything else is well.
                Ok(_)
                | Err(Error::InvalidCertificate(
                    CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
                )) => {}
                Err(error) => return Err(error),
            }
        }
        self.verify_name(certificate, host)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_issuer.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_issuer.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_issuer.supported_verify_schemes()
    }
}

/// Verifies clients.
#[derive(Debug)]
pub(super) struct Clients {
    by_issuer: Arc<dyn ClientCertVerifier>,
    trusted: Trusted,
}

impl Clients {
    /// None if nobody is trusted.
    pub(super) fn new(provider: &Arc<CryptoProvider>, authorities: &Authorities) -> Option<Self> {
        let roots = roots(&authorities.certificates);
        let builder = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
        let builder = builder.with_crls(authorities.revoked.iter().cloned()).allow_unknown_revocation_status();
        Some(Self { by_issuer: builder.build().ok()?, trusted: Trusted(authorities.certificates.clone()) })
    }
}

impl ClientCertVerifier for Clients {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.by_issuer.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match self.trusted.verdict(certificate, now) {
            Some(verdict) => verdict.map(|()| ClientCertVerified::assertion()),
            None => self.by_issuer.verify_client_cert(certificate, intermediates, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_issuer.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_issuer.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_issuer.supported_verify_schemes()
    }
}
