//! A message as an owned value, for those who make or consume messages.

use super::{Header, Properties, Scan, Scanner, SectionKind};
use crate::codec::{Decoder, encode};
use crate::{DecodeError, Map, Value, descriptor};

/// A whole message. Absent sections and empty ones are the same here.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Message {
    /// How it is to be transferred.
    pub header: Header,
    /// For the next hop only.
    pub delivery_annotations: Map,
    /// For intermediaries.
    pub message_annotations: Map,
    /// The standard properties.
    pub properties: Properties,
    /// The application's own properties.
    pub application_properties: Map,
    /// The content.
    pub body: Body,
    /// What could be computed only at the end.
    pub footer: Map,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Body {
    /// No body section. The specification asks for one, but not all peers send it.
    #[default]
    Empty,
    /// Data sections: bytes.
    Data(Vec<Vec<u8>>),
    /// Sequence sections: lists.
    Sequence(Vec<Vec<Value>>),
    /// A value.
    Value(Value),
}

impl Message {
    /// A message with this body.
    pub fn new(body: Body) -> Self {
        Self { body, ..Self::default() }
    }

    /// Reads a whole message.
    ///
    /// # Errors
    /// If it is not a well-formed one.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut message = Self::default();
        let mut scanner = Scanner::new(bytes, true);
        while let Scan::Section(section) = scanner.next()? {
            message.set(section.kind, section.value)?;
        }
        Ok(message)
    }

    fn set(&mut self, kind: SectionKind, value: &[u8]) -> Result<(), DecodeError> {
        let mut decoder = Decoder::new(value);
        match kind {
            SectionKind::Header => self.header = Header::decode(value)?,
            SectionKind::DeliveryAnnotations => self.delivery_annotations = decoder.read_owned_map()?,
            SectionKind::MessageAnnotations => self.message_annotations = decoder.read_owned_map()?,
            SectionKind::Properties => self.properties = Properties::decode(value)?,
            SectionKind::ApplicationProperties => self.application_properties = decoder.read_owned_map()?,
            SectionKind::Data => {
                let data = decoder.read_binary()?.to_vec();
                match &mut self.body {
                    Body::Data(parts) => parts.push(data),
                    body => *body = Body::Data(vec![data]),
                }
            }
            SectionKind::Sequence => {
                let Value::List(list) = decoder.read_value()? else { return Ok(()) };
                match &mut self.body {
                    Body::Sequence(parts) => parts.push(list),
                    body => *body = Body::Sequence(vec![list]),
                }
            }
            SectionKind::Value => self.body = Body::Value(decoder.read_value()?),
            SectionKind::Footer => self.footer = decoder.read_owned_map()?,
        }
        Ok(())
    }

    /// Appends the message. Sections that say nothing are left out.
    pub fn encode(&self, out: &mut Vec<u8>) {
        if self.header != Header::default() {
            self.header.encode(out);
        }
        encode_map(out, descriptor::DELIVERY_ANNOTATIONS, &self.delivery_annotations);
        encode_map(out, descriptor::MESSAGE_ANNOTATIONS, &self.message_annotations);
        if self.properties != Properties::default() {
            self.properties.encode(out);
        }
        encode_map(out, descriptor::APPLICATION_PROPERTIES, &self.application_properties);
        self.body.encode(out);
        encode_map(out, descriptor::FOOTER, &self.footer);
    }

    /// The encoded message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }
}

impl Body {
    /// Appends the body's sections.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Empty => {}
            Self::Data(parts) => {
                for part in parts {
                    encode::descriptor(out, descriptor::DATA);
                    encode::binary(out, part);
                }
            }
            Self::Sequence(parts) => {
                for part in parts {
                    encode::descriptor(out, descriptor::AMQP_SEQUENCE);
                    encode::list(out, part);
                }
            }
            Self::Value(value) => {
                encode::descriptor(out, descriptor::AMQP_VALUE);
                value.encode(out);
            }
        }
    }
}

fn encode_map(out: &mut Vec<u8>, code: u64, map: &Map) {
    if !map.is_empty() {
        encode::descriptor(out, code);
        map.encode(out);
    }
}
