//! Command lines as Python's `argparse` reads them: long options may be abbreviated, short ones bundled, values follow
//! as the next word or after `=`, and what is wrong is told on the standard error output with the usage, exit status 2.

mod parser;
mod words;

pub use parser::{Opt, Parsed, Parser, Stop, Takes};
