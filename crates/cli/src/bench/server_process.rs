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

    /// What this and another have used.
    fn and(self, other: Cpu) -> Cpu {
        Cpu { user: self.user + other.user, system: self.system + other.system }
    }

    /// What was used since an earlier reading.
    #[must_use]
    pub(super) fn since(self, earlier: Cpu) -> Cpu {
        Cpu { user: self.user.saturating_sub(earlier.user), system: self.system.saturating_sub(earlier.system) }
    }
}

/// Processes that are looked at as one: the server's, or those of all routers that messages pass.
#[derive(Clone, Debug)]
pub(super) struct ServerProcess {
    pids: Vec<u32>,
}

impl ServerProcess {
    /// The processes with these ids; `None` if there are none.
    ///
    /// # Errors
    /// A sentence, if one is not there, or cannot be looked at.
    pub(super) fn new(pids: &[u32]) -> Result<Option<Self>, String> {
        for &pid in pids {
            let known = read(pid, "stat").zip(read(pid, "status"));
            if known.is_none_or(|(stat, status)| parse_cpu(&stat).is_none() || parse_memory(&status).is_none()) {
                let text = "there is no such process on this machine, or /proc does not tell about it";
                return Err(format!("--pid {pid}: {text}"));
            }
        }
        Ok((!pids.is_empty()).then(|| Self { pids: pids.to_vec() }))
    }

    /// Processor time used so far, to a hundredth of a second.
    pub(super) fn cpu(&self) -> Option<Cpu> {
        let each = self.pids.iter().map(|pid| parse_cpu(&read(*pid, "stat")?));
        each.into_iter().try_fold(Cpu::default(), |sum, of| of.map(|of| sum.and(of)))
    }

    /// Bytes of memory in use (resident).
    pub(super) fn memory(&self) -> Option<u64> {
        self.pids.iter().map(|pid| parse_memory(&read(*pid, "status")?)).sum()
    }
}

fn read(pid: u32, file: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/{file}")).ok()
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
        let process = ServerProcess::new(&[std::process::id()]).expect("it runs").expect("one is named");
        assert!(process.memory().expect("it uses some") > 0);
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        let error = ServerProcess::new(&[std::process::id(), u32::MAX]).expect_err("no such process");
        assert!(error.starts_with("--pid 4294967295"), "{error}");
    }
}
