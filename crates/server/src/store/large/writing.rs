//! A message on its way into a file.

use std::io;
use std::path::Path;

use amqp::DecodeError;
use amqp::message::Pieces;
use queue_log::LargeWriter;

use super::jobs::{Jobs, Step};
use super::{BEGINNING, Done};
use crate::content::{Reader, ReaderState, Taken};
use crate::shard::LinkRef;
use crate::store::links::Arrival;
use crate::store::opaque;

/// A message on its way into a file.
pub(super) struct Writing {
    arrival: Arrival,
    beginning: Vec<u8>,
    reader: Reader<LinkRef>,
    /// For use within calls.
    piece: Vec<u8>,
    /// There once the beginning is written.
    writer: Option<LargeWriter>,
    /// Looks whether it is a message; not at one of another format.
    pieces: Option<Pieces>,
}

/// Why a message does not come into its file.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Malformed(#[from] DecodeError),
}

/// Why a message does not come into its file, where, and what to do.
fn unwritten(store: &Path, error: &io::Error) -> String {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free space there, and send it again",
        _ => "see to the disk",
    };
    format!("cannot write its file in {}: {error}; {remedy}", store.display())
}

impl Writing {
    pub(super) fn new(arrival: Arrival, mut begun: Vec<u8>, reader: Reader<LinkRef>) -> Self {
        let format = reader.head().layout.message_format;
        if let Some(before) = opaque::before(format, &begun) {
            begun.splice(..0, before);
        }
        let pieces = (!opaque::is_opaque(&begun)).then(Pieces::new);
        Self { arrival, beginning: begun, reader, piece: Vec::new(), writer: None, pieces }
    }

    /// Writes what is there.
    pub(super) fn step(&mut self, jobs: &Jobs) -> Step {
        match self.write(jobs) {
            Ok(Some(done)) => {
                jobs.signals.done(done);
                Step::Over
            }
            Ok(None) => Step::Waits,
            Err(failure) => {
                let Arrival { link, key, .. } = self.arrival;
                jobs.signals.done(match failure {
                    Failure::Disk(error) => Done::Unwritten { link, key, error: unwritten(jobs.log.dir(), &error) },
                    Failure::Malformed(error) => Done::Malformed { link, key, error },
                });
                Step::Over
            }
        }
    }

    fn write(&mut self, jobs: &Jobs) -> Result<Option<Done>, Failure> {
        let mut check = |bytes: &[u8]| self.pieces.as_mut().map_or(Ok(()), |pieces| pieces.feed(bytes));
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                check(&self.beginning)?;
                let mut writer = jobs.log.create_large()?;
                writer.append(&self.beginning)?;
                self.beginning.truncate(BEGINNING);
                self.writer.insert(writer)
            }
        };
        loop {
            // Not written while the stream is held: whoever feeds it must not wait for the disk.
            self.piece.clear();
            let piece = &mut self.piece;
            let state = self.reader.read(|parts, end| {
                parts.iter().for_each(|part| piece.extend_from_slice(part));
                Taken { bytes: piece.len(), end }
            });
            check(&self.piece)?;
            writer.append(&self.piece)?;
            match state {
                ReaderState::More => {}
                ReaderState::Waiting => return Ok(None),
                ReaderState::Aborted => return Ok(Some(Done::GivenUp)),
                ReaderState::Finished => break,
            }
        }
        self.pieces.as_ref().map_or(Ok(()), Pieces::finish)?;
        writer.sync()?;
        let Arrival { link, key, .. } = self.arrival;
        let (file, size) = (writer.id(), writer.size());
        let beginning = opaque::beginning(&self.beginning).into();
        Ok(Some(Done::Written { link, key, file, size, beginning }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_where_a_message_has_no_file_and_what_to_do() {
        let text = |kind: io::ErrorKind| unwritten(Path::new("/store"), &kind.into());
        assert_eq!(
            text(io::ErrorKind::StorageFull),
            "cannot write its file in /store: no storage space; free space there, and send it again"
        );
        assert!(text(io::ErrorKind::PermissionDenied).ends_with("see to the disk"));
    }
}
