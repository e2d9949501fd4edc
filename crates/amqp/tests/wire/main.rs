//! What this crate reads from the wire and writes to it.

mod annotations;
mod delivery_states;
mod encodings;
mod frames;
mod malformed_values;
mod performatives;
mod sasl_frames;
mod sections;
mod support;
mod values;
