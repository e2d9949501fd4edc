//! Shows what a router is doing. See [`cli::qdstat`].
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::old_tools::main(cli::qdstat::run)
}
