//! The `store` section.

use super::read::Reader;
use management::Attributes;
use management::schema::{Class, Invalid};
use std::path::PathBuf;

/// Bytes that one file of the log may have.
const SEGMENT: (i64, i64) = (1 << 20, 1 << 30);

/// What a `store` entity says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// The directory.
    pub path: PathBuf,
    /// Bytes of one file of the log.
    pub segment_bytes: u64,
    /// Bytes of messages that stay in memory.
    pub cache_bytes: u64,
    /// Bytes from which on a message gets a file of its own.
    pub large_message_bytes: u64,
}

impl StoreConfig {
    /// Reads the settings of a `store` entity.
    ///
    /// # Errors
    /// If there is no path, or a size is out of range.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let path = read.text("path").ok_or_else(|| {
            Invalid::attribute("path", Class::Value, "A store needs a directory")
                .hint("write path: and a directory, such as /var/lib/waystation")
        })?;
        let segment_bytes = read.number("segmentBytes", SEGMENT.0, SEGMENT.1)?;
        let cache_bytes = read.number("cacheBytes", 0, i64::MAX)?;
        // What is not in a file of its own has to fit into one of the log.
        let most = segment_bytes.unwrap_or(64 << 20) / 4;
        let large_message_bytes = read.number("largeMessageBytes", 4096, most)?.or(Some(most.min(1 << 20)));
        let bytes = |number: Option<i64>, default| number.and_then(|it| u64::try_from(it).ok()).unwrap_or(default);
        Ok(StoreConfig {
            path: path.into(),
            segment_bytes: bytes(segment_bytes, 64 << 20),
            cache_bytes: bytes(cache_bytes, 64 << 20),
            large_message_bytes: bytes(large_message_bytes, 1 << 20),
        })
    }
}
