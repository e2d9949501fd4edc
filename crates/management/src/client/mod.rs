//! The other side of `$management`: requests to be sent to a management node, and what its replies say.
//!
//! Like the agent it only makes and reads messages; how they travel is the business of who uses it.

mod pages;
mod reply;
mod request;

pub use pages::{PAGE, Pages};
pub use reply::{Refusal, StatusClass, Table, read_reply};
pub use request::{Key, Request, full_type};
