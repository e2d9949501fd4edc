//! How does a configuration become a running router? Everything that touches the outside world: the process and its
//! signals, listeners, connectors, shards with their sockets, and what the management agent's entities do.
//!
//! It deliberately takes no routing decisions (those are the core's), and does not parse command lines.
//!
//! Two planes share the process. The *data plane* is the shards: threads that own sockets and carry messages. The
//! *control plane* is one thread with everything that happens seldom: management, timers, retries, signals. What can
//! block (name look-ups) happens on short-lived threads of its own.
#![deny(unsafe_code)]

mod authentication;
mod boot;
mod content;
mod control;
mod entities;
mod http;
#[cfg(feature = "measure")]
pub mod measure;
mod options;
mod process;
mod shard;
mod store;
mod telemetry;

pub use options::{ConfigSource, DaemonOptions, ExitStatus, OnReady, Options};
pub use store::StoreContents;

use control::plane::{End, Plane};
use process::daemon::{Fork, StatusPipe};
use process::signals::{Signals, StopSignal};
use std::io::{self, Write};
use std::path::Path;

/// The version of Apache Qpid Dispatch Router whose behaviour, names and texts this router keeps. It is what the open
/// and management say, because scripts and peers compare it.
pub const DISPATCH_VERSION: &str = "1.19.0";

/// Runs a router until a signal stops it.
///
/// In daemon mode the calling process returns [`ExitStatus::Clean`] as soon as the daemon serves. Failures to start are
/// reported on the standard error output and in the log; the caller only has to exit. After SIGINT this does not return:
/// the process dies by the signal.
///
/// Must be called while the process has a single thread.
pub fn run(mut options: Options) -> ExitStatus {
    let Some(daemon) = options.daemon.take() else { return run_here(options, None) };
    options.on_ready = None;
    // Paths are relative to where the program was called, not to where the daemon lives.
    if let ConfigSource::File(path) = &mut options.config {
        make_absolute(path);
    }
    let pid_file = daemon.pid_file.map(|mut path| {
        make_absolute(&mut path);
        path
    });
    match process::daemon::fork() {
        Ok(Fork::Caller(status)) => status,
        Ok(Fork::Daemon(pipe)) => match process::daemon::settle(&DaemonOptions { pid_file, ..daemon }) {
            Ok(()) => run_here(options, Some(pipe)),
            Err(reason) => report(&options.program, &reason, Some(pipe)),
        },
        Err(error) => report(&options.program, &format!("System: cannot become a daemon: {error}"), None),
    }
}

fn make_absolute(path: &mut std::path::PathBuf) {
    // Fails only for an empty path, which cannot be opened in any case.
    if let Ok(absolute) = std::path::absolute(&*path) {
        *path = absolute;
    }
}

/// So many different names are looked up at once. A name server that does not answer holds one of them for each name for as long
/// as it likes, so that names which others know still have their turn. Threads are made when they are needed.
const LOOK_UPS: usize = 512;

/// Runs the router in this process.
fn run_here(options: Options, pipe: Option<StatusPipe>) -> ExitStatus {
    process::faults::end_on_panic();
    process::limits::raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(LOOK_UPS)
        .thread_name("lookup")
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            return report(&options.program, &format!("System: cannot start the control plane: {error}"), pipe);
        }
    };
    let status = runtime.block_on(start_and_serve(options, pipe));
    // Look-ups that still wait for a name server must not hold up the end.
    runtime.shutdown_background();
    status
}

async fn start_and_serve(mut options: Options, mut pipe: Option<StatusPipe>) -> ExitStatus {
    let started = Signals::new()
        .map_err(|error| boot::StartFailure::System("catch signals", error))
        .and_then(|signals| Ok((signals, boot::start(&options)?)));
    let (mut signals, mut plane) = match started {
        Ok(started) => started,
        Err(failure) => {
            failure.log_details();
            let status = report(&options.program, &failure.to_string(), pipe);
            if let Some(details) = failure.report() {
                // If there is no standard error output, the log has the essence.
                let _ = io::stderr().write_all(details.as_bytes());
            }
            return status;
        }
    };
    let serving = |listening: &[String]| {
        if let Some(pipe) = pipe.take() {
            pipe.serving();
        }
        if let Some(on_ready) = options.on_ready.take() {
            on_ready(listening);
        }
    };
    let end = plane.serve(&mut signals, serving).await;
    if matches!(end, End::Signal(_)) {
        process::notify::stopping();
        control::stopping::wind_down(&mut plane, &mut signals).await;
    }
    stop(&plane);
    match end {
        End::Signal(StopSignal::Terminate) => ExitStatus::Clean,
        End::Signal(StopSignal::Interrupt) => {
            process::signals::die_interrupted();
            ExitStatus::Failed
        }
        End::ListenerFailed(failed) => {
            if let Some(pipe) = pipe {
                pipe.failed(&format!("{}: required listener failed {}\n", options.program, failed.host_port));
            }
            ExitStatus::Failed
        }
        End::ShardsGone => ExitStatus::Failed,
    }
}

/// Ends the data plane.
fn stop(plane: &Plane) {
    plane.shards.shutdown();
    if let Some(store) = plane.entities.store.get() {
        store.close();
    }
    if let Some(path) = &plane.entities.router.config().debug_dump_file {
        // The old router lists here what it forgot to free. There is nothing to list.
        if let Err(error) = std::fs::write(Path::new(path), "") {
            logging::log!(MAIN, Warning, "Cannot write debugDumpFile '{path}': {error}");
        }
    }
    logging::log!(SERVER, Notice, "Shut Down");
}

/// Tells whoever waits why there is no router.
fn report(program: &str, reason: &str, pipe: Option<StatusPipe>) -> ExitStatus {
    logging::log!(MAIN, Critical, "Router start-up failed: {reason}");
    let line = format!("{program}: {reason}\n");
    match pipe {
        Some(pipe) => pipe.failed(&line),
        // If there is no standard error output, the log has it.
        None => drop(io::stderr().write_all(line.as_bytes())),
    }
    ExitStatus::Failed
}
