//! Messages of other formats than AMQP's own (the `message-format` of a transfer, section 2.7.5): nothing of them is looked
//! at, and they leave as they came. Where they are kept, five bytes stand before them, which say the format. A message of
//! format 0 begins with a section; what comes as one and begins like these five bytes is none, and is marked, too, so that it
//! is not taken for a message of another format.

use std::sync::Arc;

use crate::content::{Whole, before_body};

/// What stands before the format, four bytes, most significant first. A section would begin with 0.
const MARK: u8 = 0xff;
/// Bytes before the message.
const BEFORE: usize = 5;

/// What is to stand before a message, if anything.
#[inline]
pub(super) fn before(format: u32, message: &[u8]) -> Option<[u8; BEFORE]> {
    let [a, b, c, d] = format.to_be_bytes();
    (format != 0 || is_opaque(message)).then_some([MARK, a, b, c, d])
}

/// A message as it is kept.
#[inline]
pub(super) fn kept(whole: Arc<Whole>) -> Arc<Whole> {
    match before(whole.layout().message_format, whole.bytes()) {
        None => whole,
        Some(before) => Whole::plain([&before[..], whole.bytes()].concat()),
    }
}

/// The format of a message that is kept like this, and how many bytes stand before it.
#[inline]
pub(super) fn format_of(kept: &[u8]) -> (u32, usize) {
    match kept.first_chunk::<BEFORE>() {
        Some([MARK, format @ ..]) => (u32::from_be_bytes(*format), BEFORE),
        _ => (0, 0),
    }
}

/// What of a message selectors and queues are shown: nothing if it is of another format.
#[inline]
pub(super) fn sections(kept: &[u8]) -> &[u8] {
    if is_opaque(kept) { &[] } else { kept }
}

/// Whether it is of another format.
#[inline]
pub(super) fn is_opaque(kept: &[u8]) -> bool {
    kept.first() == Some(&MARK)
}

/// What is kept in memory of a message with a file of its own: the format, or else the sections before the body.
pub(super) fn beginning(kept: &[u8]) -> &[u8] {
    match format_of(kept) {
        (_, 0) => before_body(kept),
        (_, before) => kept.get(..before).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Layout;

    #[test]
    fn a_message_of_another_format_is_known_by_its_first_bytes() {
        let whole = Whole::with_layout(b"any".to_vec(), Layout::plain(0x8001_3700));
        let kept = kept(whole);
        assert_eq!(format_of(kept.bytes()), (0x8001_3700, 5));
        assert!(sections(kept.bytes()).is_empty() && kept.bytes().ends_with(b"any"));
    }

    #[test]
    fn what_begins_like_a_message_of_another_format_is_not_taken_for_one() {
        let kept = kept(Whole::plain(b"\xff\x80\x01\x37\x00any".to_vec()));
        assert_eq!(format_of(kept.bytes()), (0, 5));
        assert!(kept.bytes().ends_with(b"\xff\x80\x01\x37\x00any"));
    }

    #[test]
    fn a_message_of_amqp_is_kept_as_it_is() {
        let bytes = b"\x00\x53\x77\xa1\x01x".to_vec();
        let kept = kept(Whole::plain(bytes.clone()));
        assert_eq!((kept.bytes(), format_of(kept.bytes())), (&bytes[..], (0, 0)));
        assert_eq!(sections(kept.bytes()), &bytes[..]);
    }
}
