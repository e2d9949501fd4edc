//! Shows and changes the entities of a router. See [`cli::qdmanage`].
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::old_tools::main(cli::qdmanage::run)
}
