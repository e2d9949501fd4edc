//! Checking the sections of a message that comes in pieces, none of which is kept.

use super::section::SectionKind;
use crate::DecodeError;
use crate::DecodeErrorKind::{self, Truncated};
use crate::codec::Decoder;

/// Bytes in which a section has to say how long it is. Only a value within descriptors of its own can take more; it is then not
/// looked at, nor is what follows it.
const BEGINNING: usize = 512;

/// Checks of a message in pieces what [`Scanner`](super::Scanner) checks of one in one piece: order, types, and that sizes and
/// counts agree with each other and with the bytes at hand. Positions in errors count from the beginning of the section.
#[derive(Debug, Default)]
pub struct Pieces {
    last: Option<SectionKind>,
    /// The beginning of a section which does not say yet how long it is.
    begun: Vec<u8>,
    /// Bytes that are left of the section at hand.
    left: u64,
    /// The rest is not looked at.
    unseen: bool,
}

impl Pieces {
    /// Nothing has come yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next bytes have come.
    ///
    /// # Errors
    /// If what begins in them is not a section that can stand there. Nothing is to be fed any more then.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), DecodeError> {
        while !bytes.is_empty() && !self.unseen {
            let here = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            self.left -= here as u64;
            bytes = bytes.get(here..).unwrap_or_default();
            if !bytes.is_empty() {
                bytes = self.begin(bytes)?;
            }
        }
        Ok(())
    }

    /// All has come.
    ///
    /// # Errors
    /// If the last section is cut short.
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.begun.is_empty() && self.left == 0 {
            true => Ok(()),
            false => Err(Truncated { at: self.begun.len() }.into()),
        }
    }

    /// A section begins here, or has begun and does not say yet how long it is. Returns the bytes behind its beginning.
    fn begin<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], DecodeError> {
        if self.begun.is_empty() {
            // Mostly all of it is there.
            return match self.read(bytes) {
                Ok((read, left)) => {
                    self.left = left;
                    Ok(bytes.get(read..).unwrap_or_default())
                }
                Err(error) => self.keep(bytes, &error),
            };
        }
        let mut begun = std::mem::take(&mut self.begun);
        let before = begun.len();
        begun.extend_from_slice(bytes.get(..bytes.len().min(BEGINNING - before)).unwrap_or_default());
        match self.read(&begun) {
            Ok((read, left)) => {
                self.left = left;
                // What was kept did not say it, so the beginning ends in the new bytes.
                Ok(bytes.get(read.saturating_sub(before)..).unwrap_or_default())
            }
            Err(error) => {
                self.keep(&begun, &error)?;
                Ok(bytes.get(begun.len() - before..).unwrap_or_default())
            }
        }
    }

    /// Keeps a beginning for when there is more of it, if that is all that is wrong with it.
    fn keep<'b>(&mut self, begun: &'b [u8], error: &DecodeError) -> Result<&'b [u8], DecodeError> {
        match error.kind() {
            Truncated { .. } if begun.len() < BEGINNING => self.begun = begun.to_vec(),
            Truncated { .. } => self.unseen = true,
            _ => return Err(error.clone()),
        }
        Ok(&[])
    }

    /// Reads the beginning of a section: how many bytes it is, and how many follow.
    fn read(&mut self, bytes: &[u8]) -> Result<(usize, u64), DecodeError> {
        let mut decoder = Decoder::new(bytes);
        let found = decoder.read_descriptor()?;
        let Some(kind) = found.code().and_then(SectionKind::from_code) else {
            return Err(DecodeError::unknown_descriptor(found));
        };
        if self.last.is_some_and(|last| !kind.can_follow(last)) {
            return Err(DecodeErrorKind::SectionOrder { section: kind.name(), at: 0 }.into());
        }
        if let Some(code) = decoder.peek_code()
            && let Err(expected) = kind.accepts(code)
        {
            return Err(DecodeError::wrong_type(expected, code, decoder.position()));
        }
        let left = decoder.read_extent()?;
        self.last = Some(kind);
        Ok((decoder.position(), left))
    }
}
