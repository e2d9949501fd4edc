//! How does a configuration become a running router? Everything that touches the outside world: the process and its
//! signals, listeners, connectors, shards with their sockets, and what the management agent's entities do.
//!
//! It deliberately takes no routing decisions (those are the core's), and does not parse command lines.
//!
//! Two planes share the process. The *data plane* is the shards: threads that own sockets and carry messages. The
//! *control plane* is one thread with everything that happens seldom: management, timers, retries, signals. What can
//! block (name look-ups) happens on short-lived threads of its own.
#![deny(unsafe_code)]

mod options;

pub use options::{ConfigSource, DaemonOptions, ExitStatus, Options};

/// Runs a router until a signal stops it.
///
/// In daemon mode the calling process returns [`ExitStatus::Clean`] as soon as the daemon serves. Failures to start are
/// reported on the standard error output and in the log; the caller only has to exit.
///
/// Must be called while the process has a single thread.
pub fn run(options: Options) -> ExitStatus {
    let _ = options;
    ExitStatus::Failed
}
