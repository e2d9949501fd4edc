//! Compound values in their wide encoding, as the old router writes them in messages of its own.

use amqp::codec::{encode, format};
use amqp::descriptor;

/// The header that messages of the router's own have.
pub(crate) fn header(out: &mut Vec<u8>) {
    encode::descriptor(out, descriptor::HEADER);
    compound(out, format::LIST32, |list| {
        list.value(|out| encode::boolean(out, false));
    });
}

/// Writes a list or a map in its wide encoding.
pub(crate) fn compound(out: &mut Vec<u8>, code: u8, members: impl FnOnce(&mut Members<'_>)) {
    out.push(code);
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    let mut list = Members { out, count: 0 };
    members(&mut list);
    let count = list.count;
    // Nothing that the engine sends comes near 4 GiB.
    let size = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
    out[start + 4..start + 8].copy_from_slice(&count.to_be_bytes());
}

/// The members of a list or a map.
pub(crate) struct Members<'o> {
    out: &'o mut Vec<u8>,
    count: u32,
}

impl Members<'_> {
    pub(crate) fn value(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        write(self.out);
        self.count += 1;
        self
    }

    pub(crate) fn symbol(&mut self, text: &str) -> &mut Self {
        self.value(|out| encode::symbol(out, text))
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) -> &mut Self {
        self.value(|out| encode::string(out, key)).value(|out| encode::string(out, text))
    }

    /// An `int` if it fits, else a `long`.
    pub(crate) fn integer(&mut self, key: &str, number: i64) -> &mut Self {
        self.value(|out| encode::string(out, key)).value(|out| match i32::try_from(number) {
            Ok(small) => encode::int(out, small),
            Err(_) => encode::long(out, number),
        })
    }

    /// A `uint`, or a `ulong` if it is too large.
    pub(crate) fn unsigned(&mut self, key: &str, number: u64) -> &mut Self {
        self.value(|out| encode::string(out, key)).value(|out| match u32::try_from(number) {
            Ok(small) => encode::uint(out, small),
            Err(_) => encode::ulong(out, number),
        })
    }

    pub(crate) fn long(&mut self, key: &str, number: i64) -> &mut Self {
        self.symbol(key).value(|out| encode::long(out, number))
    }
}
