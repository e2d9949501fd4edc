//! What does this connection do next? One end of an AMQP 1.0 connection (parts 2 and 5) as a state machine:
//! bytes and time go in, events and bytes come out.
//!
//! It deliberately knows nothing of sockets, clocks, addresses, routing, or message contents beyond their frames.
//! Time is a [`Now`] that the owner passes in: monotonic, from an arbitrary start.
//!
//! # How to drive it
//! 1. Append what the socket gave to a contiguous buffer, make an [`Input`] over it, and call [`Connection::poll`]
//!    until it returns `None`. An event borrows from the buffer only, never from the connection, so the owner may call
//!    any method between two polls. [`Input::consumed`] bytes can then be discarded; the rest must be presented again,
//!    with more appended. The rest is never longer than one frame of the size this end announced.
//! 2. Call [`Connection::flush`] once per turn: coalesced dispositions (ranges) and flows become frames.
//! 3. Write [`Connection::output`], then [`Connection::consume_output`].
//! 4. Call [`Connection::handle_timeout`] at or after [`Connection::next_timeout`], then poll for what came of it.
//!
//! # Layers
//! TLS, WebSocket and a SASL security layer are the owner's: they stand between the socket and [`Input`]. When SASL
//! negotiated a security layer, [`Connection::poll`] stops after [`Event::Authenticated`] until the owner has taken it
//! with [`Connection::take_security_layer`]: all output at that moment goes out plain, all bytes from then on, both
//! ways, through the layer.
#![forbid(unsafe_code)]

mod attach;
mod coalesce;
mod config;
mod connection;
mod detach;
mod disposition;
mod event;
mod fault;
mod flow;
mod frames;
mod handshake;
mod header;
mod incoming;
mod input;
mod link;
mod names;
mod opening;
mod outgoing;
mod output;
mod sasl;
mod sasl_layer;
mod session;
mod shorten;
mod sparse;
mod timers;
mod unsettled;
mod window;

pub use attach::{AttachAnswer, AttachError, NewLink};
pub use config::{ConnectionConfig, Side};
pub use connection::Connection;
pub use event::{Event, IncomingTransfer};
pub use input::Input;
pub use link::LinkInfo;
pub use outgoing::NewDelivery;
pub use sasl::{ClientStep, Readiness, SaslClient, SaslServer, SaslStep, SecurityLayer};
pub use session::BeginError;
pub use window::Hold;

/// Monotonic time since an arbitrary start.
pub type Now = std::time::Duration;

/// Index of a session in its connection, and the channel this end sends on. Reused after [`Event::SessionEnded`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId(pub u32);

/// Index of a link in its connection (dense over all sessions). Reused after the link is detached on both sides, or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkId(pub u32);
