//! The mechanisms of both sides against each other, over two connections in memory.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{Connection, ConnectionConfig, Event, Input, SaslClient, SaslServer, SaslStep, Side};
use proptest::prelude::*;
use security::{ClientMechanisms, OffloadedClient, OffloadedServer, ServerMechanisms, UserBase, Wake, Workers};

/// A base with one user, `joe` with the password `secret`, of few iterations, so that trying is quick.
fn users() -> Arc<UserBase> {
    static BASE: OnceLock<Arc<UserBase>> = OnceLock::new();
    let base = BASE.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("users-{}-exchange", std::process::id()));
        security::change_users(&path, |users| users.set("joe", "secret")).unwrap();
        let base = UserBase::open(&path).unwrap();
        std::fs::remove_file(path.with_file_name(format!("users-{}-exchange.lock", std::process::id()))).unwrap();
        std::fs::remove_file(path).unwrap();
        Arc::new(base)
    });
    Arc::clone(base)
}

/// Client and server, and what each has told its owner.
struct Exchange {
    ends: [Connection; 2],
    events: [Vec<String>; 2],
}

impl Exchange {
    fn new(client: impl SaslClient + 'static, server: impl SaslServer + 'static) -> Self {
        let config = || ConnectionConfig { hostname: Some("host".to_owned()), ..ConnectionConfig::default() };
        let asks = Side::Initiator { sasl: Some(Box::new(client)) };
        let answers = Side::Acceptor { sasl: Some(Box::new(server)), sasl_required: true };
        let ends = [asks, answers].map(|side| Connection::new(config(), side, Duration::ZERO));
        Self { ends, events: [Vec::new(), Vec::new()] }
    }

    /// Lets them talk until both are silent, and work is done that is done elsewhere.
    fn run_with(mut self, woken: &mpsc::Receiver<usize>) -> Self {
        self = self.run();
        while let Ok(at) = woken.recv_timeout(Duration::from_secs(120)) {
            self.ends[at].poke_sasl();
            self.reads(at, &[]);
            self = self.run();
            if self.is_open() {
                break;
            }
        }
        self
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
    ServerMechanisms::new().users(users()).only(["PLAIN"])
}

/// Wakes the exchange for one of its ends.
fn wake(sender: &mpsc::Sender<usize>, end: usize) -> Wake {
    let sender = sender.clone();
    Arc::new(move || sender.send(end).unwrap_or_default())
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
fn a_good_password_lets_in() {
    let exchange = Exchange::new(joe("secret"), plain().anonymous()).run();
    assert_eq!(exchange.server(), authenticated("PLAIN", "joe"));
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
fn the_strongest_mechanism_of_both_is_used() {
    let exchange = Exchange::new(joe("secret"), ServerMechanisms::new().users(users()).anonymous()).run();
    assert_eq!(exchange.server(), authenticated("SCRAM-SHA-512", "joe"));
    assert!(exchange.is_open());
}

#[test]
fn each_strength_of_scram_lets_joe_in_and_nobody_else() {
    for mechanism in ["SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512"] {
        let server = || ServerMechanisms::new().users(users()).only([mechanism]);
        assert_eq!(Exchange::new(joe("secret"), server()).run().server(), authenticated(mechanism, "joe"));
        for client in [joe("guess"), ClientMechanisms::new().password("ann".to_owned(), "secret".to_owned())] {
            let exchange = Exchange::new(client, server()).run();
            for events in &exchange.events {
                let expected = format!("Authentication failed [mech={mechanism}]");
                assert!(events[0].contains(&expected), "{events:?}");
            }
        }
    }
}

#[test]
fn work_that_is_done_elsewhere_is_waited_for_on_both_sides() {
    let (sender, woken) = mpsc::channel();
    let workers = Workers::new(2, 8);
    let client = OffloadedClient::new(Box::new(joe("secret")), workers.clone(), wake(&sender, 0));
    let server = Box::new(ServerMechanisms::new().users(users()).anonymous());
    let server = OffloadedServer::new(server, workers, wake(&sender, 1));
    let exchange = Exchange::new(client, server).run();
    assert_eq!(exchange.server(), "nothing");
    let exchange = exchange.run_with(&woken);
    assert_eq!(exchange.server(), authenticated("SCRAM-SHA-512", "joe"));
    assert!(exchange.is_open());
}

#[test]
fn a_connection_that_is_given_up_meanwhile_leaves_nothing_behind() {
    struct Counted(Arc<AtomicU32>);
    impl SaslServer for Counted {
        fn mechanisms(&self) -> Vec<Symbol> {
            Vec::new()
        }
        fn init(&mut self, _: &str, _: Option<&[u8]>, _: Option<&str>) -> SaslStep {
            SaslStep::Failed(SaslCode::Sys)
        }
        fn response(&mut self, _: &[u8]) -> SaslStep {
            SaslStep::Failed(SaslCode::Sys)
        }
    }
    impl security::Mechanisms for Counted {
        fn reason(&self) -> Option<String> {
            None
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (dropped, (sender, woken)) = (Arc::new(AtomicU32::new(0)), mpsc::channel());
    let workers = Workers::new(1, 8);
    let mut server = OffloadedServer::new(Box::new(Counted(Arc::clone(&dropped))), workers.clone(), wake(&sender, 1));
    server.prepare();
    drop(server);
    woken.recv().unwrap();
    // The one thread is through with it once it has something else to do.
    let (sender, done) = mpsc::channel();
    workers.submit(move || sender.send(()).unwrap()).unwrap();
    done.recv().unwrap();
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

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
