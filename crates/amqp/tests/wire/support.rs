//! Building encoded composites by hand, independent of the encoder under test.

/// A described list in its most compact encoding.
pub(crate) fn list8(code: u8, fields: &[&[u8]]) -> Vec<u8> {
    let content = fields.concat();
    let (size, count) = (
        u8::try_from(content.len() + 1).expect("test lists are short"),
        u8::try_from(fields.len()).expect("test lists are short"),
    );
    [&[0x00, 0x53, code, 0xc0, size, count], &content[..]].concat()
}

/// The same list with an eight-byte descriptor, and size and count in four bytes.
pub(crate) fn list32(code: u8, fields: &[&[u8]]) -> Vec<u8> {
    let content = fields.concat();
    let (size, count) = (
        u32::try_from(content.len() + 4).expect("test lists are short"),
        u32::try_from(fields.len()).expect("test lists are short"),
    );
    let descriptor = [0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, code, 0xd0];
    [&descriptor, &size.to_be_bytes()[..], &count.to_be_bytes(), &content].concat()
}

/// The same list with its descriptor as a symbol.
pub(crate) fn named(name: &str, fields: &[&[u8]]) -> Vec<u8> {
    let list = list8(0, fields);
    [&[0x00, 0xa3, u8::try_from(name.len()).expect("test lists are short")], name.as_bytes(), &list[3..]].concat()
}
