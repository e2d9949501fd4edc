//! HTTP and WebSockets over TLS.

use super::super::tls::authority::{Authority, Folder};
use super::super::tls::{client as tls_client, over_tls, profile};
use super::*;
use security::tls::ClientTls;

/// A router with an HTTPS listener, and a client that it knows, and one that it does not.
struct Secure {
    router: Router,
    port: u16,
    known: ClientTls,
    unknown: ClientTls,
    _folder: Folder,
}

impl Secure {
    async fn start(listener: &str) -> Self {
        let (folder, authority) = (Folder::new(), Authority::new("us"));
        let profile = profile(&folder, &authority, &authority.issue(&["localhost"], "router"));
        let (router, port) = router(&format!(" http: yes\n sslProfile: tls\n{listener}"), &profile).await;
        let known = tls_client(&folder, &authority, Some(&authority.issue(&["localhost"], "client")));
        let unknown = tls_client(&folder, &authority, None);
        Self { router, port, known, unknown, _folder: folder }
    }

    async fn get(&mut self, client: &ClientTls) -> io::Result<String> {
        self.get_path(client, "/healthz").await
    }

    async fn get_path(&mut self, client: &ClientTls, path: &'static str) -> io::Result<String> {
        let (client, port) = (client.clone(), self.port);
        self.router
            .meanwhile(move || {
                let mut stream = over_tls(&client, socket(port));
                stream.write_all(&request("GET", path))?;
                let mut answer = String::new();
                stream.read_to_string(&mut answer).map(|_| answer)
            })
            .await
    }
}

#[tokio::test]
async fn one_port_serves_https_and_http() {
    let mut secure = Secure::start("").await;
    let answer = secure.get(&secure.unknown.clone()).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("OK\n"), "{answer}");
    let (head, _) = secure.router.get(secure.port, "/healthz").await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
}

#[tokio::test]
async fn where_tls_is_required_http_is_told_so() {
    let mut secure = Secure::start(" requireSsl: yes\n").await;
    let (head, body) = secure.router.get(secure.port, "/healthz").await;
    assert!(head.starts_with("HTTP/1.1 400 ") && body.contains("https"), "{head}");
    assert!(secure.get(&secure.unknown.clone()).await.unwrap().ends_with("OK\n"));
}

#[tokio::test]
async fn a_listener_that_authenticates_wants_a_certificate() {
    let mut secure = Secure::start(" requireSsl: yes\n authenticatePeer: yes\n").await;
    assert!(secure.get(&secure.unknown.clone()).await.is_err());
    assert!(secure.get(&secure.known.clone()).await.unwrap().ends_with("OK\n"));
}

#[tokio::test]
async fn a_client_that_leaves_in_the_handshake_disturbs_nobody() {
    let mut secure = Secure::start("").await;
    let port = secure.port;
    for bytes in [&[22][..], &[22, 3, 1, 255, 255], &[22, 3, 1, 0, 5, 1, 2, 3, 4, 5], &[]] {
        secure.router.meanwhile(move || socket(port).write_all(bytes)).await.unwrap();
    }
    assert!(secure.get(&secure.unknown.clone()).await.unwrap().ends_with("OK\n"));
}

#[tokio::test]
async fn metrics_tell_when_certificates_expire() {
    let mut secure = Secure::start("").await;
    let metrics = secure.get_path(&secure.known.clone(), "/metrics?names=new").await.unwrap();
    let left = metrics.lines().find(|line| line.starts_with("waystation_tls_certificate_days_left{profile=\"tls\""));
    assert!(left.is_some_and(|line| line.contains("cert.pem") || line.contains("ca.pem")), "{metrics}");
}

#[tokio::test]
async fn amqp_passes_over_a_websocket_over_tls() {
    let mut secure = Secure::start(" requireSsl: yes\n").await;
    let (tls, port) = (secure.unknown.clone(), secure.port);
    let answers = secure
        .router
        .meanwhile(move || {
            let mut request = "wss://localhost/".into_client_request().unwrap();
            request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static("amqp"));
            let (mut socket, _) = tungstenite::client(request, over_tls(&tls, socket(port))).unwrap();
            socket.send(Message::Ping(b"here".as_slice().into())).unwrap();
            socket.send(Message::Binary(b"AMQP\0\x01\0\0".as_slice().into())).unwrap();
            let pong = socket.read().unwrap();
            let header = socket.read().unwrap();
            socket.close(None).unwrap();
            while socket.read().is_ok() {}
            (pong, header)
        })
        .await;
    assert_eq!(answers.0, Message::Pong(b"here".as_slice().into()));
    assert_eq!(answers.1.into_data(), b"AMQP\0\x01\0\0".as_slice());
}

#[tokio::test]
async fn a_connection_over_a_websocket_shows_its_tls() {
    let mut secure = Secure::start("").await;
    let (tls, port) = (secure.unknown.clone(), secure.port);
    let _client = secure
        .router
        .meanwhile(move || {
            let mut request = "wss://localhost/".into_client_request().unwrap();
            request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static("amqp"));
            let (socket, _) = tungstenite::client(request, over_tls(&tls, socket(port))).unwrap();
            client_over(socket)
        })
        .await;
    secure.router.until(|entities| !entities.list(type_of("connection")).is_empty()).await;
    assert!(secure.router.only("connection", "sslProto").unwrap().starts_with("TLSv1."));
}
