//! Who the owner of a certificate is: subjects as OpenSSL prints them, `uidFormat`, names for ids.

use rcgen::{DnType, DnValue};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::authority::{Authority, Folder, Kind};
use super::ends::{client, meet, server_that_asks, with};

/// What the only certificate of a file is shown as. The expected texts are OpenSSL's, with `-nameopt RFC2253`.
fn subject(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls/data").join(name);
    let profile = super::ends::profile(&[("caCertFile", &path.display().to_string())]).unwrap();
    profile.validities()[0].subject.clone()
}

#[test]
fn special_characters_are_escaped() {
    let expected = r#"CN=\#tail,UID=u1,emailAddress=a@b.example,CN=\ lead #1\ ,O=B\C3\B6se\, \"Ltd\"+OU=x\;y,C=DE"#;
    assert_eq!(subject("escapes.pem"), expected);
}

#[test]
fn fields_have_their_short_names() {
    let expected = r"serialNumber=12,SN=S,GN=G,street=S,DC=org,DC=example,title=tab\09x,OU=a=b,O=\ ,CN=#";
    assert_eq!(subject("short-names.pem"), expected);
}

#[test]
fn strings_of_two_bytes_a_character_are_shown_in_utf_8() {
    assert_eq!(subject("bmp-string.pem"), r"O=plain,CN=Gr\C3\BC\C3\9Fe \E2\82\AC");
}

#[test]
fn unknown_fields_are_shown_as_they_are_encoded() {
    let issued = Authority::new("us").issue_as(&[], "x", Kind::Ec, |params| {
        params.distinguished_name.push(DnType::CustomDnType(vec![1, 2, 3, 4]), DnValue::Utf8String("ab".to_owned()));
    });
    let folder = Folder::new();
    let path = folder.write("cert.pem", &issued.certificate).display().to_string();
    let profile = super::ends::profile(&[("caCertFile", &path)]).unwrap();
    assert_eq!(profile.validities()[0].subject, "1.2.3.4=#0C026162,CN=x");
}

/// What a server with these attributes calls a client.
fn user(attributes: &[(&str, &str)]) -> String {
    let authority = Authority::new("us");
    let joe = authority.issue_as(&[], "joe", Kind::Ec, |params| {
        params.distinguished_name.push(DnType::OrganizationName, "Us; Ltd");
        params.distinguished_name.push(DnType::CountryName, "DE");
    });
    let server = with(&authority, Some(&authority.issue(&["localhost"], "router")), attributes);
    let client = client(&with(&authority, Some(&joe), &[]));
    meet(&client, &server_that_asks(&server), "localhost").unwrap().user.unwrap()
}

#[test]
fn without_a_format_a_client_is_called_by_its_subject() {
    assert_eq!(user(&[]), r"C=DE,O=Us\; Ltd,CN=joe");
}

#[test]
fn a_format_picks_fields_in_its_order() {
    assert_eq!(user(&[("uidFormat", "noc")]), "joe;Us; Ltd;DE");
}

#[test]
fn fields_that_are_not_there_are_left_out() {
    assert_eq!(user(&[("uidFormat", "sln")]), "joe");
    assert_eq!(user(&[("uidFormat", "su")]), r"C=DE,O=Us\; Ltd,CN=joe");
}

#[test]
fn a_format_with_a_letter_that_means_nothing_is_not_used() {
    assert_eq!(user(&[("uidFormat", "nx")]), r"C=DE,O=Us\; Ltd,CN=joe");
}

#[test]
fn fingerprints_are_of_the_whole_certificate() {
    for (letter, size) in [("1", 40), ("2", 64), ("5", 128)] {
        let id = user(&[("uidFormat", letter)]);
        assert!(id.len() == size && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{id}");
    }
}

#[test]
fn an_id_can_stand_for_a_name() {
    let folder = Folder::new();
    let names = folder.write("names.json", r#"{"joe;DE": "Joe of Germany", "other": "x"}"#).display().to_string();
    assert_eq!(user(&[("uidFormat", "nc"), ("uidNameMappingFile", &names)]), "Joe of Germany");
    assert_eq!(user(&[("uidFormat", "n"), ("uidNameMappingFile", &names)]), "joe");
}

#[test]
fn names_must_be_a_json_object() {
    let folder = Folder::new();
    let names = folder.write("names.json", "[]").display().to_string();
    let error = super::ends::profile(&[("uidNameMappingFile", &names)]).err().unwrap().to_string();
    assert!(error.contains("names.json") && error.contains("JSON object"), "{error}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Names of any bytes are shown in printable ASCII, and never panic.
    #[test]
    fn any_subject_is_shown_in_printable_characters(text in "\\PC{0,40}") {
        let issued = Authority::new("us").issue(&[], &text);
        let (_, pem) = x509_parser::pem::parse_x509_pem(issued.certificate.as_bytes()).unwrap();
        X509Certificate::from_der(&pem.contents).unwrap();
        let folder = Folder::new();
        let path = folder.write("cert.pem", &issued.certificate).display().to_string();
        let shown = super::ends::profile(&[("caCertFile", &path)]).unwrap().validities()[0].subject.clone();
        proptest::prop_assert!(shown.starts_with("CN=") && shown.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    }
}
