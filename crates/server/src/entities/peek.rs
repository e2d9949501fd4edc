//! Messages as management shows them: sections as maps, bodies cut to what was asked for.

use crate::store::{MessageView, Part, Which};
use amqp::codec::Decoder;
use amqp::message::{Header, Properties, Scan, Scanner, SectionKind};
use amqp::{Map, Symbol, Value};
use queue_core::{Death, Seq};

/// Bytes of a body that are shown unless another number is asked for.
pub(super) const BODY: u64 = 1024;
/// The most messages that one request shows.
const MESSAGES: u64 = 1000;
/// The most bytes of messages that one request looks at: an answer has to fit into one message.
const ANSWER: usize = 4 << 20;

/// No more messages than one request shows.
pub(super) fn bounded(which: Which) -> Which {
    Which { most: Some(which.most.unwrap_or(MESSAGES).min(MESSAGES)), ..which }
}

/// A list of messages, and where to go on; it ends before it is too large.
pub(super) fn shown(found: Part<Vec<MessageView>>, body_bytes: u64) -> (Value, Option<Seq>) {
    let body_bytes = usize::try_from(body_bytes).unwrap_or(usize::MAX);
    let mut room = ANSWER;
    let mut list = Vec::new();
    for message in &found.done {
        let size = message.bytes.len().min(body_bytes.saturating_add(head(&message.bytes)));
        match room.checked_sub(size) {
            Some(left) => room = left,
            // One alone is always shown.
            None if list.is_empty() => room = 0,
            None => return (Value::List(list), Some(message.place)),
        }
        list.push(Value::Map(show(message, body_bytes)));
    }
    (Value::List(list), found.next)
}

/// Bytes before the body.
fn head(message: &[u8]) -> usize {
    let mut scanner = Scanner::new(message, false);
    loop {
        let before = scanner.position();
        match scanner.next() {
            Ok(Scan::Section(section)) if !section.kind.is_body() => {}
            _ => return before,
        }
    }
}

fn show(message: &MessageView, body_bytes: usize) -> Map {
    let mut map = Map::new();
    map.insert("place", message.place.to_string());
    map.insert("size", message.size);
    map.insert("arrived", time(message.arrived));
    map.insert("deliveryCount", message.delivery_count);
    map.insert("acquired", message.acquired);
    for (name, at) in [("expires", message.expires_at), ("deliverAt", message.deliver_at)] {
        if let Some(at) = at {
            map.insert(name, time(at));
        }
    }
    if !message.deaths.is_empty() {
        map.insert("deadLetter", Value::List(message.deaths.iter().map(death).collect()));
    }
    // Of a large message only the beginning is there.
    let mut scanner = Scanner::new(&message.bytes, false);
    let mut body = Body::default();
    loop {
        match scanner.next() {
            Ok(Scan::Section(section)) => add(&mut map, &mut body, section.kind, section.value, body_bytes),
            Ok(Scan::Incomplete { begun: Some(kind) }) if kind.is_body() => {
                // The rest of a body of bytes that is only half there: behind descriptor, code and size.
                let rest = message.bytes.get(scanner.position()..).unwrap_or_default();
                if kind == SectionKind::Data {
                    body.bytes(rest.get(8..).unwrap_or_default(), body_bytes);
                }
                break;
            }
            _ => break,
        }
    }
    if let Some(body) = body.value() {
        map.insert("body", body);
    }
    map
}

fn time(unix: u64) -> Value {
    Value::Timestamp(i64::try_from(unix).unwrap_or(i64::MAX))
}

/// Why a message left a queue.
fn death(death: &Death) -> Value {
    let mut map = Map::new();
    map.insert("address", death.address.to_string());
    map.insert("reason", death.reason.text());
    map.insert("time", time(death.time));
    map.insert("count", death.count);
    if let Some(error) = &death.error {
        map.insert("error", error.to_string());
    }
    Value::Map(map)
}

/// What there is to be shown of a body.
#[derive(Default)]
struct Body {
    data: Option<Vec<u8>>,
    other: Option<Value>,
}

impl Body {
    fn bytes(&mut self, bytes: &[u8], most: usize) {
        let data = self.data.get_or_insert_default();
        let room = most.saturating_sub(data.len());
        data.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
    }

    /// Bytes that are text are shown as text.
    fn value(self) -> Option<Value> {
        match self.data {
            Some(data) => Some(match std::str::from_utf8(&data) {
                Ok(text) => Value::from(text),
                // The last character may have been cut in two.
                Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
                    Value::String(String::from_utf8_lossy(data.get(..error.valid_up_to()).unwrap_or_default()).into())
                }
                Err(_) => Value::Binary(data),
            }),
            None => self.other,
        }
    }
}

fn add(map: &mut Map, body: &mut Body, kind: SectionKind, value: &[u8], body_bytes: usize) {
    let mut decoder = Decoder::new(value);
    let name = match kind {
        SectionKind::DeliveryAnnotations => "deliveryAnnotations",
        SectionKind::MessageAnnotations => "messageAnnotations",
        SectionKind::ApplicationProperties => "applicationProperties",
        SectionKind::Footer => "footer",
        SectionKind::Header => {
            if let Ok(header) = Header::decode(value) {
                map.insert("header", Value::Map(header_of(&header)));
            }
            return;
        }
        SectionKind::Properties => {
            if let Ok(properties) = Properties::decode(value) {
                map.insert("properties", Value::Map(properties_of(properties)));
            }
            return;
        }
        SectionKind::Data => {
            body.bytes(decoder.read_binary().unwrap_or_default(), body_bytes);
            return;
        }
        SectionKind::Value | SectionKind::Sequence => {
            body.other = Some(match decoder.read_value() {
                Ok(Value::String(text)) => Value::String(cut(text, body_bytes)),
                Ok(Value::Binary(mut bytes)) => {
                    bytes.truncate(body_bytes);
                    Value::Binary(bytes)
                }
                Ok(value) if decoder.position() <= body_bytes => value,
                _ => Value::Null,
            });
            return;
        }
    };
    if let Ok(entries) = decoder.read_owned_map()
        && !entries.is_empty()
    {
        map.insert(name, Value::Map(entries));
    }
}

/// At most so many bytes of a text, whole characters.
fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

fn header_of(header: &Header) -> Map {
    let mut map = Map::new();
    map.insert("durable", header.durable);
    map.insert("priority", header.priority);
    if let Some(ttl) = header.ttl {
        map.insert("ttl", ttl);
    }
    map
}

fn properties_of(properties: Properties) -> Map {
    let text = |text: Option<String>| text.map(Value::String);
    let symbol = |symbol: Option<Symbol>| symbol.map(|symbol| Value::String(symbol.0));
    let all = [
        ("messageId", properties.message_id),
        ("userId", properties.user_id.map(|user| Value::String(String::from_utf8_lossy(&user).into()))),
        ("to", text(properties.to)),
        ("subject", text(properties.subject)),
        ("replyTo", text(properties.reply_to)),
        ("correlationId", properties.correlation_id),
        ("contentType", symbol(properties.content_type)),
        ("contentEncoding", symbol(properties.content_encoding)),
        ("absoluteExpiryTime", properties.absolute_expiry_time.map(Value::Timestamp)),
        ("creationTime", properties.creation_time.map(Value::Timestamp)),
        ("groupId", text(properties.group_id)),
        ("groupSequence", properties.group_sequence.map(Value::Uint)),
        ("replyToGroupId", text(properties.reply_to_group_id)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::message::{Body as Content, Message};

    fn view(bytes: Vec<u8>) -> MessageView {
        MessageView {
            place: Seq::FIRST,
            size: bytes.len() as u64,
            bytes,
            arrived: 1_000,
            expires_at: None,
            deliver_at: None,
            delivery_count: 2,
            acquired: true,
            deaths: Vec::new(),
        }
    }

    fn shown(messages: Vec<MessageView>, most: u64) -> Value {
        super::shown(Part { done: messages, next: None }, most).0
    }

    fn first(messages: &Value) -> &Map {
        messages.as_list().and_then(|list| list.first()).and_then(Value::as_map).expect("a message")
    }

    fn body_of(content: Content, most: u64) -> Option<Value> {
        let shown = shown(vec![view(Message::new(content).to_bytes())], most);
        first(&shown).get("body").cloned()
    }

    #[test]
    fn a_message_is_shown_with_what_the_queue_knows_of_it() {
        let mut message = Message::new(Content::Value("hello".into()));
        message.properties.subject = Some("greeting".to_owned());
        message.application_properties.insert("n", 3_i64);
        let shown = shown(vec![view(message.to_bytes())], BODY);
        let map = first(&shown);
        assert_eq!((map.get("place"), map.get("deliveryCount")), (Some(&"9-0".into()), Some(&2_u32.into())));
        let inner = |section: &str, name: &str| map.get(section).and_then(Value::as_map)?.get(name).cloned();
        assert_eq!(inner("properties", "subject"), Some("greeting".into()));
        assert_eq!(inner("applicationProperties", "n"), Some(3_i64.into()));
        assert_eq!(map.get("body"), Some(&"hello".into()));
    }

    #[test]
    fn bodies_are_cut_between_characters() {
        assert_eq!(body_of(Content::Value("größe".into()), 3), Some("gr".into()));
        assert_eq!(body_of(Content::Data(vec!["größe".into()]), 3), Some("gr".into()));
        assert_eq!(body_of(Content::Data(vec![b"ab".to_vec(), b"cd".to_vec()]), 3), Some("abc".into()));
        assert_eq!(body_of(Content::Data(vec![vec![0xff, 0xfe]]), 9), Some(Value::Binary(vec![0xff, 0xfe])));
        assert_eq!(body_of(Content::Value(Value::Binary(vec![1, 2, 3])), 2), Some(Value::Binary(vec![1, 2])));
        assert_eq!(body_of(Content::Value(Value::List(vec![1_i32.into()])), 1), Some(Value::Null));
    }

    #[test]
    fn the_beginning_of_a_large_message_is_shown() {
        let mut message = Message::new(Content::Data(vec![vec![b'x'; 100_000]]));
        message.properties.subject = Some("large".to_owned());
        let bytes = message.to_bytes();
        let cut = MessageView { size: bytes.len() as u64, ..view(bytes[..5000].to_vec()) };
        let shown = shown(vec![cut], 10);
        let map = first(&shown);
        assert_eq!(map.get("body"), Some(&"xxxxxxxxxx".into()));
        assert!(map.get("properties").is_some());
    }

    #[test]
    fn an_answer_does_not_grow_without_bounds() {
        let bytes = Message::new(Content::Data(vec![vec![b'x'; 1 << 20]])).to_bytes();
        let messages = vec![view(bytes); 20];
        let shown = shown(messages, u64::MAX);
        assert!(shown.as_list().is_some_and(|list| list.len() < 5));
    }

    #[test]
    fn rubbish_is_shown_without_sections() {
        let shown = shown(vec![view(vec![0xff; 30])], BODY);
        assert_eq!(first(&shown).len(), 5);
    }
}
