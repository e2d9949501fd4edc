//! TLS that is begun and not finished, or broken off.

use std::net::TcpStream;
use std::sync::Arc;

use amqp::performative::Open;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::withstands;
use crate::support::CAPACITY;
use crate::support::codec::{head_of_data, message, text_of};
use crate::support::router::{Router, Setup};
use crate::support::wire::Wire;

#[path = "../../../../security/tests/tls/authority.rs"]
mod authority;
use authority::{Authority, Folder};

/// A router that takes TLS, and plain connections, too.
struct Secured {
    router: Router,
    client: Arc<ClientConfig>,
    _folder: Folder,
}

impl Secured {
    fn start() -> Self {
        let (folder, authority) = (Folder::new(), Authority::new("us"));
        let own = authority.issue(&["localhost"], "own");
        let certificate = folder.write("cert.pem", &own.certificate);
        let key = folder.write("key.pem", &own.key());
        let sections = format!(
            "sslProfile {{\nname: tls\ncertFile: {}\nprivateKeyFile: {}\n}}\n",
            certificate.display(),
            key.display()
        );
        let listener = "sslProfile: tls\ninitialHandshakeTimeoutSeconds: 5\n";
        let router = Setup { listener, sections: &sections, ..Setup::default() }.start();
        let mut trusted = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(authority.pem().as_bytes()).expect("it is a certificate");
        trusted.add(root).expect("it is an authority");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let client = versions.expect("there are some").with_root_certificates(trusted).with_no_client_auth();
        Self { router, client: Arc::new(client), _folder: folder }
    }

    /// A client over TLS, with a session.
    fn client(&self) -> Wire {
        let socket = TcpStream::connect(("127.0.0.1", self.router.port)).expect("somebody listens");
        let name = ServerName::try_from("localhost").expect("it is a name");
        let tls = ClientConnection::new(Arc::clone(&self.client), name).expect("the configuration is sound");
        let mut wire = Wire::new(StreamOwned::new(tls, socket));
        wire.open(Open { container_id: "client".to_owned(), ..Open::default() });
        wire.begin();
        wire
    }
}

#[test]
fn a_thousand_handshakes_that_stop_within_their_first_message_are_dropped() {
    let secured = Secured::start();
    withstands(&secured.router, 96, || {
        let mut slow: Vec<Wire> = (0..1000).map(|_| Wire::connect(secured.router.port)).collect();
        for wire in &mut slow {
            // The beginning of a ClientHello of 512 bytes.
            wire.write(&[22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]);
        }
        for mut wire in slow {
            wire.expect_end();
        }
    });
}

#[test]
fn a_message_that_tls_breaks_off_in_is_aborted_and_what_came_before_it_is_whole() {
    let secured = Secured::start();
    let half_a_record = [&[23, 3, 3, 0x20, 0][..], &[7; 100]].concat();
    let forged = [&[23, 3, 3, 0, 100][..], &[7; 100]].concat();
    withstands(&secured.router, 48, || {
        for (case, end) in [&b""[..], &half_a_record, &forged].into_iter().enumerate() {
            let address = format!("a{case}");
            let mut receiver = secured.router.client();
            let from = receiver.receiver(&address, 10);
            let mut sender = secured.client();
            let to = sender.sender(&address);
            sender.expect_credit(to, CAPACITY);
            sender.send_message(to, true, &message("whole"));
            assert_eq!(text_of(&receiver.receive().bytes), "whole");
            let delivery = sender.next_delivery();
            sender.send_part(to, delivery, false, &head_of_data(10_000_000), true);
            sender.send_part(to, delivery, false, &[b'x'; 500_000], true);
            receiver.wait_for_bytes(from, 100_000);

            // No TLS alert says that this is the end.
            sender.break_off(end);

            let received = receiver.receive();
            assert!(received.aborted, "case {case}");
            assert!(received.bytes.iter().skip(8).all(|byte| *byte == b'x'), "case {case}");
        }
    });
}
