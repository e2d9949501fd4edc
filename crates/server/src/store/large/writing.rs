//! A message on its way into a file.

use std::io;

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
}

impl Writing {
    pub(super) fn new(arrival: Arrival, mut begun: Vec<u8>, reader: Reader<LinkRef>) -> Self {
        let format = reader.head().layout.message_format;
        if let Some(before) = opaque::before(format, &begun) {
            begun.splice(..0, before);
        }
        Self { arrival, beginning: begun, reader, piece: Vec::new(), writer: None }
    }

    /// Writes what is there.
    pub(super) fn step(&mut self, jobs: &Jobs) -> Step {
        match self.write(jobs) {
            Ok(Some(done)) => {
                jobs.signals.done(done);
                Step::Over
            }
            Ok(None) => Step::Waits,
            Err(error) => {
                let Arrival { link, key, .. } = self.arrival;
                jobs.signals.done(Done::Unwritten { link, key, error: error.to_string() });
                Step::Over
            }
        }
    }

    fn write(&mut self, jobs: &Jobs) -> io::Result<Option<Done>> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
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
            writer.append(&self.piece)?;
            match state {
                ReaderState::More => {}
                ReaderState::Waiting => return Ok(None),
                ReaderState::Aborted => return Ok(Some(Done::GivenUp)),
                ReaderState::Finished => break,
            }
        }
        writer.sync()?;
        let Arrival { link, key, .. } = self.arrival;
        let (file, size) = (writer.id(), writer.size());
        let beginning = opaque::beginning(&self.beginning).into();
        Ok(Some(Done::Written { link, key, file, size, beginning }))
    }
}
