//! Messages as text and as JSON.

use std::io::{self, Write};

use amqp::message::{Body, Message, Properties};
use amqp::{Map, Value};
use clap::ValueEnum;
use logging::escaped;

use management::json::{dump, to_json};
use management::repr::plain;

/// How messages are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The body, and a line end
    Body,
    /// All that is in the message, a line for each thing
    Text,
    /// All that is in the message, as JSON, a line for each message
    Json,
    /// The bytes of the body and nothing else
    Raw,
}

/// A message to be printed.
pub(super) struct Shown<'m> {
    pub(super) message: &'m Message,
    pub(super) format: Format,
}

impl Shown<'_> {
    /// Writes it.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Body => {
                out.write_all(&body_bytes(&self.message.body))?;
                writeln!(out)
            }
            Format::Raw => out.write_all(&body_bytes(&self.message.body)),
            Format::Json => writeln!(out, "{}", dump(&to_json(&Value::Map(sections(self.message))), None)),
            Format::Text => self.write_text(out),
        }
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for (section, content) in &sections(self.message).0 {
            match content {
                Value::Map(map) if section.as_text() != Some("body") => {
                    for (name, value) in map.iter() {
                        line(out, &format!("{}.{}: {}", plain(section), plain(name), plain(value)))?;
                    }
                }
                content => line(out, &format!("{}: {}", plain(section), plain(content)))?,
            }
        }
        writeln!(out)
    }
}

/// A line, whatever its values are.
fn line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", escaped(text))
}

/// The body as bytes: bytes and text as they are, other values as JSON.
fn body_bytes(body: &Body) -> Vec<u8> {
    match body {
        Body::Empty => Vec::new(),
        Body::Data(parts) => parts.concat(),
        Body::Value(Value::Binary(bytes)) => bytes.clone(),
        Body::Value(value) => value.as_text().map_or_else(|| dump(&to_json(value), None), str::to_owned).into_bytes(),
        Body::Sequence(parts) => dump(&to_json(&Value::List(parts.concat())), None).into_bytes(),
    }
}

/// The sections that say something, by name.
fn sections(message: &Message) -> Map {
    let mut all = Map::new();
    let mut add = |name: &str, content: Map| {
        if !content.is_empty() {
            all.insert(name, content);
        }
    };
    add("header", header(message));
    add("delivery_annotations", message.delivery_annotations.clone());
    add("message_annotations", message.message_annotations.clone());
    add("properties", properties(&message.properties));
    add("application_properties", message.application_properties.clone());
    match &message.body {
        Body::Empty => {}
        Body::Data(parts) => {
            all.insert("body", Value::Binary(parts.concat()));
        }
        Body::Value(value) => {
            all.insert("body", value.clone());
        }
        Body::Sequence(parts) => {
            all.insert("body", Value::List(parts.concat()));
        }
    }
    if !message.footer.is_empty() {
        all.insert("footer", message.footer.clone());
    }
    all
}

fn header(message: &Message) -> Map {
    let header = &message.header;
    let default = amqp::message::Header::default();
    let mut map = Map::new();
    let mut add = |differs: bool, name: &str, value: Value| {
        if differs {
            map.insert(name, value);
        }
    };
    add(header.durable, "durable", true.into());
    add(header.priority != default.priority, "priority", header.priority.into());
    add(header.ttl.is_some(), "ttl", header.ttl.into());
    add(header.first_acquirer, "first_acquirer", true.into());
    add(header.delivery_count > 0, "delivery_count", header.delivery_count.into());
    map
}

fn properties(properties: &Properties) -> Map {
    let text = |text: &Option<String>| Value::from(text.clone());
    let symbol = |symbol: &Option<amqp::Symbol>| Value::from(symbol.clone().map(|symbol| symbol.0));
    let id = |id: &Option<Value>| id.clone().unwrap_or(Value::Null);
    let all = [
        ("message_id", id(&properties.message_id)),
        ("user_id", Value::from(properties.user_id.clone())),
        ("to", text(&properties.to)),
        ("subject", text(&properties.subject)),
        ("reply_to", text(&properties.reply_to)),
        ("correlation_id", id(&properties.correlation_id)),
        ("content_type", symbol(&properties.content_type)),
        ("content_encoding", symbol(&properties.content_encoding)),
        ("absolute_expiry_time", properties.absolute_expiry_time.map_or(Value::Null, Value::Timestamp)),
        ("creation_time", properties.creation_time.map_or(Value::Null, Value::Timestamp)),
        ("group_id", text(&properties.group_id)),
        ("group_sequence", properties.group_sequence.into()),
        ("reply_to_group_id", text(&properties.reply_to_group_id)),
    ];
    all.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(message: &Message, format: Format) -> String {
        let mut out = Vec::new();
        Shown { message, format }.write(&mut out).expect("memory takes everything");
        String::from_utf8(out).expect("text")
    }

    fn example() -> Message {
        let mut message = Message::new(Body::Value("hello".into()));
        message.header.priority = 7;
        message.properties.subject = Some("greeting".to_owned());
        message.application_properties.insert("n", 3_i64);
        message
    }

    #[test]
    fn the_body_alone_is_the_default_and_raw_adds_nothing() {
        assert_eq!(printed(&example(), Format::Body), "hello\n");
        assert_eq!(printed(&example(), Format::Raw), "hello");
        assert_eq!(printed(&Message::new(Body::Data(vec![b"a".to_vec(), b"b".to_vec()])), Format::Raw), "ab");
        assert_eq!(printed(&Message::new(Body::Value(Value::List(vec![1_u8.into()]))), Format::Body), "[1]\n");
    }

    #[test]
    fn json_has_every_section_that_says_something() {
        assert_eq!(
            printed(&example(), Format::Json),
            "{\"header\": {\"priority\": 7}, \"properties\": {\"subject\": \"greeting\"}, \
             \"application_properties\": {\"n\": 3}, \"body\": \"hello\"}\n"
        );
    }

    #[test]
    fn text_commands_no_terminal_and_keeps_to_its_lines() {
        let text = printed(&Message::new(Body::Value("a\u{1b}[2J\nbody: b".into())), Format::Text);
        assert_eq!(text, "body: a\\u{1b}[2J\\nbody: b\n\n");
    }

    #[test]
    fn text_has_a_line_for_each_thing() {
        assert_eq!(
            printed(&example(), Format::Text),
            "header.priority: 7\nproperties.subject: greeting\napplication_properties.n: 3\nbody: hello\n\n"
        );
    }
}
