//! Who is trusted, and who is not.

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, IsCa, KeyIdMethod, KeyPair,
    RevokedCertParams, SerialNumber, date_time_ymd,
};
use security::tls::{ClientCertificate, ClientTls, ServerTls, ServerTrust, TlsError};

use super::authority::{Authority, Folder, Issued, Kind};
use super::ends::{client, meet, profile, refusal, server, server_that_asks, with};

/// A client's verdict on a server with this certificate at `localhost`.
fn verdict(authority: &Authority, own: &Issued, trust: ServerTrust) -> Result<(), String> {
    let server = server(&with(&Authority::new("any"), Some(own), &[]));
    let client = ClientTls::new(&with(authority, None, &[]), trust).unwrap();
    meet(&client, &server, "localhost").map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_server_of_an_authority_that_is_trusted_is_trusted() {
    let us = Authority::new("us");
    assert_eq!(verdict(&us, &us.issue(&["localhost"], "router"), ServerTrust::Host), Ok(()));
}

#[test]
fn a_server_of_another_authority_is_not() {
    let (us, them) = (Authority::new("us"), Authority::new("them"));
    let refused = verdict(&us, &them.issue(&["localhost"], "router"), ServerTrust::Authority).unwrap_err();
    assert!(refused.contains("UnknownIssuer"), "{refused}");
    // The same name does not make the same authority.
    let impostor = Authority::new("us");
    assert!(verdict(&us, &impostor.issue(&["localhost"], "router"), ServerTrust::Authority).is_err());
}

#[test]
fn a_certificate_that_has_expired_is_not_trusted() {
    let us = Authority::new("us");
    let refused = verdict(&us, &us.issue_expired(&["localhost"]), ServerTrust::Authority).unwrap_err();
    assert!(refused.contains("expired"), "{refused}");
}

#[test]
fn a_certificate_for_another_host_is_not_trusted_unless_hosts_do_not_matter() {
    let us = Authority::new("us");
    let elsewhere = us.issue(&["elsewhere.example"], "router");
    let refused = verdict(&us, &elsewhere, ServerTrust::Host).unwrap_err();
    assert!(refused.contains("elsewhere.example"), "{refused}");
    assert_eq!(verdict(&us, &elsewhere, ServerTrust::Authority), Ok(()));
}

#[test]
fn a_host_can_be_named_by_the_common_name_alone() {
    let us = Authority::new("us");
    assert_eq!(verdict(&us, &us.issue(&[], "localhost"), ServerTrust::Host), Ok(()));
    assert_eq!(verdict(&us, &us.issue(&["elsewhere.example"], "localhost"), ServerTrust::Host), Ok(()));
    assert!(verdict(&us, &us.issue(&[], "elsewhere"), ServerTrust::Host).is_err());
}

#[test]
fn a_host_can_be_named_by_a_pattern_or_an_address() {
    let us = Authority::new("us");
    let server = server(&with(&us, Some(&us.issue(&["*.example.com", "127.0.0.1"], "router")), &[]));
    let client = client(&with(&us, None, &[]));
    for host in ["a.example.com", "127.0.0.1"] {
        assert!(meet(&client, &server, host).is_ok(), "{host}");
    }
    for host in ["a.b.example.com", "example.com", "127.0.0.2", "::1"] {
        assert!(meet(&client, &server, host).is_err(), "{host}");
    }
}

#[test]
fn a_server_that_vouches_for_itself_is_trusted_if_it_is_named() {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    // As `openssl req -x509` makes them.
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let (pem, folder) = (params.self_signed(&key).unwrap().pem(), Folder::new());
    let path = folder.write("self.pem", &(pem + &key.serialize_pem())).display().to_string();
    let server = server(&profile(&[("certFile", &path)]).unwrap());
    let trusting = client(&profile(&[("caCertFile", &path)]).unwrap());
    assert!(meet(&trusting, &server, "localhost").is_ok());
    assert!(meet(&trusting, &server, "elsewhere").is_err());
    let wary = client(&with(&Authority::new("us"), None, &[]));
    assert!(meet(&wary, &server, "localhost").is_err());
}

#[test]
fn authorities_can_be_in_a_directory() {
    let (folder, us) = (Folder::new(), Authority::new("us"));
    folder.write("a.pem", &Authority::new("them").pem());
    folder.write("b.pem", &us.pem());
    folder.write("README", "nothing");
    let client = client(&profile(&[("caCertFile", &folder.path().display().to_string())]).unwrap());
    let server = server(&with(&us, Some(&us.issue(&["localhost"], "router")), &[]));
    assert!(meet(&client, &server, "localhost").is_ok());
}

/// A server's verdict on a client with this certificate, or none.
fn verdict_on_client(authority: &Authority, own: Option<&Issued>) -> Result<Option<String>, String> {
    let server = with(authority, Some(&authority.issue(&["localhost"], "router")), &[]);
    let client = client(&with(authority, own, &[]));
    let met = meet(&client, &server_that_asks(&server), "localhost");
    met.map(|info| info.user).map_err(|error| error.to_string())
}

#[test]
fn a_client_that_is_asked_for_a_certificate_needs_one_that_is_trusted() {
    let us = Authority::new("us");
    assert_eq!(verdict_on_client(&us, Some(&us.issue(&[], "joe"))), Ok(Some("CN=joe".to_owned())));
    assert!(verdict_on_client(&us, None).is_err());
    assert!(verdict_on_client(&us, Some(&Authority::new("them").issue(&[], "joe"))).is_err());
    assert!(verdict_on_client(&us, Some(&us.issue_expired(&[]))).is_err());
}

#[test]
fn a_client_that_is_not_asked_is_nobody() {
    let us = Authority::new("us");
    let server = server(&with(&us, Some(&us.issue(&["localhost"], "router")), &[]));
    let client = client(&with(&us, Some(&us.issue(&[], "joe")), &[]));
    assert_eq!(meet(&client, &server, "localhost").unwrap().user, None);
}

#[test]
fn to_ask_for_certificates_one_has_to_trust_somebody() {
    let (us, folder) = (Authority::new("us"), Folder::new());
    let own = us.issue(&["localhost"], "router");
    let both = folder.write("both.pem", &(own.certificate.clone() + &own.key())).display().to_string();
    let profile = profile(&[("certFile", &both)]).unwrap();
    assert_eq!(ServerTls::new(&profile, ClientCertificate::Required).err(), Some(TlsError::NoAuthorities));
}

#[test]
fn a_certificate_that_was_taken_back_is_not_trusted() {
    let us = Authority::new("us");
    let serial = |number: u64| move |params: &mut CertificateParams| params.serial_number = Some(number.into());
    let (joe, ann) = (us.issue_as(&[], "joe", Kind::Ec, serial(7)), us.issue_as(&[], "ann", Kind::Ec, serial(8)));
    let list = CertificateRevocationListParams {
        this_update: date_time_ymd(2020, 1, 1),
        next_update: date_time_ymd(4000, 1, 1),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: vec![RevokedCertParams {
            serial_number: SerialNumber::from(7),
            revocation_time: date_time_ymd(2021, 1, 1),
            reason_code: None,
            invalidity_date: None,
        }],
        key_identifier_method: KeyIdMethod::Sha256,
    };
    let (folder, own) = (Folder::new(), us.issue(&["localhost"], "router"));
    let trusted = folder.write("ca.pem", &(us.pem() + &us.revoke(list))).display().to_string();
    let both = folder.write("both.pem", &(own.certificate.clone() + &own.key())).display().to_string();
    let server = server_that_asks(&profile(&[("caCertFile", &trusted), ("certFile", &both)]).unwrap());
    let refused = refusal(&client(&with(&us, Some(&joe), &[])), &server, "localhost");
    assert!(refused.contains("Revoked"), "{refused}");
    assert!(meet(&client(&with(&us, Some(&ann), &[])), &server, "localhost").is_ok());
}
