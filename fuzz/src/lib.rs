//! Is memory bounded? What the fuzz targets share: an allocator that counts, so that a target can say how much an
//! input may cost.

pub mod der;
mod memory;
pub mod owner;
pub mod script;
pub mod wire;

pub use memory::peak;
