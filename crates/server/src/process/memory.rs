//! How much memory there is, and how much of it the router has taken.

use std::fs;
use std::path::{Path, PathBuf};

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

/// The least limit that control groups set for this process, version 2 or 1; `None` if they set none.
fn container_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    limit_files(&groups).iter().filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok()).min()
}

/// The files that may limit the memory of a process in these control groups (in the form of `/proc/self/cgroup`): those
/// of its own group and of all above it. Inside a container the group may be named as it is called outside, and only the
/// topmost is there.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        // A number, the kinds of resources, and the path of the group. Version 2 has one group for all kinds.
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (root, file) = match kinds {
            "" => ("/sys/fs/cgroup", "memory.max"),
            kinds if kinds.split(',').any(|kind| kind == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group = Path::new(group.trim_start_matches('/'));
        files.extend(group.ancestors().map(|group| Path::new(root).join(group).join(file)));
    }
    files
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

    fn limit_files_of(groups: &str) -> Vec<String> {
        limit_files(groups).iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_group_and_those_above_it_limit_the_memory() {
        let files = limit_files_of("0::/system.slice/router.service\n");
        let expected = [
            "/sys/fs/cgroup/system.slice/router.service/memory.max",
            "/sys/fs/cgroup/system.slice/memory.max",
            "/sys/fs/cgroup/memory.max",
        ];
        assert_eq!(files, expected);
    }

    #[test]
    fn of_the_groups_of_version_1_that_for_memory_counts() {
        let files = limit_files_of("4:cpu,cpuacct:/a\n3:memory:/docker\n");
        let expected =
            ["/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
        assert_eq!(files, expected);
    }

    #[test]
    fn inside_a_container_the_topmost_group_is_asked() {
        assert_eq!(limit_files_of("0::/\n"), ["/sys/fs/cgroup/memory.max"]);
    }

    #[test]
    fn a_field_that_is_missing_or_too_large_is_unknown() {
        assert_eq!(kib_field("VmSize: 99999999999999999999 kB", "VmSize:"), None);
        assert_eq!(kib_field("", "VmSize:"), None);
    }
}
