//! TLS under AMQP: whatever is said to a listener that takes TLS, or to a connector, it ends in an error or in what the
//! other end really said, and memory stays bounded.
//!
//! The first byte says who is spoken to, the second in which pieces. Then come the bytes themselves, or what somebody in the
//! middle does to a conversation of a real client with a real server.
#![no_main]

use std::cell::RefCell;
use std::io::ErrorKind;
use std::rc::Rc;
use std::sync::OnceLock;

use fuzz::wire::{Pipe, Wire};
use libfuzzer_sys::fuzz_target;
use management::Attributes;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use security::tls::{
    ClientCertificate, ClientTls, FirstBytes, Profile, ServerTls, ServerTrust, Session, Spoken, TlsStream,
};

/// Bytes that a session may hold, whatever is sent: buffers, keys and certificates.
const HELD_MAX: usize = 1024 * 1024;
/// Turns of a conversation: more than any needs.
const TURNS: usize = 200;
/// What each end says to the other.
const SAID: &[u8] = b"AMQP\x00\x01\x00\x00 this is what was said";

fuzz_target!(|data: &[u8]| {
    let [kind, piece, rest @ ..] = data else { return };
    let parties = parties();
    let at_a_time = if *piece == 0 { usize::MAX } else { usize::from(*piece) };
    let (_, peak) = fuzz::peak(|| match kind % 4 {
        0 => to_listener(parties, rest, at_a_time),
        1 => to_connector(parties, rest, at_a_time),
        _ => in_the_middle(parties, rest, at_a_time, *kind),
    });
    assert!(peak < HELD_MAX + 8 * data.len(), "{peak} bytes held for an input of {}", data.len());
});

struct Parties {
    server: Profile,
    client: Profile,
    strict: ServerTls,
    easy: ServerTls,
    known: ClientTls,
}

impl Parties {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("fuzz-tls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "us");
        let key = KeyPair::generate().expect("a key can be made");
        let authority = CertifiedIssuer::self_signed(params, key).expect("a certificate can be made");
        let profile = |hosts: &[&str], name: &str| {
            let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
            let mut params = CertificateParams::new(hosts).expect("names are names");
            params.distinguished_name = rcgen::DistinguishedName::new();
            params.distinguished_name.push(DnType::CommonName, name);
            let key = KeyPair::generate().expect("a key can be made");
            let own =
                params.signed_by(&key, &authority).expect("a certificate can be made").pem() + &key.serialize_pem();
            let file = |what: &str, text: &str| {
                let path = folder.join(format!("{name}-{what}"));
                std::fs::write(&path, text).expect("a file can be written");
                path.display().to_string()
            };
            let attributes = Attributes::new().with("name", name.into());
            let attributes = attributes.with("certFile", file("own", &own).into());
            let attributes = attributes.with("caCertFile", file("ca", &authority.pem()).into());
            let config = config::SslProfileConfig::from_attributes(&attributes).expect("nothing is wrong with it");
            Profile::load(&config).expect("the files are there")
        };
        let (server, client) = (profile(&["localhost"], "router"), profile(&[], "joe"));
        let _ = std::fs::remove_dir_all(&folder);
        let tls = |client| ServerTls::new(&server, client).expect("a profile with everything");
        let (strict, easy) = (tls(ClientCertificate::Required), tls(ClientCertificate::NotAsked));
        let known = ClientTls::new(&client, ServerTrust::Host).expect("a profile with everything");
        Self { strict, easy, known, server, client }
    }
}

fn parties() -> &'static Parties {
    static PARTIES: OnceLock<Parties> = OnceLock::new();
    PARTIES.get_or_init(Parties::new)
}

/// Any bytes at a listener: nobody gets in.
fn to_listener(parties: &Parties, bytes: &[u8], at_a_time: usize) {
    let wire = Wire::new(at_a_time);
    wire.reads.push(bytes);
    *wire.ended.borrow_mut() = true;
    let mut buffer = vec![0; 64 * 1024];
    let mut first = FirstBytes::new(wire);
    for _ in 0..=bytes.len() {
        match first.read(&mut buffer) {
            Ok(Spoken::Plain { count, .. }) => {
                assert!(bytes.starts_with(&buffer[..count]), "what is read is what came");
                return assert_ne!(bytes[0], 22, "a handshake is no AMQP");
            }
            Ok(Spoken::Tls { beneath, greeting, bytes: begun }) => {
                assert!(bytes[greeting.len()..].starts_with(&begun));
                let mut stream = TlsStream::accept(beneath, &parties.strict, greeting).expect("a session can begin");
                let taken = if begun.is_empty() { 0 } else { plain(stream.take(&mut buffer, &begun)) };
                return assert_eq!(taken + read_to_the_end(&mut stream, &mut buffer, bytes.len()), 0);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
    panic!("it does not become clear what {bytes:?} is");
}

/// Any bytes at a connector, as the answer to what it says: it trusts nobody.
fn to_connector(parties: &Parties, bytes: &[u8], at_a_time: usize) {
    let client = ClientTls::new(&parties.client, ServerTrust::Host).expect("a profile with everything");
    let wire = Wire::new(at_a_time);
    wire.reads.push(bytes);
    *wire.ended.borrow_mut() = true;
    let mut stream = TlsStream::connect(wire, &client, "localhost").expect("localhost is a name");
    let mut buffer = vec![0; Session::BUFFER];
    assert_eq!(read_to_the_end(&mut stream, &mut buffer, bytes.len()), 0);
}

fn plain(result: std::io::Result<usize>) -> usize {
    result.unwrap_or(0)
}

/// Reads until there is nothing more; how many plain bytes there were.
fn read_to_the_end(stream: &mut TlsStream<Wire>, buffer: &mut [u8], bytes: usize) -> usize {
    let mut taken = 0;
    for _ in 0..bytes + 4 {
        match stream.read(buffer) {
            Ok(0) => {
                assert!(!stream.is_established() || taken == 0);
                return taken;
            }
            Ok(count) => taken += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => {
                assert!(plain(stream.read(buffer)) == 0, "nothing comes after an error");
                return taken;
            }
        }
    }
    panic!("{bytes} bytes have no end");
}

/// One end of a conversation.
struct End {
    stream: TlsStream<Wire>,
    heard: Vec<u8>,
    said: usize,
    failed: bool,
}

impl End {
    fn new(stream: TlsStream<Wire>) -> Self {
        Self { stream, heard: Vec::new(), said: 0, failed: false }
    }

    /// Reads and writes what it can. True: something has moved.
    fn turn(&mut self, buffer: &mut [u8]) -> bool {
        if self.failed {
            return false;
        }
        let before = self.stream.beneath().reads.len();
        let mut moved = false;
        match self.stream.read(buffer) {
            Ok(0) => self.failed = true,
            Ok(count) => {
                self.heard.extend(&buffer[..count]);
                moved = true;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => moved |= self.stream.has_more(),
            Err(_) => self.failed = true,
        }
        moved |= self.stream.beneath().reads.len() < before;
        if self.stream.wants_write() {
            moved = true;
            self.failed |= self.stream.flush().is_err();
        }
        if !self.failed && self.stream.is_established() && self.said < SAID.len() {
            match self.stream.write(&SAID[self.said..]) {
                Ok(count) => self.said += count,
                Err(_) => self.failed = true,
            }
            moved = true;
        }
        moved
    }
}

/// What is done to the bytes of one direction: at a place, counted over the whole conversation.
struct Meddler<'b> {
    acts: &'b [u8],
    passed: usize,
    from: Pipe,
    to: Pipe,
    ended: Rc<RefCell<bool>>,
    honest: bool,
}

impl Meddler<'_> {
    /// Passes on what there is, but for what is to be done to it.
    fn pass(&mut self) -> bool {
        let mut bytes = self.from.take();
        let moved = !bytes.is_empty();
        while let [high, low, act, with, rest @ ..] = self.acts {
            let place = usize::from(u16::from_be_bytes([*high, *low]) % 4096);
            let Some(at) = place.checked_sub(self.passed).filter(|at| *at < bytes.len()) else {
                if place < self.passed {
                    self.acts = rest;
                    continue;
                }
                break;
            };
            self.acts = rest;
            self.honest = false;
            let with = *with;
            match act % 6 {
                0 => bytes[at] ^= with.max(1),
                1 => bytes.insert(at, with),
                2 => drop(bytes.drain(at..bytes.len().min(at + usize::from(with)))),
                3 => {
                    // Once more what has been said.
                    let end = bytes.len().min(at + usize::from(with) + 1);
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                4 => {
                    bytes.truncate(at);
                    *self.ended.borrow_mut() = true;
                }
                _ => drop(bytes.splice(at..at, rest.iter().copied().take(with.into()))),
            }
        }
        self.passed += bytes.len();
        self.to.push(&bytes);
        moved
    }
}

/// A client and a server, and somebody between them.
fn in_the_middle(parties: &Parties, acts: &[u8], at_a_time: usize, kind: u8) {
    let fresh;
    let client = if kind & 4 == 0 {
        &parties.known
    } else {
        fresh = ClientTls::new(&parties.client, ServerTrust::Host).expect("a profile with everything");
        &fresh
    };
    let server = if kind & 8 == 0 { &parties.strict } else { &parties.easy };
    let renewed;
    let server = if kind & 16 == 0 {
        server
    } else {
        // One whose tickets are of no use to those who have some.
        renewed = ServerTls::new(&parties.server, ClientCertificate::Required).expect("a profile with everything");
        &renewed
    };
    let (here, there) = (Wire::new(at_a_time), Wire::new(at_a_time));
    let half = acts.len() / 8 * 4;
    let meddler = |acts, from: &Wire, to: &Wire| Meddler {
        acts,
        passed: 0,
        from: from.writes.clone(),
        to: to.reads.clone(),
        ended: Rc::clone(&to.ended),
        honest: true,
    };
    let mut up = meddler(&acts[..half], &here, &there);
    let mut down = meddler(&acts[half..], &there, &here);
    let mut client = End::new(TlsStream::connect(here, client, "localhost").expect("localhost is a name"));
    let mut server = End::new(TlsStream::accept(there, server, &[]).expect("a session can begin"));
    let mut buffer = vec![0; Session::BUFFER];
    let turns = TURNS + 16 * 1024 / at_a_time.min(16 * 1024);
    let over = (0..turns).any(|_| {
        let moved = [client.turn(&mut buffer), up.pass(), server.turn(&mut buffer), down.pass()];
        moved.iter().all(|moved| !moved)
    });
    assert!(over || at_a_time < 16, "the conversation has no end");
    for end in [&client, &server] {
        assert!(SAID.starts_with(&end.heard), "{:?} was never said", end.heard);
    }
    if up.honest && down.honest && over {
        assert!(client.heard == SAID && server.heard == SAID, "nobody has meddled, and nothing was said");
    }
    if server.stream.is_established() {
        let user = server.stream.info().user;
        assert!(matches!(user.as_deref(), None | Some("CN=joe")), "{user:?} was let in");
    }
}
