//! Metrics of the process, under the names that all programs have for them.

use super::exposition::{Exposition, Kind};
use crate::process::usage::{self, Usage};

/// Writes them; what the system does not tell is left out.
pub(super) fn write(text: &mut Exposition) {
    let Some(Usage { cpu, virtual_memory, resident_memory, started, open_files, most_files }) =
        usage::of_this_process()
    else {
        return;
    };
    text.single("process_cpu_seconds_total", Kind::Counter, "Processor time used.", cpu);
    text.single("process_virtual_memory_bytes", Kind::Gauge, "Virtual memory.", virtual_memory);
    text.single("process_resident_memory_bytes", Kind::Gauge, "Memory in use.", resident_memory);
    if let Some(started) = started {
        text.single("process_start_time_seconds", Kind::Gauge, "When it was started, since the Unix epoch.", started);
    }
    if let Some(open_files) = open_files {
        text.single("process_open_fds", Kind::Gauge, "Open files and sockets.", open_files);
    }
    if let Some(most_files) = most_files {
        text.single("process_max_fds", Kind::Gauge, "How many there may be.", most_files);
    }
}
