//! `waystation`: one program for everything that one does with a router.

mod bench;
mod connect;
mod failure;

use std::io::Write;

use clap::{Parser, Subcommand};

pub use connect::ConnectArguments;
pub use failure::Failure;

/// A messaging network for AMQP 1.0: clients attach to any node and use addresses; messages find their way.
#[derive(Debug, Parser)]
#[command(name = "waystation", version, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(bench::BenchArguments),
}

/// Runs the program with the words of its command line, its own name first, and returns its exit status.
pub fn run(words: impl Iterator<Item = std::ffi::OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to the standard output, mistakes to the standard error output; clap knows which.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let result = match arguments.command {
        None => Ok(()),
        Some(Command::Bench(arguments)) => bench::run(arguments, out),
    };
    let result = result.and_then(|()| out.flush().map_err(Failure::from));
    match result {
        Ok(()) => 0,
        Err(failure) => {
            let _ = writeln!(err, "waystation: {failure}");
            failure.status()
        }
    }
}
