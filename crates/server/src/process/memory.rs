//! How much memory there is, and how much of it the router has taken.

use std::fs;

/// The virtual size of this process in bytes, which the old router reports as `memoryUsage`; `None` where the system
/// does not tell.
pub(crate) fn virtual_size() -> Option<u64> {
    kib_field(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")
}

/// The memory this process may use, in bytes: that of the machine, or of the container if that is less.
pub(crate) fn available() -> Option<u64> {
    let machine = kib_field(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")?;
    Some(container_limit().map_or(machine, |limit| limit.min(machine)))
}

/// The limit that control groups set, version 2 or 1, as seen from inside a container.
fn container_limit() -> Option<u64> {
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok())
}

/// The value of a line such as `VmSize:   123 kB`, in bytes.
fn kib_field(text: &str, label: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The old router's start-up line about memory.
pub(crate) fn describe() -> Option<String> {
    const MIB: f64 = 1024.0 * 1024.0;
    #[allow(clippy::cast_precision_loss, reason = "two decimals are printed")]
    let (used, available) = (virtual_size()? as f64, available()? as f64);
    Some(format!("Process VmSize {:.2} MiB ({:.2} GiB available memory)", used / MIB, available / MIB / 1024.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_proc_is_read_in_bytes() {
        assert_eq!(kib_field("Name:\tx\nVmSize:\t  2048 kB\n", "VmSize:"), Some(2 * 1024 * 1024));
    }

    #[test]
    fn a_field_that_is_missing_or_too_large_is_unknown() {
        assert_eq!(kib_field("VmSize: 99999999999999999999 kB", "VmSize:"), None);
        assert_eq!(kib_field("", "VmSize:"), None);
    }
}
