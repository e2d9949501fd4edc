//! A message as a selector sees it: its sections are found once, and what is in them is looked up when it is asked for.

use crate::fields::{Field, Names, Standard};
use crate::operand::Operand;
use crate::{Context, MAX_NAMES, Selector};
use amqp::codec::format;
use amqp::message::{Header, PropertiesView, Scan, Scanner, SectionKind};
use amqp::{DecodeError, Decoder};

/// A message.
pub(crate) struct View<'a> {
    delivery_count: Option<u32>,
    header: Section<'a, Header>,
    properties: Section<'a, PropertiesView<'a>>,
    application: Entries<'a>,
    annotations: Entries<'a>,
}

/// A section of fields; taken apart when one is asked for.
enum Section<'a, T> {
    Raw(&'a [u8]),
    Read(T),
}

/// A map, and where the values of the named keys are in it.
struct Entries<'a> {
    names: &'a Names,
    /// The encoded map; empty if there is none.
    raw: &'a [u8],
    /// 1 more than the place of the value in `raw`, by number; 0: there is none.
    at: [u32; MAX_NAMES],
    looked: bool,
}

impl<'a> View<'a> {
    /// Finds the sections.
    ///
    /// # Errors
    /// If the message is malformed up to the body.
    pub(crate) fn new(selector: &'a Selector, message: &'a [u8], context: &Context) -> Result<Self, DecodeError> {
        let mut view = Self {
            delivery_count: context.delivery_count,
            header: Section::Read(Header::default()),
            properties: Section::Read(PropertiesView::default()),
            application: Entries::new(&selector.application),
            annotations: Entries::new(&selector.annotations),
        };
        // Not said to be complete: the beginning of a large message is enough.
        let mut scanner = Scanner::new(message, false);
        while let Scan::Section(section) = scanner.next()? {
            match section.kind {
                SectionKind::Header => view.header = Section::Raw(section.value),
                SectionKind::MessageAnnotations => view.annotations.raw = section.value,
                SectionKind::Properties => view.properties = Section::Raw(section.value),
                SectionKind::ApplicationProperties => view.application.raw = section.value,
                SectionKind::DeliveryAnnotations => {}
                _ => break,
            }
        }
        Ok(view)
    }

    /// The value of a field; unknown if the message has none.
    pub(crate) fn value(&mut self, field: Field) -> Operand<'a> {
        match field {
            Field::Application(number) => self.application.value(number),
            Field::Annotation(number) => self.annotations.value(number),
            Field::Standard(field) => self.standard(field).unwrap_or(Operand::Unknown),
        }
    }

    fn standard(&mut self, field: Standard) -> Option<Operand<'a>> {
        Some(match field {
            Standard::Durable => Operand::Bool(self.header()?.durable),
            Standard::DeliveryMode => {
                Operand::Text(if self.header()?.durable { "PERSISTENT" } else { "NON_PERSISTENT" })
            }
            Standard::Priority => Operand::Int(self.header()?.priority.into()),
            Standard::Ttl => Operand::Int(self.header()?.ttl?.into()),
            Standard::FirstAcquirer => Operand::Bool(self.header()?.first_acquirer),
            Standard::DeliveryCount => Operand::Int(self.delivery_count()?.into()),
            Standard::DeliveryNumber => Operand::Int(i128::from(self.delivery_count()?) + 1),
            Standard::Redelivered => Operand::Bool(self.delivery_count()? > 0),
            _ => return self.property(field),
        })
    }

    fn property(&mut self, field: Standard) -> Option<Operand<'a>> {
        let properties = self.properties()?;
        let text = match field {
            Standard::MessageId => return properties.message_id.map(read),
            Standard::CorrelationId => return properties.correlation_id.map(read),
            Standard::AbsoluteExpiryTime => {
                return properties.absolute_expiry_time.map(|time| Operand::Int(time.into()));
            }
            Standard::CreationTime => return properties.creation_time.map(|time| Operand::Int(time.into())),
            Standard::GroupSequence => return properties.group_sequence.map(|number| Operand::Int(number.into())),
            Standard::UserId => properties.user_id.and_then(|user| std::str::from_utf8(user).ok()),
            Standard::To => properties.to,
            Standard::Subject => properties.subject,
            Standard::ReplyTo => properties.reply_to,
            Standard::ContentType => properties.content_type,
            Standard::ContentEncoding => properties.content_encoding,
            Standard::GroupId => properties.group_id,
            Standard::ReplyToGroupId => properties.reply_to_group_id,
            _ => None,
        };
        text.map(Operand::Text)
    }

    fn delivery_count(&mut self) -> Option<u32> {
        match self.delivery_count {
            Some(count) => Some(count),
            None => Some(self.header()?.delivery_count),
        }
    }

    /// `None`: malformed.
    fn header(&mut self) -> Option<Header> {
        self.header.read(Header::decode)
    }

    /// `None`: malformed.
    fn properties(&mut self) -> Option<PropertiesView<'a>> {
        self.properties.read(PropertiesView::decode)
    }
}

fn read(raw: &[u8]) -> Operand<'_> {
    Operand::read(&mut Decoder::new(raw))
}

impl<'a, T: Copy> Section<'a, T> {
    fn read(&mut self, decode: impl FnOnce(&'a [u8]) -> Result<T, DecodeError>) -> Option<T> {
        match *self {
            Self::Read(section) => Some(section),
            Self::Raw(raw) => {
                let section = decode(raw).ok()?;
                *self = Self::Read(section);
                Some(section)
            }
        }
    }
}

impl<'a> Entries<'a> {
    fn new(names: &'a Names) -> Self {
        Self { names, raw: &[], at: [0; MAX_NAMES], looked: false }
    }

    fn value(&mut self, number: u8) -> Operand<'a> {
        if !self.looked {
            self.looked = true;
            // What stands before a malformed entry is good.
            let _ = self.look();
        }
        let at = self.at.get(usize::from(number)).and_then(|at| at.checked_sub(1));
        at.and_then(|at| self.raw.get(at as usize..)).map_or(Operand::Unknown, read)
    }

    /// Goes through the map once. Of equal keys the first counts.
    fn look(&mut self) -> Result<(), DecodeError> {
        if self.raw.is_empty() {
            return Ok(());
        }
        let (pairs, mut entries) = Decoder::new(self.raw).read_map()?;
        let mut missing = self.names.len();
        for _ in 0..pairs {
            let number = match entries.peek_code() {
                Some(format::STRING8 | format::STRING32) => self.names.get(entries.read_str()?),
                Some(format::SYMBOL8 | format::SYMBOL32) => self.names.get(entries.read_symbol()?),
                _ => {
                    entries.skip_value()?;
                    None
                }
            };
            if let Some(at) = number.and_then(|number| self.at.get_mut(usize::from(number)))
                && *at == 0
            {
                // A section has fewer than 2^32 bytes.
                *at = entries.position() as u32 + 1;
                missing -= 1;
                if missing == 0 {
                    break;
                }
            }
            entries.skip_value()?;
        }
        Ok(())
    }
}
