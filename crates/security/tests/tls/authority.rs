//! Certificates for tests: an authority that issues them, and files to name in an `sslProfile`. Tests of other crates use
//! it, too.
#![allow(dead_code, unreachable_pub, reason = "other tests use it, each of them not all of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, date_time_ymd,
};

/// A folder that is removed afterwards.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("waystation-tls-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file, at once as far as others can see; its path.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let (path, new) = (self.0.join(name), self.0.join(format!("{name}.new")));
        fs::write(&new, text).unwrap();
        fs::rename(&new, &path).unwrap();
        path
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Which kind of key.
#[derive(Clone, Copy)]
pub enum Kind {
    Ec,
    Rsa,
}

/// Who issues certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A list of certificates that it has taken back.
    pub fn revoke(&self, list: CertificateRevocationListParams) -> String {
        list.signed_by(&self.0).unwrap().pem().unwrap()
    }

    /// A certificate for these host names (or none), whose subject has this common name.
    pub fn issue(&self, hosts: &[&str], common_name: &str) -> Issued {
        self.issue_as(hosts, common_name, Kind::Ec, |_| {})
    }

    /// One that expired long ago.
    pub fn issue_expired(&self, hosts: &[&str]) -> Issued {
        self.issue_as(hosts, "old", Kind::Ec, |params| {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        })
    }

    pub fn issue_as(
        &self,
        hosts: &[&str],
        common_name: &str,
        kind: Kind,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Issued {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.use_authority_key_identifier_extension = true;
        change(&mut params);
        let key = KeyPair::generate_for(match kind {
            Kind::Ec => &PKCS_ECDSA_P256_SHA256,
            Kind::Rsa => &PKCS_RSA_SHA256,
        });
        let key = key.unwrap();
        Issued { certificate: params.signed_by(&key, &self.0).unwrap().pem(), key }
    }
}

/// A certificate and its key.
pub struct Issued {
    pub certificate: String,
    key: KeyPair,
}

impl Issued {
    /// The key as PKCS #8, not encrypted.
    pub fn key(&self) -> String {
        self.key.serialize_pem()
    }
}
