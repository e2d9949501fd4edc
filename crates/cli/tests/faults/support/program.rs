//! The tools: `qdstat` and `qdmanage`, as users start them.

use std::process::{Command, Output, Stdio};

use super::PATIENCE;

/// How a tool ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    /// What it printed, on either output.
    pub(crate) text: String,
}

/// Asks the router on a port.
pub(crate) fn qdstat(port: u16, words: &[&str]) -> Ended {
    run(env!("CARGO_BIN_EXE_qdstat"), port, words)
}

/// Changes the router on a port.
pub(crate) fn qdmanage(port: u16, words: &[&str]) -> Ended {
    run(env!("CARGO_BIN_EXE_qdmanage"), port, words)
}

fn run(program: &str, port: u16, words: &[&str]) -> Ended {
    let mut command = Command::new(program);
    command.arg("--bus").arg(format!("127.0.0.1:{port}")).args(words).stdin(Stdio::null());
    if !words.contains(&"--timeout") {
        command.args(["--timeout", &PATIENCE.as_secs().to_string()]);
    }
    let Output { status, stdout, stderr } = command.output().expect("the program can be started");
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    Ended { status: status.code().expect("it was not killed"), text }
}
