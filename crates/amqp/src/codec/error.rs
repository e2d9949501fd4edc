//! What can be wrong with encoded bytes.

use std::fmt;

/// Why bytes are not what they should be. It is one pointer wide, so that reading what is right costs little.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(Box<DecodeErrorKind>);

impl DecodeError {
    /// What is wrong.
    pub fn kind(&self) -> &DecodeErrorKind {
        &self.0
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn truncated(at: usize) -> Self {
        DecodeErrorKind::Truncated { at }.into()
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn wrong_type(expected: &'static str, code: u8, at: usize) -> Self {
        DecodeErrorKind::WrongType { expected, code, at }.into()
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn bad_count(what: &'static str, count: usize, size: usize, at: usize) -> Self {
        DecodeErrorKind::BadCount { what, count, size, at }.into()
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn too_deep(at: usize) -> Self {
        DecodeErrorKind::TooDeep { at }.into()
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn bad_text(encoding: &'static str, at: usize) -> Self {
        DecodeErrorKind::BadText { encoding, at }.into()
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn unknown_descriptor(descriptor: crate::descriptor::Descriptor<'_>) -> Self {
        DecodeErrorKind::UnknownDescriptor { descriptor: descriptor.to_string() }.into()
    }
}

impl From<DecodeErrorKind> for DecodeError {
    #[cold]
    #[inline(never)]
    fn from(kind: DecodeErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is wrong with the bytes. Positions are byte offsets from the start of what was decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeErrorKind {
    /// A value's bytes end before its encoding says so.
    #[error("the value ends beyond the bytes at hand (at byte {at})")]
    Truncated {
        /// Where the missing bytes should begin.
        at: usize,
    },
    /// A format code that part 1, section 1.6 does not define.
    #[error("unknown format code 0x{code:02x} (at byte {at})")]
    UnknownFormat {
        /// The code found.
        code: u8,
        /// Where it stands.
        at: usize,
    },
    /// A value of another type than the field has.
    #[error("expected {expected}, found format code 0x{code:02x} (at byte {at})")]
    WrongType {
        /// The type that the field has.
        expected: &'static str,
        /// The format code found.
        code: u8,
        /// Where it stands.
        at: usize,
    },
    /// Nesting beyond [`crate::MAX_DEPTH`].
    #[error("nested deeper than {} levels (at byte {at})", crate::MAX_DEPTH)]
    TooDeep {
        /// Where the level too many begins.
        at: usize,
    },
    /// A string that is not UTF-8, a symbol that is not ASCII, or a char that is not a Unicode scalar value.
    #[error("text is not valid {encoding} (at byte {at})")]
    BadText {
        /// The encoding it should have.
        encoding: &'static str,
        /// Where the text begins.
        at: usize,
    },
    /// A compound value whose count does not agree with its size.
    #[error("a {what} has {count} members in {size} bytes (at byte {at})")]
    BadCount {
        /// `list`, `map` or `array`.
        what: &'static str,
        /// The number of members it claims.
        count: usize,
        /// The bytes that its members have.
        size: usize,
        /// Where its members begin.
        at: usize,
    },
    /// A byte that is neither of the two that a boolean can be.
    #[error("0x{byte:02x} is not a boolean (at byte {at})")]
    BadBoolean {
        /// The byte found.
        byte: u8,
        /// Where it stands.
        at: usize,
    },
    /// Bytes follow where exactly one value should stand.
    #[error("{count} bytes follow the value (at byte {at})")]
    TrailingBytes {
        /// How many.
        count: usize,
        /// Where they begin.
        at: usize,
    },
    /// A field that the specification calls mandatory is absent or null.
    #[error("mandatory field {field} of {composite} is missing")]
    MissingField {
        /// The described list.
        composite: &'static str,
        /// Its field.
        field: &'static str,
    },
    /// A field with a value of the right type that the specification does not define.
    #[error("{field} of {composite} is out of range")]
    OutOfRange {
        /// The described list.
        composite: &'static str,
        /// Its field.
        field: &'static str,
    },
    /// More fields than the specification gives a composite.
    #[error("{composite} has {count} fields, more than it can have")]
    TooManyFields {
        /// The described list.
        composite: &'static str,
        /// How many fields it has.
        count: usize,
    },
    /// A described value of a type that cannot stand where it stands.
    #[error("descriptor {descriptor} is not one that can stand here")]
    UnknownDescriptor {
        /// The descriptor found.
        descriptor: String,
    },
    /// Message sections in another order than part 3, section 3.2 asks for.
    #[error("section {section} cannot stand here (at byte {at})")]
    SectionOrder {
        /// The name of the section out of order.
        section: &'static str,
        /// Where it begins.
        at: usize,
    },
}
