//! What a server keeps of a password: enough to check a proof of it, not enough to give one.

use std::num::NonZeroU32;

use super::hash::{Hash, same, xor};

/// A password, as a server keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verifier {
    /// How slow it is to try a password.
    pub iterations: NonZeroU32,
    /// Makes equal passwords look different.
    pub salt: Vec<u8>,
    /// The hash of the client's key.
    pub stored_key: Vec<u8>,
    /// What the server proves itself with.
    pub server_key: Vec<u8>,
}

impl Verifier {
    /// Of a password that has been prepared ([`crate::prepare`]).
    pub fn of_password(hash: Hash, password: &str, salt: &[u8], iterations: NonZeroU32) -> Self {
        let salted = hash.salted_password(password, salt, iterations);
        let (client_key, server_key) = keys(hash, &salted);
        Self { iterations, salt: salt.to_vec(), stored_key: hash.digest(&client_key), server_key }
    }

    /// Whether this is the password; as slow as there are iterations.
    pub fn is_of(&self, hash: Hash, password: &str) -> bool {
        let other = Self::of_password(hash, password, &self.salt, self.iterations);
        same(&other.stored_key, &self.stored_key)
    }

    /// Whether a client's proof, over what was said (`auth_message`), shows that it has the password.
    pub(crate) fn accepts(&self, hash: Hash, auth_message: &[u8], proof: &[u8]) -> bool {
        let signature = hash.hmac(&self.stored_key, auth_message);
        proof.len() == signature.len() && same(&hash.digest(&xor(proof, &signature)), &self.stored_key)
    }

    /// The server's own proof.
    pub(crate) fn server_signature(&self, hash: Hash, auth_message: &[u8]) -> Vec<u8> {
        hash.hmac(&self.server_key, auth_message)
    }
}

/// Client key and server key (RFC 5802, section 3).
pub(crate) fn keys(hash: Hash, salted: &[u8]) -> (Vec<u8>, Vec<u8>) {
    (hash.hmac(salted, b"Client Key"), hash.hmac(salted, b"Server Key"))
}
