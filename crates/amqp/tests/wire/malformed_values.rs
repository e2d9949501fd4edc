//! Bytes that are no value are refused, and cost no more than their size justifies.

use amqp::{DecodeErrorKind as Kind, Decoder, MAX_DEPTH, Value};

fn error(bytes: &[u8]) -> Kind {
    Value::decode(bytes).expect_err("it is malformed").kind().clone()
}

/// `levels` lists, one in the other, around a null.
fn nested_lists(levels: usize) -> Vec<u8> {
    (0..levels).fold(vec![0x40], |inner, _| {
        let size = u32::try_from(inner.len() + 4).expect("test lists are short").to_be_bytes();
        [&[0xd0], &size[..], &[0, 0, 0, 1], &inner].concat()
    })
}

#[test]
fn unknown_format_codes_are_refused() {
    for code in 0..=u8::MAX {
        let known = Value::decode(&[code; 64])
            .err()
            .is_none_or(|error| !matches!(error.kind(), Kind::UnknownFormat { code: found, at: 0 } if *found == code));
        let defined = matches!(code, 0x00 | 0x40..=0x45 | 0x50..=0x56 | 0x60 | 0x61 | 0x70..=0x74)
            || matches!(code, 0x80..=0x84 | 0x94 | 0x98 | 0xa0 | 0xa1 | 0xa3 | 0xb0 | 0xb1 | 0xb3)
            || matches!(code, 0xc0 | 0xc1 | 0xd0 | 0xd1 | 0xe0 | 0xf0);
        assert_eq!(known, defined, "0x{code:02x}");
    }
}

#[test]
fn a_value_cut_short_anywhere_is_refused() {
    let values: [&[u8]; 8] = [
        b"\x70\0\0\0\x01",
        b"\x98\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f",
        b"\xa1\x03abc",
        b"\xb0\0\0\0\x03abc",
        b"\xc0\x03\x02\x40\x41",
        b"\xd1\0\0\0\x06\0\0\0\x02\x40\x41",
        b"\xe0\x04\x02\x54\x01\x02",
        b"\x00\x53\x24\x45",
    ];
    for value in values {
        for end in 0..value.len() {
            assert!(matches!(error(&value[..end]), Kind::Truncated { .. }), "{value:02x?} up to {end}");
        }
    }
}

#[test]
fn bytes_behind_the_value_are_refused() {
    assert_eq!(error(b"\x40\x40"), Kind::TrailingBytes { count: 1, at: 1 });
}

#[test]
fn a_string_that_is_not_utf8_is_refused() {
    assert!(matches!(error(b"\xa1\x01\xff"), Kind::BadText { encoding: "UTF-8", .. }));
}

#[test]
fn a_symbol_that_is_not_ascii_is_refused() {
    assert!(matches!(error(b"\xa3\x02\xc3\xa4"), Kind::BadText { encoding: "ASCII", .. }));
}

#[test]
fn a_char_that_is_a_surrogate_is_refused() {
    assert!(matches!(error(b"\x73\0\0\xd8\0"), Kind::BadText { encoding: "Unicode", .. }));
}

#[test]
fn a_boolean_byte_other_than_0_and_1_is_refused() {
    assert_eq!(error(b"\x56\x02"), Kind::BadBoolean { byte: 2, at: 1 });
}

#[test]
fn a_list_with_more_members_than_bytes_is_refused() {
    assert!(matches!(error(b"\xd0\0\0\0\x05\xff\xff\xff\xff\x40"), Kind::BadCount { what: "list", .. }));
}

#[test]
fn a_list_with_fewer_members_than_bytes_is_refused() {
    assert!(matches!(error(b"\xc0\x03\x01\x40\x40"), Kind::TrailingBytes { .. }));
}

#[test]
fn a_compound_value_without_room_for_its_count_is_refused() {
    for bytes in [b"\xc0\x00".as_slice(), b"\xd0\0\0\0\x03\0\0\0", b"\xc1\x00", b"\xe0\x00"] {
        assert!(matches!(error(bytes), Kind::BadCount { count: 0, .. }), "{bytes:02x?}");
    }
}

#[test]
fn a_map_with_a_key_but_no_value_is_refused() {
    assert!(matches!(error(b"\xc1\x04\x03\x40\x40\x40"), Kind::BadCount { what: "map", count: 3, .. }));
}

#[test]
fn an_array_with_more_members_than_bytes_is_refused() {
    for code in [0x50, 0x70, 0x80, 0x98, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xf0] {
        let bytes = [b"\xf0\0\0\0\x07\xff\xff\xff\xff".as_slice(), &[code, 0, 0]].concat();
        assert!(matches!(error(&bytes), Kind::BadCount { what: "array", .. }), "0x{code:02x}");
    }
}

#[test]
fn an_array_of_billions_of_members_without_bytes_is_refused() {
    for code in [0x40, 0x41, 0x42, 0x43, 0x44, 0x45] {
        let bytes = [b"\xf0\0\0\0\x05\xff\xff\xff\xff".as_slice(), &[code]].concat();
        assert!(matches!(error(&bytes), Kind::BadCount { what: "array", .. }), "0x{code:02x}");
    }
}

#[test]
fn many_arrays_of_members_without_bytes_cannot_add_up_to_more() {
    let array = [0xe0, 2, 255, 0x40];
    let count = 1000_u32;
    let content = array.repeat(count as usize);
    let size = u32::try_from(content.len() + 4).unwrap().to_be_bytes();
    let bytes = [&[0xd0], &size[..], &count.to_be_bytes(), &content].concat();
    assert!(matches!(error(&bytes), Kind::BadCount { what: "array", count: 255, .. }));
}

#[test]
fn descriptors_cannot_be_multiplied_by_an_arrays_members() {
    // Each of 4000 members, one byte long, would have a descriptor of 4000 bytes of its own.
    let text = [&[0xb1, 0, 0, 0x0f, 0xa0], &[b'd'; 4000][..]].concat();
    let content = [&[0, 0, 0x0f, 0xa0, 0x00, 0x53, 0x01, 0x00][..], &text, &[0x50], &[7; 4000]].concat();
    let size = u32::try_from(content.len()).expect("it is short").to_be_bytes();
    let bytes = [&[0xf0], &size[..], &content].concat();

    assert!(matches!(error(&bytes), Kind::BadCount { what: "array", count: 4000, .. }));
}

#[test]
fn an_array_of_members_without_bytes_is_passed_by_at_once() {
    let bytes = b"\xf0\0\0\0\x05\xff\xff\xff\xff\x40\x41";
    let mut decoder = Decoder::new(bytes);
    decoder.skip_value().unwrap();
    assert_eq!(decoder.read_bool(), Ok(true));
}

#[test]
fn nesting_is_allowed_down_to_the_limit() {
    assert!(Value::decode(&nested_lists(MAX_DEPTH)).is_ok());
}

#[test]
fn nesting_beyond_the_limit_is_refused() {
    assert!(matches!(error(&nested_lists(MAX_DEPTH + 1)), Kind::TooDeep { .. }));
}

#[test]
fn descriptors_beyond_the_limit_are_refused() {
    let descriptors_of_descriptors = vec![0; 1_000_000];
    let described_values = [b"\x00\x43".repeat(1_000_000), vec![0x40]].concat();
    assert!(matches!(error(&descriptors_of_descriptors), Kind::TooDeep { .. }));
    assert!(matches!(error(&described_values), Kind::TooDeep { .. }));
    assert!(Decoder::new(&descriptors_of_descriptors).skip_value().is_err());
    assert!(Decoder::new(&described_values).skip_value().is_err());
}

#[test]
fn an_array_constructor_with_endless_descriptors_is_refused() {
    let constructor = b"\x00\x43".repeat(1000);
    let size = u32::try_from(constructor.len() + 4).unwrap().to_be_bytes();
    let bytes = [&[0xf0], &size[..], &[0, 0, 0, 1], &constructor].concat();
    assert!(matches!(error(&bytes), Kind::TooDeep { .. } | Kind::Truncated { .. }));
}

#[test]
fn errors_say_what_was_expected_and_where() {
    let mut decoder = Decoder::new(b"\x40\x41");
    decoder.skip_value().unwrap();
    let error = decoder.read_str().unwrap_err();
    assert_eq!(error.to_string(), "expected string, found format code 0x41 (at byte 1)");
}

#[test]
fn positions_within_a_list_count_from_the_start_of_the_input() {
    let mut decoder = Decoder::new(b"\x40\xc0\x03\x02\x40\x41");
    decoder.skip_value().unwrap();
    let (count, mut members) = decoder.read_list().unwrap();
    members.skip_value().unwrap();
    assert_eq!((count, members.position(), decoder.position()), (2, 5, 6));
}
