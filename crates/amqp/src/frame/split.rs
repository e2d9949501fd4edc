//! Finding the frames in a stream of bytes.

use super::{FRAME_HEADER_SIZE, Frame, FrameKind};

/// What the bytes at hand begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split<'a> {
    /// A whole frame, in the first `used` bytes.
    Frame {
        /// The frame.
        frame: Frame<'a>,
        /// Its size in bytes, header included.
        used: usize,
    },
    /// A part of a frame, `total` bytes long where its size is there already.
    NeedMore {
        /// The frame's size in bytes, header included.
        total: Option<usize>,
    },
}

/// Why bytes are not a frame. All of them end the connection with `amqp:connection:framing-error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Larger than this end accepts.
    #[error("frame of {size} bytes is larger than the maximum of {max}")]
    TooLarge {
        /// Bytes, as the frame says.
        size: usize,
        /// Bytes, as this end has announced.
        max: usize,
    },
    /// Smaller than a frame header.
    #[error("frame of {size} bytes is smaller than its header")]
    TooSmall {
        /// Bytes, as the frame says.
        size: usize,
    },
    /// The body begins within the header or beyond the frame.
    #[error("data offset {doff} is not possible in a frame of {size} bytes")]
    BadDataOffset {
        /// In words of four bytes.
        doff: u8,
        /// Bytes, as the frame says.
        size: usize,
    },
    /// Neither AMQP nor SASL.
    #[error("unknown frame type 0x{0:02x}")]
    UnknownType(u8),
}

/// Takes the first frame from `input`; a malformed header is found as soon as it is there, without waiting for more.
///
/// # Errors
/// If the bytes do not begin with a frame of at most `max_frame_size` bytes.
#[inline]
pub fn split(input: &[u8], max_frame_size: u32) -> Result<Split<'_>, FrameError> {
    let Some(size) = input.first_chunk::<4>() else { return Ok(Split::NeedMore { total: None }) };
    let size = u32::from_be_bytes(*size) as usize;
    if size > max_frame_size as usize {
        return Err(FrameError::TooLarge { size, max: max_frame_size as usize });
    }
    if size < FRAME_HEADER_SIZE {
        return Err(FrameError::TooSmall { size });
    }
    let Some(&[_, _, _, _, doff, kind, high, low]) = input.first_chunk::<FRAME_HEADER_SIZE>() else {
        return Ok(Split::NeedMore { total: Some(size) });
    };
    let start = usize::from(doff) * 4;
    if start < FRAME_HEADER_SIZE || start > size {
        return Err(FrameError::BadDataOffset { doff, size });
    }
    let kind = match kind {
        0 => FrameKind::Amqp,
        1 => FrameKind::Sasl,
        unknown => return Err(FrameError::UnknownType(unknown)),
    };
    let Some(body) = input.get(start..size) else { return Ok(Split::NeedMore { total: Some(size) }) };
    Ok(Split::Frame { frame: Frame { kind, channel: u16::from_be_bytes([high, low]), body }, used: size })
}
