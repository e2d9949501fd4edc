//! Reading and writing primitive and compound encodings (part 1).

/// Why bytes are not what they should be. Positions are byte offsets from the start of what was decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the value ends beyond the bytes at hand (at byte {at})")]
    Truncated { at: usize },
    #[error("unknown format code 0x{code:02x} (at byte {at})")]
    UnknownFormat { code: u8, at: usize },
    #[error("expected {expected}, found format code 0x{code:02x} (at byte {at})")]
    WrongType { expected: &'static str, code: u8, at: usize },
    #[error("nested deeper than {} levels (at byte {at})", crate::MAX_DEPTH)]
    TooDeep { at: usize },
    #[error("text is not valid {encoding} (at byte {at})")]
    BadText { encoding: &'static str, at: usize },
    #[error("a {what} has {count} members in {size} bytes (at byte {at})")]
    BadCount { what: &'static str, count: usize, size: usize, at: usize },
    #[error("mandatory field {field} of {composite} is missing")]
    MissingField { composite: &'static str, field: &'static str },
    #[error("{field} of {composite} is out of range")]
    OutOfRange { composite: &'static str, field: &'static str },
    #[error("{composite} has {count} fields, more than it can have")]
    TooManyFields { composite: &'static str, count: usize },
    #[error("descriptor {descriptor} is not one that can stand here")]
    UnknownDescriptor { descriptor: String },
}

/// A cursor over encoded bytes. Every `read_*` advances over exactly one value or fails without panicking.
#[derive(Clone, Debug)]
pub struct Decoder<'a> { bytes: &'a [u8], at: usize }
// Helper to write: new, position, remaining, is_empty, read_value (owned), skip_value, read_raw -> &'a [u8] (one whole
// encoded value), peek_code, read_null_or..., read_bool/ubyte/ushort/uint/ulong/int/long/timestamp/str/symbol/binary
// (borrowed where text or bytes), read_descriptor -> Descriptor (u64 | symbol, symbolic names mapped to their numbers),
// read_list/read_map -> (count, Decoder over the content). Strictness: any integer width encoding of the right type.
// Encoding: free functions or an `Encode` trait over `Vec<u8>`: smallest encoding chosen (uint0, smalluint, str8...),
// `ListEncoder` that back-patches size and drops trailing nulls.
