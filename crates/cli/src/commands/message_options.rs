//! The options that say what a message is to look like.

use amqp::message::{Body, Message};
use amqp::{Symbol, Value};
use clap::{Args, ValueEnum};

use management::json::from_json;

/// What a body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum BodyType {
    /// Text if it is text, else bytes
    Auto,
    /// A string value
    Text,
    /// A data section: bytes
    Data,
    /// Whatever AMQP value the JSON in it stands for
    Json,
}

/// What messages are to look like.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Message")]
pub(super) struct MessageOptions {
    /// What bodies are made of
    #[arg(long = "type", value_name = "TYPE", value_enum, default_value_t = BodyType::Auto)]
    body_type: BodyType,

    /// An application property; NAME:=JSON for one that is not text, such as --property count:=3
    #[arg(short, long = "property", value_name = "NAME=VALUE", value_parser = pair)]
    properties: Vec<(String, Value)>,

    /// A message annotation, likewise
    #[arg(long = "annotation", value_name = "NAME=VALUE", value_parser = pair)]
    annotations: Vec<(String, Value)>,

    /// What it is about
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// Its id
    #[arg(long, value_name = "TEXT")]
    message_id: Option<String>,

    /// The id of what it belongs to
    #[arg(long, value_name = "TEXT")]
    correlation_id: Option<String>,

    /// Where replies are to be sent
    #[arg(long, value_name = "ADDRESS")]
    reply_to: Option<String>,

    /// MIME type of the body
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,

    /// The group it belongs to
    #[arg(long, value_name = "TEXT")]
    group_id: Option<String>,

    /// It must survive the loss of what stores it
    #[arg(long)]
    durable: bool,

    /// From 0 to 9
    #[arg(long, value_name = "N", default_value_t = 4)]
    priority: u8,

    /// Milliseconds to live
    #[arg(long, value_name = "MS")]
    ttl: Option<u32>,
}

impl MessageOptions {
    /// A message with this body.
    ///
    /// # Errors
    /// If the body is not what the options say it is.
    pub(super) fn message(&self, body: Vec<u8>) -> Result<Message, String> {
        let mut message = Message::new(self.body(body)?);
        message.header.durable = self.durable;
        message.header.priority = self.priority;
        message.header.ttl = self.ttl;
        let properties = &mut message.properties;
        properties.subject = self.subject.clone();
        properties.message_id = self.message_id.clone().map(Value::String);
        properties.correlation_id = self.correlation_id.clone().map(Value::String);
        properties.reply_to = self.reply_to.clone();
        properties.content_type = self.content_type.clone().map(Symbol);
        properties.group_id = self.group_id.clone();
        message.application_properties = self.properties.iter().cloned().collect();
        for (name, value) in &self.annotations {
            message.message_annotations.insert_symbol(name.as_str(), value.clone());
        }
        Ok(message)
    }

    fn body(&self, bytes: Vec<u8>) -> Result<Body, String> {
        let text = String::from_utf8(bytes);
        Ok(match (self.body_type, text) {
            (BodyType::Data, text) => {
                Body::Data(vec![text.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes)])
            }
            (BodyType::Auto | BodyType::Text, Ok(text)) => Body::Value(Value::String(text)),
            (BodyType::Auto, Err(error)) => Body::Data(vec![error.into_bytes()]),
            (BodyType::Json, Ok(text)) => {
                let json = serde_json::from_str(&text).map_err(|error| format!("the body is not JSON: {error}"))?;
                Body::Value(from_json(&json))
            }
            (BodyType::Text | BodyType::Json, Err(_)) => {
                return Err("the body is not text (UTF-8); use --type data for bytes".to_owned());
            }
        })
    }
}

/// `NAME=TEXT` or `NAME:=JSON`.
fn pair(text: &str) -> Result<(String, Value), String> {
    let (name, value) =
        text.split_once('=').ok_or("expected NAME=VALUE, or NAME:=JSON for a value that is not text")?;
    match name.strip_suffix(':') {
        Some(name) => match serde_json::from_str(value) {
            Ok(json) => Ok((name.to_owned(), from_json(&json))),
            Err(error) => Err(format!("'{value}' is not JSON: {error}")),
        },
        None => Ok((name.to_owned(), Value::from(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: MessageOptions,
    }

    fn message(line: &str, body: &[u8]) -> Result<Message, String> {
        let words = ["send"].into_iter().chain(line.split_whitespace());
        Line::try_parse_from(words).expect("valid").options.message(body.to_vec())
    }

    #[test]
    fn a_body_is_text_unless_it_is_none() {
        assert_eq!(message("", b"hi").expect("valid").body, Body::Value("hi".into()));
        assert_eq!(message("", &[0xff]).expect("valid").body, Body::Data(vec![vec![0xff]]));
        assert_eq!(message("--type data", b"hi").expect("valid").body, Body::Data(vec![b"hi".to_vec()]));
        assert!(message("--type text", &[0xff]).is_err());
    }

    #[test]
    fn json_becomes_a_value() {
        assert_eq!(message("--type json", b"[1]").expect("valid").body, Body::Value(Value::List(vec![Value::Int(1)])));
        assert!(message("--type json", b"[").is_err());
    }

    #[test]
    fn properties_are_text_or_json() {
        let message = message("-p a=b=c --property n:=3 --annotation x-opt=y", b"").expect("valid");
        assert_eq!(message.application_properties.get("a"), Some(&"b=c".into()));
        assert_eq!(message.application_properties.get("n"), Some(&Value::Int(3)));
        assert_eq!(message.message_annotations.get("x-opt"), Some(&"y".into()));
    }

    #[test]
    fn a_property_without_a_value_is_refused() {
        assert!(pair("a").is_err());
        assert!(pair("a:={").is_err());
    }
}
