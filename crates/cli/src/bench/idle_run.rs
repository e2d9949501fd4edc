//! A run with idle connections, from the first connection to the report.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::idle::{Attached, IdleParty};
use super::plan::Plan;
use super::progress::Progress;
use super::report::IdleReport;
use super::server_process::ServerProcess;
use super::shared::{Command, Shared};
use super::{BenchError, Crew};

/// How long the server gets to come to rest before its memory is read.
const REST: Duration = Duration::from_secs(1);
/// How long nothing may happen before it is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// File descriptors for everything but connections.
const OTHER_FILES: u64 = 64;

/// Makes so many connections with one link each, then attaches further links on each, and reads the server's memory
/// each time.
///
/// # Errors
/// If the plan makes no sense, the server cannot be reached, or a connection or link ends while it runs.
pub fn run(
    plan: Plan,
    connections: usize,
    further_links: usize,
    progress: &mut Progress,
) -> Result<IdleReport, BenchError> {
    let Some(server) = ServerProcess::new(&plan.pids).map_err(BenchError::Given)? else {
        return Err(BenchError::Given(
            "--connections measures the server's memory: say which process it is with --pid".to_owned(),
        ));
    };
    allow_files(connections)?;
    let memory = || server.memory().ok_or_else(|| BenchError::Given("the server (--pid) is gone".to_owned()));
    // One connection a party; the links of a connection have numbers of their own.
    let plan = Arc::new(Plan { links_per_connection: 1, ..plan });
    let shared = Arc::new(Shared::new());
    let memory_before = memory()?;
    let party =
        |links: &[usize]| IdleParty::new(plan.clone(), links.first().copied().unwrap_or(0) * (1 + further_links));
    let crew = Crew::start(&plan, &shared, "idle", connections, Attached::default, party, |_| None)?;
    attached(&shared, connections, "connections", progress)?;
    let seconds = shared.now().as_secs_f64();
    std::thread::sleep(REST);
    let memory_connected = memory()?;
    if further_links > 0 {
        crew.tell(Command::Attach(further_links));
        attached(&shared, connections * (1 + further_links), "links", progress)?;
        std::thread::sleep(REST);
    }
    let memory_linked = memory()?;
    crew.finish(&shared)?;
    progress.clear();
    std::thread::sleep(plan.cool_down);
    #[expect(clippy::cast_precision_loss, reason = "bytes of memory are far below 2^53")]
    let each =
        |from: u64, to: u64, count: usize| if count == 0 { 0.0 } else { (to as f64 - from as f64) / count as f64 };
    Ok(IdleReport {
        connections,
        further_links,
        memory_before,
        memory_connected,
        memory_linked,
        memory_after: memory()?,
        bytes_per_connection: each(memory_before, memory_connected, connections),
        bytes_per_link: each(memory_connected, memory_linked, connections * further_links),
        seconds,
    })
}

/// Waits until so many links are attached.
fn attached(shared: &Shared, wanted: usize, what: &str, progress: &mut Progress) -> Result<(), BenchError> {
    let mut last = (0, shared.now());
    loop {
        if let Some(error) = shared.failure() {
            progress.clear();
            return Err(BenchError::Given(error));
        }
        let attached = shared.counters.attached.load(Ordering::Relaxed);
        if attached >= wanted as u64 {
            return Ok(());
        }
        if attached != last.0 {
            last = (attached, shared.now());
        }
        if shared.now() - last.1 > PATIENCE {
            let text = format!("only {attached} of {wanted} {what} stand, and nothing has happened for {PATIENCE:?}");
            return Err(BenchError::Given(text));
        }
        #[expect(clippy::cast_precision_loss, reason = "for a progress bar")]
        progress.show(attached as f64 / wanted as f64, what);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Lets this process have a socket for each connection.
fn allow_files(connections: usize) -> Result<(), BenchError> {
    let wanted = connections as u64 + OTHER_FILES;
    let fails = |error: nix::Error| BenchError::Given(format!("cannot have {wanted} open files: {error}"));
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(fails)?;
    if wanted > hard {
        return Err(BenchError::Given(format!(
            "--connections {connections}: this process may have {hard} open files at most; raise its limit (ulimit -n)"
        )));
    }
    if wanted > soft { setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).map_err(fails) } else { Ok(()) }
}
