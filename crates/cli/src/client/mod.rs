//! A blocking AMQP 1.0 client: one connection, one session, links that send and receive, and requests to a management
//! node. What `send`, `receive`, `qdstat` and `qdmanage` have in common.

mod books;
mod connection;
mod error;
mod link;
mod node;
mod options;
mod sasl_layer;
mod stream;
mod tls_options;
mod url;

pub use books::{Incoming, Outcome};
pub use connection::Client;
pub(crate) use connection::{dial, random_id};
pub use error::ClientError;
pub use link::{Receiver, ReceiverOptions, Sender};
pub use node::Node;
pub use options::{ConnectOptions, SaslOptions, names};
pub(crate) use stream::{Stream, secure};
pub use tls_options::TlsOptions;
pub use url::{DEFAULT_MANAGEMENT, Url};
