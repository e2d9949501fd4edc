//! `waystation log`.

mod dump;
mod verify;

use std::io::Write;

use clap::{Args, Subcommand};
use queue_log::OpenError;

use super::Failure;

/// Look into the files of a store that no router has open
///
/// A store is the directory in which a router keeps its queues, or a backup of one. Nothing in it is changed.
#[derive(Debug, Args)]
pub(super) struct LogArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Verify(verify::VerifyArguments),
    Dump(dump::DumpArguments),
}

pub(super) fn run(arguments: &LogArguments, out: &mut dyn Write) -> Result<(), Failure> {
    match &arguments.action {
        Action::Verify(verify) => verify::run(verify, out),
        Action::Dump(dump) => dump::run(dump, out),
    }
}

/// What is said of a large message that is not there: its file and where it is, as a line begins.
pub(super) fn not_there(of: &str) -> String {
    format!("{of} is not there, as its file is gone or was cut")
}

/// A store that cannot be looked into.
fn unanswered(error: OpenError) -> Failure {
    Failure::Unanswered(error.to_string())
}
