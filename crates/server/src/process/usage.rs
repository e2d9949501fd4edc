//! What the process uses of the machine.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::resource::{Resource, getrlimit};
use nix::unistd::{SysconfVar, sysconf};

/// What the process uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Seconds of processor time.
    pub(crate) cpu: f64,
    /// Bytes.
    pub(crate) virtual_memory: u64,
    /// Bytes.
    pub(crate) resident_memory: u64,
    /// When it was started, in seconds since the Unix epoch.
    pub(crate) started: Option<f64>,
    /// Open files and sockets.
    pub(crate) open_files: Option<u64>,
    /// How many there may be.
    pub(crate) most_files: Option<u64>,
}

/// The usage up to now; `None` where the system does not tell.
pub(crate) fn of_this_process() -> Option<Usage> {
    let per_second = positive(SysconfVar::CLK_TCK)?;
    let page = positive(SysconfVar::PAGE_SIZE)?;
    let stat = Stat::parse(&fs::read_to_string("/proc/self/stat").ok()?)?;
    #[allow(clippy::cast_precision_loss, reason = "these are seconds, for people")]
    let seconds = |ticks: u64| ticks as f64 / per_second as f64;
    Some(Usage {
        cpu: seconds(stat.cpu),
        virtual_memory: stat.virtual_bytes,
        resident_memory: stat.resident_pages.saturating_mul(page),
        started: boot_time().map(|boot| boot + seconds(stat.started)),
        // Newer systems tell how many there are without listing them.
        open_files: fs::metadata("/proc/self/fd").ok().map(|folder| folder.len()).filter(|count| *count > 0),
        most_files: getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, _)| soft),
    })
}

fn positive(variable: SysconfVar) -> Option<u64> {
    u64::try_from(sysconf(variable).ok()??).ok().filter(|value| *value > 0)
}

/// When the system was started, in seconds since the Unix epoch.
fn boot_time() -> Option<f64> {
    let uptime: f64 = fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
    Some(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs_f64() - uptime)
}

/// Some fields of `/proc/self/stat`, in the units that it has.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    cpu: u64,
    started: u64,
    virtual_bytes: u64,
    resident_pages: u64,
}

impl Stat {
    fn parse(line: &str) -> Option<Self> {
        // The second field is the program's name in parentheses, which may have any of them, and blanks.
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            cpu: field(14)?.saturating_add(field(15)?),
            started: field(22)?,
            virtual_bytes: field(23)?,
            resident_pages: field(24)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let line = "1 (a) b) S 2 3 4 5 6 7 8 9 10 11 14 15 16 17 18 19 20 21 22 23 24 25";
        assert_eq!(Stat::parse(line), Some(Stat { cpu: 29, started: 22, virtual_bytes: 23, resident_pages: 24 }));
    }

    #[test]
    fn this_process_uses_memory_and_was_started() {
        let usage = of_this_process().unwrap();
        assert!(usage.resident_memory > 0 && usage.virtual_memory > usage.resident_memory);
        assert!(usage.started.unwrap() > 0.0);
    }
}
