//! Runs a router, with the old command line. See [`cli::qdrouterd`].
#![forbid(unsafe_code)]

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program = words.next().unwrap_or_else(|| "qdrouterd".to_owned());
    let words: Vec<String> = words.collect();
    // Not locked: the router writes to both while it runs.
    ExitCode::from(cli::qdrouterd::run(&program, &words, &mut std::io::stdout(), &mut std::io::stderr()))
}
