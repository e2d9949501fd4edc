//! What an entry of the log holds: its first part says when, and what changes; each further part is the bytes of a message.

use queue_core::{CodecError, Command, Millis, decode_batch, encode_batch};

/// The version of what is written here.
const VERSION: u8 = 1;
/// Bytes before the commands.
const HEAD: usize = 9;

/// The first part of an entry.
pub(super) fn encode(time: Millis, batch: &[Command]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + 48 * batch.len());
    bytes.push(VERSION);
    bytes.extend_from_slice(&time.to_le_bytes());
    encode_batch(batch, &mut bytes);
    bytes
}

/// Why an entry cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EntryError {
    /// Its beginning is not what this version writes.
    #[error("the entry is of another version: open the store with the program that wrote it")]
    Version,
    /// Its commands cannot be read.
    #[error("{0}")]
    Commands(#[from] CodecError),
}

/// Reads the first part of an entry.
///
/// # Errors
/// If it is anything else.
pub(super) fn decode(bytes: &[u8]) -> Result<(Millis, Vec<Command>), EntryError> {
    let (head, commands) = bytes.split_at_checked(HEAD).ok_or(EntryError::Version)?;
    let time = match head.split_first() {
        Some((&VERSION, time)) => time.try_into().map(u64::from_le_bytes).map_err(|_| EntryError::Version)?,
        _ => return Err(EntryError::Version),
    };
    Ok((time, decode_batch(commands)?.0))
}
