//! What `qdstat` and `qdmanage` have in common: the connection options, and how they end.

mod connection_options;

pub use connection_options::{CONNECTION_OPTIONS, TARGET_OPTIONS, connect_options, node_address};

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use crate::client::ClientError;
use crate::python::argparse::Stop;
use crate::text::escaped_lines;

/// The version of the tools whose command lines and outputs these are: what `--version` prints, because scripts decide
/// by it what they can ask for.
pub const VERSION: &str = server::DISPATCH_VERSION;

/// How a program ended that did not do what it was asked to.
#[derive(Debug)]
pub enum Ended {
    /// By its command line alone.
    Stop(Stop),
    /// A router or the network said no.
    Failed(ClientError),
    /// The output was not taken.
    Output(std::io::Error),
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<ClientError> for Ended {
    fn from(error: ClientError) -> Self {
        Self::Failed(error)
    }
}

impl From<std::io::Error> for Ended {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

/// Says how a program ended, the way the old tools do (failures go to the standard output), and with which exit status.
pub fn finish(result: Result<(), Ended>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let (status, told) = match result {
        Ok(()) => (0, out.flush()),
        Err(Ended::Stop(Stop::Answer(text))) => (0, out.write_all(text.as_bytes())),
        Err(Ended::Stop(Stop::Usage(text))) => (2, err.write_all(text.as_bytes())),
        Err(Ended::Failed(error)) => (1, writeln!(out, "{}: {}", error.class(), escaped_lines(&error.to_string()))),
        Err(Ended::Output(error)) => (1, Err(error)),
    };
    // Nobody is left to be told when the output itself is closed.
    if told.and_then(|()| out.flush()).is_err() { 1 } else { status }
}

/// A program: takes the words of its command line, its standard output and its standard error output, and returns its
/// exit status.
pub type Program = fn(&[String], &mut dyn Write, &mut dyn Write) -> u8;

/// Runs a program in this process.
pub fn main(program: Program) -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let mut out = BufWriter::new(std::io::stdout().lock());
    ExitCode::from(program(&words, &mut out, &mut std::io::stderr().lock()))
}
