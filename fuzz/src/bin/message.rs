//! The message scanner: any bytes are sections, or an error, however they are cut; and an owned message says the same
//! when it is encoded again.
#![no_main]

use amqp::message::{
    Header, Message, MessageAnnotations, PropertiesView, RoutingProperties, Scan, Scanner, SectionKind,
};
use amqp::{DecodeError, DecodeErrorKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&cut, data)) = data.split_first() else { return };
    let (_, peak) = fuzz::peak(|| read(data, usize::from(cut)));
    assert!(peak < 256 * 1024 + 400 * data.len(), "{peak} bytes held for an input of {}", data.len());
});

fn read(data: &[u8], cut: usize) {
    let whole = sections(data, true);
    if whole.is_ok() {
        // The beginning of a message that is fine is fine, as far as it goes.
        let start = sections(&data[..cut.min(data.len())], false).expect("the beginning of a good message is good");
        let whole = whole.as_deref().unwrap_or_default();
        assert_eq!(whole[..start.len()], start[..]);
    }
    if let Ok(message) = Message::decode(data) {
        assert!(whole.is_ok(), "an owned message is made of sections that scan");
        let once = message.to_bytes();
        match Message::decode(&once) {
            Ok(again) => assert_eq!(again.to_bytes(), once),
            Err(error) => assert!(is_about_free_members(&error), "what was encoded cannot be decoded: {error}"),
        }
    }
}

/// How much an array may claim without bytes of its own depends on the size of the input. Encoded anew a value may have
/// another size, so that one at the very limit may be beyond it.
fn is_about_free_members(error: &DecodeError) -> bool {
    matches!(error.kind(), DecodeErrorKind::BadCount { what: "array", .. })
}

/// Kinds and places of the sections.
fn sections(data: &[u8], complete: bool) -> Result<Vec<(SectionKind, usize)>, ()> {
    let mut scanner = Scanner::new(data, complete);
    let mut found = Vec::new();
    loop {
        match scanner.next() {
            Ok(Scan::Section(section)) => {
                assert!(section.end() <= data.len());
                found.push((section.kind, section.start));
                look_into(section.kind, section.value);
            }
            Ok(Scan::Incomplete { .. }) => {
                assert!(!complete);
                return Ok(found);
            }
            Ok(Scan::End) => return Ok(found),
            Err(_) => return Err(()),
        }
    }
}

/// What the router looks into on its way.
fn look_into(kind: SectionKind, value: &[u8]) {
    match kind {
        SectionKind::Header => drop(Header::decode(value)),
        SectionKind::Properties => {
            drop(PropertiesView::decode(value));
            drop(RoutingProperties::decode(value));
        }
        SectionKind::MessageAnnotations => {
            if let Ok(annotations) = MessageAnnotations::decode(value) {
                let _ = annotations.router.trace.iter().count();
            }
        }
        _ => {}
    }
}
