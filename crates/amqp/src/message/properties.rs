//! The properties section (section 3.2.4), borrowed and owned.

use crate::codec::{Decoder, ListEncoder, encode};
use crate::{DecodeError, Symbol, Value, descriptor};

/// How many fields the section can have.
const PROPERTY_COUNT: usize = 13;

/// The properties of a message, borrowed from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PropertiesView<'a> {
    /// The encoded value: a ulong, UUID, binary or string.
    pub message_id: Option<&'a [u8]>,
    /// The user who sent it.
    pub user_id: Option<&'a [u8]>,
    /// The address of the node it is destined for. Only strings are addresses; another type is a decode error.
    pub to: Option<&'a str>,
    /// What it is about.
    pub subject: Option<&'a str>,
    /// The address for replies.
    pub reply_to: Option<&'a str>,
    /// The encoded value: a ulong, UUID, binary or string.
    pub correlation_id: Option<&'a [u8]>,
    /// A MIME type (RFC 2046) for a body of data sections.
    pub content_type: Option<&'a str>,
    /// How the content has been changed (RFC 2616, section 3.5).
    pub content_encoding: Option<&'a str>,
    /// Milliseconds since the Unix epoch.
    pub absolute_expiry_time: Option<i64>,
    /// Milliseconds since the Unix epoch.
    pub creation_time: Option<i64>,
    /// The group it belongs to.
    pub group_id: Option<&'a str>,
    /// Its position in the group.
    pub group_sequence: Option<u32>,
    /// The group for replies.
    pub reply_to_group_id: Option<&'a str>,
}

impl<'a> PropertiesView<'a> {
    /// Reads the value of a properties section.
    ///
    /// # Errors
    /// If it is not a well-formed one.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut decoder = Decoder::new(value);
        let mut fields = decoder.read_fields("properties", PROPERTY_COUNT)?;
        let view = Self {
            message_id: fields.optional(Decoder::read_raw)?,
            user_id: fields.optional(Decoder::read_binary)?,
            to: fields.optional(Decoder::read_str)?,
            subject: fields.optional(Decoder::read_str)?,
            reply_to: fields.optional(Decoder::read_str)?,
            correlation_id: fields.optional(Decoder::read_raw)?,
            content_type: fields.optional(Decoder::read_symbol)?,
            content_encoding: fields.optional(Decoder::read_symbol)?,
            absolute_expiry_time: fields.optional(Decoder::read_timestamp)?,
            creation_time: fields.optional(Decoder::read_timestamp)?,
            group_id: fields.optional(Decoder::read_str)?,
            group_sequence: fields.optional(Decoder::read_uint)?,
            reply_to_group_id: fields.optional(Decoder::read_str)?,
        };
        fields.finish()?;
        Ok(view)
    }
}

/// The properties that decide where a message may go, borrowed from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RoutingProperties<'a> {
    /// The user who sent it.
    pub user_id: Option<&'a [u8]>,
    /// The address of the node it is destined for.
    pub to: Option<&'a str>,
}

impl<'a> RoutingProperties<'a> {
    /// Reads the first fields of a properties section's value; those behind `to` are not looked at.
    ///
    /// # Errors
    /// If it is not a list, or one of these fields is malformed.
    #[inline]
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut fields = Decoder::new(value).read_fields("properties", PROPERTY_COUNT)?;
        fields.optional(Decoder::skip_value)?;
        Ok(Self { user_id: fields.optional(Decoder::read_binary)?, to: fields.optional(Decoder::read_str)? })
    }

    /// Reads the user-id alone; fields behind it are not looked at, and `to` is left out.
    ///
    /// # Errors
    /// If it is not a list, or the user-id is malformed.
    #[inline]
    pub fn decode_user_id(value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut fields = Decoder::new(value).read_fields("properties", PROPERTY_COUNT)?;
        fields.optional(Decoder::skip_value)?;
        Ok(Self { user_id: fields.optional(Decoder::read_binary)?, to: None })
    }
}

/// The properties of a message, owned. The fields are those of [`PropertiesView`].
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Properties {
    /// A ulong, UUID, binary or string.
    pub message_id: Option<Value>,
    /// The user who sent it.
    pub user_id: Option<Vec<u8>>,
    /// The address of the node it is destined for.
    pub to: Option<String>,
    /// What it is about.
    pub subject: Option<String>,
    /// The address for replies.
    pub reply_to: Option<String>,
    /// A ulong, UUID, binary or string.
    pub correlation_id: Option<Value>,
    /// A MIME type (RFC 2046) for a body of data sections.
    pub content_type: Option<Symbol>,
    /// How the content has been changed (RFC 2616, section 3.5).
    pub content_encoding: Option<Symbol>,
    /// Milliseconds since the Unix epoch.
    pub absolute_expiry_time: Option<i64>,
    /// Milliseconds since the Unix epoch.
    pub creation_time: Option<i64>,
    /// The group it belongs to.
    pub group_id: Option<String>,
    /// Its position in the group.
    pub group_sequence: Option<u32>,
    /// The group for replies.
    pub reply_to_group_id: Option<String>,
}

impl Properties {
    /// Reads the value of a properties section.
    ///
    /// # Errors
    /// If it is not a well-formed one.
    pub fn decode(value: &[u8]) -> Result<Self, DecodeError> {
        let view = PropertiesView::decode(value)?;
        Ok(Self {
            message_id: view.message_id.map(Value::decode).transpose()?,
            user_id: view.user_id.map(<[u8]>::to_vec),
            to: view.to.map(str::to_owned),
            subject: view.subject.map(str::to_owned),
            reply_to: view.reply_to.map(str::to_owned),
            correlation_id: view.correlation_id.map(Value::decode).transpose()?,
            content_type: view.content_type.map(Symbol::from),
            content_encoding: view.content_encoding.map(Symbol::from),
            absolute_expiry_time: view.absolute_expiry_time,
            creation_time: view.creation_time,
            group_id: view.group_id.map(str::to_owned),
            group_sequence: view.group_sequence,
            reply_to_group_id: view.reply_to_group_id.map(str::to_owned),
        })
    }

    /// Appends the section, descriptor included.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::PROPERTIES);
        list.optional(self.message_id.as_ref(), |out, id| id.encode(out));
        list.optional(self.user_id.as_deref(), encode::binary);
        list.optional(self.to.as_deref(), encode::string);
        list.optional(self.subject.as_deref(), encode::string);
        list.optional(self.reply_to.as_deref(), encode::string);
        list.optional(self.correlation_id.as_ref(), |out, id| id.encode(out));
        list.optional(self.content_type.as_ref(), |out, text| encode::symbol(out, text.as_str()));
        list.optional(self.content_encoding.as_ref(), |out, text| encode::symbol(out, text.as_str()));
        list.optional(self.absolute_expiry_time, encode::timestamp);
        list.optional(self.creation_time, encode::timestamp);
        list.optional(self.group_id.as_deref(), encode::string);
        list.optional(self.group_sequence, encode::uint);
        list.optional(self.reply_to_group_id.as_deref(), encode::string);
        list.finish();
    }
}
