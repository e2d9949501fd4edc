//! `waystation`: one program for everything that one does with a router.

mod backup;
mod bench;
mod check;
mod connect;
mod failure;
mod generate;
mod log;
mod manage;
mod message_options;
mod policy;
mod queue;
mod receive;
mod router;
mod run;
mod send;
mod show;
mod stat;
mod user;

use std::ffi::OsString;
use std::io::Write;

use clap::{Parser, Subcommand};

use crate::text::escaped_lines;
pub use connect::ConnectArguments;
pub use failure::Failure;

/// A messaging network for AMQP 1.0
///
/// Clients attach to any node of the network and use addresses; messages find their way.
///
/// Without a command, a router runs with its built-in configuration.
#[derive(Debug, Parser)]
#[command(name = "waystation", version, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArguments),
    Check(check::CheckArguments),
    Send(Box<send::SendArguments>),
    Receive(receive::ReceiveArguments),
    Stat(stat::StatArguments),
    Manage(manage::ManageArguments),
    Queue(Box<queue::QueueArguments>),
    Log(log::LogArguments),
    Backup(Box<backup::BackupArguments>),
    Restore(backup::RestoreArguments),
    Policy(policy::PolicyArguments),
    User(user::UserArguments),
    Bench(Box<bench::BenchArguments>),
    Completions(generate::CompletionsArguments),
    #[command(hide = true)]
    Generate(generate::GenerateArguments),
}

/// Runs the program with the words of its command line, its own name first, and returns its exit status.
pub fn run(words: impl Iterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let words: Vec<OsString> = words.collect();
    let program = words.first().map_or_else(|| "waystation".to_owned(), |word| word.to_string_lossy().into_owned());
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to the standard output, mistakes to the standard error output; clap knows which.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let result = match arguments.command {
        None => return run::run(program, run::RunArguments::default()).code(),
        Some(Command::Run(arguments)) => return run::run(program, arguments).code(),
        Some(Command::Check(arguments)) => check::run(&arguments, out),
        Some(Command::Send(arguments)) => send::run(&arguments, out),
        Some(Command::Receive(arguments)) => receive::run(&arguments, out, err),
        Some(Command::Stat(arguments)) => stat::run(&arguments, out),
        Some(Command::Manage(arguments)) => manage::run(arguments, out),
        Some(Command::Queue(arguments)) => queue::run(&arguments, out),
        Some(Command::Log(arguments)) => log::run(&arguments, out),
        Some(Command::Backup(arguments)) => backup::backup(&arguments, out),
        Some(Command::Restore(arguments)) => backup::restore(&arguments, out),
        Some(Command::Policy(arguments)) => policy::run(&arguments, out),
        Some(Command::User(arguments)) => user::run(&arguments, out, err),
        Some(Command::Bench(arguments)) => bench::run(*arguments, out),
        Some(Command::Completions(arguments)) => generate::completions(&arguments, out),
        Some(Command::Generate(arguments)) => generate::generate(&arguments),
    };
    match result.and_then(|()| out.flush().map_err(Failure::from)) {
        Ok(()) => 0,
        Err(failure) => {
            let _ = out.flush();
            let _ = writeln!(err, "waystation: {}", escaped_lines(&failure.to_string()));
            failure.code()
        }
    }
}
