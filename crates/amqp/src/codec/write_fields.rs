//! What a composite's fields are written to: one description of a composite serves both the general and the compact
//! writer.

use super::{ListEncoder, encode};
use crate::{DeliveryState, Map};

/// The fields of a composite, in order. Each method writes the next one, null for `None`.
pub(crate) trait WriteFields {
    fn uint(&mut self, value: Option<u32>);
    fn boolean(&mut self, value: Option<bool>);
    fn ubyte(&mut self, value: Option<u8>);
    fn binary(&mut self, value: Option<&[u8]>);
    fn state(&mut self, value: Option<&DeliveryState>);
    fn map(&mut self, value: Option<&Map>);

    /// A boolean whose default, false, is written as null.
    #[inline(always)]
    fn flag(&mut self, value: bool) {
        self.boolean(value.then_some(true));
    }
}

impl WriteFields for ListEncoder<'_> {
    fn uint(&mut self, value: Option<u32>) {
        self.optional(value, encode::uint);
    }

    fn boolean(&mut self, value: Option<bool>) {
        self.optional(value, encode::boolean);
    }

    fn ubyte(&mut self, value: Option<u8>) {
        self.optional(value, encode::ubyte);
    }

    fn binary(&mut self, value: Option<&[u8]>) {
        self.optional(value, encode::binary);
    }

    fn state(&mut self, value: Option<&DeliveryState>) {
        self.optional(value, |out, state| state.encode(out));
    }

    fn map(&mut self, value: Option<&Map>) {
        self.optional(value, |out, map| map.encode(out));
    }
}
