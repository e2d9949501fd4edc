//! SASL: whatever a client sends, it is refused, or is who it may be without a password; the messages of all mechanisms,
//! and the file of users, are read or refused; and memory stays in proportion to the input.
#![no_main]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use amqp::frame::SASL_HEADER;
use amqp_endpoint::{Connection, ConnectionConfig, Event, Input, Side};
use libfuzzer_sys::fuzz_target;
use security::{ServerMechanisms, UserBase, Users, claimed_user, scram};

/// Bytes of memory that an input byte may cost.
const FACTOR: usize = 400;

fuzz_target!(|data: &[u8]| {
    let users = users();
    let (_, peak) = fuzz::peak(|| {
        read(data);
        converse(data, users);
    });
    assert!(peak < 256 * 1024 + FACTOR * data.len(), "{peak} bytes held for an input of {}", data.len());
});

/// A base that knows joe.
fn users() -> Arc<UserBase> {
    static BASE: OnceLock<Arc<UserBase>> = OnceLock::new();
    let base = BASE.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("fuzz-users-{}", std::process::id()));
        security::change_users(&path, |users| users.set("joe", "secret")).expect("a file can be written");
        let base = UserBase::open(&path).expect("what was written can be read");
        let _ = std::fs::remove_file(path.with_file_name(format!("fuzz-users-{}.lock", std::process::id())));
        let _ = std::fs::remove_file(path);
        Arc::new(base)
    });
    Arc::clone(base)
}

fn read(data: &[u8]) {
    scram::parse_any(data);
    for mechanism in ["PLAIN", "SCRAM-SHA-256", "DIGEST-MD5", "CRAM-MD5", "GSSAPI"] {
        let user = claimed_user(mechanism, data);
        assert!(user.is_none_or(|user| !user.contains('\n')));
    }
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(users) = Users::from_text(text)
    {
        assert_eq!(Users::from_text(&users.to_text()), Ok(users));
    }
}

/// A server that hears this after the header. (PLAIN is left out: to check a password is slow on purpose.)
fn converse(data: &[u8], users: Arc<UserBase>) {
    let mechanisms = ServerMechanisms::new().external("CN=joe".to_owned()).users(users).anonymous().only([
        "EXTERNAL",
        "SCRAM-SHA-1",
        "SCRAM-SHA-256",
        "SCRAM-SHA-512",
        "ANONYMOUS",
    ]);
    let side = Side::Acceptor { sasl: Some(Box::new(mechanisms)), sasl_required: true };
    let mut server = Connection::new(ConnectionConfig::default(), side, Duration::ZERO);
    let bytes = [&SASL_HEADER[..], data].concat();
    let mut input = Input::new(&bytes);
    while let Some(event) = server.poll(Duration::ZERO, &mut input) {
        if let Event::Authenticated { user, .. } = event {
            assert!(matches!(user.as_deref(), Some("anonymous" | "CN=joe")), "{user:?} was let in");
        }
    }
}
