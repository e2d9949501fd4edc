//! Messages, whole and broken.

use amqp::Value;
use amqp::codec::{encode, format};
use amqp::message::{Body, Message};

/// A message with a text as its body.
pub(crate) fn message(text: &str) -> Vec<u8> {
    Message::new(Body::Value(Value::from(text))).to_bytes()
}

/// A message whose body is a data section of this size.
pub(crate) fn data(size: u32) -> Vec<u8> {
    let mut bytes = head_of_data(size);
    bytes.resize(bytes.len() + size as usize, b'x');
    bytes
}

/// What such a message begins with, before its first byte of data.
pub(crate) fn head_of_data(size: u32) -> Vec<u8> {
    let mut head = Vec::new();
    encode::descriptor(&mut head, amqp::descriptor::DATA);
    head.push(format::BINARY32);
    head.extend_from_slice(&size.to_be_bytes());
    head
}

/// The text in the body of a message.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    match Message::decode(bytes).expect("it is a message").body {
        Body::Value(value) => value.as_str().expect("it is a text").to_owned(),
        other => panic!("expected a text, not {other:?}"),
    }
}
