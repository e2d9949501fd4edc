//! How the old tools print and read things: they are Python programs, and scripts parse what Python made of values.

pub mod argparse;
mod float;
mod json;
mod parse_number;
mod repr;

pub use json::{dumps, from_json};
pub use parse_number::{int, seconds};
pub use repr::{repr, str, uuid};
