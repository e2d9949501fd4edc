//! How numbers, bytes and texts stand in commands and snapshots: variable-length integers, seven bits a byte, the lowest
//! first; steps from one number to the next turned so that small ones of either sign are short; bytes behind their length.

use std::sync::Arc;

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} is no {what} as this version writes it: the data is damaged, or of another version")]
pub struct CodecError {
    /// Offset of the first byte that is wrong.
    pub at: usize,
    /// What should stand there.
    pub what: &'static str,
}

/// What is appended to bytes.
pub(crate) trait Put {
    fn byte(&mut self, value: u8);
    fn number(&mut self, value: u64);
    fn bytes(&mut self, value: &[u8]);

    fn flag(&mut self, value: bool) {
        self.byte(value.into());
    }

    /// How far a number is from the one before.
    #[inline]
    fn step(&mut self, value: u64, before: u64) {
        let step = value.wrapping_sub(before) as i64;
        self.number((step << 1 ^ step >> 63) as u64);
    }

    fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    fn optional(&mut self, value: Option<u64>) {
        self.flag(value.is_some());
        if let Some(value) = value {
            self.number(value);
        }
    }

    fn optional_bytes(&mut self, value: Option<&[u8]>) {
        self.flag(value.is_some());
        if let Some(value) = value {
            self.bytes(value);
        }
    }
}

impl Put for Vec<u8> {
    #[inline]
    fn byte(&mut self, value: u8) {
        self.push(value);
    }

    #[inline]
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }

    fn bytes(&mut self, value: &[u8]) {
        self.number(value.len() as u64);
        self.extend_from_slice(value);
    }
}

/// Reads what [`Put`] wrote.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(crate) fn wrong(&self, what: &'static str) -> CodecError {
        CodecError { at: self.at, what }
    }

    pub(crate) fn end(&self) -> Result<(), CodecError> {
        if self.is_empty() { Ok(()) } else { Err(self.wrong("end")) }
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, CodecError> {
        let byte = *self.bytes.get(self.at).ok_or(self.wrong("byte"))?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn flag(&mut self) -> Result<bool, CodecError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(CodecError { at: self.at - 1, what: "flag" }),
        }
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<u64, CodecError> {
        let start = self.at;
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(CodecError { at: start, what: "number" })
    }

    /// What is so far from the number before.
    #[inline]
    pub(crate) fn step(&mut self, before: u64) -> Result<u64, CodecError> {
        let step = self.number()?;
        Ok(before.wrapping_add((step >> 1) ^ (step & 1).wrapping_neg()))
    }

    pub(crate) fn small<T: TryFrom<u64>>(&mut self) -> Result<T, CodecError> {
        let at = self.at;
        T::try_from(self.number()?).map_err(|_| CodecError { at, what: "number of this size" })
    }

    pub(crate) fn optional(&mut self) -> Result<Option<u64>, CodecError> {
        if self.flag()? { self.number().map(Some) } else { Ok(None) }
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], CodecError> {
        let at = self.at;
        let length = self.number()?;
        let rest = &self.bytes[self.at..];
        let found = usize::try_from(length).ok().and_then(|length| rest.get(..length));
        let found = found.ok_or(CodecError { at, what: "length" })?;
        self.at += found.len();
        Ok(found)
    }

    pub(crate) fn optional_bytes(&mut self) -> Result<Option<&'a [u8]>, CodecError> {
        if self.flag()? { self.bytes().map(Some) } else { Ok(None) }
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, CodecError> {
        let at = self.at;
        std::str::from_utf8(self.bytes()?).map_err(|_| CodecError { at, what: "text" })
    }

    pub(crate) fn shared_text(&mut self) -> Result<Arc<str>, CodecError> {
        self.text().map(Arc::from)
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<Arc<str>>, CodecError> {
        if self.flag()? { self.shared_text().map(Some) } else { Ok(None) }
    }

    /// How many members follow, each of at least one byte: never more than there are bytes.
    pub(crate) fn count(&mut self) -> Result<usize, CodecError> {
        let at = self.at;
        let count = self.number()?;
        let rest = self.bytes.len() - self.at;
        usize::try_from(count).ok().filter(|count| *count <= rest).ok_or(CodecError { at, what: "count" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_are_read_as_they_were_written() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            bytes.number(value);
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.number(), Ok(value));
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn steps_lead_from_any_number_to_any_other() {
        for (before, value) in [(0, 0), (5, 4), (4, 5), (0, u64::MAX), (u64::MAX, 0), (1 << 63, 1)] {
            let mut bytes = Vec::new();
            bytes.step(value, before);
            assert_eq!(Reader::new(&bytes).step(before), Ok(value));
        }
        let mut back_by_one = Vec::new();
        back_by_one.step(1000, 1001);
        assert_eq!(back_by_one, [1]);
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        let bytes = [0xff; 10];
        assert_eq!(Reader::new(&bytes).number(), Err(CodecError { at: 0, what: "number" }));
    }

    #[test]
    fn a_count_cannot_claim_more_than_there_are_bytes() {
        assert_eq!(Reader::new(&[3, 0, 0]).count(), Err(CodecError { at: 0, what: "count" }));
    }
}
