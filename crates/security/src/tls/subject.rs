//! The subject of a certificate as text, to the letter as OpenSSL prints it with `-nameopt RFC2253`: installations have
//! these strings in their access rules.

use std::fmt::Write;

use x509_parser::asn1_rs::{Any, Class, Tag, ToDer};
use x509_parser::der_parser::oid::Oid;
use x509_parser::prelude::{X509Certificate, X509Name};

/// Fields that OpenSSL has short names for, of those found in subjects.
const SHORT_NAMES: [(&str, &str); 36] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.4", "SN"),
    ("2.5.4.5", "serialNumber"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.9", "street"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.12", "title"),
    ("2.5.4.13", "description"),
    ("2.5.4.14", "searchGuide"),
    ("2.5.4.15", "businessCategory"),
    ("2.5.4.16", "postalAddress"),
    ("2.5.4.17", "postalCode"),
    ("2.5.4.18", "postOfficeBox"),
    ("2.5.4.20", "telephoneNumber"),
    ("2.5.4.23", "facsimileTelephoneNumber"),
    ("2.5.4.31", "member"),
    ("2.5.4.32", "owner"),
    ("2.5.4.41", "name"),
    ("2.5.4.42", "GN"),
    ("2.5.4.43", "initials"),
    ("2.5.4.44", "generationQualifier"),
    ("2.5.4.45", "x500UniqueIdentifier"),
    ("2.5.4.46", "dnQualifier"),
    ("2.5.4.65", "pseudonym"),
    ("2.5.4.72", "role"),
    ("2.5.4.97", "organizationIdentifier"),
    ("1.2.840.113549.1.9.1", "emailAddress"),
    ("1.2.840.113549.1.9.2", "unstructuredName"),
    ("1.2.840.113549.1.9.8", "unstructuredAddress"),
    ("0.9.2342.19200300.100.1.1", "UID"),
    ("0.9.2342.19200300.100.1.3", "mail"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("1.3.6.1.4.1.311.60.2.1.3", "jurisdictionC"),
];

/// The subject, last field first.
pub(super) fn rfc2253(name: &X509Name<'_>) -> String {
    let mut text = String::new();
    let fields: Vec<Vec<_>> = name.iter_rdn().map(|set| set.iter().collect()).collect();
    for set in fields.iter().rev() {
        for (index, field) in set.iter().rev().enumerate() {
            if !text.is_empty() {
                text.push(if index == 0 { ',' } else { '+' });
            }
            push_field(&mut text, field.attr_type(), field.attr_value());
        }
    }
    text
}

fn push_field(text: &mut String, oid: &Oid<'_>, value: &Any<'_>) {
    let dotted = oid.to_id_string();
    let short = SHORT_NAMES.iter().find(|(known, _)| *known == dotted).map(|(_, short)| *short);
    text.push_str(short.unwrap_or(&dotted));
    text.push('=');
    match characters(value).filter(|_| short.is_some()) {
        Some(characters) => push_escaped(text, &characters),
        // What cannot be read is shown as it is encoded.
        None => push_dump(text, value),
    }
}

/// The encoded characters of a string, each as its UTF-8 bytes; `None` for what is no string.
fn characters(value: &Any<'_>) -> Option<Vec<Vec<u8>>> {
    if value.header.class() != Class::Universal {
        return None;
    }
    let in_utf8 = |code: u32| {
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        character.encode_utf8(&mut [0; 4]).as_bytes().to_vec()
    };
    let units = |size: usize| {
        let of_unit = |unit: &[u8]| unit.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
        value.data.chunks(size).map(|unit| in_utf8(of_unit(unit))).collect()
    };
    match value.header.tag() {
        // OpenSSL looks at these byte by byte.
        Tag::Utf8String => Some(value.data.iter().map(|byte| vec![*byte]).collect()),
        Tag::NumericString
        | Tag::PrintableString
        | Tag::T61String
        | Tag::Ia5String
        | Tag::VisibleString
        | Tag::UtcTime
        | Tag::GeneralizedTime => Some(units(1)),
        Tag::BmpString => Some(units(2)),
        Tag::UniversalString => Some(units(4)),
        _ => None,
    }
}

fn push_escaped(text: &mut String, characters: &[Vec<u8>]) {
    for (index, character) in characters.iter().enumerate() {
        let last = index + 1 == characters.len();
        let first = index == 0 && !last;
        for &byte in character {
            match byte {
                b',' | b'+' | b'"' | b'\\' | b'<' | b'>' | b';' => push_backslash(text, byte),
                b' ' if first || last => push_backslash(text, byte),
                b'#' if first => push_backslash(text, byte),
                b' '..=b'~' => text.push(byte.into()),
                // A string takes everything.
                _ => drop(write!(text, "\\{byte:02X}")),
            }
        }
    }
}

fn push_backslash(text: &mut String, byte: u8) {
    text.push('\\');
    text.push(byte.into());
}

fn push_dump(text: &mut String, value: &Any<'_>) {
    text.push('#');
    for byte in value.to_der_vec().unwrap_or_default() {
        // A string takes everything.
        let _ = write!(text, "{byte:02X}");
    }
}

/// The value of the first field of this kind.
pub(super) fn first_field(certificate: &X509Certificate<'_>, oid: &str) -> Option<String> {
    fields(certificate, oid).next()
}

/// All common names of the subject.
pub(super) fn common_names(certificate: &X509Certificate<'_>) -> Vec<String> {
    fields(certificate, "2.5.4.3").collect()
}

fn fields<'c>(certificate: &'c X509Certificate<'_>, oid: &'c str) -> impl Iterator<Item = String> + 'c {
    let fields = certificate.subject().iter_attributes().filter(move |field| field.attr_type().to_id_string() == oid);
    fields.filter_map(|field| {
        let bytes: Vec<u8> = characters(field.attr_value())?.concat();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    })
}
