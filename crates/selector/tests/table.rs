//! What selectors say of one message, and what is told of texts that are none.

use amqp::message::{Body, Message};
use amqp::{Map, Symbol, Value};
use selector::{Context, MAX_DEPTH, MAX_LENGTH, MAX_NAMES, Selector};

fn message() -> Vec<u8> {
    let mut message = Message::new(Body::Value(Value::from("body")));
    message.header.durable = true;
    message.header.priority = 7;
    message.header.delivery_count = 2;
    message.properties.message_id = Some(Value::from("ID:1"));
    message.properties.correlation_id =
        Some(Value::Uuid(*b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"));
    message.properties.subject = Some("orders".to_owned());
    message.properties.to = Some("queue.orders".to_owned());
    message.properties.user_id = Some(b"guest".to_vec());
    message.properties.group_id = Some("g1".to_owned());
    message.properties.group_sequence = Some(3);
    message.properties.creation_time = Some(1_700_000_000_000);
    message.properties.content_type = Some(Symbol::from("text/plain"));
    message.message_annotations.insert_symbol("x-opt-note", "kept");
    message.message_annotations.insert_symbol("plain", 5);
    message.application_properties = [
        ("colour", Value::from("red")),
        ("weight", Value::Int(5)),
        ("big", Value::Ulong(u64::MAX)),
        ("ratio", Value::Double(0.5)),
        ("yes", Value::Bool(true)),
        ("no", Value::Bool(false)),
        ("none", Value::Null),
        ("letter", Value::Char('ö')),
        ("bytes", Value::Binary(b"red".to_vec())),
        ("my-name", Value::from("it's")),
        ("a.b", Value::Byte(-1)),
        ("symbol", Value::Symbol(Symbol::from("red"))),
        ("percent", Value::from("10%")),
    ]
    .into_iter()
    .collect::<Map>();
    message.to_bytes()
}

fn matches(text: &str) -> bool {
    match Selector::parse(text) {
        Ok(selector) => selector.matches(&message()),
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn these_match() {
    for text in [
        "",
        "  ",
        "TRUE",
        "colour = 'red'",
        "COLOUR IS NULL",
        "colour <> 'blue' and weight>4",
        "weight = 5.0 AND weight = 0x5 AND weight = 05",
        "weight BETWEEN 5 AND 5",
        "weight NOT BETWEEN 6 AND 7",
        "colour IN ('green', 'red')",
        "weight IN (1, 5)",
        "weight NOT IN ('5')",
        "yes IN (TRUE)",
        "colour LIKE 'r%'",
        "colour LIKE '_e_'",
        "percent LIKE '10\\%' ESCAPE '\\'",
        "colour NOT LIKE 'b%'",
        "missing IS NULL AND none IS NULL",
        "colour IS NOT NULL",
        "bytes IS NOT NULL",
        "yes",
        "yes AND NOT no",
        "yes = TRUE AND no <> TRUE",
        "(weight = 5) = yes",
        "NOT (missing = 1 AND no)",
        "missing = 1 OR yes",
        "weight + 2 * 3 = 11",
        "(weight + 2) * 3 = 21",
        "weight - 1 - 1 = 3",
        "weight / 2 = 2",
        "weight / 2.0 = 2.5",
        "-weight = -5",
        "+weight = 5",
        "- -weight = 5",
        "a.b = -1",
        "big = 18446744073709551615",
        "big + 1 > big",
        "ratio * 2 = 1",
        "ratio / 0 > 1e300",
        "letter = 'ö'",
        "\"my-name\" = 'it''s'",
        "symbol = colour",
        "colour > 'blue' AND colour BETWEEN 'a' AND 's'",
        "amqp.priority = 7 AND JMSPriority >= 7",
        "amqp.durable AND JMSDeliveryMode = 'PERSISTENT'",
        "amqp.delivery_count = 2 AND amqp.redelivered AND JMSXDeliveryCount = 3",
        "amqp.message_id = 'ID:1' AND JMSMessageID LIKE 'ID:%'",
        "JMSCorrelationID = '00112233-4455-6677-8899-aabbccddeeff'",
        "amqp.subject = 'orders' AND JMSType = 'orders' AND amqp.jms_type = 'orders'",
        "amqp.to = 'queue.orders' AND JMSXUserID = 'guest'",
        "JMSXGroupID = 'g1' AND JMSXGroupSeq = 3",
        "JMSTimestamp > 1600000000000 AND amqp.content_type = 'text/plain'",
        "amqp.reply_to IS NULL AND JMSExpiration IS NULL",
        "\"m.x-opt-note\" = 'kept' AND m.plain = 5",
        "m.missing IS NULL",
    ] {
        assert!(matches(text), "{text}");
    }
}

#[test]
fn these_do_not_match() {
    for text in [
        "FALSE",
        "colour = 'Red'",
        "colour = 5",
        "colour <> 5",
        "NOT (missing = 1)",
        "missing <> 1",
        "missing LIKE '%'",
        "missing NOT IN ('a')",
        "missing NOT LIKE 'a'",
        "missing BETWEEN 1 AND 2",
        "missing AND yes",
        "colour",
        "NOT colour",
        "NOT weight",
        "yes > 'a'",
        "yes = 'true'",
        "bytes = 'red'",
        "bytes = bytes",
        "weight / 0 = 1",
        "weight / 0 IS NOT NULL",
        "colour + 1 = 2",
        "-colour IS NOT NULL",
        "weight LIKE '5'",
    ] {
        assert!(!matches(text), "{text}");
    }
}

#[test]
fn the_queues_count_of_deliveries_goes_before_the_messages() {
    let selector = Selector::parse("amqp.delivery_count = 0 AND NOT JMSRedelivered").expect("a selector");
    assert!(!selector.matches(&message()));
    assert!(selector.matches_with(&message(), &Context { delivery_count: Some(0) }));
}

#[test]
fn a_message_without_sections_has_the_defaults_of_a_header() {
    let selector = Selector::parse("JMSPriority = 4 AND NOT amqp.durable AND colour IS NULL").expect("a selector");
    assert!(selector.matches(b""));
}

#[test]
fn the_beginning_of_a_large_message_is_enough() {
    let bytes = message();
    let selector = Selector::parse("colour = 'red'").expect("a selector");
    assert!(selector.matches(&bytes[..bytes.len() - 3]));
}

#[test]
fn a_malformed_message_does_not_match() {
    assert!(!Selector::parse("TRUE").expect("a selector").matches(b"\x00\x53\xff\x45"));
}

#[test]
fn of_equal_keys_the_first_counts() {
    let mut message = Message::new(Body::Empty);
    message.application_properties = Map(vec![("a".into(), 1.into()), ("a".into(), 2.into())]);
    assert!(Selector::parse("a = 1").expect("a selector").matches(&message.to_bytes()));
}

#[test]
fn a_mistake_is_told_with_its_place_and_what_to_write() {
    for (text, character, remedy) in [
        ("colour = red'", 14, "close the quotes"),
        ("colour == 'red'", 8, "single `=`"),
        ("colour != 'red'", 8, "`<>`"),
        ("a && b", 3, "`AND`"),
        ("a || b", 3, "`OR`"),
        ("!a", 1, "`NOT`"),
        ("colour = 'red' weight = 5", 16, "AND or OR"),
        ("colour = 'red' AND", 19, "complete"),
        ("(a = 1", 7, "close the parenthesis"),
        ("a = 1)", 6, "leave out this `)`"),
        ("1 < a < 3", 7, "AND"),
        ("'red'", 1, "compare it"),
        ("5 AND a", 1, "compare it"),
        ("a = NULL", 5, "IS NULL"),
        ("a IS 5", 6, "IS NULL"),
        ("a IN 'x'", 6, "IN ("),
        ("a IN ('x', b)", 12, "OR"),
        ("a IN ()", 7, "write what"),
        ("a IN ('x' 'y')", 11, "IN ("),
        ("a LIKE b", 8, "single quotes"),
        ("a LIKE 'x' ESCAPE 'yy'", 19, "ESCAPE"),
        ("a LIKE 'x\\' ESCAPE '\\'", 8, "write `\\\\`"),
        ("a BETWEEN 1 OR 2", 13, "BETWEEN lower AND upper"),
        ("a NOT 5", 7, "NOT in front"),
        ("a > TRUE", 5, "`=` or `<>`"),
        ("a + 'x' = 5", 5, "only numbers"),
        ("amqp.prioritty = 4", 1, "did you mean amqp.priority?"),
        ("amqp.delivery-count = 4", 1, "did you mean amqp.delivery_count?"),
        ("amqp.foo = 4", 1, "choose one of amqp.absolute_expiry_time"),
        ("a = 089", 5, "write 89"),
        ("ö = 5 # 4", 7, "leave it out"),
        ("like = 5", 1, "double quotes"),
    ] {
        let error = Selector::parse(text).expect_err(text);
        assert_eq!(error.character + 1, character, "{text}: {error}");
        assert!(error.to_string().contains(remedy), "{text}: {error}");
    }
}

#[test]
fn length_depth_and_names_are_bounded() {
    let deep = format!("{}a{}", "(".repeat(MAX_DEPTH + 1), ")".repeat(MAX_DEPTH + 1));
    let nots = format!("{} a", "NOT ".repeat(3_000));
    let signs = format!("a = {}1", "-".repeat(3_000));
    let long = format!("a = '{}'", "x".repeat(MAX_LENGTH));
    let names: Vec<_> = (0..=MAX_NAMES).map(|name| format!("n{name}")).collect();
    for text in [deep, nots, signs, long, names.join(" OR ")] {
        assert!(Selector::parse(&text).is_err(), "{}", &text[..40]);
    }
    let chain = vec!["a = 1"; 1_600].join(" OR ");
    assert!(!Selector::parse(&chain).expect("a long chain is not deep").matches(&message()));
}

#[test]
fn a_selector_made_to_take_long_does_not_match() {
    let mut message = Message::new(Body::Empty);
    message.application_properties = [("a", "a".repeat(1_000_000))].into_iter().collect();
    let text = format!("NOT a LIKE '%{}b'", "a".repeat(5_000));
    assert!(!Selector::parse(&text).expect("a selector").matches(&message.to_bytes()));
    let text = vec!["a < a"; 1_500].join(" OR ") + " OR TRUE";
    assert!(!Selector::parse(&text).expect("a selector").matches(&message.to_bytes()));
}
