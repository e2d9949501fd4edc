//! Are the files still there? Who removes or replaces them while the log is open would not be noticed otherwise: what is written
//! to a file that has lost its name is taken, and gone when the file is closed.
//!
//! The writer looks for its segment after each sync that comes [`OFTEN`] or more after the last look, before it says that the sync
//! is done; the keeper looks for the others from time to time. What is lost nevertheless is what was said to be durable before, and what
//! is in the [`OFTEN`] since the last look.

use crate::disk::{DiskFile, Mode};
use crate::format::names;
use crate::shared::Shared;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the writer looks for the segment that it writes to, at most.
pub(crate) const OFTEN: Duration = Duration::from_millis(50);
/// How often the keeper looks for all files without which the store cannot be opened.
pub(crate) const SELDOM: Duration = Duration::from_secs(2);

/// When somebody looked last.
pub(crate) struct Look {
    last: Option<Instant>,
    every: Duration,
}

impl Look {
    pub(crate) fn every(every: Duration) -> Self {
        Look { last: None, every }
    }

    /// Whether it is time to look again. If so, it is taken as done.
    pub(crate) fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let due = self.last.is_none_or(|last| now.duration_since(last) >= self.every);
        if due {
            self.last = Some(now);
        }
        due
    }
}

impl Shared {
    /// Whether a file is still there. If not, the log has failed.
    pub(crate) fn finds(&self, file: &dyn DiskFile, path: &Path) -> bool {
        let found = file.is_at(path);
        if !found {
            self.fail(gone(path));
        }
        found
    }

    /// Whether all files are there without which the store cannot be opened. If not, the log has failed. Only the keeper
    /// may call this: it is who renames and removes them.
    pub(crate) fn finds_all(&self) -> bool {
        let state = self.lock();
        let segments = state.segments.iter().map(|segment| (segment.file.clone(), segment.path.clone()));
        let ready = state.ready.iter().map(|ready| (ready.file.clone(), ready.path.clone()));
        let all: Vec<_> = segments.chain(ready).collect();
        let snapshot = (state.checkpoint > 0).then(|| self.dir().join(names::snapshot(state.checkpoint)));
        drop(state);
        let named = [Some(self.dir().join(names::IDENTITY)), snapshot];
        let is_gone = |path: &PathBuf| match self.disk.open(path, Mode::Read) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(_) => false,
        };
        let lost = named.into_iter().flatten().find(is_gone);
        if let Some(path) = &lost {
            self.fail(gone(path));
        }
        lost.is_none() && all.iter().all(|(file, path)| self.finds(&**file, path))
    }
}

fn gone(path: &Path) -> String {
    format!(
        "{}: is gone, or something else has its name: somebody has removed or moved files of the store while it was open; put them \
         back, or restore it from a backup",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use crate::crash::store_in_memory;
    use crate::entry::Need;
    use crate::keeper::absent_is_fine;
    use crate::shared::Step;
    use crate::writer::Writer;
    use std::sync::Arc;

    #[test]
    fn what_is_written_to_a_segment_that_was_removed_is_not_called_durable() {
        let log = store_in_memory();
        let mut writer = Writer::new(Arc::clone(&log.shared));
        let path = log.shared.lock().ready.front().map(|ready| ready.path.clone()).unwrap();
        absent_is_fine(log.shared.disk.remove(&path)).unwrap();
        log.append(vec![vec![1; 100].into()], 0, Need::Ordinary).unwrap();
        assert_eq!(writer.step(), Step::Over);
        assert_eq!(log.durable(), 0);
        assert!(log.shared.lock().failed.as_ref().is_some_and(|text| text.contains("segment")));
    }
}
