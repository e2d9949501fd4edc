//! The client's side of SASL: EXTERNAL, SCRAM, PLAIN and ANONYMOUS, and whatever else Cyrus SASL knows where it is there.

use amqp::Symbol;
use amqp_endpoint::{ClientStep, SaslClient, SecurityLayer};
use cyrus::{Identity, Terms};

use super::cyrus_client::CyrusClient;
use crate::prepare;
use crate::scram::{Hash, ScramClient};

/// A user's name and password. It has no `Debug`, so that a password cannot reach a log.
#[derive(Clone)]
pub struct Credentials {
    /// The name.
    pub user: String,
    /// The password.
    pub password: String,
}

/// What a client can authenticate with. Of what the server offers it takes the strongest it can. With a password or with
/// Cyrus SASL, its steps may be slow. It has no `Debug`, so that a password cannot reach a log.
#[derive(Default)]
pub struct ClientMechanisms {
    credentials: Option<Credentials>,
    external: bool,
    only: Option<Vec<String>>,
    cyrus: Option<Through>,
    exchange: Exchange,
}

/// How Cyrus SASL is used.
#[derive(Clone)]
struct Through {
    host: String,
    terms: Terms,
}

/// What is under way.
#[derive(Default)]
enum Exchange {
    #[default]
    Nothing,
    Scram(Box<ScramClient>),
    Cyrus(Box<CyrusClient>),
}

/// Better than all but EXTERNAL; but it fails for who has no ticket, and Cyrus SASL cannot tell before it is tried.
const KERBEROS: &str = "GSSAPI";

impl Clone for ClientMechanisms {
    /// The same, before any exchange.
    fn clone(&self) -> Self {
        Self {
            credentials: self.credentials.clone(),
            external: self.external,
            only: self.only.clone(),
            cyrus: self.cyrus.clone(),
            exchange: Exchange::Nothing,
        }
    }
}

impl ClientMechanisms {
    /// ANONYMOUS alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Mechanisms with a password can be used, with this user and password.
    #[must_use]
    pub fn password(mut self, user: String, password: String) -> Self {
        self.credentials = Some(Credentials { user, password });
        self
    }

    /// EXTERNAL can be used: a lower layer, such as TLS with a client certificate, shows who we are.
    #[must_use]
    pub fn external(mut self) -> Self {
        self.external = true;
        self
    }

    /// Mechanisms of Cyrus SASL can be used, with the server of this name, over a layer of this strength in bits.
    #[must_use]
    pub fn cyrus(mut self, host: &str, external_strength: u32) -> Self {
        let terms = Terms { external_strength, ..Terms::default() };
        self.cyrus = Some(Through { host: host.to_owned(), terms });
        self
    }

    /// Uses none but those named (the configuration's `saslMechanisms`, in capitals or not).
    #[must_use]
    pub fn only<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.only = Some(names.into_iter().map(str::to_owned).collect());
        self
    }

    /// Whether a step may take its time.
    pub fn may_block(&self) -> bool {
        self.credentials.is_some() || self.cyrus.is_some()
    }

    fn permits(&self, mechanism: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| name.eq_ignore_ascii_case(mechanism)))
    }

    /// What to use, best first.
    fn candidates(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        let kerberos = self.cyrus.is_some().then_some(KERBEROS);
        let kerberos_is_named = self.only.is_some();
        names.extend(self.external.then_some("EXTERNAL"));
        names.extend(kerberos.filter(|_| kerberos_is_named));
        if self.credentials.is_some() {
            names.extend(Hash::ALL.map(Hash::mechanism));
            names.extend(self.cyrus.is_some().then_some("DIGEST-MD5"));
            names.push("PLAIN");
        }
        names.push("ANONYMOUS");
        names.extend(kerberos.filter(|_| !kerberos_is_named));
        // Of no use unless they are asked for: old, or weak.
        names.extend(self.cyrus.iter().filter(|_| self.only.is_some()).flat_map(|_| ["CRAM-MD5", "NTLM", "LOGIN"]));
        names
    }

    fn begin(&mut self, mechanism: &str) -> Result<ClientStep, String> {
        let init = |response| Ok(ClientStep::Init(Symbol::from(mechanism), Some(response)));
        match (mechanism, &self.credentials) {
            ("EXTERNAL", _) => init(Vec::new()),
            ("ANONYMOUS", _) => init(b"anonymous".to_vec()),
            ("PLAIN", Some(Credentials { user, password })) => init(format!("\0{user}\0{password}").into_bytes()),
            (name, Some(Credentials { user, password })) if Hash::of_mechanism(name).is_some() => {
                let hash = Hash::of_mechanism(name).unwrap_or(Hash::Sha256);
                // What cannot be prepared is taken as it is: it is for the server to say that it is wrong.
                let user = prepare(user).unwrap_or(user.as_str().into());
                let password = prepare(password).unwrap_or(password.as_str().into());
                let scram = ScramClient::new(hash, &user, &password)?;
                let response = scram.initial_response();
                self.exchange = Exchange::Scram(Box::new(scram));
                init(response)
            }
            _ => {
                let Some(Through { host, terms }) = &self.cyrus else { return Ok(ClientStep::NoneFits) };
                let credentials = self.credentials.clone();
                let (user, password) = credentials.map(|one| (one.user, one.password)).unzip();
                let identity = Identity { user, password };
                let (exchange, step) = CyrusClient::begin(mechanism, host, &identity, terms)?;
                self.exchange = Exchange::Cyrus(Box::new(exchange));
                Ok(step)
            }
        }
    }
}

impl SaslClient for ClientMechanisms {
    fn choose(&mut self, offered: &[Symbol]) -> ClientStep {
        let mut failure = None;
        for mechanism in self.candidates() {
            if !self.permits(mechanism) || !offered.iter().any(|symbol| symbol.as_str() == mechanism) {
                continue;
            }
            match self.begin(mechanism) {
                Ok(step) => return step,
                // Nothing was said yet, and another may do.
                Err(error) => failure = failure.or(Some(format!("{mechanism} cannot be used: {error}"))),
            }
        }
        failure.map_or(ClientStep::NoneFits, ClientStep::Failed)
    }

    fn challenge(&mut self, challenge: &[u8]) -> ClientStep {
        match &mut self.exchange {
            Exchange::Scram(scram) => scram.challenge(challenge).map_or_else(ClientStep::Failed, ClientStep::Respond),
            Exchange::Cyrus(cyrus) => cyrus.challenge(challenge),
            // Once the initial response was sent there is nothing to add.
            Exchange::Nothing => ClientStep::Failed("the server's challenge was not expected".to_owned()),
        }
    }

    fn user(&self) -> Option<String> {
        self.credentials.as_ref().map(|credentials| credentials.user.clone())
    }

    fn finish(&mut self, additional_data: Option<&[u8]>) -> Result<(), String> {
        match (&mut self.exchange, additional_data) {
            (Exchange::Scram(scram), _) if scram.is_done() => Ok(()),
            (Exchange::Scram(scram), Some(data)) => scram.verify(data),
            (Exchange::Scram(scram), None) => {
                Err(format!("the server has not proved that it knows the password ({})", scram.hash().mechanism()))
            }
            (Exchange::Cyrus(cyrus), Some(data)) if !data.is_empty() => cyrus.finish(data),
            (Exchange::Cyrus(_) | Exchange::Nothing, _) => Ok(()),
        }
    }

    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        match std::mem::take(&mut self.exchange) {
            Exchange::Cyrus(cyrus) => cyrus.into_layer(),
            Exchange::Scram(_) | Exchange::Nothing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(client: &mut ClientMechanisms, offered: &[&str]) -> Option<String> {
        let offered: Vec<Symbol> = offered.iter().map(|name| Symbol::from(*name)).collect();
        match client.choose(&offered) {
            ClientStep::Init(mechanism, _) => Some(mechanism.0),
            _ => None,
        }
    }

    fn joe() -> ClientMechanisms {
        ClientMechanisms::new().password("joe".to_owned(), "secret".to_owned())
    }

    #[test]
    fn without_credentials_anonymous_is_chosen() {
        let offered = ["EXTERNAL", "SCRAM-SHA-1", "PLAIN", "ANONYMOUS"];
        assert_eq!(chosen(&mut ClientMechanisms::new(), &offered).unwrap(), "ANONYMOUS");
    }

    #[test]
    fn with_a_password_plain_is_preferred_to_anonymous() {
        assert_eq!(chosen(&mut joe(), &["ANONYMOUS", "PLAIN"]).unwrap(), "PLAIN");
    }

    #[test]
    fn with_a_password_it_is_shown_only_where_it_need_be() {
        assert_eq!(chosen(&mut joe(), &["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256"]).unwrap(), "SCRAM-SHA-256");
    }

    #[test]
    fn with_a_certificate_external_is_preferred() {
        let offered = ["PLAIN", "SCRAM-SHA-512", "EXTERNAL"];
        assert_eq!(chosen(&mut joe().external(), &offered).unwrap(), "EXTERNAL");
    }

    #[test]
    fn plain_sends_user_and_password_at_once() {
        let step = joe().choose(&[Symbol::from("PLAIN")]);
        assert_eq!(step, ClientStep::Init(Symbol::from("PLAIN"), Some(b"\0joe\0secret".to_vec())));
    }

    #[test]
    fn none_but_the_mechanisms_configured_are_used() {
        assert_eq!(chosen(&mut joe().only(["ANONYMOUS"]), &["PLAIN", "ANONYMOUS"]).unwrap(), "ANONYMOUS");
    }

    #[test]
    fn capitals_do_not_matter_in_the_configuration() {
        assert_eq!(chosen(&mut joe().only(["plain"]), &["ANONYMOUS", "PLAIN"]).unwrap(), "PLAIN");
    }

    #[test]
    fn external_is_not_chosen_without_a_certificate() {
        assert_eq!(chosen(&mut joe(), &["EXTERNAL", "PLAIN"]).unwrap(), "PLAIN");
    }

    #[test]
    fn external_acts_as_whoever_the_lower_layer_shows() {
        let step = ClientMechanisms::new().external().choose(&[Symbol::from("EXTERNAL")]);
        assert_eq!(step, ClientStep::Init(Symbol::from("EXTERNAL"), Some(Vec::new())));
    }

    #[test]
    fn nothing_is_chosen_when_nothing_fits() {
        assert_eq!(chosen(&mut ClientMechanisms::new(), &["GSSAPI", "SCRAM-SHA-256"]), None);
    }

    #[test]
    fn a_challenge_is_not_understood_where_none_is_expected() {
        assert!(matches!(joe().challenge(b"?"), ClientStep::Failed(_)));
    }

    #[test]
    fn a_server_that_ends_scram_without_a_proof_is_not_trusted() {
        let mut client = joe();
        assert_eq!(chosen(&mut client, &["SCRAM-SHA-256"]).unwrap(), "SCRAM-SHA-256");
        assert!(client.finish(None).is_err());
    }
}
