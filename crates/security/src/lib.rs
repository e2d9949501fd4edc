//! Who may speak, and what may they do? SASL mechanisms and policy.
//!
//! This crate deliberately knows nothing of connections: it fills the slots that `amqp-endpoint` has for mechanisms.
#![forbid(unsafe_code)]

pub mod policy;
mod sasl;
mod saslprep;
pub mod scram;
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
