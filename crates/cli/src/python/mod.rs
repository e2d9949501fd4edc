//! How the old tools read their command lines: they are Python programs, and scripts know their habits.

pub mod argparse;
mod parse_number;

pub use parse_number::{int, seconds};
