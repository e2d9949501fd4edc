//! Walking through the sections of a message without copying, as far as its bytes are there.

use crate::codec::{Decoder, format};
use crate::{DecodeError, DecodeErrorKind, descriptor};

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
    fn from_code(code: u64) -> Option<Self> {
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
    pub fn is_body(self) -> bool {
        matches!(self, Self::Data | Self::Sequence | Self::Value)
    }

    /// Whether a section of this kind can follow one of kind `before`.
    fn can_follow(self, before: Self) -> bool {
        match (before, self) {
            (Self::Data, Self::Data) | (Self::Sequence, Self::Sequence) => true,
            (before, after) if before.is_body() && after.is_body() => false,
            (before, after) => before < after,
        }
    }

    /// The type of its value, and whether a format code begins one.
    fn accepts(self, code: u8) -> Result<(), &'static str> {
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

/// What a scanner came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan<'a> {
    /// The next section.
    Section(Section<'a>),
    /// The bytes end inside a section, or between two, and more are to come. Call again, on a new scanner, with more.
    Incomplete {
        /// The section that has begun, if its descriptor is there. All sections that go before it have then been seen.
        begun: Option<SectionKind>,
    },
    /// The message has ended.
    End,
}

/// Walks through the sections of a message in wire order. Of each it checks the order, the type, and that size and
/// count agree with each other and with the bytes at hand; it does not look at the members inside.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    decoder: Decoder<'a>,
    complete: bool,
    last: Option<SectionKind>,
}

impl<'a> Scanner<'a> {
    /// Starts at the first byte of a message. `complete`: all its bytes are there.
    #[inline]
    pub fn new(bytes: &'a [u8], complete: bool) -> Self {
        Self { decoder: Decoder::new(bytes), complete, last: None }
    }

    /// Bytes of the sections seen so far: where the next one begins.
    #[inline]
    pub fn position(&self) -> usize {
        self.decoder.position()
    }

    /// Goes on to the next section. After an error or anything but a section, the same is returned again.
    ///
    /// # Errors
    /// If what follows is not a section that can stand there, or is cut short in a complete message.
    #[expect(clippy::should_implement_trait, reason = "an iterator's end is not what Incomplete and an error are")]
    #[inline]
    pub fn next(&mut self) -> Result<Scan<'a>, DecodeError> {
        if self.decoder.is_empty() {
            return Ok(if self.complete { Scan::End } else { Scan::Incomplete { begun: None } });
        }
        let mut ahead = self.decoder.clone();
        let mut begun = None;
        match self.read_section(&mut ahead, &mut begun) {
            Ok(section) => {
                self.decoder = ahead;
                self.last = Some(section.kind);
                Ok(Scan::Section(section))
            }
            Err(error) => match error.kind() {
                DecodeErrorKind::Truncated { .. } if !self.complete => Ok(Scan::Incomplete { begun }),
                _ => Err(error),
            },
        }
    }

    #[inline]
    fn read_section(
        &self,
        ahead: &mut Decoder<'a>,
        begun: &mut Option<SectionKind>,
    ) -> Result<Section<'a>, DecodeError> {
        let start = ahead.position();
        let from_start = ahead.rest();
        let found = ahead.read_descriptor()?;
        let Some(kind) = found.code().and_then(SectionKind::from_code) else {
            return Err(DecodeError::unknown_descriptor(found));
        };
        if self.last.is_some_and(|last| !kind.can_follow(last)) {
            return Err(DecodeErrorKind::SectionOrder { section: kind.name(), at: start }.into());
        }
        *begun = Some(kind);
        if let Some(code) = ahead.peek_code()
            && let Err(expected) = kind.accepts(code)
        {
            return Err(DecodeError::wrong_type(expected, code, ahead.position()));
        }
        let value = ahead.read_raw()?;
        let raw = from_start.get(..ahead.position() - start).unwrap_or_default();
        Ok(Section { kind, raw, value, start })
    }
}
