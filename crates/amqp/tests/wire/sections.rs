//! Message sections (part 3, section 3.2): scanning and decoding.

use amqp::message::{
    Body, Header, Message, Pieces, Properties, PropertiesView, RoutingProperties, Scan, Scanner, Section, SectionKind,
};
use amqp::{DecodeError, DecodeErrorKind as Kind, Map, Value};

use super::support::{list8, list32};

const HEADER: &[u8] = b"\x00\x53\x70\xc0\x02\x01\x41";
const DELIVERY_ANNOTATIONS: &[u8] = b"\x00\x53\x71\xc1\x01\x00";
const MESSAGE_ANNOTATIONS: &[u8] = b"\x00\x53\x72\xc1\x05\x02\xa3\x01k\x40";
const PROPERTIES: &[u8] = b"\x00\x53\x73\xc0\x06\x03\x40\x40\xa1\x01t";
const APPLICATION_PROPERTIES: &[u8] = b"\x00\x53\x74\xc1\x05\x02\xa1\x01k\x41";
const DATA: &[u8] = b"\x00\x53\x75\xa0\x03abc";
const SEQUENCE: &[u8] = b"\x00\x53\x76\xc0\x02\x01\x41";
const VALUE: &[u8] = b"\x00\x53\x77\xa1\x02hi";
const FOOTER: &[u8] = b"\x00\x53\x78\xc1\x01\x00";

fn scan(bytes: &[u8], complete: bool) -> (Vec<Section<'_>>, Result<Scan<'_>, DecodeError>) {
    let mut scanner = Scanner::new(bytes, complete);
    let mut sections = Vec::new();
    loop {
        match scanner.next() {
            Ok(Scan::Section(section)) => sections.push(section),
            end => return (sections, end),
        }
    }
}

fn kinds(bytes: &[u8]) -> Vec<SectionKind> {
    let (sections, end) = scan(bytes, true);
    assert_eq!(end, Ok(Scan::End));
    sections.iter().map(|section| section.kind).collect()
}

fn error(bytes: &[u8]) -> Kind {
    scan(bytes, true).1.expect_err("it is malformed").kind().clone()
}

#[test]
fn all_sections_are_found_in_their_order() {
    let message =
        [HEADER, DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS, PROPERTIES, APPLICATION_PROPERTIES, DATA, DATA, FOOTER]
            .concat();
    use SectionKind as S;
    let expected = [
        S::Header,
        S::DeliveryAnnotations,
        S::MessageAnnotations,
        S::Properties,
        S::ApplicationProperties,
        S::Data,
        S::Data,
        S::Footer,
    ];
    assert_eq!(kinds(&message), expected);
}

#[test]
fn the_body_may_be_sequences_or_a_value() {
    assert_eq!(kinds(&[SEQUENCE, SEQUENCE].concat()), [SectionKind::Sequence; 2]);
    assert_eq!(kinds(VALUE), [SectionKind::Value]);
}

#[test]
fn a_section_tells_its_bytes_and_its_place() {
    let message = [HEADER, PROPERTIES].concat();
    let (sections, _) = scan(&message, true);
    let expected =
        Section { kind: SectionKind::Properties, raw: PROPERTIES, value: &PROPERTIES[3..], start: HEADER.len() };
    assert_eq!(sections[1], expected);
    assert_eq!(sections[1].end(), message.len());
}

#[test]
fn sections_are_found_in_any_encoding() {
    let wide_list = list32(0x70, &[b"\x41"]);
    let wide_map = [b"\x00\x80\0\0\0\0\0\0\0\x72\xd1\0\0\0\x04\0\0\0\0".as_slice()].concat();
    let named_data = [b"\x00\xa3\x10amqp:data:binary".as_slice(), b"\xb0\0\0\0\x01x"].concat();
    let wide_data = b"\x00\x53\x75\xb0\0\0\0\x01y".to_vec();
    let message =
        [wide_list, wide_map, list8(0x73, &[]), b"\x00\x53\x74\xd1\0\0\0\x04\0\0\0\0".to_vec(), named_data, wide_data];
    use SectionKind as S;
    let expected = [S::Header, S::MessageAnnotations, S::Properties, S::ApplicationProperties, S::Data, S::Data];
    assert_eq!(kinds(&message.concat()), expected);
}

#[test]
fn the_value_of_a_value_section_may_be_of_any_type() {
    for value in
        [b"\x40".as_slice(), b"\x41", b"\x45", b"\x00\x53\x24\x45", b"\xe0\x02\x00\xa3", b"\x98ABCDEFGHIJKLMNOP"]
    {
        assert_eq!(kinds(&[b"\x00\x53\x77", value].concat()), [SectionKind::Value], "{value:02x?}");
    }
}

#[test]
fn sections_out_of_order_are_refused() {
    for (first, second) in [
        (PROPERTIES, HEADER),
        (HEADER, HEADER),
        (DATA, APPLICATION_PROPERTIES),
        (DATA, SEQUENCE),
        (SEQUENCE, DATA),
        (DATA, VALUE),
        (VALUE, VALUE),
        (FOOTER, DATA),
        (FOOTER, FOOTER),
    ] {
        let found = error(&[first, second].concat());
        assert!(matches!(found, Kind::SectionOrder { at, .. } if at == first.len()), "{found:?}");
    }
}

#[test]
fn a_section_of_the_wrong_type_is_refused() {
    for section in [
        b"\x00\x53\x70\xc1\x01\x00".as_slice(),
        b"\x00\x53\x71\x45",
        b"\x00\x53\x72\x45",
        b"\x00\x53\x73\xc1\x01\x00",
        b"\x00\x53\x74\x40",
        b"\x00\x53\x75\xa1\x01x",
        b"\x00\x53\x76\xe0\x02\x00\x40",
        b"\x00\x53\x78\xa0\x00",
    ] {
        assert!(matches!(error(section), Kind::WrongType { .. }), "{section:02x?}");
    }
}

#[test]
fn a_section_whose_count_is_beyond_its_size_is_refused() {
    assert!(matches!(error(b"\x00\x53\x70\xc0\x02\x02\x41"), Kind::BadCount { what: "list", .. }));
    assert!(matches!(error(b"\x00\x53\x74\xc1\x00"), Kind::BadCount { what: "map", .. }));
}

#[test]
fn what_is_not_a_section_is_refused() {
    assert_eq!(error(b"\x00\x53\x24\x45"), Kind::UnknownDescriptor { descriptor: "0x24".into() });
    assert!(matches!(error(b"hello"), Kind::WrongType { expected: "described value", .. }));
}

#[test]
fn a_whole_message_cut_short_is_refused() {
    let message = [HEADER, PROPERTIES, DATA].concat();
    for end in (1..message.len()).filter(|end| ![HEADER.len(), HEADER.len() + PROPERTIES.len()].contains(end)) {
        assert!(matches!(error(&message[..end]), Kind::Truncated { .. }), "up to {end}");
    }
}

#[test]
fn of_a_message_still_coming_the_whole_sections_are_found() {
    let message = [HEADER, PROPERTIES, DATA].concat();
    let up_to_data = HEADER.len() + PROPERTIES.len();
    for end in 0..message.len() {
        let (sections, outcome) = scan(&message[..end], false);
        let expected = usize::from(end >= HEADER.len()) + usize::from(end >= up_to_data);
        assert_eq!(sections.len(), expected, "up to {end}");
        assert!(matches!(outcome, Ok(Scan::Incomplete { .. })), "up to {end}: {outcome:?}");
    }
}

#[test]
fn a_section_that_has_begun_tells_that_those_before_it_are_done() {
    let message = [HEADER, &DATA[..4]].concat();
    let (_, outcome) = scan(&message, false);
    assert_eq!(outcome, Ok(Scan::Incomplete { begun: Some(SectionKind::Data) }));
}

#[test]
fn nothing_has_begun_between_two_sections() {
    assert_eq!(scan(HEADER, false).1, Ok(Scan::Incomplete { begun: None }));
    assert_eq!(scan(b"", false).1, Ok(Scan::Incomplete { begun: None }));
}

#[test]
fn a_message_still_coming_is_refused_as_soon_as_it_is_malformed() {
    assert!(scan(b"\x00\x53\x70\xc1", false).1.is_err());
    assert!(scan(&[DATA, b"\x00\x53\x70"].concat(), false).1.is_err());
    assert!(scan(b"x", false).1.is_err());
}

#[test]
fn an_empty_header_has_the_defaults() {
    let header = Header::decode(b"\x45").unwrap();
    let defaults = Header { durable: false, priority: 4, ttl: None, first_acquirer: false, delivery_count: 0 };
    assert_eq!(header, defaults);
}

#[test]
fn a_header_is_read_with_all_its_fields() {
    let header = Header::decode(&list8(0x70, &[b"\x41", b"\x50\x09", b"\x52\x05", b"\x41", b"\x52\x02"])[3..]).unwrap();
    let expected = Header { durable: true, priority: 9, ttl: Some(5), first_acquirer: true, delivery_count: 2 };
    assert_eq!(header, expected);
}

#[test]
fn properties_are_read_with_all_their_fields() {
    let section = list8(
        0x73,
        &[
            b"\x53\x07",
            b"\xa0\x01u",
            b"\xa1\x01t",
            b"\xa1\x01s",
            b"\xa1\x01r",
            b"\xa1\x01c",
            b"\xa3\x01y",
            b"\xa3\x01e",
            b"\x83\0\0\0\0\0\0\0\x01",
            b"\x83\0\0\0\0\0\0\0\x02",
            b"\xa1\x01g",
            b"\x52\x03",
            b"\xa1\x01q",
        ],
    );
    let expected = PropertiesView {
        message_id: Some(b"\x53\x07"),
        user_id: Some(b"u"),
        to: Some("t"),
        subject: Some("s"),
        reply_to: Some("r"),
        correlation_id: Some(b"\xa1\x01c"),
        content_type: Some("y"),
        content_encoding: Some("e"),
        absolute_expiry_time: Some(1),
        creation_time: Some(2),
        group_id: Some("g"),
        group_sequence: Some(3),
        reply_to_group_id: Some("q"),
    };
    assert_eq!(PropertiesView::decode(&section[3..]), Ok(expected));
}

#[test]
fn routing_properties_are_read_whatever_stands_behind_them() {
    let section = list8(0x73, &[b"\x53\x07", b"\xa0\x01u", b"\xa1\x01t", b"\xff"]);
    let expected = RoutingProperties { user_id: Some(b"u"), to: Some("t") };
    assert_eq!(RoutingProperties::decode(&section[3..]), Ok(expected));
}

#[test]
fn a_user_id_is_read_whatever_stands_behind_it() {
    let section = list8(0x73, &[b"\x53\x07", b"\xa0\x01u", b"\xff"]);
    let expected = RoutingProperties { user_id: Some(b"u"), to: None };
    assert_eq!(RoutingProperties::decode_user_id(&section[3..]), Ok(expected));
}

#[test]
fn an_address_that_is_not_a_string_is_refused() {
    let section = list8(0x73, &[b"\x40", b"\x40", b"\x53\x07"]);
    assert!(RoutingProperties::decode(&section[3..]).is_err());
    assert!(PropertiesView::decode(&section[3..]).is_err());
}

#[test]
fn a_message_is_read_whole() {
    let message = Message::decode(
        &[HEADER, DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS, PROPERTIES, APPLICATION_PROPERTIES, DATA, DATA].concat(),
    )
    .unwrap();
    let expected = Message {
        header: Header { durable: true, ..Header::default() },
        message_annotations: [(Value::symbol("k"), Value::Null)].into_iter().collect(),
        properties: Properties { to: Some("t".into()), ..Properties::default() },
        application_properties: [("k", true)].into_iter().collect(),
        body: Body::Data(vec![b"abc".to_vec(), b"abc".to_vec()]),
        ..Message::default()
    };
    assert_eq!(message, expected);
}

#[test]
fn a_message_is_written_without_the_sections_that_say_nothing() {
    assert_eq!(Message::new(Body::Value("hi".into())).to_bytes(), VALUE);
    assert_eq!(Message::new(Body::Sequence(vec![vec![true.into()]])).to_bytes(), SEQUENCE);
    assert_eq!(Message::default().to_bytes(), b"");
}

#[test]
fn a_message_is_written_in_the_order_of_the_sections() {
    let message = Message {
        header: Header { durable: true, ..Header::default() },
        delivery_annotations: Map::new(),
        message_annotations: [(Value::symbol("k"), Value::Null)].into_iter().collect(),
        properties: Properties { to: Some("t".into()), ..Properties::default() },
        application_properties: [("k", true)].into_iter().collect(),
        body: Body::Data(vec![b"abc".to_vec()]),
        footer: [(Value::symbol("k"), Value::Null)].into_iter().collect(),
    };
    let footer = [b"\x00\x53\x78", &MESSAGE_ANNOTATIONS[3..]].concat();
    let expected = [HEADER, MESSAGE_ANNOTATIONS, PROPERTIES, APPLICATION_PROPERTIES, DATA, &footer[..]].concat();
    assert_eq!(message.to_bytes(), expected);
}

#[test]
fn a_message_with_a_malformed_map_is_refused() {
    assert!(Message::decode(b"\x00\x53\x74\xc1\x04\x02\xa1\x05k").is_err());
}

#[test]
fn a_value_that_takes_too_long_to_say_how_long_it_is_is_not_looked_at() {
    let descriptor = [b"\x00\xb1\0\0\x02\0".as_slice(), &[b'd'; 512], b"\xa1\x01x"].concat();
    let bytes = [b"\x00\x53\x77".as_slice(), &descriptor].concat();
    for piece in [1, 100, bytes.len()] {
        let mut pieces = Pieces::new();
        for bytes in bytes.chunks(piece) {
            assert_eq!(pieces.feed(bytes), Ok(()));
        }
        assert_eq!(pieces.finish(), Ok(()), "in pieces of {piece}");
    }
}

#[test]
fn a_message_in_pieces_that_is_cut_short_is_none() {
    let mut pieces = Pieces::new();
    assert_eq!(pieces.feed(&VALUE[..2]), Ok(()));
    assert!(pieces.finish().is_err());
    assert_eq!(pieces.feed(&VALUE[2..]), Ok(()));
    assert_eq!(pieces.finish(), Ok(()));
    assert!(pieces.feed(DATA).is_err(), "a value is all of a body");
}
