//! The sections of a message: kinds, order and types (section 3.2).

use crate::codec::format;
use crate::descriptor;

/// The sections in the order of section 3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectionKind {
    /// How it is to be transferred.
    Header,
    /// For the next hop only.
    DeliveryAnnotations,
    /// For intermediaries.
    MessageAnnotations,
    /// The standard properties.
    Properties,
    /// The application's own properties.
    ApplicationProperties,
    /// Body: bytes; may be repeated.
    Data,
    /// Body: a list; may be repeated.
    Sequence,
    /// Body: one value.
    Value,
    /// What can be computed only at the end.
    Footer,
}

impl SectionKind {
    #[inline]
    pub(super) fn from_code(code: u64) -> Option<Self> {
        Some(match code {
            descriptor::HEADER => Self::Header,
            descriptor::DELIVERY_ANNOTATIONS => Self::DeliveryAnnotations,
            descriptor::MESSAGE_ANNOTATIONS => Self::MessageAnnotations,
            descriptor::PROPERTIES => Self::Properties,
            descriptor::APPLICATION_PROPERTIES => Self::ApplicationProperties,
            descriptor::DATA => Self::Data,
            descriptor::AMQP_SEQUENCE => Self::Sequence,
            descriptor::AMQP_VALUE => Self::Value,
            descriptor::FOOTER => Self::Footer,
            _ => return None,
        })
    }

    /// The name in the specification.
    pub fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::DeliveryAnnotations => "delivery-annotations",
            Self::MessageAnnotations => "message-annotations",
            Self::Properties => "properties",
            Self::ApplicationProperties => "application-properties",
            Self::Data => "data",
            Self::Sequence => "amqp-sequence",
            Self::Value => "amqp-value",
            Self::Footer => "footer",
        }
    }

    /// Whether this is a part of the body.
    #[inline]
    pub fn is_body(self) -> bool {
        matches!(self, Self::Data | Self::Sequence | Self::Value)
    }

    /// Whether a section of this kind can follow one of kind `before`.
    #[inline]
    pub(super) fn can_follow(self, before: Self) -> bool {
        match (before, self) {
            (Self::Data, Self::Data) | (Self::Sequence, Self::Sequence) => true,
            (before, after) if before.is_body() && after.is_body() => false,
            (before, after) => before < after,
        }
    }

    /// The type of its value, and whether a format code begins one.
    #[inline]
    pub(super) fn accepts(self, code: u8) -> Result<(), &'static str> {
        let (expected, fits) = match self {
            Self::Header | Self::Properties | Self::Sequence => {
                ("list", matches!(code, format::LIST_0 | format::LIST8 | format::LIST32))
            }
            Self::DeliveryAnnotations | Self::MessageAnnotations | Self::ApplicationProperties | Self::Footer => {
                ("map", matches!(code, format::MAP8 | format::MAP32))
            }
            Self::Data => ("binary", matches!(code, format::BINARY8 | format::BINARY32)),
            Self::Value => ("value", true),
        };
        if fits { Ok(()) } else { Err(expected) }
    }
}

/// One whole section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Which one.
    pub kind: SectionKind,
    /// All its bytes, descriptor included.
    pub raw: &'a [u8],
    /// The encoded value without the descriptor.
    pub value: &'a [u8],
    /// Where `raw` begins in the message.
    pub start: usize,
}

impl Section<'_> {
    /// Where the section ends in the message.
    pub fn end(&self) -> usize {
        self.start + self.raw.len()
    }
}
