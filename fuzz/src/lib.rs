//! Is memory bounded? What the fuzz targets share: an allocator that counts, so that a target can say how much an
//! input may cost.

mod memory;
pub mod owner;
pub mod script;

pub use memory::peak;
