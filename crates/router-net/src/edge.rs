//! The protocol between an edge router and the interior router above it.
//!
//! An edge router has no part in the routing protocol. It keeps a connection to one interior router, the *uplink*, and
//! passes on there whatever it cannot deliver itself:
//! - [`Uplink`]: which of its connections that is, which links it opens there, and what goes over them;
//! - [`Interior`]: the interior router's side: who is still there, and what edge routers are told of addresses.
//!
//! Both are deterministic state machines like [`crate::PathEngine`].

mod interior;
mod link_routes;
mod lookup;
mod purpose;
mod uplink;
pub mod wire;

pub use interior::{Destinations, Interior, InteriorOutput};
pub use link_routes::{LinkRouteRequest, ManagementReply};
pub use lookup::{LookupResult, answer_lookup, is_lookup};
pub use purpose::{LinkId, Purpose};
pub use uplink::{Uplink, UplinkOutput};
