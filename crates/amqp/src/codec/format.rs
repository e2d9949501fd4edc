//! Format codes (part 1, section 1.6): the first byte of each value, which says its type and how wide it is.

/// Begins a described value: a descriptor follows, then the value.
pub const DESCRIBED: u8 = 0x00;
/// The null value.
pub const NULL: u8 = 0x40;
/// A boolean in the byte that follows: 0 or 1.
pub const BOOLEAN: u8 = 0x56;
/// True, without further bytes.
pub const TRUE: u8 = 0x41;
/// False, without further bytes.
pub const FALSE: u8 = 0x42;
/// Unsigned, one byte.
pub const UBYTE: u8 = 0x50;
/// Unsigned, two bytes.
pub const USHORT: u8 = 0x60;
/// Unsigned, four bytes.
pub const UINT: u8 = 0x70;
/// An unsigned int below 256, in one byte.
pub const SMALL_UINT: u8 = 0x52;
/// The unsigned int 0, without further bytes.
pub const UINT_0: u8 = 0x43;
/// Unsigned, eight bytes.
pub const ULONG: u8 = 0x80;
/// An unsigned long below 256, in one byte.
pub const SMALL_ULONG: u8 = 0x53;
/// The unsigned long 0, without further bytes.
pub const ULONG_0: u8 = 0x44;
/// Signed, one byte.
pub const BYTE: u8 = 0x51;
/// Signed, two bytes.
pub const SHORT: u8 = 0x61;
/// Signed, four bytes.
pub const INT: u8 = 0x71;
/// An int from -128 to 127, in one byte.
pub const SMALL_INT: u8 = 0x54;
/// Signed, eight bytes.
pub const LONG: u8 = 0x81;
/// A long from -128 to 127, in one byte.
pub const SMALL_LONG: u8 = 0x55;
/// IEEE 754 binary32.
pub const FLOAT: u8 = 0x72;
/// IEEE 754 binary64.
pub const DOUBLE: u8 = 0x82;
/// IEEE 754 decimal32.
pub const DECIMAL32: u8 = 0x74;
/// IEEE 754 decimal64.
pub const DECIMAL64: u8 = 0x84;
/// IEEE 754 decimal128.
pub const DECIMAL128: u8 = 0x94;
/// A Unicode scalar value, four bytes.
pub const CHAR: u8 = 0x73;
/// Milliseconds since the Unix epoch, eight bytes.
pub const TIMESTAMP: u8 = 0x83;
/// A UUID (RFC 4122), sixteen bytes.
pub const UUID: u8 = 0x98;
/// Up to 255 bytes.
pub const BINARY8: u8 = 0xa0;
/// Up to 2^32 - 1 bytes.
pub const BINARY32: u8 = 0xb0;
/// Up to 255 bytes of UTF-8.
pub const STRING8: u8 = 0xa1;
/// Up to 2^32 - 1 bytes of UTF-8.
pub const STRING32: u8 = 0xb1;
/// Up to 255 ASCII characters.
pub const SYMBOL8: u8 = 0xa3;
/// Up to 2^32 - 1 ASCII characters.
pub const SYMBOL32: u8 = 0xb3;
/// The list without members, without further bytes.
pub const LIST_0: u8 = 0x45;
/// A list with size and count in one byte each.
pub const LIST8: u8 = 0xc0;
/// A list with size and count in four bytes each.
pub const LIST32: u8 = 0xd0;
/// A map with size and count in one byte each.
pub const MAP8: u8 = 0xc1;
/// A map with size and count in four bytes each.
pub const MAP32: u8 = 0xd1;
/// An array with size and count in one byte each.
pub const ARRAY8: u8 = 0xe0;
/// An array with size and count in four bytes each.
pub const ARRAY32: u8 = 0xf0;

/// How many bytes follow a format code, by the code's high half (section 1.2): a fixed number, or a size prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// This many bytes.
    Fixed(usize),
    /// A size in one byte, then that many bytes.
    Prefix8,
    /// A size in four bytes, then that many bytes.
    Prefix32,
}

/// The width of a value with this format code; `None` if the code is not one that section 1.6 defines.
/// `DESCRIBED` has no width of its own and gives `None` too.
pub(crate) fn width(code: u8) -> Option<Width> {
    Some(match code {
        NULL | TRUE | FALSE | UINT_0 | ULONG_0 | LIST_0 => Width::Fixed(0),
        BOOLEAN | UBYTE | SMALL_UINT | SMALL_ULONG | BYTE | SMALL_INT | SMALL_LONG => Width::Fixed(1),
        USHORT | SHORT => Width::Fixed(2),
        UINT | INT | FLOAT | CHAR | DECIMAL32 => Width::Fixed(4),
        ULONG | LONG | DOUBLE | TIMESTAMP | DECIMAL64 => Width::Fixed(8),
        DECIMAL128 | UUID => Width::Fixed(16),
        BINARY8 | STRING8 | SYMBOL8 | LIST8 | MAP8 | ARRAY8 => Width::Prefix8,
        BINARY32 | STRING32 | SYMBOL32 | LIST32 | MAP32 | ARRAY32 => Width::Prefix32,
        _ => return None,
    })
}
