//! Who may speak, what may they do, and who may listen in? SASL mechanisms, policy, TLS.
//!
//! This crate deliberately knows nothing of connections: it fills the slots that `amqp-endpoint` has for mechanisms.
#![forbid(unsafe_code)]

pub mod policy;
mod sasl;
mod saslprep;
pub mod scram;
pub mod tls;
mod underneath;
mod users;

pub use sasl::{
    Busy, ClientMechanisms, Credentials, CyrusServer, CyrusTerms, Mechanisms, OffloadedClient, OffloadedServer,
    ServerMechanisms, Wake, Workers, claimed_user, tell_cyrus,
};
pub use saslprep::prepare;
pub use underneath::Underneath;
pub use users::{UserBase, Users, UsersError, change as change_users, load as load_users};

use scram::random as scram_random;
