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
