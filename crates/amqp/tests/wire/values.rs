//! Making and looking into owned values.

use amqp::{Array, Map, Symbol, Value};

#[test]
fn rusts_own_types_become_the_types_of_the_same_width() {
    let values: Vec<Value> = vec![
        true.into(),
        1_u8.into(),
        1_u16.into(),
        1_u32.into(),
        1_u64.into(),
        1_i8.into(),
        1_i16.into(),
        1_i32.into(),
        1_i64.into(),
        'x'.into(),
        "x".into(),
        Symbol::from("x").into(),
        b"x".as_slice().into(),
        None::<u8>.into(),
        Some(1_u8).into(),
    ];
    let expected = [
        Value::Bool(true),
        Value::Ubyte(1),
        Value::Ushort(1),
        Value::Uint(1),
        Value::Ulong(1),
        Value::Byte(1),
        Value::Short(1),
        Value::Int(1),
        Value::Long(1),
        Value::Char('x'),
        Value::String("x".into()),
        Value::symbol("x"),
        Value::Binary(b"x".to_vec()),
        Value::Null,
        Value::Ubyte(1),
    ];
    assert_eq!(values, expected);
}

#[test]
fn integers_are_read_whatever_their_width_and_sign() {
    let ones: [Value; 8] =
        [1_u8.into(), 1_u16.into(), 1_u32.into(), 1_u64.into(), 1_i8.into(), 1_i16.into(), 1_i32.into(), 1_i64.into()];
    assert!(ones.iter().all(|one| one.as_u64() == Some(1) && one.as_i64() == Some(1)));
}

#[test]
fn integers_out_of_range_are_not_read() {
    assert_eq!(Value::Int(-1).as_u64(), None);
    assert_eq!(Value::Ulong(u64::MAX).as_i64(), None);
    assert_eq!(Value::Ulong(u64::MAX).as_u64(), Some(u64::MAX));
    assert_eq!(Value::Timestamp(1).as_i64(), None);
}

#[test]
fn a_string_is_not_a_symbol_but_both_are_text() {
    let (string, symbol) = (Value::from("x"), Value::symbol("x"));
    assert_eq!((string.as_str(), string.as_symbol(), string.as_text()), (Some("x"), None, Some("x")));
    assert_eq!((symbol.as_str(), symbol.as_symbol(), symbol.as_text()), (None, Some("x"), Some("x")));
}

#[test]
fn a_list_and_an_array_are_sequences() {
    let items = vec![Value::Int(1)];
    let array = Value::from(Array::new(items.clone()).unwrap());
    assert_eq!((array.as_list(), array.as_sequence()), (None, Some(&items[..])));
    assert_eq!(Value::List(items.clone()).as_sequence(), Some(&items[..]));
}

#[test]
fn each_accessor_answers_for_its_type_only() {
    assert_eq!((Value::Bool(true).as_bool(), Value::Null.as_bool()), (Some(true), None));
    assert_eq!(
        (Value::Float(1.5).as_f64(), Value::Double(2.5).as_f64(), Value::Int(1).as_f64()),
        (Some(1.5), Some(2.5), None)
    );
    assert_eq!((Value::Binary(vec![1]).as_binary(), Value::Null.as_binary()), (Some([1].as_slice()), None));
    assert_eq!(Value::Map(Map::new()).as_map(), Some(&Map::new()));
    assert!(Value::described(1, true).as_described().is_some_and(|found| found.descriptor == Value::Ulong(1)));
    assert!(Value::Null.is_null() && Value::Null.as_described().is_none());
}

#[test]
fn a_map_finds_a_key_as_string_and_as_symbol() {
    let map: Map = [(Value::from("a"), 1), (Value::symbol("b"), 2)].into_iter().collect();
    assert_eq!((map.get("a"), map.get("b"), map.get("c")), (Some(&Value::Int(1)), Some(&Value::Int(2)), None));
    assert!(map.contains_key("a") && !map.contains_key("c"));
}

#[test]
fn inserting_into_a_map_replaces_the_value_of_an_equal_key() {
    let mut map = Map::new();
    assert_eq!(map.insert("a", 1), None);
    assert_eq!(map.insert_symbol("a", 2), None);
    assert_eq!(map.insert("a", 3), Some(Value::Int(1)));
    assert_eq!(map.len(), 2);
}

#[test]
fn removing_from_a_map_gives_the_value() {
    let mut map: Map = [("a", 1), ("b", 2)].into_iter().collect();
    assert_eq!((map.remove("a"), map.remove("a")), (Some(Value::Int(1)), None));
    assert_eq!(map.iter().collect::<Vec<_>>(), [(&Value::from("b"), &Value::Int(2))]);
}
