//! One program for everything that one does with a router. See [`cli::commands`].
#![forbid(unsafe_code)]

use std::io::BufWriter;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Not locked: a router writes to both while it runs.
    let mut out = BufWriter::new(std::io::stdout());
    ExitCode::from(cli::commands::run(std::env::args_os(), &mut out, &mut std::io::stderr()))
}
