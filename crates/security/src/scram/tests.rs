use std::num::NonZeroU32;

use super::message::{ClientFinal, ServerFinal, ServerFirst};
use super::*;

fn iterations(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

fn verifier(hash: Hash, password: &str) -> Verifier {
    Verifier::of_password(hash, password, b"salt", iterations(4096))
}

/// A client with a password against a server that keeps another or the same.
fn exchange(hash: Hash, has: &str, kept: &str, known: bool) -> (ScramClient, Result<(), String>) {
    let mut client = ScramClient::new(hash, "joe", has).unwrap();
    let first = ClientFirst::parse(&client.initial_response()).unwrap();
    let mut server = ScramServer::new(hash, first, verifier(hash, kept), known).unwrap();
    let mut challenge = server.challenge();
    loop {
        let response = match client.challenge(&challenge) {
            Ok(response) => response,
            Err(error) => return (client, Err(error)),
        };
        match server.response(&response) {
            ServerAnswer::Challenge(next) => challenge = next,
            ServerAnswer::Accepted => return (client, Ok(())),
            ServerAnswer::Refused(reason) => return (client, Err(reason.to_owned())),
        }
    }
}

/// The example of an RFC: user `user`, password `pencil`.
struct Example {
    hash: Hash,
    client_nonce: &'static str,
    server_nonce: &'static str,
    salt: &'static str,
    client_final: &'static str,
    server_final: &'static str,
}

const EXAMPLES: [Example; 2] = [
    // RFC 5802, section 5.
    Example {
        hash: Hash::Sha1,
        client_nonce: "fyko+d2lbbFgONRv9qkxdawL",
        server_nonce: "3rfcNHYJY1ZVvWVs7j",
        salt: "QSXCR+Q6sek8bf92",
        client_final: "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        server_final: "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
    },
    // RFC 7677, section 3.
    Example {
        hash: Hash::Sha256,
        client_nonce: "rOprNGfwEbeRWgbNEkqO",
        server_nonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
        salt: "W22ZaJ0SNY7soEsUEjb6gQ==",
        client_final: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                       p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        server_final: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    },
];

#[test]
fn the_examples_of_the_rfcs_come_out() {
    for example in EXAMPLES {
        let mut client = ScramClient::with_nonce(example.hash, "user", "pencil", example.client_nonce.to_owned());
        let first = ClientFirst::parse(&client.initial_response()).unwrap();
        assert_eq!(first.bare, format!("n=user,r={}", example.client_nonce));
        let verifier = Verifier::of_password(example.hash, "pencil", &decode(example.salt).unwrap(), iterations(4096));
        let mut server = ScramServer::with_nonce(example.hash, first, verifier, true, example.server_nonce);
        let response = client.challenge(&server.challenge()).unwrap();
        assert_eq!(String::from_utf8(response.clone()).unwrap(), example.client_final);
        let last = example.server_final.as_bytes().to_vec();
        assert_eq!(server.response(&response), ServerAnswer::Challenge(last.clone()));
        assert_eq!(client.challenge(&last), Ok(Vec::new()));
        assert_eq!(server.response(b""), ServerAnswer::Accepted);
    }
}

#[test]
fn whoever_has_the_password_is_let_in_and_knows_that_the_server_has_it_too() {
    for hash in Hash::ALL {
        let (client, outcome) = exchange(hash, "secret", "secret", true);
        assert_eq!((outcome, client.is_done()), (Ok(()), true));
    }
}

#[test]
fn a_wrong_password_is_refused() {
    let (client, outcome) = exchange(Hash::Sha256, "guess", "secret", true);
    assert_eq!((outcome, client.is_done()), (Err("wrong password".to_owned()), false));
}

#[test]
fn a_user_who_does_not_exist_is_refused_at_the_same_step_even_with_the_right_guess() {
    assert_eq!(exchange(Hash::Sha256, "secret", "secret", false).1, Err("no such user".to_owned()));
}

#[test]
fn a_server_that_does_not_know_the_password_is_not_trusted() {
    let mut client = ScramClient::with_nonce(Hash::Sha256, "joe", "secret", "abc".to_owned());
    client.challenge(b"r=abcdef,s=c2FsdA==,i=4096").unwrap();
    let error = client.challenge(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=").unwrap_err();
    assert_eq!(error, "the server does not know the password");
}

#[test]
fn a_server_that_makes_it_too_easy_or_too_hard_is_left() {
    for count in ["1", "4095", "1000001", "4294967295"] {
        let mut client = ScramClient::with_nonce(Hash::Sha256, "joe", "secret", "abc".to_owned());
        let error = client.challenge(format!("r=abcdef,s=c2FsdA==,i={count}").as_bytes()).unwrap_err();
        assert!(error.contains("iterations"), "{error}");
    }
}

#[test]
fn a_challenge_of_another_exchange_is_not_answered() {
    for challenge in ["r=xyzabc,s=c2FsdA==,i=4096", "r=abc,s=c2FsdA==,i=4096", "r=,s=,i=", "e=other-error", ""] {
        let mut client = ScramClient::with_nonce(Hash::Sha256, "joe", "secret", "abc".to_owned());
        assert!(client.challenge(challenge.as_bytes()).is_err(), "{challenge}");
    }
}

#[test]
fn a_response_to_another_challenge_is_refused() {
    let first = ClientFirst::parse(b"n,,n=joe,r=abc").unwrap();
    let mut server = ScramServer::with_nonce(Hash::Sha256, first, verifier(Hash::Sha256, "secret"), true, "def");
    let answer = server.response(b"c=biws,r=abcxyz,p=AAAA");
    assert_eq!(answer, ServerAnswer::Refused("a response to another challenge"));
}

#[test]
fn a_client_that_has_changed_its_mind_on_channel_binding_is_refused() {
    let first = ClientFirst::parse(b"y,,n=joe,r=abc").unwrap();
    let mut server = ScramServer::with_nonce(Hash::Sha256, first, verifier(Hash::Sha256, "secret"), true, "def");
    // `biws` is `n,,`.
    let answer = server.response(b"c=biws,r=abcdef,p=AAAA");
    assert_eq!(answer, ServerAnswer::Refused("a response to another challenge"));
}

#[test]
fn names_may_have_any_characters() {
    let client = ScramClient::with_nonce(Hash::Sha256, "a,b=c", "secret", "abc".to_owned());
    assert_eq!(client.initial_response(), b"n,,n=a=2Cb=3Dc,r=abc");
    assert_eq!(ClientFirst::parse(&client.initial_response()).unwrap().user, "a,b=c");
}

#[test]
fn a_client_may_say_who_to_act_as() {
    let first = ClientFirst::parse(b"n,a=root,n=joe,r=abc,x=ignored").unwrap();
    assert_eq!((first.acting_as.as_deref(), first.header.as_str()), (Some("root"), "n,a=root,"));
}

#[test]
fn malformed_first_messages_are_refused() {
    let malformed = [
        &b""[..],
        b"n",
        b"n,,",
        b"n,,n=joe",
        b"n,,n=,r=abc",
        b"n,,n=joe,r=",
        b"n,,m=x,n=joe,r=abc",
        b"x,,n=joe,r=abc",
        b"p=tls-unique,,n=joe,r=abc",
        b"n,b=x,n=joe,r=abc",
        b"n,,n=a=2,r=abc",
        b"n,,n=a=,r=abc",
        b"n,,n=joe,r=a\x7f",
        b"n,,n=\xff,r=abc",
        b"n,,n=a\0b,r=abc",
        b"n,joe,n=joe,r=abc",
    ];
    for bytes in malformed {
        assert_eq!(ClientFirst::parse(bytes), None, "{}", bytes.escape_ascii());
    }
}

#[test]
fn malformed_other_messages_are_refused() {
    for bytes in
        [&b""[..], b"c=biws", b"c=biws,r=abc", b"c=!,r=abc,p=AAAA", b"c=biws,r=abc,p=!", b"r=abc,c=biws,p=AAAA"]
    {
        assert_eq!(ClientFinal::parse(bytes), None, "{}", bytes.escape_ascii());
    }
    for bytes in [&b""[..], b"r=a", b"r=a,s=!,i=1", b"r=a,s=AAAA,i=0", b"r=a,s=AAAA,i=-1", b"r=a,s=AAAA,i=99999999999"]
    {
        assert_eq!(ServerFirst::parse(bytes), None, "{}", bytes.escape_ascii());
    }
    for bytes in [&b""[..], b"v=!", b"x=AAAA", b"\xff"] {
        assert_eq!(ServerFinal::parse(bytes), None, "{}", bytes.escape_ascii());
    }
}
