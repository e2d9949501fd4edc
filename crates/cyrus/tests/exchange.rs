//! Client and server in one process, with users that `saslpasswd2` has made.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use cyrus::{Client, ClientStep, Cyrus, Identity, Layer, Server, ServerStep, Terms};

/// Set where the library has to be there, as it has in CI: elsewhere these tests only say that it is not.
const REQUIRED: &str = "WAYSTATION_REQUIRE_CYRUS";
const REALM: &str = "example.org";

/// The library, started with a data base that has the user `joe@example.org` with the password `secret`.
fn library() -> Option<&'static Cyrus> {
    static STARTED: OnceLock<Option<&'static Cyrus>> = OnceLock::new();
    *STARTED.get_or_init(|| {
        let started = start();
        if let Err(reason) = &started {
            assert!(std::env::var_os(REQUIRED).is_none(), "{reason}");
            eprintln!("not tested: {reason}");
        }
        started.ok()
    })
}

fn start() -> Result<&'static Cyrus, String> {
    let cyrus = Cyrus::load(|_, _| {}).map_err(|error| error.to_string())?;
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cyrus-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let base = folder.join("users.sasldb");
    let mut add = Command::new("saslpasswd2")
        .args(["-c", "-p", "-u", REALM, "-f"])
        .arg(&base)
        .arg("joe")
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| format!("saslpasswd2 (Debian: sasl2-bin): {error}"))?;
    std::io::Write::write_all(&mut add.stdin.take().unwrap(), b"secret").unwrap();
    assert!(add.wait().unwrap().success());
    let configuration = format!(
        "pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: {}\n\
         mech_list: SCRAM-SHA-256 SCRAM-SHA-1 DIGEST-MD5 PLAIN EXTERNAL ANONYMOUS\n",
        base.display()
    );
    fs::write(folder.join("exchange.conf"), configuration).unwrap();
    let text = folder.to_string_lossy().into_owned();
    cyrus.start_server(Some(&text), "exchange").map_err(|error| error.to_string())?;
    cyrus.start_client(Some(&text)).map_err(|error| error.to_string())?;
    Ok(cyrus)
}

fn joe(password: &str) -> Identity {
    Identity { user: Some(format!("joe@{REALM}")), password: Some(password.to_owned()) }
}

/// Lets a client use one mechanism; the user it turns out to be, and both ends.
fn exchange(cyrus: &'static Cyrus, mechanism: &str, identity: &Identity) -> Result<(String, Client, Server), String> {
    let mut server = Server::new(cyrus, &Terms::default()).map_err(|failure| failure.to_string())?;
    let mut client = Client::new(cyrus, "localhost", identity, &Terms::default()).unwrap();
    let begun = client.start(&[mechanism]);
    let Ok(ClientStep::Init(chosen, response)) = begun else { panic!("{mechanism} is not used: {begun:?}") };
    assert_eq!(chosen, mechanism);
    let mut step = server.start(&chosen, response.as_deref()).map_err(|failure| failure.to_string())?;
    loop {
        match step {
            ServerStep::Done { user } => return Ok((user, client, server)),
            ServerStep::Challenge(challenge) => {
                let Ok(ClientStep::Respond(response)) = client.step(&challenge) else { panic!("no answer") };
                step = server.step(&response).map_err(|failure| failure.to_string())?;
            }
        }
    }
}

#[test]
fn mechanisms_are_those_of_the_configuration() {
    let Some(cyrus) = library() else { return };
    let mut offered = Server::new(cyrus, &Terms::default()).unwrap().mechanisms().unwrap();
    offered.sort();
    // EXTERNAL needs a layer beneath that shows who the client is.
    assert_eq!(offered, ["ANONYMOUS", "DIGEST-MD5", "PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256"]);
}

#[test]
fn anonymous_is_not_offered_where_clients_must_authenticate() {
    let Some(cyrus) = library() else { return };
    let terms = Terms { no_anonymous: true, ..Terms::default() };
    let offered = Server::new(cyrus, &terms).unwrap().mechanisms().unwrap();
    assert!(!offered.contains(&"ANONYMOUS".to_owned()) && offered.contains(&"PLAIN".to_owned()), "{offered:?}");
}

#[test]
fn where_encryption_is_demanded_only_mechanisms_with_it_are_offered() {
    let Some(cyrus) = library() else { return };
    let terms = Terms { encrypt: true, ..Terms::default() };
    assert_eq!(Server::new(cyrus, &terms).unwrap().mechanisms().unwrap(), ["DIGEST-MD5"]);
}

#[test]
fn encryption_beneath_is_as_good() {
    let Some(cyrus) = library() else { return };
    let terms = Terms { encrypt: true, external_strength: 256, ..Terms::default() };
    assert!(Server::new(cyrus, &terms).unwrap().mechanisms().unwrap().contains(&"PLAIN".to_owned()));
}

#[test]
fn each_mechanism_with_a_password_knows_joe() {
    let Some(cyrus) = library() else { return };
    for mechanism in ["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256", "DIGEST-MD5"] {
        let user = exchange(cyrus, mechanism, &joe("secret")).map(|(user, ..)| user);
        assert_eq!(user, Ok(format!("joe@{REALM}")), "{mechanism}");
    }
}

#[test]
fn a_wrong_password_is_refused() {
    let Some(cyrus) = library() else { return };
    for mechanism in ["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256", "DIGEST-MD5"] {
        assert!(exchange(cyrus, mechanism, &joe("guess")).is_err(), "{mechanism}");
    }
}

#[test]
fn an_unknown_user_is_refused_for_good() {
    let Some(cyrus) = library() else { return };
    let mut server = Server::new(cyrus, &Terms::default()).unwrap();
    let failure = server.start("PLAIN", Some(b"\0nobody\0secret")).unwrap_err();
    assert!(!failure.is_temporary(), "{failure:?}");
}

#[test]
fn nobody_acts_as_somebody_else() {
    let Some(cyrus) = library() else { return };
    let mut server = Server::new(cyrus, &Terms::default()).unwrap();
    assert!(server.start("PLAIN", Some(b"root\0joe@example.org\0secret")).is_err());
}

#[test]
fn external_is_who_the_layer_beneath_shows() {
    let Some(cyrus) = library() else { return };
    let terms = Terms { external_strength: 256, external_user: Some("CN=joe".to_owned()), ..Terms::default() };
    let mut server = Server::new(cyrus, &terms).unwrap();
    assert!(server.mechanisms().unwrap().contains(&"EXTERNAL".to_owned()));
    assert_eq!(server.start("EXTERNAL", Some(b"")), Ok(ServerStep::Done { user: "CN=joe".to_owned() }));
}

#[test]
fn anonymous_needs_no_words() {
    let Some(cyrus) = library() else { return };
    let mut server = Server::new(cyrus, &Terms::default()).unwrap();
    assert_eq!(server.start("ANONYMOUS", None), Ok(ServerStep::Done { user: "anonymous".to_owned() }));
}

#[test]
fn a_client_that_can_use_nothing_of_what_is_offered_says_so() {
    let Some(cyrus) = library() else { return };
    let mut client = Client::new(cyrus, "localhost", &Identity::default(), &Terms::default()).unwrap();
    assert!(client.start(&["PLAIN"]).unwrap_err().is_no_mechanism());
}

#[test]
fn garbage_is_refused() {
    let Some(cyrus) = library() else { return };
    for mechanism in ["PLAIN", "SCRAM-SHA-256", "DIGEST-MD5", "EXTERNAL", "ANONYMOUS", "NONSENSE", ""] {
        for garbage in [&b""[..], b"\0", b"\0\0\0\0", &[0xff; 9000], b"n,,n=,r=", b"n,,n=a,r=b"] {
            let mut server = Server::new(cyrus, &Terms::default()).unwrap();
            let step = server.start(mechanism, Some(garbage));
            if let Ok(ServerStep::Challenge(_)) = step {
                assert!(!matches!(server.step(garbage), Ok(ServerStep::Done { .. })), "{mechanism} {garbage:?}");
            }
        }
    }
}

/// Both ends of a layer.
fn layers(cyrus: &'static Cyrus) -> (Layer, Layer) {
    let (_, client, server) = exchange(cyrus, "DIGEST-MD5", &joe("secret")).unwrap();
    (client.into_layer().unwrap(), server.into_layer().unwrap())
}

#[test]
fn a_mechanism_without_a_layer_has_none() {
    let Some(cyrus) = library() else { return };
    let (_, client, server) = exchange(cyrus, "SCRAM-SHA-256", &joe("secret")).unwrap();
    assert!(client.into_layer().is_none() && server.into_layer().is_none());
}

#[test]
fn a_layer_carries_bytes_both_ways_and_hides_them() {
    let Some(cyrus) = library() else { return };
    let (mut client, mut server) = layers(cyrus);
    assert!(client.strength() > 1 && client.strength() == server.strength());
    let plain: Vec<u8> = (0..200_000_u32).map(|number| (number / 3) as u8).collect();
    for _ in 0..2 {
        let (from, to) = (&mut client, &mut server);
        let mut wire = Vec::new();
        from.encode(&plain, &mut wire).unwrap();
        assert!(!wire.windows(16).any(|bytes| bytes == &plain[..16]));
        let mut out = Vec::new();
        // In pieces of which none is a packet.
        wire.chunks(997).for_each(|piece| to.decode(piece, &mut out).unwrap());
        assert_eq!(out, plain);
        std::mem::swap(&mut client, &mut server);
    }
}

#[test]
fn bytes_that_were_changed_on_the_way_are_noticed() {
    let Some(cyrus) = library() else { return };
    let (mut client, mut server) = layers(cyrus);
    let mut wire = Vec::new();
    client.encode(b"pay 10", &mut wire).unwrap();
    let middle = wire.len() / 2;
    wire[middle] ^= 1;
    assert!(server.decode(&wire, &mut Vec::new()).is_err());
}

#[test]
fn a_packet_larger_than_was_agreed_is_refused_at_its_size() {
    let Some(cyrus) = library() else { return };
    let (_, mut server) = layers(cyrus);
    assert!(server.decode(&[0x7f, 0xff, 0xff, 0xff, 0], &mut Vec::new()).is_err());
}

#[test]
fn exchanges_go_on_at_once_on_several_threads() {
    let Some(cyrus) = library() else { return };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for mechanism in ["PLAIN", "SCRAM-SHA-256", "DIGEST-MD5", "SCRAM-SHA-1"] {
                    assert!(exchange(cyrus, mechanism, &joe("secret")).is_ok());
                    assert!(exchange(cyrus, mechanism, &joe("guess")).is_err());
                }
            });
        }
    });
}
