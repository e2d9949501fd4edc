//! `ciphers`: OpenSSL's notation for lists of cipher suites, put to the suites that there are.
//!
//! OpenSSL's lists are about TLS up to 1.2; the suites of TLS 1.3 are always on. Here they are, too, unless some of them
//! are named: then only those.

use rustls::SupportedCipherSuite;
use rustls::crypto::aws_lc_rs::cipher_suite as suites;

use super::error::TlsError;

/// A suite of TLS 1.2 and what OpenSSL says of it.
struct Suite {
    name: &'static str,
    /// The names of its parts, and of groups that it is in.
    words: &'static [&'static str],
    bits: u16,
    suite: SupportedCipherSuite,
}

/// What all of them are: forward secret, authenticated encryption, TLS 1.2.
const ALL: [&str; 10] =
    ["ALL", "DEFAULT", "HIGH", "ECDHE", "EECDH", "ECDH", "kECDHE", "kEECDH", "TLSv1.2", "PROFILE=SYSTEM"];

/// In OpenSSL's order of preference.
const SUITES: [Suite; 6] = [
    Suite {
        name: "ECDHE-ECDSA-AES256-GCM-SHA384",
        words: &["ECDSA", "aECDSA", "AES", "AESGCM", "AES256", "FIPS", "SUITEB128", "SUITEB192"],
        bits: 256,
        suite: suites::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    },
    Suite {
        name: "ECDHE-RSA-AES256-GCM-SHA384",
        words: &["aRSA", "AES", "AESGCM", "AES256", "FIPS"],
        bits: 256,
        suite: suites::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    },
    Suite {
        name: "ECDHE-ECDSA-CHACHA20-POLY1305",
        words: &["ECDSA", "aECDSA", "CHACHA20"],
        bits: 256,
        suite: suites::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    },
    Suite {
        name: "ECDHE-RSA-CHACHA20-POLY1305",
        words: &["aRSA", "CHACHA20"],
        bits: 256,
        suite: suites::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    },
    Suite {
        name: "ECDHE-ECDSA-AES128-GCM-SHA256",
        words: &["ECDSA", "aECDSA", "AES", "AESGCM", "AES128", "FIPS", "SUITEB128", "SUITEB128ONLY"],
        bits: 128,
        suite: suites::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    },
    Suite {
        name: "ECDHE-RSA-AES128-GCM-SHA256",
        words: &["aRSA", "AES", "AESGCM", "AES128", "FIPS"],
        bits: 128,
        suite: suites::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    },
];

/// The suites of TLS 1.3, in OpenSSL's order of preference.
const SUITES_13: [(&str, SupportedCipherSuite); 3] = [
    ("TLS_AES_256_GCM_SHA384", suites::TLS13_AES_256_GCM_SHA384),
    ("TLS_CHACHA20_POLY1305_SHA256", suites::TLS13_CHACHA20_POLY1305_SHA256),
    ("TLS_AES_128_GCM_SHA256", suites::TLS13_AES_128_GCM_SHA256),
];

impl Suite {
    /// Whether it is what all of the words, joined by `+`, say.
    fn is(&self, term: &str) -> bool {
        term.split('+').all(|word| self.name == word || self.words.contains(&word) || ALL.contains(&word))
    }
}

/// What a list comes to.
#[derive(Debug)]
pub(super) struct Chosen {
    /// In order of preference.
    pub(super) suites: Vec<SupportedCipherSuite>,
    /// Parts of the list that name nothing that is available here.
    pub(super) missing: Vec<String>,
}

/// Puts a list to the suites that there are. `None`: all of them.
///
/// # Errors
/// Nothing is left for any of the versions of TLS in use.
pub(super) fn evaluate(list: Option<&str>, with_12: bool, with_13: bool) -> Result<Chosen, TlsError> {
    let chosen = selection(list.unwrap_or("ALL"));
    let usable = with_12 && chosen.suites.iter().any(|suite| suite.tls13().is_none())
        || with_13 && chosen.suites.iter().any(|suite| suite.tls13().is_some());
    if !usable || !chosen.names_any {
        let text = format!(
            "ciphers '{}' leaves no cipher suite: add some of {}, or ECDHE+AESGCM for all that there are with AES",
            list.unwrap_or_default(),
            SUITES.map(|suite| suite.name).join(", ")
        );
        return Err(TlsError::Ciphers(text));
    }
    Ok(Chosen { suites: chosen.suites, missing: chosen.missing })
}

struct Selection {
    suites: Vec<SupportedCipherSuite>,
    missing: Vec<String>,
    /// It adds something, whether or not that is available here.
    names_any: bool,
}

fn selection(list: &str) -> Selection {
    let mut active: Vec<usize> = Vec::new();
    let mut killed = [false; SUITES.len()];
    let (mut named_13, mut missing, mut names_any) = (Vec::new(), Vec::new(), false);
    let parts = list.split([':', ',', ';', ' ']).filter(|part| !part.is_empty());
    for part in parts {
        let (sign, term) = match part.split_at(1) {
            (sign @ ("!" | "-" | "+" | "@"), term) => (sign, term),
            _ => ("", part),
        };
        let meant = |index: &usize| SUITES[*index].is(term);
        match sign {
            "!" => {
                active.retain(|index| !meant(index));
                killed.iter_mut().enumerate().for_each(|(index, killed)| *killed |= meant(&index));
            }
            "-" => active.retain(|index| !meant(index)),
            "+" => active.sort_by_key(meant),
            "@" if term == "STRENGTH" => active.sort_by_key(|index| std::cmp::Reverse(SUITES[*index].bits)),
            "@" => {}
            _ => {
                names_any = true;
                let found: Vec<usize> = (0..SUITES.len()).filter(meant).collect();
                let of_13 = SUITES_13.iter().filter(|(name, _)| *name == term).map(|(_, suite)| *suite);
                let before = named_13.len();
                named_13.extend(of_13);
                if found.is_empty() && named_13.len() == before {
                    missing.push(part.to_owned());
                }
                let new: Vec<usize> =
                    found.into_iter().filter(|index| !killed[*index] && !active.contains(index)).collect();
                active.extend(new);
            }
        }
    }
    if named_13.is_empty() {
        named_13.extend(SUITES_13.iter().map(|(_, suite)| *suite));
    }
    named_13.extend(active.into_iter().map(|index| SUITES[index].suite));
    Selection { suites: named_13, missing, names_any }
}

/// What OpenSSL calls a suite, and its strength in bits.
pub(super) fn describe(suite: SupportedCipherSuite) -> (&'static str, u32) {
    if let Some((name, _)) = SUITES_13.iter().find(|(_, known)| *known == suite) {
        return (name, if name.contains("128") && !name.contains("CHACHA20") { 128 } else { 256 });
    }
    SUITES.iter().find(|known| known.suite == suite).map_or(("unknown", 0), |known| (known.name, known.bits.into()))
}
