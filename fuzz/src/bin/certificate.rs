//! Certificates, and files that hold them: any bytes are read or refused, names are shown in printable characters from
//! which nobody can make up another name, and memory stays in proportion to the input.
//!
//! The first byte says what the rest is: a certificate, the fields of a subject, a host and the name it is to have, or a file.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use config::SslProfileConfig;
use fuzz::der;
use libfuzzer_sys::fuzz_target;
use management::Attributes;
use security::tls::{Profile, UserIds, is_for_host, subject_of};

/// Bytes of memory that an input byte may cost.
const FACTOR: usize = 400;

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else { return };
    let (_, peak) = fuzz::peak(|| match kind % 4 {
        0 => certificate(rest),
        1 => subject(rest),
        2 => host(rest),
        _ => file(rest),
    });
    assert!(peak < 1024 * 1024 + FACTOR * data.len(), "{peak} bytes held for an input of {}", data.len());
});

/// Anything as a certificate.
fn certificate(der: &[u8]) {
    let subject = subject_of(der);
    assert!(subject.iter().flat_map(|subject| subject.bytes()).all(|byte| (b' '..=b'~').contains(&byte)));
    for format in ["", "csloun125", "n", "oun", "x"] {
        let ids = UserIds::new(Some(format), None).expect("there is no file");
        let user = ids.of(der);
        assert_eq!(user.is_some(), subject.is_some(), "every owner of a certificate is called something");
        assert!(ids.unknown_letter().is_none() || user == subject, "a format of which a letter is unknown is not used");
    }
    is_for_host(der, "localhost");
}

/// Fields: a byte for the type and whether a new set begins, one for the kind of string, one for the length, and the string.
fn subject(mut bytes: &[u8]) {
    let mut sets: Vec<Vec<der::Field<'_>>> = Vec::new();
    while let [oid, tag, length, rest @ ..] = bytes {
        let (value, rest) = rest.split_at(rest.len().min((*length).into()));
        bytes = rest;
        let field =
            der::Field { kind: (oid & 0x7f).into(), tag: der::TAGS[usize::from(*tag) % der::TAGS.len()], value };
        match sets.last_mut() {
            Some(set) if oid & 0x80 != 0 => set.push(field),
            _ => sets.push(vec![field]),
        }
    }
    let certificate = der::certificate(&sets, &[]);
    let Some(shown) = subject_of(&certificate) else { panic!("a well-formed certificate is read") };
    assert!(shown.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{shown}");
    let expected: Vec<Vec<_>> =
        sets.iter().rev().map(|set| set.iter().rev().map(der::Field::shown).collect()).collect();
    assert_eq!(der::read_back(&shown), expected, "{shown} says what is in the certificate, and nothing else");
}

/// A line for a host, the rest for a name in a certificate.
fn host(bytes: &[u8]) {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let Ok(host) = std::str::from_utf8(&bytes[..end]) else { return };
    let name = &bytes[end + 1..];
    let common_name = [vec![der::Field { kind: der::COMMON_NAME, tag: der::UTF8_STRING, value: name }]];
    let by_common_name = is_for_host(&der::certificate(&common_name, &[]), host) == Some(true);
    let by_alternative = is_for_host(&der::certificate(&[], name), host) == Some(true);
    let Ok(name) = std::str::from_utf8(name) else { return };
    let same = name.trim_end_matches('.').eq_ignore_ascii_case(host.trim_end_matches('.'));
    for matches in [by_common_name, by_alternative] {
        assert!(!matches || same || name.contains('*'), "{name} is not {host}");
        assert!(!matches || name.matches('.').count() > 0 || host.trim_end_matches('.').matches('.').count() == 0);
    }
}

/// A file, as everything that a profile can name.
fn file(text: &[u8]) {
    let path = path();
    std::fs::write(path, text).expect("a file can be written");
    let path = path.display().to_string();
    // To derive a key from a password is slow on purpose.
    let password = if text.windows(8).any(|part| part == b"DEK-Info") { "literal:secret" } else { "env:NO_SUCH_THING" };
    for name in ["caCertFile", "certFile", "uidNameMappingFile"] {
        let attributes = Attributes::new().with("name", "fuzz".into()).with(name, path.as_str().into());
        let attributes = attributes.with("password", password.into());
        let config = SslProfileConfig::from_attributes(&attributes).expect("nothing is wrong with it");
        match Profile::load(&config) {
            Ok(profile) => {
                for validity in profile.validities() {
                    assert!(validity.subject.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
                    validity.days_left(std::time::SystemTime::UNIX_EPOCH);
                }
            }
            Err(error) => assert!(error.to_string().contains(&path) || error.to_string().contains("NO_SUCH_THING")),
        }
    }
}

/// Where the file is written: in memory, if there is such a place.
fn path() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let folder = Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir());
        folder.unwrap_or_else(std::env::temp_dir).join(format!("fuzz-certificate-{}", std::process::id()))
    })
}
