//! `ciphers`, `protocols`, kinds of keys, and resumption: what sessions come to.

use security::tls::TlsError;

use super::authority::{Authority, Kind};
use super::ends::{Ends, client, meet, profile, refusal, server, with};

/// Protocol and cipher of a session with a server whose profile says this, and with a client that takes anything.
fn negotiated(kind: Kind, pairs: &[(&str, &str)]) -> (String, String) {
    let authority = Authority::new("us");
    let own = authority.issue_as(&["localhost"], "router", kind, |_| {});
    let server = server(&with(&authority, Some(&own), pairs));
    let info = meet(&client(&with(&authority, None, &[])), &server, "localhost").unwrap();
    (info.protocol.to_owned(), info.cipher.to_owned())
}

/// What a profile says that cannot be used.
fn trouble(pairs: &[(&str, &str)]) -> TlsError {
    profile(pairs).err().expect("it should not have been usable")
}

#[test]
fn the_newest_version_is_spoken() {
    assert_eq!(negotiated(Kind::Ec, &[]).0, "TLSv1.3");
    assert_eq!(negotiated(Kind::Rsa, &[]).0, "TLSv1.3");
}

#[test]
fn protocols_are_a_choice_of_versions() {
    assert_eq!(negotiated(Kind::Ec, &[("protocols", "TLSv1.2")]).0, "TLSv1.2");
    assert_eq!(negotiated(Kind::Ec, &[("protocols", "TLSv1 TLSv1.1 TLSv1.2")]).0, "TLSv1.2");
    assert_eq!(negotiated(Kind::Ec, &[("protocols", "TLSv1.3")]).0, "TLSv1.3");
}

#[test]
fn ends_without_a_common_version_do_not_meet() {
    let authority = Authority::new("us");
    let server = server(&with(&authority, Some(&authority.issue(&["localhost"], "r")), &[("protocols", "TLSv1.3")]));
    let client = client(&with(&authority, None, &[("protocols", "TLSv1.2")]));
    refusal(&client, &server, "localhost");
}

#[test]
fn broken_versions_alone_cannot_be_spoken() {
    let error = trouble(&[("protocols", "TLSv1 TLSv1.1")]);
    assert!(error.to_string().contains("add TLSv1.2 or TLSv1.3"), "{error}");
    assert_eq!(error.words_of_connector(), "Permitted TLS protocols configuration failed");
    assert!(trouble(&[("protocols", "SSLv23")]).to_string().contains("'SSLv23'"));
}

#[test]
fn ciphers_are_chosen_by_the_names_of_openssl() {
    let chosen = |ciphers| negotiated(Kind::Rsa, &[("protocols", "TLSv1.2"), ("ciphers", ciphers)]).1;
    assert_eq!(chosen("ECDHE-RSA-AES128-GCM-SHA256"), "ECDHE-RSA-AES128-GCM-SHA256");
    assert_eq!(chosen("ECDH+AESGCM:!AES256"), "ECDHE-RSA-AES128-GCM-SHA256");
    assert_eq!(chosen("ALL:!AES:!aNULL"), "ECDHE-RSA-CHACHA20-POLY1305");
    assert_eq!(chosen("HIGH:-AESGCM:@STRENGTH"), "ECDHE-RSA-CHACHA20-POLY1305");
    assert_eq!(
        chosen("ECDH+AESGCM:DH+AESGCM:RSA+AES:!aNULL:!MD5:!DSS:!CHACHA20:!AES128"),
        "ECDHE-RSA-AES256-GCM-SHA384"
    );
}

#[test]
fn ciphers_leave_the_suites_of_tls_1_3_alone_unless_some_are_named() {
    assert!(negotiated(Kind::Rsa, &[("ciphers", "ECDHE-RSA-AES128-GCM-SHA256")]).1.starts_with("TLS_"));
    assert_eq!(negotiated(Kind::Rsa, &[("ciphers", "TLS_AES_128_GCM_SHA256")]).1, "TLS_AES_128_GCM_SHA256");
}

#[test]
fn what_a_list_names_in_vain_is_told() {
    let profile = profile(&[("ciphers", "ECDHE+AESGCM:DHE-RSA-AES256-SHA:RC4-MD5:!aNULL")]).unwrap();
    assert_eq!(profile.remarks(), ["DHE-RSA-AES256-SHA, RC4-MD5 in ciphers name nothing that is available"]);
}

#[test]
fn a_list_that_leaves_nothing_is_refused() {
    for ciphers in ["AES128-SHA:!ALL", "!aNULL", "nonsense"] {
        let error = trouble(&[("ciphers", ciphers), ("protocols", "TLSv1.2")]);
        assert_eq!(error.words_of_connector(), "SSL cipher configuration failed", "{ciphers}");
        assert!(error.to_string().contains("ECDHE+AESGCM"), "{error}");
    }
}

#[test]
fn a_server_needs_a_certificate() {
    let profile = with(&Authority::new("us"), None, &[]);
    let error = security::tls::ServerTls::new(&profile, security::tls::ClientCertificate::NotAsked).err().unwrap();
    assert_eq!(error, TlsError::NoCertificate);
    assert_eq!(error.words_of_listener(), "Cannot set SSL credentials");
}

#[test]
fn a_client_that_comes_back_is_spared_the_long_handshake() {
    for protocol in ["TLSv1.2", "TLSv1.3"] {
        let authority = Authority::new("us");
        let own = authority.issue(&["localhost"], "router");
        let server = server(&with(&authority, Some(&own), &[("protocols", protocol)]));
        let client = client(&with(&authority, None, &[]));
        let mut resumed = Vec::new();
        for _ in 0..2 {
            let mut ends = Ends::new(&client, &server, "localhost");
            ends.shake().unwrap();
            resumed.push(ends.server.info().resumed);
        }
        assert_eq!(resumed, [false, true], "{protocol}");
    }
}
