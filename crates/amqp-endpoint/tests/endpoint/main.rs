//! Two endpoints in memory, and endpoints against hand-made frames, in virtual time.

mod credit;
mod detach;
mod errors;
mod fitting;
mod headers;
mod idle;
mod links;
mod mechanisms;
mod memory;
mod model;
mod noise;
mod opening;
mod pair;
mod rules;
mod sasl;
mod scripted;
mod sessions;
mod settlement;
mod splits;
mod streaming;
mod tracing;
mod transfers;
mod unsettled_maps;
mod windows;
mod world;
