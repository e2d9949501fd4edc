//! The client's side.

use super::hash::{Hash, random, same, xor};
use super::message::{MAX_ITERATIONS, MIN_ITERATIONS, ServerFinal, ServerFirst, encode, escape};
use super::verifier::keys;

/// Bytes of the client's part of the nonce.
const NONCE: usize = 18;
/// No channel binding, and acting as nobody else.
const HEADER: &str = "n,,";

/// One exchange.
pub(crate) struct ScramClient {
    hash: Hash,
    password: String,
    nonce: String,
    bare: String,
    stage: Stage,
}

enum Stage {
    /// The server's challenge is awaited.
    Challenge,
    /// The server has to prove itself with this.
    Signature(Vec<u8>),
    /// It has.
    Done,
}

impl ScramClient {
    /// With a name and a password that have been prepared ([`crate::prepare`]).
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new(hash: Hash, user: &str, password: &str) -> Result<Self, String> {
        Ok(Self::with_nonce(hash, user, password, encode(&random::<NONCE>()?)))
    }

    pub(super) fn with_nonce(hash: Hash, user: &str, password: &str, nonce: String) -> Self {
        let bare = format!("n={},r={nonce}", escape(user));
        Self { hash, password: password.to_owned(), nonce, bare, stage: Stage::Challenge }
    }

    pub(crate) fn hash(&self) -> Hash {
        self.hash
    }

    /// What begins the exchange.
    pub(crate) fn initial_response(&self) -> Vec<u8> {
        format!("{HEADER}{}", self.bare).into_bytes()
    }

    /// Answers the server.
    ///
    /// # Errors
    /// Why it is not to be trusted, or cannot be understood.
    pub(crate) fn challenge(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        match &self.stage {
            Stage::Challenge => self.prove(bytes),
            Stage::Signature(_) => self.verify(bytes).map(|()| Vec::new()),
            Stage::Done => Err("the server goes on after it has proved itself".to_owned()),
        }
    }

    fn prove(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let challenge = ServerFirst::parse(bytes).ok_or("the server's challenge is malformed")?;
        if !challenge.nonce.starts_with(&self.nonce) || challenge.nonce.len() == self.nonce.len() {
            return Err("the server's challenge is about another exchange".to_owned());
        }
        if !(MIN_ITERATIONS..=MAX_ITERATIONS).contains(&challenge.iterations.get()) {
            let count = challenge.iterations;
            return Err(format!(
                "the server asks for {count} iterations, which is not from {MIN_ITERATIONS} to {MAX_ITERATIONS}"
            ));
        }
        let salted = self.hash.salted_password(&self.password, &challenge.salt, challenge.iterations);
        let (client_key, server_key) = keys(self.hash, &salted);
        let without_proof = format!("c={},r={}", encode(HEADER.as_bytes()), challenge.nonce);
        // What the server has said, to the letter.
        let said = String::from_utf8_lossy(bytes);
        let auth_message = format!("{},{said},{without_proof}", self.bare);
        let signature = self.hash.hmac(&self.hash.digest(&client_key), auth_message.as_bytes());
        let proof = encode(&xor(&client_key, &signature));
        self.stage = Stage::Signature(self.hash.hmac(&server_key, auth_message.as_bytes()));
        Ok(format!("{without_proof},p={proof}").into_bytes())
    }

    /// Checks the server's proof, wherever it came.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn verify(&mut self, bytes: &[u8]) -> Result<(), String> {
        let Stage::Signature(expected) = &self.stage else {
            return Err("the server ends the exchange too early".to_owned());
        };
        match ServerFinal::parse(bytes) {
            Some(ServerFinal::Signature(signature)) if same(&signature, expected) => {
                self.stage = Stage::Done;
                Ok(())
            }
            Some(ServerFinal::Signature(_)) => Err("the server does not know the password".to_owned()),
            Some(ServerFinal::Error(error)) => Err(format!("the server says: {error}")),
            None => Err("the server's proof is malformed".to_owned()),
        }
    }

    /// The server has proved that it knows the password, too.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }
}
