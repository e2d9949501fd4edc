//! The messages of the routing protocol.
//!
//! What is written is what the old router writes, byte for byte; what is read may be in any encoding that means the same.

mod decode;
mod encode;
mod sync;

pub use decode::WireError;
pub use sync::{Addresses, News, Seqs, Sync};

use crate::{Hint, LinkState, log};
use std::fmt;

/// The version of the protocol that this crate speaks.
pub const PROTOCOL_VERSION: i64 = 1;

/// The longest router id that is taken, in bytes.
pub const MAX_ID_LENGTH: usize = 1024;

/// The longest address key that is taken, in bytes.
pub const MAX_KEY_LENGTH: usize = 65_536;

/// Where greetings go: the neighbour's engine.
pub const HELLO_ADDRESS: &str = "amqp:/_local/qdhello";
/// Where advertisements go: everybody.
pub const ALL_ROUTERS_ADDRESS: &str = "amqp:/_topo/0/all/qdrouter";
/// Where news of addresses go: everybody. The old router leaves the prefix out here.
pub const ALL_MOBILE_ADDRESS: &str = "_topo/0/all/qdrouter.ma";

/// Where two neighbours share what they know: the neighbour's engine.
pub const SYNC_ADDRESS: &str = "amqp:/_local/waystation.sync";
/// What a router offers in the open of a connection between routers, if it shares what it knows with a neighbour that offers
/// the same.
pub const SYNC_CAPABILITY: &str = "waystation.sync";

/// Where one router takes requests for its link state, and answers to its own.
pub fn router_address(id: &str) -> String {
    format!("amqp:/_topo/0/{id}/qdrouter")
}

/// Where one router takes requests for its addresses, and answers to its own.
pub fn mobile_address(id: &str) -> String {
    format!("amqp:/_topo/0/{id}/qdrouter.ma")
}

/// A message of the routing protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlMessage {
    /// Who sent it.
    pub id: String,
    /// What it says.
    pub body: Body,
}

/// What a message of the routing protocol says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// `HELLO`: I am here.
    Hello {
        /// The sender's start, in seconds since the epoch.
        instance: i64,
        /// Whom it hears.
        seen: Vec<String>,
    },
    /// `RA`: these are my sequence numbers.
    Advertisement {
        /// The sender's start.
        instance: i64,
        /// That of its link state.
        ls_seq: i64,
        /// That of its addresses.
        mobile_seq: i64,
    },
    /// `LSU`: this is my link state.
    LinkState {
        /// The sender's start.
        instance: i64,
        /// The link state.
        state: LinkState,
    },
    /// `LSR`: what is your link state?
    LinkStateRequest,
    /// `MAU` with what has changed since the sequence number before this one.
    AddressChange {
        /// The sequence number after the change.
        mobile_seq: i64,
        /// Keys with consumers from now on.
        add: Vec<(String, Option<Hint>)>,
        /// Keys without.
        del: Vec<String>,
    },
    /// `MAU` with all addresses.
    Addresses {
        /// The sequence number.
        mobile_seq: i64,
        /// Keys with consumers.
        exist: Vec<(String, Option<Hint>)>,
    },
    /// `MAR`: what are your addresses?
    AddressRequest {
        /// The sequence number that the sender knows.
        have_seq: i64,
    },
    /// `SYNC`, between two neighbours that share what they know.
    Sync(Sync),
}

impl Body {
    /// The opcode.
    pub fn opcode(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "HELLO",
            Self::Advertisement { .. } => "RA",
            Self::LinkState { .. } => "LSU",
            Self::LinkStateRequest => "LSR",
            Self::AddressChange { .. } | Self::Addresses { .. } => "MAU",
            Self::AddressRequest { .. } => "MAR",
            Self::Sync(_) => "SYNC",
        }
    }
}

/// As the old router's trace lines show it.
impl fmt::Display for ControlMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(id={} pv={PROTOCOL_VERSION} area=0", self.body.opcode(), self.id)?;
        match &self.body {
            Body::Hello { instance, seen } => {
                write!(f, " inst={instance} seen={}", log::list(seen.iter().map(String::as_str)))?;
            }
            Body::Advertisement { instance, ls_seq, mobile_seq } => {
                write!(f, " inst={instance} ls_seq={ls_seq} mobile_seq={mobile_seq}")?;
            }
            Body::LinkState { instance, state } => write!(f, " inst={instance} ls_seq={} ls={state}", state.ls_seq)?,
            Body::LinkStateRequest => {}
            Body::AddressChange { mobile_seq, add, del } => {
                write!(f, " mobile_seq={mobile_seq} add={} del={}", add.len(), del.len())?;
            }
            Body::Addresses { mobile_seq, exist } => write!(f, " mobile_seq={mobile_seq} exist={}", exist.len())?,
            Body::AddressRequest { have_seq } => write!(f, " have_seq={have_seq}")?,
            Body::Sync(Sync { digest, have, news, ask }) => {
                if let Some(digest) = digest {
                    write!(f, " digest={digest:016x}")?;
                }
                if let Some(have) = have {
                    write!(f, " have={}", have.len())?;
                }
                write!(f, " news={} ask={}", news.len(), ask.len())?;
            }
        }
        write!(f, ")")
    }
}
