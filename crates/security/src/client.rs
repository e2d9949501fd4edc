//! The client's side of SASL: EXTERNAL, PLAIN and ANONYMOUS.

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{ClientStep, SaslClient};

/// What a client can authenticate with. Of what the server offers it takes the strongest it can: EXTERNAL, PLAIN,
/// ANONYMOUS, in this order. It has no `Debug`, so that a password cannot reach a log.
#[derive(Clone, Default)]
pub struct ClientMechanisms {
    credentials: Option<(String, String)>,
    external: bool,
    only: Option<Vec<String>>,
}

impl ClientMechanisms {
    /// ANONYMOUS alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// PLAIN can be used, with this user and password.
    #[must_use]
    pub fn password(mut self, user: String, password: String) -> Self {
        self.credentials = Some((user, password));
        self
    }

    /// EXTERNAL can be used: a lower layer, such as TLS with a client certificate, shows who we are.
    #[must_use]
    pub fn external(mut self) -> Self {
        self.external = true;
        self
    }

    /// Uses none but those named (the configuration's `saslMechanisms`, in capitals or not).
    #[must_use]
    pub fn only<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.only = Some(names.into_iter().map(str::to_owned).collect());
        self
    }

    fn initial_response(&self, mechanism: &str) -> Option<Vec<u8>> {
        match mechanism {
            "EXTERNAL" => self.external.then(Vec::new),
            "PLAIN" => self.credentials.as_ref().map(|(user, password)| format!("\0{user}\0{password}").into_bytes()),
            "ANONYMOUS" => Some(b"anonymous".to_vec()),
            _ => None,
        }
    }

    fn permits(&self, mechanism: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| name.eq_ignore_ascii_case(mechanism)))
    }
}

impl SaslClient for ClientMechanisms {
    fn choose(&mut self, offered: &[Symbol]) -> ClientStep {
        let chosen = ["EXTERNAL", "PLAIN", "ANONYMOUS"].into_iter().find_map(|mechanism| {
            let usable = self.permits(mechanism) && offered.iter().any(|symbol| symbol.as_str() == mechanism);
            let response = usable.then(|| self.initial_response(mechanism)).flatten()?;
            Some(ClientStep::Init(Symbol::from(mechanism), Some(response)))
        });
        chosen.unwrap_or(ClientStep::NoneFits)
    }

    /// None of the three has a challenge to answer once the initial response was sent.
    fn challenge(&mut self, _challenge: &[u8]) -> ClientStep {
        ClientStep::Failed(SaslCode::Sys)
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
        assert_eq!(chosen(&mut ClientMechanisms::new(), &["EXTERNAL", "PLAIN", "ANONYMOUS"]).unwrap(), "ANONYMOUS");
    }

    #[test]
    fn with_a_password_plain_is_preferred_to_anonymous() {
        assert_eq!(chosen(&mut joe(), &["ANONYMOUS", "PLAIN"]).unwrap(), "PLAIN");
    }

    #[test]
    fn with_a_certificate_external_is_preferred_to_plain() {
        assert_eq!(chosen(&mut joe().external(), &["PLAIN", "EXTERNAL"]).unwrap(), "EXTERNAL");
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
    fn a_challenge_is_not_understood() {
        assert_eq!(joe().challenge(b"?"), ClientStep::Failed(SaslCode::Sys));
    }
}
