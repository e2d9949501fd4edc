//! `waystation run`.

use std::path::PathBuf;

use clap::Args;
use server::{ConfigSource, DaemonOptions, ExitStatus, Options};

/// Run a router (this is also what waystation does without a command)
///
/// Without a configuration it is a standalone router that lets every client on port 5672 in. The configuration file is
/// the old qdrouterd.conf; `waystation check` says what is wrong with one.
///
/// It runs until it gets SIGTERM, SIGQUIT or SIGINT.
#[derive(Debug, Default, Args)]
pub(super) struct RunArguments {
    /// The configuration file; if not given, a standalone router on port 5672
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Run as a daemon; return once the router serves
    #[arg(short, long)]
    daemon: bool,

    /// Write the daemon's process id to a file
    #[arg(long, value_name = "FILE", requires = "daemon")]
    pid_file: Option<PathBuf>,

    /// Run as this user
    #[arg(long, value_name = "NAME", requires = "daemon")]
    user: Option<String>,
}

/// Runs a router, and returns the program's exit status.
pub(super) fn run(arguments: RunArguments) -> ExitStatus {
    let RunArguments { config, daemon, pid_file, user } = arguments;
    server::run(Options {
        program: "waystation".to_owned(),
        config: config.map_or(ConfigSource::BuiltIn, ConfigSource::File),
        daemon: daemon.then_some(DaemonOptions { pid_file, user }),
        test_hooks: false,
    })
}
