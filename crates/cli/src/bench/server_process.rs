//! What the system says of the server's process: processor time and memory.

use std::fs;
use std::time::Duration;

/// Processor time used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cpu {
    /// By the program itself.
    pub user: Duration,
    /// By the system for it.
    pub system: Duration,
}

impl Cpu {
    /// Both together.
    pub(super) fn total(self) -> Duration {
        self.user + self.system
    }

    /// What was used since an earlier reading.
    #[must_use]
    pub(super) fn since(self, earlier: Cpu) -> Cpu {
        Cpu { user: self.user.saturating_sub(earlier.user), system: self.system.saturating_sub(earlier.system) }
    }
}

/// A process that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerProcess {
    pid: u32,
}

impl ServerProcess {
    /// The process with this id.
    ///
    /// # Errors
    /// A sentence, if there is none, or if it cannot be looked at.
    pub(super) fn new(pid: u32) -> Result<Self, String> {
        let process = Self { pid };
        process.cpu().and(process.memory()).map(|_| process).ok_or_else(|| {
            format!("--pid {pid}: there is no such process on this machine, or /proc does not tell about it")
        })
    }

    /// Processor time used so far, to a hundredth of a second.
    pub(super) fn cpu(self) -> Option<Cpu> {
        parse_cpu(&self.read("stat")?)
    }

    /// Bytes of memory in use (resident).
    pub(super) fn memory(self) -> Option<u64> {
        parse_memory(&self.read("status")?)
    }

    fn read(self, file: &str) -> Option<String> {
        fs::read_to_string(format!("/proc/{}/{file}", self.pid)).ok()
    }
}

/// Fields 14 and 15 of `stat` are ticks, of which Linux reports 100 a second. The name before them may contain blanks.
fn parse_cpu(stat: &str) -> Option<Cpu> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok().map(|ticks| Duration::from_millis(ticks.saturating_mul(10)));
    Some(Cpu { user: ticks()?, system: ticks()? })
}

fn parse_memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_found_behind_a_name_with_blanks_and_brackets() {
        let stat = "42 (a ) b) S 1 42 42 0 -1 4194304 100 0 0 0 123 45 0 0 20 0 5 0 100 1000 200";
        let cpu = parse_cpu(stat).expect("valid");
        assert_eq!(cpu, Cpu { user: Duration::from_millis(1230), system: Duration::from_millis(450) });
        assert_eq!(parse_cpu("42 (a) S"), None);
    }

    #[test]
    fn memory_is_what_is_resident() {
        assert_eq!(parse_memory("VmPeak:\t 9 kB\nVmRSS:\t    1234 kB\n"), Some(1234 * 1024));
        assert_eq!(parse_memory("Name:\tx\n"), None);
    }

    #[test]
    fn this_process_can_be_looked_at() {
        let process = ServerProcess::new(std::process::id()).expect("it runs");
        assert!(process.memory().expect("it uses some") > 0);
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        let error = ServerProcess::new(u32::MAX).expect_err("no such process");
        assert!(error.starts_with("--pid 4294967295"), "{error}");
    }
}
