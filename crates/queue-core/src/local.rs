//! The local half: who takes messages, and who holds which. Never logged.

mod aside;
mod assign;
mod candidates;
mod credit;
mod lifetime;
mod matcher;
mod outcome;
mod subscribe;
mod timers;

pub use aside::Aside;
pub use assign::Assignment;
pub use matcher::{Candidate, Match, MatchAll, Matcher};
