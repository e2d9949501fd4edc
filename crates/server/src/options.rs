//! How a router is to be run, and how the run ended.

use std::path::PathBuf;

/// Told once the router serves: what it listens on, as `host:port` with the actual port.
pub type OnReady = Box<dyn FnOnce(&[String])>;

/// How to run a router.
pub struct Options {
    /// The program's name as it was called: stands before the reason when the start fails.
    pub program: String,
    /// What to run.
    pub config: ConfigSource,
    /// Run as a daemon.
    pub daemon: Option<DaemonOptions>,
    /// Offer the addresses that the old router's tests use.
    pub test_hooks: bool,
    /// Called when all listeners of the configuration listen; not in a daemon, which has nobody to tell.
    pub on_ready: Option<OnReady>,
}

/// Where the configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// A configuration file.
    File(PathBuf),
    /// No file: a standalone router that listens for AMQP on port 5672 of all addresses.
    BuiltIn,
}

/// How to become a daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaemonOptions {
    /// File that gets the daemon's process id.
    pub pid_file: Option<PathBuf>,
    /// User to run as, with its groups.
    pub user: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Stopped as asked to; exit with 0.
    Clean,
    /// Did not start, or cannot go on; the reason was reported. Exit with 1.
    Failed,
}

impl ExitStatus {
    /// The process's exit status.
    pub fn code(self) -> u8 {
        match self {
            ExitStatus::Clean => 0,
            ExitStatus::Failed => 1,
        }
    }
}
