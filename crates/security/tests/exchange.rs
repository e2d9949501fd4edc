//! The mechanisms of both sides against each other, over two connections in memory.
#![forbid(unsafe_code)]

use std::time::Duration;

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{Connection, ConnectionConfig, Event, Input, SaslServer, SaslStep, Side};
use proptest::prelude::*;
use security::{ClientMechanisms, Credentials, ServerMechanisms, UserChecker, Verdict};

/// Knows one user, `joe` with the password `secret`; may want time to think.
struct Joe {
    thinks: bool,
}

impl UserChecker for Joe {
    fn check(&mut self, credentials: &Credentials<'_>) -> Verdict {
        match (credentials.user, credentials.password, self.thinks) {
            ("joe", "secret", false) => Verdict::Accepted { user: "joe@home".to_owned() },
            ("joe", "secret", true) => Verdict::Later,
            _ => Verdict::Refused,
        }
    }

    fn resume(&mut self) -> Verdict {
        Verdict::Accepted { user: "joe@home".to_owned() }
    }
}

/// Client and server, and what each has told its owner.
struct Exchange {
    ends: [Connection; 2],
    events: [Vec<String>; 2],
}

impl Exchange {
    fn new(client: ClientMechanisms, server: ServerMechanisms) -> Self {
        let config = || ConnectionConfig { hostname: Some("host".to_owned()), ..ConnectionConfig::default() };
        let asks = Side::Initiator { sasl: Some(Box::new(client)) };
        let answers = Side::Acceptor { sasl: Some(Box::new(server)), sasl_required: true };
        let ends = [asks, answers].map(|side| Connection::new(config(), side, Duration::ZERO));
        Self { ends, events: [Vec::new(), Vec::new()] }
    }

    /// Lets them talk until both are silent.
    fn run(mut self) -> Self {
        let mut silent = 0;
        for at in [0, 1].into_iter().cycle() {
            self.ends[at].flush(Duration::ZERO);
            let said = self.ends[at].output().to_vec();
            self.ends[at].consume_output(said.len());
            silent = if said.is_empty() { silent + 1 } else { 0 };
            if silent == 3 {
                break;
            }
            self.reads(1 - at, &said);
        }
        self
    }

    fn reads(&mut self, at: usize, bytes: &[u8]) {
        let mut input = Input::new(bytes);
        while let Some(event) = self.ends[at].poll(Duration::ZERO, &mut input) {
            if matches!(event, Event::Opened(_)) {
                self.ends[at].open(None);
            }
            self.events[at].push(format!("{event:?}"));
        }
    }

    /// What the server was told first.
    fn server(&self) -> &str {
        self.events[1].first().map_or("nothing", String::as_str)
    }

    fn is_open(&self) -> bool {
        self.events.iter().all(|events| events.iter().any(|event| event.starts_with("Opened")))
    }
}

fn joe(password: &str) -> ClientMechanisms {
    ClientMechanisms::new().password("joe".to_owned(), password.to_owned())
}

fn plain() -> ServerMechanisms {
    ServerMechanisms::new().plain(Box::new(Joe { thinks: false }))
}

fn authenticated(mechanism: &str, user: &str) -> String {
    let event = Event::Authenticated { mechanism: Some(Symbol::from(mechanism)), user: Some(user.to_owned()) };
    format!("{event:?}")
}

#[test]
fn anonymous_lets_anyone_in() {
    let exchange = Exchange::new(ClientMechanisms::new(), ServerMechanisms::new().anonymous()).run();
    assert_eq!(exchange.server(), authenticated("ANONYMOUS", "anonymous"));
    assert!(exchange.is_open());
}

#[test]
fn a_good_password_lets_in_under_the_checkers_name() {
    let exchange = Exchange::new(joe("secret"), plain().anonymous()).run();
    assert_eq!(exchange.server(), authenticated("PLAIN", "joe@home"));
    assert!(exchange.is_open());
}

#[test]
fn a_bad_password_fails_at_both_ends() {
    let exchange = Exchange::new(joe("guess"), plain().anonymous()).run();
    for events in &exchange.events {
        assert!(events[0].contains("Authentication failed [mech=PLAIN]"), "{events:?}");
    }
}

#[test]
fn a_client_without_credentials_is_told_what_the_server_offers() {
    let exchange = Exchange::new(ClientMechanisms::new(), plain()).run();
    assert!(exchange.events[0][0].contains("the peer offers \\\"PLAIN\\\""), "{:?}", exchange.events[0]);
}

#[test]
fn a_certificate_lets_in_as_what_it_shows() {
    let server = ServerMechanisms::new().external("CN=joe".to_owned());
    let exchange = Exchange::new(ClientMechanisms::new().external(), server).run();
    assert_eq!(exchange.server(), authenticated("EXTERNAL", "CN=joe"));
}

#[test]
fn a_server_that_offers_nothing_lets_nobody_in() {
    let exchange = Exchange::new(joe("secret"), ServerMechanisms::new()).run();
    assert!(!exchange.is_open());
}

#[test]
fn a_slow_user_base_is_waited_for() {
    let mut exchange =
        Exchange::new(joe("secret"), ServerMechanisms::new().plain(Box::new(Joe { thinks: true }))).run();
    assert_eq!(exchange.server(), "nothing");
    exchange.ends[1].poke_sasl();
    exchange.reads(1, &[]);
    let exchange = exchange.run();
    assert_eq!(exchange.server(), authenticated("PLAIN", "joe@home"));
    assert!(exchange.is_open());
}

proptest! {
    #[test]
    fn no_other_response_than_the_right_one_lets_in(response in proptest::collection::vec(any::<u8>(), 0..40)) {
        let step = plain().init("PLAIN", Some(&response), None);
        prop_assert_eq!(step, SaslStep::Failed(SaslCode::Auth));
    }

    #[test]
    fn only_a_user_and_its_password_let_in(parts in proptest::collection::vec("joe|secret|x|", 0..5)) {
        let step = plain().init("PLAIN", Some(parts.join("\0").as_bytes()), None);
        let right = [["", "joe", "secret"], ["joe", "joe", "secret"]];
        let is_right = right.iter().any(|right| parts == right);
        let let_in = matches!(step, SaslStep::Done { .. });
        prop_assert_eq!(let_in, is_right);
    }
}
