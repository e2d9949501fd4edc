//! Was what is missing ever there? A record that does not check at the end of the log is what a crash leaves, unless
//! something shows that it had been synced: a record of a write that began behind it, for each write waits for the sync of
//! the one before.

use crate::checksum::Seed;
use crate::format::record::{FIXED, Head};
use crate::window::Window;
use std::io;

/// Bytes looked at together.
const BLOCK: usize = 64 * 1024;
/// Records begin at multiples of this.
const STEP: usize = 8;

static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// What is behind the end of the log in a segment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Behind {
    /// Where the first record is that proves that everything before `start` had been synced, if there is one.
    pub(crate) proof: Option<u64>,
    /// There are remains of the write that was under way.
    pub(crate) remains: bool,
}

/// What to look for.
pub(crate) struct Search {
    pub(crate) seed: Seed,
    /// Where to begin.
    pub(crate) from: u64,
    /// A record proves something if its write began behind this place: where the log ends.
    pub(crate) end: u64,
    /// Records have this number or a higher one.
    pub(crate) next: u64,
    /// Records of earlier runs than this were cut off before, and prove nothing.
    pub(crate) run: u32,
    /// The run that ended with the crash.
    pub(crate) last_run: u32,
}

impl Search {
    /// Looks through the rest of a segment.
    pub(crate) fn look(&self, window: &mut Window) -> io::Result<Behind> {
        let mut behind = Behind::default();
        let mut at = self.from;
        while at + FIXED as u64 <= window.end() {
            // Twice, for the borrow: the second time it is in memory.
            let size = (window.end() - at).min((BLOCK + FIXED) as u64) as usize;
            let Some(block) = window.bytes(at, size)? else { break };
            let look = size.min(BLOCK);
            if block[..look] != ZEROS[..look]
                && let Some(found) = self.look_at(block, look, at, &mut behind)
                && window.head(found, self.seed)?.is_some()
            {
                behind.proof = Some(found);
                break;
            }
            at += look as u64;
        }
        Ok(behind)
    }

    /// The first head in a block that is a proof.
    fn look_at(&self, block: &[u8], look: usize, at: u64, behind: &mut Behind) -> Option<u64> {
        for from in (0..look).step_by(STEP) {
            let Some(bytes) = block.get(from..from + FIXED) else { break };
            if bytes[32] == 0 || bytes[32] > 3 || bytes[36..40] != [0; 4] {
                continue;
            }
            let Some(head) = Head::decode(bytes, u64::MAX) else { continue };
            if head.index < self.next || head.run < self.run || !Head::checks(bytes, self.seed) {
                continue;
            }
            if u64::from(head.start) > self.end {
                return Some(at + from as u64);
            }
            behind.remains |= head.run == self.last_run && head.kind != crate::format::record::Kind::Mark;
        }
        None
    }
}
