//! What holds for all values, frames and messages, and what an independent codec makes of them.

mod arbitrary_bytes;
mod independent_codec;
mod round_trip;
mod strategies;
