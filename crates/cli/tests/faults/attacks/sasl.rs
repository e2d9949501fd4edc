//! Peers that would get in without showing who they are.

use std::path::PathBuf;

use amqp::frame::{AMQP_HEADER, SASL_HEADER};
use amqp::performative::Open;
use amqp::sasl::{SaslCode, SaslFrame};
use amqp::{Performative, Symbol};

use super::withstands;
use crate::support::router::{Router, Setup};
use crate::support::wire::Wire;

/// A router with a second listener that lets in only joe, by his password.
struct Guarded {
    router: Router,
    port: u16,
    users: PathBuf,
}

impl Guarded {
    fn start(name: &str) -> Self {
        let users = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}.users", std::process::id()));
        security::change_users(&users, |users| users.set("joe", "secret"))
            .expect("the folder for tests can be written");
        let router = format!("usersFile: {}", users.display());
        let port = crate::ports::free_port();
        let sections = format!(
            "listener {{\nname: guarded\nhost: 127.0.0.1\nport: {port}\nauthenticatePeer: yes\nsaslMechanisms: \
             SCRAM-SHA-256\n}}\n"
        );
        let mut router = Setup { router: &router, sections: &sections, ..Setup::default() }.start();
        router.wait_for_log("Listening on", |line| line.contains(&format!(":{port}")));
        Self { router, port, users }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        for suffix in ["", ".lock"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", self.users.display()));
        }
    }
}

fn init(mechanism: &str, response: &[u8]) -> SaslFrame {
    SaslFrame::Init { mechanism: Symbol::from(mechanism), initial_response: Some(response.to_vec()), hostname: None }
}

#[test]
fn a_peer_that_skips_sasl_is_told_to_use_it_and_does_not_get_in() {
    let guarded = Guarded::start("skips");
    withstands(&guarded.router, 32, || {
        let mut wire = Wire::connect(guarded.port);
        wire.write(&AMQP_HEADER);

        assert_eq!(wire.header(), SASL_HEADER);

        wire.expect_end();
    });
}

#[test]
fn mechanisms_that_ask_for_less_are_neither_offered_nor_taken() {
    let guarded = Guarded::start("less");
    withstands(&guarded.router, 32, || {
        for (mechanism, response) in
            [("ANONYMOUS", &b"joe"[..]), ("PLAIN", b"\0joe\0secret"), ("EXTERNAL", b"joe"), ("", b"")]
        {
            let mut wire = Wire::connect(guarded.port);
            wire.write(&SASL_HEADER);
            assert_eq!(wire.header(), SASL_HEADER);
            assert_eq!(wire.sasl(), SaslFrame::Mechanisms(vec![Symbol::from("SCRAM-SHA-256")]));

            wire.send_sasl(&init(mechanism, response));

            let outcome = wire.sasl();
            assert!(matches!(outcome, SaslFrame::Outcome { code: SaslCode::Auth, .. }), "{mechanism}: {outcome:?}");
            wire.expect_end();
        }
    });
}

#[test]
fn the_open_cannot_come_in_the_middle_of_sasl() {
    let guarded = Guarded::start("middle");
    withstands(&guarded.router, 32, || {
        for header in [&AMQP_HEADER[..], b""] {
            let mut wire = Wire::connect(guarded.port);
            wire.write(&SASL_HEADER);
            wire.header();
            wire.sasl();

            wire.write(header);
            wire.send(Performative::Open(Box::new(Open { container_id: "joe".to_owned(), ..Open::default() })));

            wire.expect_end();
            let opened = wire.take(|frame| matches!(frame, Performative::Open(_)).then_some(()));
            assert!(opened.is_empty());
        }
    });
}

#[test]
fn sasl_frames_beyond_512_bytes_are_refused_before_they_have_come() {
    let guarded = Guarded::start("oversized");
    withstands(&guarded.router, 64, || {
        let mut wires: Vec<Wire> = (0..300).map(|_| Wire::connect(guarded.port)).collect();
        for (number, wire) in wires.iter_mut().enumerate() {
            wire.write(&SASL_HEADER);
            // Gigabytes are announced, or a little more than is allowed; they do not come.
            let size: u32 = [0x7fff_ffff, u32::MAX, 100_000][number % 3];
            wire.write(&[&size.to_be_bytes()[..], &[2, 1, 0, 0]].concat());
        }
        for mut wire in wires {
            wire.expect_end();
        }
    });
}
