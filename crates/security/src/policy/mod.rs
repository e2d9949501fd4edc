//! What may this peer do? Decisions by the rules of vhosts and by an authentication service's lists.
//!
//! Nothing here reads a socket, a file or a clock. Rules are compiled when they change ([`Policy`]); a connection's
//! [`Settings`] are taken from them when it opens, and stay as they are however the rules change. What happens for each
//! message, [`Addresses::allow`], costs about the same however many rules there are, and allocates nothing.

mod addresses;
mod admission;
mod explain;
mod hosts;
mod links;
mod list;
mod patterns;
mod settings;
mod vhost;
mod vhosts;

pub use addresses::{AddressRules, Addresses};
pub use admission::{Admissions, Admitted, Denial, Denied, OpenRequest, Reason, VhostUse};
pub use explain::Explanation;
pub use hosts::Hosts;
pub use links::{LinkDenial, LinkRequest};
pub use settings::{Authorised, Settings};
pub use vhost::{Group, Vhost};
pub use vhosts::Policy;

/// What stands for the user's name in a list or a pattern.
const USER: &str = "${user}";
