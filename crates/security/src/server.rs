//! The server's side of SASL: ANONYMOUS, PLAIN and EXTERNAL.

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{SaslServer, SaslStep};

/// What a client presents with PLAIN (RFC 4616). It has no `Debug`, so that a password cannot reach a log.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    /// The authentication identity: who presents the password.
    pub user: &'a str,
    /// The password.
    pub password: &'a str,
    /// The host the client says it connected to.
    pub hostname: Option<&'a str>,
}

/// What a checker says of credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They are good, and the user is known by this name from now on.
    Accepted {
        /// The name.
        user: String,
    },
    /// They are not good.
    Refused,
    /// They cannot be checked now; the client is told to try again later.
    Unavailable,
    /// The answer comes later: [`UserChecker::resume`] is asked for it.
    Later,
}

/// A user base.
pub trait UserChecker: Send {
    /// Whether these credentials are good.
    fn check(&mut self, credentials: &Credentials<'_>) -> Verdict;
    /// Asked after [`Verdict::Later`], whenever the connection is poked.
    fn resume(&mut self) -> Verdict {
        Verdict::Later
    }
}

/// The mechanisms a server offers, in the order in which they were added.
#[derive(Default)]
pub struct ServerMechanisms {
    offered: Vec<Mechanism>,
    /// The mechanism whose initial response is being waited for.
    waiting: Option<usize>,
    hostname: Option<String>,
}

enum Mechanism {
    Anonymous,
    Plain(Box<dyn UserChecker>),
    External { identity: String },
}

impl Mechanism {
    fn name(&self) -> &'static str {
        match self {
            Self::Anonymous => "ANONYMOUS",
            Self::Plain(_) => "PLAIN",
            Self::External { .. } => "EXTERNAL",
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

    /// Offers PLAIN (RFC 4616), with passwords checked by `checker`.
    #[must_use]
    pub fn plain(mut self, checker: Box<dyn UserChecker>) -> Self {
        self.offered.push(Mechanism::Plain(checker));
        self
    }

    /// Offers EXTERNAL (RFC 4422, appendix A): a lower layer, such as TLS, has shown the peer to be `identity`.
    #[must_use]
    pub fn external(mut self, identity: String) -> Self {
        self.offered.push(Mechanism::External { identity });
        self
    }

    /// Keeps those that `names` lists (as the configuration's `saslMechanisms` does, in capitals or not), in the order
    /// listed.
    #[must_use]
    pub fn only(mut self, names: &[&str]) -> Self {
        let rank = |mechanism: &Mechanism| names.iter().position(|name| name.eq_ignore_ascii_case(mechanism.name()));
        self.offered.retain(|mechanism| rank(mechanism).is_some());
        self.offered.sort_by_key(rank);
        self
    }

    /// Whether nothing is offered: every client would be refused.
    pub fn is_empty(&self) -> bool {
        self.offered.is_empty()
    }

    fn initial_response(&mut self, index: usize, response: &[u8]) -> SaslStep {
        match &mut self.offered[index] {
            Mechanism::Anonymous => done("anonymous".to_owned()),
            Mechanism::External { identity } => external(identity, response),
            Mechanism::Plain(checker) => plain(checker.as_mut(), response, self.hostname.as_deref()),
        }
    }
}

impl SaslServer for ServerMechanisms {
    fn mechanisms(&self) -> Vec<Symbol> {
        self.offered.iter().map(|mechanism| Symbol::from(mechanism.name())).collect()
    }

    fn init(&mut self, mechanism: &str, initial_response: Option<&[u8]>, hostname: Option<&str>) -> SaslStep {
        let Some(index) = self.offered.iter().position(|offered| offered.name() == mechanism) else {
            return SaslStep::Failed(SaslCode::Auth);
        };
        self.hostname = hostname.map(str::to_owned);
        match (initial_response, &self.offered[index]) {
            (Some(response), _) => self.initial_response(index, response),
            // A client that did not speak first is asked with an empty challenge (RFC 4422, section 5).
            (None, Mechanism::Plain(_)) => {
                self.waiting = Some(index);
                SaslStep::Challenge(Vec::new())
            }
            // There is nothing that it would have to say, and some clients do not expect to be asked.
            (None, Mechanism::Anonymous | Mechanism::External { .. }) => self.initial_response(index, &[]),
        }
    }

    fn response(&mut self, response: &[u8]) -> SaslStep {
        match self.waiting.take() {
            Some(index) => self.initial_response(index, response),
            None => SaslStep::Failed(SaslCode::Auth),
        }
    }

    fn resume(&mut self) -> SaslStep {
        let pending = self.offered.iter_mut().find_map(|mechanism| match mechanism {
            Mechanism::Plain(checker) => Some(checker),
            Mechanism::Anonymous | Mechanism::External { .. } => None,
        });
        pending.map_or(SaslStep::Failed(SaslCode::Auth), |checker| step(checker.resume()))
    }
}

fn done(user: String) -> SaslStep {
    SaslStep::Done { user: Some(user), additional_data: None }
}

fn step(verdict: Verdict) -> SaslStep {
    match verdict {
        Verdict::Accepted { user } => done(user),
        Verdict::Refused => SaslStep::Failed(SaslCode::Auth),
        Verdict::Unavailable => SaslStep::Failed(SaslCode::SysTemp),
        Verdict::Later => SaslStep::Pending,
    }
}

/// The response is the identity to act as: none, or the one that was shown. Acting as another is not supported.
fn external(identity: &str, response: &[u8]) -> SaslStep {
    if response.is_empty() || response == identity.as_bytes() {
        done(identity.to_owned())
    } else {
        SaslStep::Failed(SaslCode::Auth)
    }
}

fn plain(checker: &mut dyn UserChecker, response: &[u8], hostname: Option<&str>) -> SaslStep {
    match parse_plain(response) {
        Some((user, password)) => step(checker.check(&Credentials { user, password, hostname })),
        None => SaslStep::Failed(SaslCode::Auth),
    }
}

/// User and password of `authzid NUL authcid NUL passwd`. Acting as another user (an authzid that is not the authcid)
/// is not supported, nor is an empty user or password.
fn parse_plain(response: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(response).ok()?;
    let mut parts = text.split('\0');
    let (acting_as, user, password) = (parts.next()?, parts.next()?, parts.next()?);
    let well_formed = parts.next().is_none() && !user.is_empty() && !password.is_empty();
    (well_formed && (acting_as.is_empty() || acting_as == user)).then_some((user, password))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows one user, `joe` with the password `secret`.
    struct JoeOnly;

    impl UserChecker for JoeOnly {
        fn check(&mut self, credentials: &Credentials<'_>) -> Verdict {
            match (credentials.user, credentials.password) {
                ("joe", "secret") => Verdict::Accepted { user: "joe".to_owned() },
                ("down", _) => Verdict::Unavailable,
                ("slow", _) => Verdict::Later,
                _ => Verdict::Refused,
            }
        }

        fn resume(&mut self) -> Verdict {
            Verdict::Accepted { user: "slow".to_owned() }
        }
    }

    fn all() -> ServerMechanisms {
        ServerMechanisms::new().external("CN=joe".to_owned()).plain(Box::new(JoeOnly)).anonymous()
    }

    fn user(step: SaslStep) -> Option<String> {
        match step {
            SaslStep::Done { user, .. } => user,
            _ => None,
        }
    }

    #[test]
    fn mechanisms_are_offered_in_the_order_they_were_added() {
        let offered = all().mechanisms();
        assert_eq!(offered, ["EXTERNAL", "PLAIN", "ANONYMOUS"].map(Symbol::from));
    }

    #[test]
    fn only_what_the_configuration_lists_is_offered_in_its_order() {
        let offered = all().only(&["ANONYMOUS", "GSSAPI", "EXTERNAL"]).mechanisms();
        assert_eq!(offered, ["ANONYMOUS", "EXTERNAL"].map(Symbol::from));
    }

    #[test]
    fn capitals_do_not_matter_in_the_configuration() {
        assert_eq!(all().only(&["plain"]).mechanisms(), [Symbol::from("PLAIN")]);
    }

    #[test]
    fn nothing_is_offered_when_nothing_listed_is_known() {
        assert!(all().only(&["GSSAPI"]).is_empty());
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
    fn plain_refuses_a_bad_password() {
        assert_eq!(all().init("PLAIN", Some(b"\0joe\0guess"), None), SaslStep::Failed(SaslCode::Auth));
    }

    #[test]
    fn plain_refuses_to_act_as_another_user() {
        assert_eq!(all().init("PLAIN", Some(b"root\0joe\0secret"), None), SaslStep::Failed(SaslCode::Auth));
    }

    #[test]
    fn plain_refuses_malformed_responses() {
        for bad in [&b""[..], b"joe", b"\0joe", b"\0\0secret", b"\0joe\0", b"\0joe\0secret\0", b"\0\xff\0x"] {
            assert_eq!(all().init("PLAIN", Some(bad), None), SaslStep::Failed(SaslCode::Auth), "{bad:?}");
        }
    }

    #[test]
    fn plain_tells_the_client_to_try_later_when_the_user_base_is_down() {
        assert_eq!(all().init("PLAIN", Some(b"\0down\0x"), None), SaslStep::Failed(SaslCode::SysTemp));
    }

    #[test]
    fn plain_waits_for_a_slow_user_base() {
        let mut server = all();
        assert_eq!(server.init("PLAIN", Some(b"\0slow\0x"), None), SaslStep::Pending);
        assert_eq!(user(server.resume()), Some("slow".to_owned()));
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
    fn a_response_that_nobody_asked_for_is_refused() {
        assert_eq!(all().response(b"\0joe\0secret"), SaslStep::Failed(SaslCode::Auth));
    }

    #[test]
    fn external_is_the_identity_the_lower_layer_has_shown() {
        assert_eq!(user(all().init("EXTERNAL", Some(b""), None)), Some("CN=joe".to_owned()));
    }

    #[test]
    fn external_refuses_to_act_as_another() {
        assert_eq!(all().init("EXTERNAL", Some(b"CN=root"), None), SaslStep::Failed(SaslCode::Auth));
    }

    #[test]
    fn a_mechanism_that_is_not_offered_is_refused() {
        let mut server = ServerMechanisms::new().anonymous();
        assert_eq!(server.init("EXTERNAL", Some(b""), None), SaslStep::Failed(SaslCode::Auth));
    }
}
