//! Configuration files, as users write them, and what comes of them.

mod entities;
mod json_form;
mod language;
mod mistakes;
mod queues;
mod reading;
mod robustness;
mod rules;
