//! What each message carries at the beginning of its body, so that its receiver can tell which one it is and how long
//! it was under way.

use amqp::message::{Scan, Scanner, SectionKind};

/// Bytes.
pub(super) const LENGTH: usize = 24;

/// Which message this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Of which run: other messages may be left at the address from an earlier one.
    pub run: u32,
    /// Which of the run's senders sent it.
    pub sender: u32,
    /// Its number among the sender's messages, from 0.
    pub sequence: u64,
    /// When it was to be sent: nanoseconds since the run's clock began.
    pub due: u64,
}

impl Stamp {
    /// As bytes.
    pub(super) fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[0..4].copy_from_slice(&self.run.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.sender.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.due.to_be_bytes());
        bytes
    }

    /// From the beginning of a body.
    fn from_bytes(bytes: &[u8; LENGTH]) -> Self {
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
        Self { run: word(0), sender: word(4), sequence: long(8), due: long(16) }
    }
}

/// A header section whose one field says that the message is durable.
const DURABLE: [u8; 7] = [0x00, 0x53, 0x70, 0xc0, 0x02, 0x01, 0x41];

/// The beginning of every message: a header if it is durable, and the constructor of its one data section with a body of
/// this many bytes.
pub(super) fn head(body: usize, durable: bool) -> Vec<u8> {
    let mut head = if durable { DURABLE.to_vec() } else { Vec::new() };
    match u8::try_from(body) {
        Ok(size) => head.extend([0x00, 0x53, 0x75, 0xa0, size]),
        Err(_) => {
            head.extend([0x00, 0x53, 0x75, 0xb0]);
            // The plan bounds the size far below 4 GiB.
            head.extend(u32::try_from(body).unwrap_or(u32::MAX).to_be_bytes());
        }
    }
    head
}

/// A message's stamp, and the bytes from the beginning of its data section on that the whole message has to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The stamp.
    pub stamp: Stamp,
    /// Where the data section begins.
    pub section: usize,
    /// Length of the data section.
    pub length: usize,
}

/// Reads the stamp from the beginning of a message, whatever sections a router put before its body.
pub(super) fn find(bytes: &[u8]) -> Option<Found> {
    let section = if bytes.starts_with(&[0x00, 0x53, 0x75]) { 0 } else { data_section(bytes)? };
    let data = &bytes[section..];
    let (head, body) = match data {
        [0x00, 0x53, 0x75, 0xa0, size, ..] => (5, usize::from(*size)),
        [0x00, 0x53, 0x75, 0xb0, a, b, c, d, ..] => (8, u32::from_be_bytes([*a, *b, *c, *d]) as usize),
        _ => return None,
    };
    let stamp = data.get(head..head + LENGTH)?.try_into().ok()?;
    Some(Found { stamp: Stamp::from_bytes(stamp), section, length: head + body })
}

fn data_section(bytes: &[u8]) -> Option<usize> {
    let mut scanner = Scanner::new(bytes, false);
    loop {
        let start = scanner.position();
        match scanner.next() {
            Ok(Scan::Section(section)) if section.kind == SectionKind::Data => return Some(start),
            Ok(Scan::Section(_)) => {}
            Ok(Scan::Incomplete { begun: Some(SectionKind::Data) }) => return Some(start),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::message::{Body, Message};

    const STAMP: Stamp = Stamp { run: 7, sender: 3, sequence: 1 << 40, due: 12_345_678_901 };

    fn body(size: usize) -> Vec<u8> {
        let mut body = STAMP.to_bytes().to_vec();
        body.resize(size, b'x');
        body
    }

    #[test]
    fn a_message_is_its_head_and_its_body() {
        for size in [LENGTH, 255, 256, 70_000] {
            let bytes = [head(size, false), body(size)].concat();
            let message = Message::decode(&bytes).expect("well-formed");
            assert_eq!(message.body, Body::Data(vec![body(size)]));
            assert_eq!(find(&bytes), Some(Found { stamp: STAMP, section: 0, length: bytes.len() }));
        }
    }

    #[test]
    fn a_durable_message_says_so_in_its_header() {
        let bytes = [head(300, true), body(300)].concat();
        let message = Message::decode(&bytes).expect("well-formed");
        assert!(message.header.durable);
        assert_eq!(find(&bytes).map(|found| found.stamp), Some(STAMP));
    }

    #[test]
    fn a_stamp_is_found_behind_other_sections_in_the_first_of_several_frames() {
        let mut message = Message::new(Body::Data(vec![body(1000)]));
        message.header.durable = true;
        message.message_annotations.insert_symbol("x-opt", 1_u8);
        let bytes = message.to_bytes();
        let found = find(&bytes[..200]).expect("the stamp is there");
        assert_eq!((found.stamp, found.section + found.length), (STAMP, bytes.len()));
    }

    #[test]
    fn what_is_no_message_of_this_program_has_no_stamp() {
        assert_eq!(find(&Message::new(Body::Value("x".into())).to_bytes()), None);
        assert_eq!(find(&[head(30, false), vec![0; 10]].concat()), None);
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[0, 0x53]), None);
    }
}
