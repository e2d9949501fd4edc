//! TLS: from what an `sslProfile` says to sessions over which bytes travel encrypted.
//!
//! A [`Profile`] holds what the files of an `sslProfile` say. [`ServerTls`] and [`ClientTls`] are made from it for a
//! listener or a connector, and a [`Session`] from those for each connection: bytes in, bytes out, no sockets.

mod certificate;
mod ciphers;
mod client;
mod error;
mod first_bytes;
mod hostname;
mod key;
mod old_key;
mod peer;
mod pem;
mod profile;
mod protocols;
mod server;
mod session;
mod stream;
mod subject;
mod user_id;
mod verify;

pub use certificate::{is_for_host, subject_of};
pub use client::{ClientTls, ServerTrust};
pub use error::{FileKind, TlsError, TlsStep};
pub use first_bytes::{FirstBytes, Spoken};
pub use peer::PeerInfo;
pub use profile::{Profile, Validity};
pub use server::{ClientCertificate, ServerTls};
pub use session::{Received, Session};
pub use stream::TlsStream;
pub use user_id::UserIds;
