//! The messages of SCRAM (RFC 5802, section 7).

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Fewer iterations make passwords too easy to find out (RFC 7677, section 4).
pub(crate) const MIN_ITERATIONS: u32 = 4096;
/// More would keep a processor busy for a peer's pleasure.
pub(crate) const MAX_ITERATIONS: u32 = 1_000_000;
/// Bytes; none of the texts in a message needs to be longer.
const MAX_TEXT: usize = 1024;

/// Bytes as base 64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes from base 64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok().filter(|bytes| bytes.len() <= MAX_TEXT)
}

/// The client begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ClientFirst {
    /// What says that there is no channel binding, and as whom to act; it comes again in base 64.
    pub(crate) header: String,
    /// Who to act as, if that is said.
    pub(crate) acting_as: Option<String>,
    pub(crate) user: String,
    pub(crate) nonce: String,
    /// The message without its header, which both proofs are over.
    pub(crate) bare: String,
}

impl ClientFirst {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        // `p=` would ask for channel binding, which is not offered.
        let rest = text.strip_prefix("n,").or_else(|| text.strip_prefix("y,"))?;
        let (acting_as, bare) = rest.split_once(',')?;
        let header = text.get(..text.len() - bare.len())?.to_owned();
        let acting_as = match acting_as {
            "" => None,
            name => Some(unescape(name.strip_prefix("a=")?)?),
        };
        // An attribute before the name (`m=`) is one that must be understood, and is not.
        let mut parts = bare.split(',');
        let user = unescape(parts.next()?.strip_prefix("n=")?)?;
        let nonce = nonce(parts.next()?.strip_prefix("r=")?)?;
        Some(Self { header, acting_as, user, nonce, bare: bare.to_owned() })
    }
}

/// The server answers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServerFirst {
    /// The client's, with more behind it.
    pub(crate) nonce: String,
    pub(crate) salt: Vec<u8>,
    pub(crate) iterations: NonZeroU32,
}

impl ServerFirst {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(bytes).ok()?.split(',');
        let nonce = nonce(parts.next()?.strip_prefix("r=")?)?;
        let salt = decode(parts.next()?.strip_prefix("s=")?)?;
        let iterations = parts.next()?.strip_prefix("i=")?.parse().ok()?;
        Some(Self { nonce, salt, iterations })
    }
}

impl std::fmt::Display for ServerFirst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "r={},s={},i={}", self.nonce, encode(&self.salt), self.iterations)
    }
}

/// The client proves itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ClientFinal {
    /// What it has said of channel binding.
    pub(crate) header: Vec<u8>,
    pub(crate) nonce: String,
    pub(crate) proof: Vec<u8>,
    /// The message without the proof, which the proof is over.
    pub(crate) without_proof: String,
}

impl ClientFinal {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (without_proof, proof) = text.rsplit_once(",p=")?;
        let mut parts = without_proof.split(',');
        let header = decode(parts.next()?.strip_prefix("c=")?)?;
        let nonce = nonce(parts.next()?.strip_prefix("r=")?)?;
        Some(Self { header, nonce, proof: decode(proof)?, without_proof: without_proof.to_owned() })
    }
}

/// The server proves itself, or says what is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServerFinal {
    Signature(Vec<u8>),
    Error(String),
}

impl ServerFinal {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let first = std::str::from_utf8(bytes).ok()?.split(',').next()?;
        if let Some(error) = first.strip_prefix("e=") {
            return Some(Self::Error(error.chars().take(100).collect()));
        }
        decode(first.strip_prefix("v=")?).map(Self::Signature)
    }
}

/// Visible ASCII without commas.
fn nonce(text: &str) -> Option<String> {
    let well_formed = !text.is_empty() && text.len() <= MAX_TEXT && text.bytes().all(|byte| byte.is_ascii_graphic());
    well_formed.then(|| text.to_owned())
}

/// A name, with what separates attributes made harmless.
pub(crate) fn escape(name: &str) -> String {
    name.replace('=', "=3D").replace(',', "=2C")
}

fn unescape(name: &str) -> Option<String> {
    let mut text = String::new();
    let mut parts = name.split('=');
    text.push_str(parts.next()?);
    for part in parts {
        if let Some(rest) = part.strip_prefix("2C") {
            text.push(',');
            text.push_str(rest);
        } else {
            text.push('=');
            text.push_str(part.strip_prefix("3D")?);
        }
    }
    let well_formed = !text.is_empty() && text.len() <= MAX_TEXT && !text.contains('\0');
    well_formed.then_some(text)
}
