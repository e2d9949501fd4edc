//! Which of a message's many values the queues ask for, and values as keys that compare.

use super::MAX_NAME;
use crate::ids::Millis;
use amqp::Value;
use std::sync::Arc;

/// What the queues that a message goes to want to know beyond the usual.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Names of properties whose values last-value queues go by.
    pub keys: Vec<Arc<str>>,
    /// One of them looks for duplicates.
    pub duplicates: bool,
    /// By how many milliseconds the queues' time is ahead of the clock that times in messages are by.
    pub ahead: Millis,
}

impl Wanted {
    /// Nothing but the usual.
    pub fn nothing() -> Self {
        Self::default()
    }
}

/// An encoded value as a key: the same value has the same key, whichever of its encodings was used; texts and symbols are
/// the same; so are all integers. `None` for null, and for what is too long to be kept.
pub(super) fn key(raw: &[u8]) -> Result<Option<Arc<[u8]>>, amqp::DecodeError> {
    let mut key = Vec::new();
    match Value::decode(raw)? {
        Value::Null => return Ok(None),
        Value::String(text) => tagged(&mut key, b's', text.as_bytes()),
        Value::Symbol(text) => tagged(&mut key, b's', text.as_str().as_bytes()),
        Value::Binary(bytes) => tagged(&mut key, b'b', &bytes),
        Value::Uuid(uuid) => tagged(&mut key, b'u', &uuid),
        Value::Ulong(number) => tagged(&mut key, b'n', &i128::from(number).to_be_bytes()),
        Value::Uint(number) => tagged(&mut key, b'n', &i128::from(number).to_be_bytes()),
        Value::Ushort(number) => tagged(&mut key, b'n', &i128::from(number).to_be_bytes()),
        Value::Ubyte(number) => tagged(&mut key, b'n', &i128::from(number).to_be_bytes()),
        Value::Long(number) => tagged(&mut key, b'n', &i128::from(number).to_be_bytes()),
        Value::Int(number) => tagged(&mut key, b'n', &i128::from(number).to_be_bytes()),
        Value::Short(number) => tagged(&mut key, b'n', &i128::from(number).to_be_bytes()),
        Value::Byte(number) => tagged(&mut key, b'n', &i128::from(number).to_be_bytes()),
        other => {
            let mut bytes = Vec::new();
            other.encode(&mut bytes);
            tagged(&mut key, b'v', &bytes);
        }
    }
    Ok((key.len() <= MAX_NAME).then(|| key.into()))
}

fn tagged(key: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    key.push(tag);
    key.extend_from_slice(bytes);
}
