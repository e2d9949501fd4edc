//! The server's side.

use super::hash::{Hash, random};
use super::message::{ClientFinal, ClientFirst, ServerFirst, encode};
use super::verifier::Verifier;

/// Bytes of the server's part of the nonce.
const NONCE: usize = 18;

/// One exchange, from the client's first message on.
pub(crate) struct ScramServer {
    hash: Hash,
    first: ClientFirst,
    challenge: ServerFirst,
    verifier: Verifier,
    /// There is such a user. If not, the exchange goes on, so that nobody finds out.
    known: bool,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The proof is awaited.
    Proof,
    /// The server has proved itself, and the client is to say that it has heard.
    Farewell,
    Over,
}

/// What there is to say to the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServerAnswer {
    Challenge(Vec<u8>),
    Accepted,
    Refused(&'static str),
}

impl ScramServer {
    /// The exchange that `first` begins, about a password of which the server keeps `verifier`; `known`: it is one at all.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new(hash: Hash, first: ClientFirst, verifier: Verifier, known: bool) -> Result<Self, String> {
        let own = encode(&random::<NONCE>()?);
        Ok(Self::with_nonce(hash, first, verifier, known, &own))
    }

    pub(super) fn with_nonce(hash: Hash, first: ClientFirst, verifier: Verifier, known: bool, own: &str) -> Self {
        let nonce = format!("{}{own}", first.nonce);
        let challenge = ServerFirst { nonce, salt: verifier.salt.clone(), iterations: verifier.iterations };
        Self { hash, first, challenge, verifier, known, stage: Stage::Proof }
    }

    /// The first challenge.
    pub(crate) fn challenge(&self) -> Vec<u8> {
        self.challenge.to_string().into_bytes()
    }

    pub(crate) fn response(&mut self, bytes: &[u8]) -> ServerAnswer {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Proof => self.proof(bytes),
            Stage::Farewell if bytes.is_empty() => ServerAnswer::Accepted,
            Stage::Farewell | Stage::Over => ServerAnswer::Refused("a malformed response"),
        }
    }

    fn proof(&mut self, bytes: &[u8]) -> ServerAnswer {
        let Some(last) = ClientFinal::parse(bytes) else { return ServerAnswer::Refused("a malformed response") };
        if last.header != self.first.header.as_bytes() || last.nonce != self.challenge.nonce {
            return ServerAnswer::Refused("a response to another challenge");
        }
        let auth_message = format!("{},{},{}", self.first.bare, self.challenge, last.without_proof);
        let proved = self.verifier.accepts(self.hash, auth_message.as_bytes(), &last.proof);
        if !self.known {
            return ServerAnswer::Refused("no such user");
        }
        if !proved {
            return ServerAnswer::Refused("wrong password");
        }
        self.stage = Stage::Farewell;
        let signature = self.verifier.server_signature(self.hash, auth_message.as_bytes());
        // The old router says it as a challenge, too: few clients look at what comes with the outcome.
        ServerAnswer::Challenge(format!("v={}", encode(&signature)).into_bytes())
    }
}
