//! Golden vectors: every type of part 1, section 1.6 in each of its encodings.

use amqp::codec::format;
use amqp::{Array, Described, Map, Value};

/// Encodings that this crate writes too: the smallest of each value.
fn smallest() -> Vec<(&'static [u8], Value)> {
    vec![
        (b"\x40", Value::Null),
        (b"\x41", Value::Bool(true)),
        (b"\x42", Value::Bool(false)),
        (b"\x50\xff", Value::Ubyte(255)),
        (b"\x60\x01\x02", Value::Ushort(258)),
        (b"\x43", Value::Uint(0)),
        (b"\x52\xff", Value::Uint(255)),
        (b"\x70\x00\x00\x01\x00", Value::Uint(256)),
        (b"\x44", Value::Ulong(0)),
        (b"\x53\xff", Value::Ulong(255)),
        (b"\x80\x00\x00\x00\x00\x00\x00\x01\x00", Value::Ulong(256)),
        (b"\x51\x80", Value::Byte(-128)),
        (b"\x61\xff\xfe", Value::Short(-2)),
        (b"\x54\x80", Value::Int(-128)),
        (b"\x54\x7f", Value::Int(127)),
        (b"\x71\x00\x00\x00\x80", Value::Int(128)),
        (b"\x71\xff\xff\xff\x7f", Value::Int(-129)),
        (b"\x55\x80", Value::Long(-128)),
        (b"\x81\xff\xff\xff\xff\xff\xff\xff\x7f", Value::Long(-129)),
        (b"\x72\x3f\xc0\x00\x00", Value::Float(1.5)),
        (b"\x82\x40\x02\x00\x00\x00\x00\x00\x00", Value::Double(2.25)),
        (b"\x74\x01\x02\x03\x04", Value::Decimal32([1, 2, 3, 4])),
        (b"\x84\x01\x02\x03\x04\x05\x06\x07\x08", Value::Decimal64([1, 2, 3, 4, 5, 6, 7, 8])),
        (b"\x94\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", Value::Decimal128(counting())),
        (b"\x73\x00\x00\x20\xac", Value::Char('\u{20ac}')),
        (b"\x83\x00\x00\x01\x5d\x3e\xf7\x98\x7b", Value::Timestamp(1_500_000_000_123)),
        (b"\x83\xff\xff\xff\xff\xff\xff\xff\xff", Value::Timestamp(-1)),
        (b"\x98\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", Value::Uuid(counting())),
        (b"\xa0\x00", Value::Binary(vec![])),
        (b"\xa0\x02\x00\xff", Value::Binary(vec![0, 255])),
        (b"\xa1\x05h\xe2\x82\xacl", Value::from("h\u{20ac}l")),
        (b"\xa3\x01x", Value::symbol("x")),
        (b"\x45", Value::List(vec![])),
        (b"\xc0\x03\x02\x40\x41", Value::List(vec![Value::Null, Value::Bool(true)])),
        (b"\xc1\x01\x00", Value::Map(Map::new())),
        (b"\xc1\x05\x02\xa3\x01a\x43", [(Value::symbol("a"), 0_u32)].into_iter().collect::<Map>().into()),
        (b"\x00\x53\x24\x45", Value::described(0x24, Vec::<Value>::new())),
        (b"\x00\xa3\x01d\x54\x05", Described { descriptor: Value::symbol("d"), value: Value::Int(5) }.into()),
    ]
}

/// Encodings that are valid but larger than need be.
fn larger() -> Vec<(&'static [u8], Value)> {
    vec![
        (b"\x56\x01", Value::Bool(true)),
        (b"\x56\x00", Value::Bool(false)),
        (b"\x52\x00", Value::Uint(0)),
        (b"\x70\x00\x00\x00\x07", Value::Uint(7)),
        (b"\x53\x00", Value::Ulong(0)),
        (b"\x80\x00\x00\x00\x00\x00\x00\x00\x07", Value::Ulong(7)),
        (b"\x71\xff\xff\xff\xff", Value::Int(-1)),
        (b"\x81\xff\xff\xff\xff\xff\xff\xff\xff", Value::Long(-1)),
        (b"\xb0\x00\x00\x00\x01\x07", Value::Binary(vec![7])),
        (b"\xb1\x00\x00\x00\x01x", Value::from("x")),
        (b"\xb3\x00\x00\x00\x01x", Value::symbol("x")),
        (b"\xc0\x01\x00", Value::List(vec![])),
        (b"\xd0\x00\x00\x00\x05\x00\x00\x00\x01\x41", Value::List(vec![Value::Bool(true)])),
        (b"\xd1\x00\x00\x00\x06\x00\x00\x00\x02\x40\x41", [(Value::Null, true)].into_iter().collect::<Map>().into()),
        (b"\x00\x80\x00\x00\x00\x00\x00\x00\x00\x24\x45", Value::described(0x24, Vec::<Value>::new())),
    ]
}

/// Arrays, which keep the encoding of their members.
fn arrays() -> Vec<(&'static [u8], Array)> {
    let strings = vec![Value::symbol("a"), Value::symbol("bc")];
    let lists = vec![Value::List(vec![true.into()]), Value::List(vec![])];
    let maps = vec![[(Value::Null, 1_u8)].into_iter().collect::<Map>().into()];
    let inner = [5, 6].map(|number| Value::Array(array(format::SMALL_INT, vec![Value::Int(number)])));
    vec![
        (b"\xe0\x02\x00\xa3", array(format::SYMBOL8, vec![])),
        (b"\xe0\x02\x00\x40", array(format::NULL, vec![])),
        (b"\xe0\x02\x03\x40", array(format::NULL, vec![Value::Null; 3])),
        (b"\xe0\x02\x02\x41", array(format::TRUE, vec![true.into(); 2])),
        (b"\xe0\x02\x02\x42", array(format::FALSE, vec![false.into(); 2])),
        (b"\xe0\x04\x02\x56\x01\x00", array(format::BOOLEAN, vec![true.into(), false.into()])),
        (b"\xe0\x04\x02\x50\x01\x02", array(format::UBYTE, vec![1_u8.into(), 2_u8.into()])),
        (b"\xe0\x04\x01\x60\x01\x02", array(format::USHORT, vec![258_u16.into()])),
        (b"\xe0\x02\x02\x43", array(format::UINT_0, vec![0_u32.into(); 2])),
        (b"\xe0\x03\x01\x52\x07", array(format::SMALL_UINT, vec![7_u32.into()])),
        (b"\xe0\x06\x01\x70\0\0\0\x07", array(format::UINT, vec![7_u32.into()])),
        (b"\xe0\x02\x02\x44", array(format::ULONG_0, vec![0_u64.into(); 2])),
        (b"\xe0\x03\x01\x53\x07", array(format::SMALL_ULONG, vec![7_u64.into()])),
        (b"\xe0\x0a\x01\x80\0\0\0\0\0\0\0\x07", array(format::ULONG, vec![7_u64.into()])),
        (b"\xe0\x03\x01\x51\xff", array(format::BYTE, vec![(-1_i8).into()])),
        (b"\xe0\x04\x01\x61\xff\xff", array(format::SHORT, vec![(-1_i16).into()])),
        (b"\xe0\x03\x01\x54\xff", array(format::SMALL_INT, vec![(-1).into()])),
        (b"\xe0\x06\x01\x71\xff\xff\xff\xff", array(format::INT, vec![(-1).into()])),
        (b"\xe0\x03\x01\x55\xff", array(format::SMALL_LONG, vec![(-1_i64).into()])),
        (b"\xe0\x0a\x01\x81\0\0\0\0\0\0\0\x07", array(format::LONG, vec![7_i64.into()])),
        (b"\xe0\x06\x01\x72\x3f\xc0\0\0", array(format::FLOAT, vec![1.5_f32.into()])),
        (b"\xe0\x0a\x01\x82\x40\x02\0\0\0\0\0\0", array(format::DOUBLE, vec![2.25_f64.into()])),
        (b"\xe0\x06\x01\x74\x01\x02\x03\x04", array(format::DECIMAL32, vec![Value::Decimal32([1, 2, 3, 4])])),
        (b"\xe0\x0a\x01\x84\0\0\0\0\0\0\0\x01", array(format::DECIMAL64, vec![Value::Decimal64(last_one())])),
        (
            b"\xe0\x12\x01\x94\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01",
            array(format::DECIMAL128, vec![Value::Decimal128(last_one())]),
        ),
        (b"\xe0\x06\x01\x73\0\0\0A", array(format::CHAR, vec!['A'.into()])),
        (b"\xe0\x0a\x01\x83\0\0\0\0\0\0\0\x01", array(format::TIMESTAMP, vec![Value::Timestamp(1)])),
        (b"\xe0\x12\x01\x98\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", array(format::UUID, vec![Value::Uuid(last_one())])),
        (b"\xe0\x04\x01\xa0\x01\x07", array(format::BINARY8, vec![Value::Binary(vec![7])])),
        (b"\xe0\x07\x01\xb0\0\0\0\x01\x07", array(format::BINARY32, vec![Value::Binary(vec![7])])),
        (b"\xe0\x04\x01\xa1\x01a", array(format::STRING8, vec!["a".into()])),
        (b"\xe0\x07\x01\xb1\0\0\0\x01a", array(format::STRING32, vec!["a".into()])),
        (b"\xe0\x07\x02\xa3\x01a\x02bc", array(format::SYMBOL8, strings.clone())),
        (b"\xe0\x0d\x02\xb3\0\0\0\x01a\0\0\0\x02bc", array(format::SYMBOL32, strings)),
        (b"\xe0\x02\x02\x45", array(format::LIST_0, vec![Value::List(vec![]); 2])),
        (b"\xe0\x07\x02\xc0\x02\x01\x41\x01\x00", array(format::LIST8, lists.clone())),
        (b"\xe0\x13\x02\xd0\0\0\0\x05\0\0\0\x01\x41\0\0\0\x04\0\0\0\0", array(format::LIST32, lists)),
        (b"\xe0\x07\x01\xc1\x04\x02\x40\x50\x01", array(format::MAP8, maps.clone())),
        (b"\xe0\x0d\x01\xd1\0\0\0\x07\0\0\0\x02\x40\x50\x01", array(format::MAP32, maps)),
        (b"\xe0\x0a\x02\xe0\x03\x01\x54\x05\x03\x01\x54\x06", array(format::ARRAY8, inner.to_vec())),
        (
            b"\xe0\x16\x02\xf0\0\0\0\x06\0\0\0\x01\x54\x05\0\0\0\x06\0\0\0\x01\x54\x06",
            array(format::ARRAY32, inner.to_vec()),
        ),
        (b"\xe0\x08\x02\x00\xa3\x01d\x54\x01\x02", described(Value::symbol("d"), vec![Value::Int(1), Value::Int(2)])),
        (b"\xe0\x05\x00\x00\x53\x24\x54", described(Value::Ulong(0x24), vec![])),
    ]
}

fn array(code: u8, items: Vec<Value>) -> Array {
    Array { code, descriptor: None, items }
}

fn described(descriptor: Value, items: Vec<Value>) -> Array {
    Array { code: format::SMALL_INT, descriptor: Some(Box::new(descriptor)), items }
}

fn counting() -> [u8; 16] {
    std::array::from_fn(|index| index as u8)
}

fn last_one<const N: usize>() -> [u8; N] {
    std::array::from_fn(|index| u8::from(index == N - 1))
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    value.encode(&mut out);
    out
}

#[test]
fn each_encoding_is_read() {
    for (bytes, value) in smallest().into_iter().chain(larger()) {
        assert_eq!(Value::decode(bytes).as_ref(), Ok(&value), "{bytes:02x?}");
    }
}

#[test]
fn the_smallest_encoding_is_written() {
    for (bytes, value) in smallest() {
        assert_eq!(encoded(&value), bytes, "{value:?}");
    }
}

#[test]
fn each_array_is_read() {
    for (bytes, array) in arrays() {
        assert_eq!(Value::decode(bytes), Ok(Value::Array(array)), "{bytes:02x?}");
    }
}

#[test]
fn an_array_is_written_with_the_format_code_it_came_with() {
    for (bytes, array) in arrays() {
        assert_eq!(encoded(&Value::Array(array)), bytes);
    }
}

#[test]
fn an_array_with_four_byte_size_and_count_is_read() {
    let bytes = b"\xf0\0\0\0\x07\0\0\0\x02\x54\x01\x02";
    let array = array(format::SMALL_INT, vec![Value::Int(1), Value::Int(2)]);
    assert_eq!(Value::decode(bytes), Ok(Value::Array(array)));
}

#[test]
fn an_empty_array_without_constructor_is_read() {
    assert_eq!(Value::decode(b"\xe0\x01\x00"), Ok(Value::Array(array(format::NULL, vec![]))));
}

#[test]
fn members_of_an_array_may_have_several_descriptors() {
    let bytes = b"\xe0\x10\x02\x00\x53\x01\x00\x53\x02\x71\0\0\0\x07\0\0\0\x08";
    let items = [7, 8].map(|number| Value::described(2, number)).to_vec();
    let array = Array { code: format::DESCRIBED, descriptor: Some(Box::new(Value::Ulong(1))), items };
    assert_eq!(Value::decode(bytes), Ok(Value::Array(array.clone())));
    assert_eq!(encoded(&Value::Array(array)), bytes);
}

#[test]
fn text_of_256_bytes_gets_a_four_byte_size() {
    let bytes = encoded(&Value::from("x".repeat(256)));
    assert_eq!(bytes[..6], *b"\xb1\x00\x00\x01\x00x");
}

#[test]
fn a_list_of_256_members_gets_a_four_byte_size_and_count() {
    let bytes = encoded(&Value::List(vec![Value::Null; 256]));
    assert_eq!(bytes[..10], *b"\xd0\x00\x00\x01\x04\x00\x00\x01\x00\x40");
}

#[test]
fn a_list_keeps_the_nulls_at_its_end() {
    assert_eq!(encoded(&Value::List(vec![Value::Null; 2])), b"\xc0\x03\x02\x40\x40");
}

#[test]
fn a_map_larger_than_255_bytes_gets_a_four_byte_size() {
    let map: Map = [("x".repeat(252), true)].into_iter().collect();
    let bytes = encoded(&map.into());
    assert_eq!(bytes[..10], *b"\xd1\x00\x00\x01\x03\x00\x00\x00\x02\xa1");
}

#[test]
fn array_members_that_do_not_fit_its_format_code_get_a_wider_one() {
    let array = array(format::SMALL_UINT, vec![Value::Uint(1), Value::Uint(256)]);
    assert_eq!(encoded(&array.into()), b"\xe0\x0a\x02\x70\x00\x00\x00\x01\x00\x00\x01\x00");
}

#[test]
fn values_that_cannot_be_one_array_are_written_as_a_list() {
    let mixed = array(format::SMALL_UINT, vec![Value::Uint(1), Value::Null]);
    assert_eq!(encoded(&mixed.into()), b"\xc0\x04\x02\x52\x01\x40");
}

#[test]
fn an_array_is_made_of_values_of_one_type_only() {
    assert!(Array::new(vec![Value::Int(1), Value::Int(2)]).is_some());
    assert!(Array::new(vec![]).is_some());
    assert!(Array::new(vec![Value::Int(1), Value::Long(2)]).is_none());
    assert!(Array::new(vec![Value::described(1, 1), Value::described(2, 1)]).is_none());
}

#[test]
fn an_array_of_described_values_shares_their_descriptor() {
    let array = Array::new(vec![Value::described(1, 7), Value::described(1, 8)]).unwrap();
    assert_eq!(encoded(&array.into()), b"\xe0\x0d\x02\x00\x53\x01\x71\x00\x00\x00\x07\x00\x00\x00\x08");
}
