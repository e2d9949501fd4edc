//! TLS: listeners and connectors with an `sslProfile`.

use super::*;
use authority::{Authority, Folder, Issued};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use security::tls::{ClientTls, Profile, ServerTrust};
use std::io::{self, Read, Write};
use std::time::Duration;

#[path = "../../../../security/tests/tls/authority.rs"]
pub(super) mod authority;

const AMQP: [u8; 8] = *b"AMQP\0\x01\0\0";
const TLS: [u8; 8] = *b"AMQP\x02\x01\0\0";

/// The `sslProfile` section named `tls`, with the files it names.
pub(super) fn profile(folder: &Folder, authority: &Authority, own: &Issued) -> String {
    let trusted = folder.write("ca.pem", &authority.pem());
    let certificate = folder.write("cert.pem", &own.certificate);
    let key = folder.write("key.pem", &own.key());
    format!(
        "sslProfile {{\n name: tls\n caCertFile: {}\n certFile: {}\n privateKeyFile: {}\n}}\n",
        trusted.display(),
        certificate.display(),
        key.display()
    )
}

fn tls_listener(port: u16, more: &str) -> String {
    format!("listener {{\n host: 127.0.0.1\n port: {port}\n sslProfile: tls\n{more}}}\n")
}

/// A client that trusts the authority, and shows its certificate if it has one.
pub(super) fn client(folder: &Folder, authority: &Authority, own: Option<&Issued>) -> ClientTls {
    let trusted = folder.write("client-ca.pem", &authority.pem()).display().to_string();
    let mut pairs = vec![("name".to_owned(), "client".to_owned()), ("caCertFile".to_owned(), trusted)];
    if let Some(own) = own {
        let certificate = folder.write("client-cert.pem", &own.certificate).display().to_string();
        let key = folder.write("client-key.pem", &own.key()).display().to_string();
        pairs.extend([("certFile".to_owned(), certificate), ("privateKeyFile".to_owned(), key)]);
    }
    let attributes = Attributes(pairs.into_iter().map(|(name, text)| (name, text.into())).collect());
    let config = config::SslProfileConfig::from_attributes(&attributes).unwrap();
    ClientTls::new(&Profile::load(&config).unwrap(), ServerTrust::Host).unwrap()
}

fn socket(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// What comes back over a connection when the header of AMQP was sent.
fn answer(mut stream: impl Read + Write) -> io::Result<[u8; 8]> {
    let mut answer = [0; 8];
    stream.write_all(&AMQP)?;
    stream.read_exact(&mut answer)?;
    Ok(answer)
}

pub(super) fn over_tls(client: &ClientTls, stream: TcpStream) -> StreamOwned<ClientConnection, TcpStream> {
    let name = ServerName::try_from("localhost").unwrap();
    StreamOwned::new(ClientConnection::new(client.config(), name).unwrap(), stream)
}

/// What comes back when TLS begins at once.
fn answer_over_tls(client: &ClientTls, port: u16) -> io::Result<[u8; 8]> {
    answer(over_tls(client, socket(port)))
}

#[tokio::test]
async fn a_listener_with_a_profile_takes_tls_and_plain_connections_at_one_port() {
    let (folder, authority, port) = (Folder::new(), Authority::new("us"), free_port());
    let sections = profile(&folder, &authority, &authority.issue(&["localhost"], "router"));
    let mut router = Router::start(&(sections + &tls_listener(port, "")));
    router.until_listening().await;
    assert_eq!(answer_over_tls(&client(&folder, &authority, None), port).unwrap(), AMQP);
    assert_eq!(answer(socket(port)).unwrap(), AMQP);
}

#[tokio::test]
async fn tls_can_be_asked_for_by_its_header() {
    let (folder, authority, port) = (Folder::new(), Authority::new("us"), free_port());
    let sections = profile(&folder, &authority, &authority.issue(&["localhost"], "router"));
    let mut router = Router::start(&(sections + &tls_listener(port, " requireSsl: yes\n")));
    router.until_listening().await;
    let mut stream = socket(port);
    let mut header = [0; 8];
    stream.write_all(&TLS).unwrap();
    stream.read_exact(&mut header).unwrap();
    assert_eq!(header, TLS);
    assert_eq!(answer(over_tls(&client(&folder, &authority, None), stream)).unwrap(), AMQP);
}

#[tokio::test]
async fn where_tls_is_required_others_are_told_and_sent_away() {
    let (folder, authority, port) = (Folder::new(), Authority::new("us"), free_port());
    let sections = profile(&folder, &authority, &authority.issue(&["localhost"], "router"));
    let mut router = Router::start(&(sections + &tls_listener(port, " requireSsl: yes\n")));
    router.until_listening().await;
    assert_eq!(answer(socket(port)).unwrap(), TLS);
}

/// A router whose only listener needs TLS, and a client for it.
struct Served {
    router: Router,
    folder: Folder,
    authority: Authority,
    port: u16,
    client: ClientTls,
}

impl Served {
    async fn start(more: &str) -> Self {
        let (folder, authority, port) = (Folder::new(), Authority::new("us"), free_port());
        let sections = profile(&folder, &authority, &authority.issue(&["localhost"], "first"));
        let mut router = Router::start(&(sections + &tls_listener(port, &format!(" requireSsl: yes\n{more}"))));
        router.until_listening().await;
        let client = client(&folder, &authority, None);
        Self { router, folder, authority, port, client }
    }

    /// The common name of the certificate that the router shows now.
    fn shown(&self) -> io::Result<String> {
        let mut stream = over_tls(&self.client, socket(self.port));
        stream.write_all(&AMQP)?;
        stream.read_exact(&mut [0; 8])?;
        let chain = stream.conn.peer_certificates().unwrap_or_default();
        let der = chain.first().ok_or(io::ErrorKind::NotFound)?;
        // Its subject has one field, the common name.
        let name = ["first", "second"]
            .into_iter()
            .find(|name| der.as_ref().windows(name.len()).any(|window| window == name.as_bytes()));
        Ok(name.unwrap_or_default().to_owned())
    }

    fn write(&self, own: &Issued) {
        self.folder.write("cert.pem", &own.certificate);
        self.folder.write("key.pem", &own.key());
    }
}

#[tokio::test]
async fn certificates_that_change_on_disk_count_for_new_connections_and_disturb_no_others() {
    let served = Served::start("").await;
    let mut old = over_tls(&served.client, socket(served.port));
    old.write_all(&AMQP).unwrap();
    old.read_exact(&mut [0; 8]).unwrap();
    assert_eq!(served.shown().unwrap(), "first");

    served.write(&served.authority.issue(&["localhost"], "second"));
    // While they change, too, everyone is served.
    while served.shown().unwrap() != "second" {}

    // The old connection is answered still: an open, which it has not sent, is asked for in vain.
    old.write_all(b"\0\0\0\x08\x02\0\0\0").unwrap();
    assert!(old.read(&mut [0; 8]).unwrap() > 0);
}

#[tokio::test]
async fn certificates_that_cannot_be_used_do_not_take_the_place_of_good_ones() {
    let served = Served::start("").await;
    // Half of a change: the key is that of another certificate.
    let second = served.authority.issue(&["localhost"], "second");
    served.folder.write("cert.pem", &second.certificate);
    let seen = std::time::Instant::now();
    while seen.elapsed() < Duration::from_secs(3) {
        assert_eq!(served.shown().unwrap(), "first");
    }
    served.folder.write("key.pem", &second.key());
    while served.shown().unwrap() != "second" {}
}

#[tokio::test]
async fn a_profile_that_management_changes_counts_for_new_connections() {
    let mut served = Served::start("").await;
    let second = served.authority.issue(&["localhost"], "second");
    let certificate = served.folder.write("cert2.pem", &second.certificate).display().to_string();
    let key = served.folder.write("key2.pem", &second.key()).display().to_string();
    let changes = [("certFile", certificate.as_str()), ("privateKeyFile", key.as_str())];
    let changed = served.router.update("sslProfile", "sslProfile/tls", &changes).unwrap();
    assert_eq!(changed.text("certFile"), Some(certificate.as_str()));
    assert_eq!(served.shown().unwrap(), "second");
}

#[tokio::test]
async fn a_profile_that_is_replaced_counts_for_new_connections() {
    let mut served = Served::start("").await;
    let second = served.authority.issue(&["localhost"], "second");
    let certificate = served.folder.write("cert2.pem", &second.certificate).display().to_string();
    let key = served.folder.write("key2.pem", &second.key()).display().to_string();
    served.router.delete("sslProfile", "sslProfile/tls").unwrap();
    // Whoever uses it goes on with it.
    assert_eq!(served.shown().unwrap(), "first");
    let pairs =
        [("name", "tls"), ("identity", "sslProfile/tls"), ("certFile", &*certificate), ("privateKeyFile", &*key)];
    served.router.create("sslProfile", &pairs).unwrap();
    assert_eq!(served.shown().unwrap(), "second");
}

#[tokio::test]
async fn a_listener_cannot_be_made_with_a_profile_that_is_not_there() {
    let mut router = Router::start("");
    let failure = router.create("listener", &[("port", "0"), ("sslProfile", "nowhere")]).unwrap_err();
    assert!(failure.description.contains("no sslProfile 'nowhere'"), "{failure:?}");
}

#[tokio::test]
async fn passwords_are_not_shown() {
    let mut router = Router::start("sslProfile {\n name: tls\n password: pass:hush\n}\n");
    assert_eq!(router.only("sslProfile", "password").as_deref(), Some("*"));
}

#[tokio::test]
async fn management_shows_how_long_certificates_are_valid() {
    let mut served = Served::start("").await;
    let rows = served.router.plane.entities.list(type_of("certificate"));
    let uses: Vec<_> = rows.iter().map(|row| (row.text("use"), row.text("subject"))).collect();
    assert_eq!(uses, [(Some("own"), Some("CN=first")), (Some("authority"), Some("CN=us"))]);
    assert!(rows.iter().all(|row| row.integer("daysLeft").is_some_and(|days| days > 1000)), "{rows:?}");
}

#[tokio::test]
async fn slow_handshakes_hold_nobody_up_and_are_given_up() {
    let served = Served::start(" initialHandshakeTimeoutSeconds: 2\n").await;
    let mut slow: Vec<TcpStream> = (0..200).map(|_| socket(served.port)).collect();
    for stream in &mut slow {
        // The beginning of a ClientHello.
        stream.write_all(&[22, 3, 1, 2, 0, 1, 0]).unwrap();
    }
    for _ in 0..10 {
        assert_eq!(answer_over_tls(&served.client, served.port).unwrap(), AMQP);
    }
    for mut stream in slow {
        assert_eq!(stream.read(&mut [0; 64]).unwrap(), 0);
    }
}

#[tokio::test]
async fn a_client_that_does_not_trust_the_router_does_no_harm() {
    let served = Served::start("").await;
    let wary = client(&served.folder, &Authority::new("them"), None);
    assert!(answer_over_tls(&wary, served.port).is_err());
    assert_eq!(answer_over_tls(&served.client, served.port).unwrap(), AMQP);
}

/// A connector to a listener with TLS, in another router.
fn connector(port: u16, more: &str) -> String {
    format!("connector {{\n name: there\n host: localhost\n port: {port}\n sslProfile: tls\n{more}}}\n")
}

#[tokio::test]
async fn a_connector_speaks_tls_and_management_shows_it() {
    let mut served = Served::start("").await;
    let trusted = served.folder.path().join("ca.pem");
    let profile = format!("sslProfile {{\n name: tls\n caCertFile: {}\n}}\n", trusted.display());
    let mut there = Router::start(&(profile + &connector(served.port, "")));
    there.until(|entities| entities.connectors.iter().all(|connector| connector.status() == "SUCCESS")).await;
    for (router, direction) in [(&mut there, "out"), (&mut served.router, "in")] {
        let rows = router.plane.entities.list(type_of("connection"));
        let row = rows.iter().find(|row| row.text("dir") == Some(direction)).unwrap();
        assert_eq!((row.boolean("ssl"), row.boolean("isEncrypted")), (Some(true), Some(true)));
        assert_eq!((row.text("sslProto"), row.integer("sslSsf")), (Some("TLSv1.3"), Some(256)));
        assert_eq!(row.text("sslCipher"), Some("TLS_AES_256_GCM_SHA384"));
    }
}

/// What a connector says of its first attempt.
async fn failure(sections: &str) -> String {
    let mut router = Router::start(sections);
    router.until(|entities| entities.connectors.iter().all(|connector| !connector.message().is_empty())).await;
    let connector = router.plane.entities.connectors.iter().next().unwrap();
    assert_eq!(connector.status(), "CONNECTING");
    connector.message().to_owned()
}

#[tokio::test]
async fn a_connector_whose_profile_cannot_be_used_does_not_connect() {
    let profile = "sslProfile {\n name: tls\n caCertFile: /nowhere/ca.pem\n}\n";
    for verify in ["yes", "no"] {
        let message = failure(&format!("{profile}{}", connector(1, &format!(" verifyHostname: {verify}\n")))).await;
        assert!(message.contains("Connection to localhost:1 failed: SSL CA configuration failed"), "{message}");
        assert!(message.contains("/nowhere/ca.pem"), "{message}");
    }
}

#[tokio::test]
async fn a_connector_does_not_connect_to_a_server_that_it_does_not_trust() {
    let served = Served::start("").await;
    let other = served.folder.write("other.pem", &Authority::new("them").pem());
    let profile = format!("sslProfile {{\n name: tls\n caCertFile: {}\n}}\n", other.display());
    let message = failure(&(profile + &connector(served.port, ""))).await;
    assert!(
        message.contains("failed: amqp:connection:framing-error SSL Failure: certificate verify failed"),
        "{message}"
    );
}
