//! What does a developer of Waystation repeat? Checks, tests, fuzzing, instruction counts and packaging helpers, each one
//! command: `cargo xtask help`.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

mod arch;
mod book;
mod callgrind;
mod console;
mod dist;
mod fuzz;
mod interop;
mod lint;
mod reference;
mod shell;
mod steps;
mod test;
mod tools;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Everything a developer of Waystation repeats", disable_version_flag = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what the tests need from the package registries, then run every test
    Test,
    /// Check formatting, lints, layers, and the licences and sources of dependencies
    Lint,
    /// Check that crates depend downwards only, and that the sans-IO crates stay free of I/O
    Arch,
    /// Drive a running router with other people's clients
    Interop {
        /// One suite only
        #[arg(value_enum)]
        suite: Option<interop::Suite>,
        /// Folder of the programs under test (qdrouterd, qdstat, qdmanage, waystation); default: build them
        #[arg(long, value_name = "FOLDER")]
        programs: Option<PathBuf>,
        /// Handed to the suite's own test runner
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Fuzz the parsers that face the network or a file, starting from the committed corpus
    Fuzz {
        /// One target only (see fuzz/src/bin)
        target: Option<String>,
        /// How long each target runs
        #[arg(long, default_value_t = 20, value_name = "N")]
        seconds: u32,
        /// Take what was found into the committed corpus, made minimal
        #[arg(long)]
        merge: bool,
    },
    /// Count instructions per message on the forwarding path and compare with the committed figures
    Callgrind {
        /// Write the figures counted now to the committed file
        #[arg(long)]
        bless: bool,
    },
    /// Check that the committed web console is what its sources make, test it, and drive it in Chromium
    Console {
        /// Folder of the programs under test; default: build them
        #[arg(long, value_name = "FOLDER")]
        programs: Option<PathBuf>,
    },
    /// Run the commands of the book as its readers would, and check its configurations
    Book {
        /// Pages whose name contains this, only
        page: Option<String>,
        /// Folder of the programs under test; default: build them
        #[arg(long, value_name = "FOLDER")]
        programs: Option<PathBuf>,
    },
    /// Write the reference pages of the book from the schema
    Reference,
    /// Make packages (.deb, .rpm), a list of what is inside, and what a container image is made of, in target/dist
    Dist {
        /// Folder of release programs to pack; default: build them, with no trace of this machine in them
        #[arg(long, value_name = "FOLDER")]
        programs: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.task {
        Task::Test => test::run(),
        Task::Lint => lint::run(),
        Task::Arch => arch::run(),
        Task::Interop { suite, programs, arguments } => interop::run(suite, programs, &arguments),
        Task::Fuzz { target, seconds, merge } => fuzz::run(target.as_deref(), seconds, merge),
        Task::Callgrind { bless } => callgrind::run(bless),
        Task::Console { programs } => console::run(programs),
        Task::Book { page, programs } => book::run(page.as_deref(), programs),
        Task::Reference => reference::write(),
        Task::Dist { programs } => dist::run(programs),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
