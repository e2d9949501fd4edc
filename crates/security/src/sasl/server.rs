//! The server's side of SASL with no library: ANONYMOUS, EXTERNAL, and for the users of a file PLAIN and SCRAM.

use std::sync::Arc;

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{SaslServer, SaslStep};

use super::Mechanisms;
use super::plain::parse_plain;
use crate::scram::{ClientFirst, Hash, ScramServer, ServerAnswer};
use crate::{UserBase, prepare};

/// The mechanisms a server offers. With users, its steps are slow.
#[derive(Default)]
pub struct ServerMechanisms {
    offered: Vec<Mechanism>,
    identity: Option<String>,
    users: Option<Arc<UserBase>>,
    stage: Stage,
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mechanism {
    External,
    Scram(Hash),
    Plain,
    Anonymous,
}

/// How far the exchange is.
#[derive(Default)]
enum Stage {
    #[default]
    Before,
    /// The initial response of a mechanism is awaited.
    First(Mechanism),
    /// SCRAM, and who the user is once it is through.
    Scram(Box<ScramServer>, String),
    Over,
}

impl Mechanism {
    fn name(self) -> &'static str {
        match self {
            Self::External => "EXTERNAL",
            Self::Scram(hash) => hash.mechanism(),
            Self::Plain => "PLAIN",
            Self::Anonymous => "ANONYMOUS",
        }
    }
}

impl ServerMechanisms {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers ANONYMOUS (RFC 4505); the user is called `anonymous`, as the old router calls it.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.offered.push(Mechanism::Anonymous);
        self
    }

    /// Offers SCRAM (RFC 5802) and PLAIN (RFC 4616) to these users.
    #[must_use]
    pub fn users(mut self, users: Arc<UserBase>) -> Self {
        self.offered.extend(Hash::ALL.map(Mechanism::Scram));
        self.offered.push(Mechanism::Plain);
        self.users = Some(users);
        self
    }

    /// Offers EXTERNAL (RFC 4422, appendix A): a lower layer, such as TLS, has shown the peer to be `identity`.
    #[must_use]
    pub fn external(mut self, identity: String) -> Self {
        self.offered.push(Mechanism::External);
        self.identity = Some(identity);
        self
    }

    /// Keeps those that `names` lists (as the configuration's `saslMechanisms` does, in capitals or not), in the order
    /// listed.
    #[must_use]
    pub fn only<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let rank = |mechanism: &Mechanism| names.iter().position(|name| name.eq_ignore_ascii_case(mechanism.name()));
        self.offered.retain(|mechanism| rank(mechanism).is_some());
        self.offered.sort_by_key(rank);
        self
    }

    /// Whether nothing is offered: every client would be refused.
    pub fn is_empty(&self) -> bool {
        self.offered.is_empty()
    }

    fn first(&mut self, mechanism: Mechanism, response: &[u8]) -> SaslStep {
        self.stage = Stage::Over;
        match mechanism {
            Mechanism::Anonymous => done("anonymous".to_owned()),
            Mechanism::External => self.external_identity(response),
            Mechanism::Plain => self.plain(response),
            Mechanism::Scram(hash) => self.scram(hash, response),
        }
    }

    /// The response is the identity to act as: none, or the one that was shown. Acting as another is not supported.
    fn external_identity(&mut self, response: &[u8]) -> SaslStep {
        match &self.identity {
            Some(identity) if response.is_empty() || response == identity.as_bytes() => done(identity.clone()),
            _ => self.refuse("may not act as somebody else"),
        }
    }

    fn plain(&mut self, response: &[u8]) -> SaslStep {
        let Some((user, password)) = parse_plain(response) else { return self.refuse("a malformed response") };
        let checked = self.users.as_ref().map(|users| users.check(user, password));
        match checked {
            Some(Ok(user)) => done(user),
            Some(Err(reason)) => self.refuse(reason),
            None => self.refuse("there are no users"),
        }
    }

    fn scram(&mut self, hash: Hash, response: &[u8]) -> SaslStep {
        let Some(first) = ClientFirst::parse(response) else { return self.refuse("a malformed response") };
        let Ok(name) = prepare(&first.user).map(std::borrow::Cow::into_owned) else {
            return self.refuse("a malformed name");
        };
        if first.acting_as.as_ref().is_some_and(|other| *other != first.user) {
            return self.refuse("may not act as somebody else");
        }
        let Some(users) = &self.users else { return self.refuse("there are no users") };
        let entry = users.scram_entry(&name, hash);
        match ScramServer::new(hash, first, entry.verifier, entry.known) {
            Ok(scram) => {
                let challenge = scram.challenge();
                self.stage = Stage::Scram(Box::new(scram), name);
                SaslStep::Challenge(challenge)
            }
            Err(reason) => {
                self.reason = Some(reason);
                SaslStep::Failed(SaslCode::SysTemp)
            }
        }
    }

    fn refuse(&mut self, reason: &str) -> SaslStep {
        self.reason = Some(reason.to_owned());
        SaslStep::Failed(SaslCode::Auth)
    }
}

impl SaslServer for ServerMechanisms {
    fn mechanisms(&self) -> Vec<Symbol> {
        self.offered.iter().map(|mechanism| Symbol::from(mechanism.name())).collect()
    }

    fn init(&mut self, mechanism: &str, initial_response: Option<&[u8]>, _hostname: Option<&str>) -> SaslStep {
        let Some(mechanism) = self.offered.iter().copied().find(|offered| offered.name() == mechanism) else {
            return self.refuse("a mechanism that is not offered");
        };
        match (initial_response, mechanism) {
            (Some(response), _) => self.first(mechanism, response),
            // A client that did not speak first is asked with an empty challenge (RFC 4422, section 5).
            (None, Mechanism::Plain | Mechanism::Scram(_)) => {
                self.stage = Stage::First(mechanism);
                SaslStep::Challenge(Vec::new())
            }
            // There is nothing that it would have to say, and some clients do not expect to be asked.
            (None, Mechanism::Anonymous | Mechanism::External) => self.first(mechanism, &[]),
        }
    }

    fn response(&mut self, response: &[u8]) -> SaslStep {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::First(mechanism) => self.first(mechanism, response),
            Stage::Scram(mut scram, user) => match scram.response(response) {
                ServerAnswer::Challenge(challenge) => {
                    self.stage = Stage::Scram(scram, user);
                    SaslStep::Challenge(challenge)
                }
                ServerAnswer::Accepted => done(user),
                ServerAnswer::Refused(reason) => self.refuse(reason),
            },
            Stage::Before | Stage::Over => self.refuse("a response that nobody asked for"),
        }
    }
}

impl Mechanisms for ServerMechanisms {
    fn reason(&self) -> Option<String> {
        self.reason.clone()
    }
}

fn done(user: String) -> SaslStep {
    SaslStep::Done { user: Some(user), additional_data: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sasl::testing::joe_only;

    const REFUSED: SaslStep = SaslStep::Failed(SaslCode::Auth);

    fn all() -> ServerMechanisms {
        ServerMechanisms::new().external("CN=joe".to_owned()).users(joe_only()).anonymous()
    }

    fn user(step: SaslStep) -> Option<String> {
        match step {
            SaslStep::Done { user, .. } => user,
            _ => None,
        }
    }

    #[test]
    fn the_strongest_mechanisms_are_offered_first() {
        let offered = all().mechanisms();
        let expected = ["EXTERNAL", "SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN", "ANONYMOUS"];
        assert_eq!(offered, expected.map(Symbol::from));
    }

    #[test]
    fn only_what_the_configuration_lists_is_offered_in_its_order() {
        let offered = all().only(["ANONYMOUS", "GSSAPI", "EXTERNAL"]).mechanisms();
        assert_eq!(offered, ["ANONYMOUS", "EXTERNAL"].map(Symbol::from));
    }

    #[test]
    fn capitals_do_not_matter_in_the_configuration() {
        assert_eq!(all().only(["plain"]).mechanisms(), [Symbol::from("PLAIN")]);
    }

    #[test]
    fn nothing_is_offered_when_nothing_listed_is_known() {
        assert!(all().only(["GSSAPI"]).is_empty());
    }

    #[test]
    fn anonymous_is_known_as_anonymous() {
        assert_eq!(user(all().init("ANONYMOUS", Some(b"trace"), None)), Some("anonymous".to_owned()));
    }

    #[test]
    fn plain_accepts_a_good_password() {
        assert_eq!(user(all().init("PLAIN", Some(b"\0joe\0secret"), None)), Some("joe".to_owned()));
    }

    #[test]
    fn plain_refuses_a_wrong_password_and_an_unknown_user_alike_but_the_log_hears_the_difference() {
        for (response, reason) in [(b"\0joe\0guess", "wrong password"), (b"\0ann\0guess", "no such user")] {
            let mut server = all();
            assert_eq!(server.init("PLAIN", Some(response), None), REFUSED);
            assert_eq!(server.reason().as_deref(), Some(reason));
        }
    }

    #[test]
    fn nobody_acts_as_another_user() {
        assert_eq!(all().init("PLAIN", Some(b"root\0joe\0secret"), None), REFUSED);
        assert_eq!(all().init("SCRAM-SHA-256", Some(b"n,a=root,n=joe,r=abc"), None), REFUSED);
        assert_eq!(all().init("EXTERNAL", Some(b"CN=root"), None), REFUSED);
    }

    #[test]
    fn a_client_that_sends_no_initial_response_is_asked_for_it() {
        let mut server = all();
        assert_eq!(server.init("PLAIN", None, None), SaslStep::Challenge(Vec::new()));
        assert_eq!(user(server.response(b"\0joe\0secret")), Some("joe".to_owned()));
    }

    #[test]
    fn a_client_that_has_nothing_to_say_is_not_asked() {
        assert_eq!(user(all().init("ANONYMOUS", None, None)), Some("anonymous".to_owned()));
        assert_eq!(user(all().init("EXTERNAL", None, None)), Some("CN=joe".to_owned()));
    }

    #[test]
    fn scram_asks_unknown_users_as_it_asks_known_ones() {
        for name in ["joe", "ann"] {
            let step = all().init("SCRAM-SHA-256", Some(format!("n,,n={name},r=abc").as_bytes()), None);
            let SaslStep::Challenge(challenge) = step else { panic!("{step:?}") };
            let text = String::from_utf8(challenge).unwrap();
            assert!(text.starts_with("r=abc") && text.ends_with(",i=16384"), "{text}");
        }
    }

    #[test]
    fn a_response_that_nobody_asked_for_is_refused() {
        assert_eq!(all().response(b"\0joe\0secret"), REFUSED);
    }

    #[test]
    fn external_is_the_identity_the_lower_layer_has_shown() {
        assert_eq!(user(all().init("EXTERNAL", Some(b""), None)), Some("CN=joe".to_owned()));
    }

    #[test]
    fn a_mechanism_that_is_not_offered_is_refused() {
        assert_eq!(ServerMechanisms::new().anonymous().init("EXTERNAL", Some(b""), None), REFUSED);
    }
}
