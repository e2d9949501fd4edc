//! Reading and writing the encodings of AMQP values (part 1).
//!
//! [`Decoder`] reads, borrowing text and bytes from its input; the free functions of [`encode`] write, always in the
//! smallest encoding; [`ListEncoder`] and [`MapEncoder`] write compound values whose size is known only at their end.

mod compact;
mod compact_write;
mod compound;
mod decode;
mod decode_scalar;
mod decode_value;
pub mod encode;
mod encode_array;
mod encode_compound;
mod encode_value;
mod error;
pub mod format;
mod read_fields;
mod write_fields;

pub(crate) use compact::CompactFields;
pub(crate) use compact_write::{CompactFrame, ROOM};
pub use compound::Fields;
pub use decode::Decoder;
pub(crate) use encode::length;
pub use encode_compound::{ListEncoder, MapEncoder};
pub use error::{DecodeError, DecodeErrorKind};
pub(crate) use read_fields::ReadFields;
pub(crate) use write_fields::WriteFields;
