//! What a session has come to.

use rustls::{CommonState, HandshakeKind, ProtocolVersion};

use super::ciphers;

/// What is known of an established session, for people and for SASL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerInfo {
    /// The version, as OpenSSL writes it: `TLSv1.3`.
    pub protocol: &'static str,
    /// The cipher suite, as OpenSSL calls it: `ECDHE-RSA-AES256-GCM-SHA384`.
    pub cipher: &'static str,
    /// Bits of the cipher's key.
    pub strength: u32,
    /// What the owner of the peer's certificate is called; only on the server's side, and if there is a certificate.
    pub user: Option<String>,
    /// It goes on with what an earlier session had come to.
    pub resumed: bool,
    /// A letter of `uidFormat` that means nothing: the format is not used.
    pub unknown_letter: Option<char>,
}

impl PeerInfo {
    pub(super) fn new(state: &CommonState, user: Option<String>, unknown_letter: Option<char>) -> Self {
        let protocol = match state.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLSv1.2",
        };
        let (cipher, strength) = state.negotiated_cipher_suite().map_or(("unknown", 0), ciphers::describe);
        let resumed = state.handshake_kind() == Some(HandshakeKind::Resumed);
        Self { protocol, cipher, strength, user, resumed, unknown_letter }
    }
}
