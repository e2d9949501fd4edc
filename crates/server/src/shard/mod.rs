//! How do bytes get in and out? The shards: threads that own sockets, drive the AMQP endpoints over them, and carry
//! messages through the one routing core that all of them share.
//!
//! They deliberately do not know what is configured, where it came from, or when a connector tries again: the control
//! plane tells them through [`Shards`], and hears of it through [`ShardEvent`].

mod backlog;
mod event;
mod settings;

use std::time::Duration;

pub use event::{ShardEvent, SubscriberMessage};
pub use settings::{
    ConnectionSettings, ConnectorAttempt, ConnectorId, FailoverServer, ListenerId, ListenerSpec, MessageComponents, Role,
    SaslClientFactory, SaslServerFactory, StripAnnotations,
};

/// How long a half-open connection may stay when nothing is configured. The old router waits for ever, which lets
/// anybody fill its table of connections.
pub const DEFAULT_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

#[cfg(any())] // signatures until the implementation lands
mod signatures {
    /// The running shards. Cheap to clone; the last clone dropped does not stop them, [`Shards::shutdown`] does.
    #[derive(Clone)]
    pub struct Shards;

    impl Shards {
        /// Starts the first shard's thread; others follow as load asks for them, up to `workers`.
        /// `container_id`: the router's id. Events come on `events`.
        pub fn start(
            settings: router_core::RouterSettings,
            container_id: String,
            workers: usize,
            events: tokio::sync::mpsc::UnboundedSender<ShardEvent>,
        ) -> std::io::Result<Self>;
        /// Opens a listener: all addresses or none. The addresses returned have the ports that the system chose.
        pub fn listen(&self, spec: ListenerSpec) -> std::io::Result<Vec<SocketAddr>>;
        /// Closes the listener's sockets; its connections stay.
        pub fn stop_listening(&self, listener: ListenerId);
        /// Begins to connect; the outcome is an event with the connection id returned here.
        pub fn connect(&self, attempt: ConnectorAttempt) -> u64;
        /// Drops the connection's socket without an AMQP close. False: there is no such connection.
        pub fn drop_connection(&self, connection_id: u64) -> bool;
        /// Shows (or not) this connection's frames in the log, whatever the level of the PROTOCOL module.
        pub fn trace_connection(&self, connection_id: u64, on: bool) -> bool;
        pub fn connection_traced(&self, connection_id: u64) -> Option<bool>;
        /// Calls the core; what it says to connections is carried out by their shards right afterwards.
        /// Must not be called from within itself.
        pub fn with_core<R>(&self, call: impl FnOnce(&mut Core<ShardHost>, &mut ShardHost, Now) -> R) -> R;
        /// An owned message as the core's content, for `Core::send_local`.
        pub fn content(message: &[u8]) -> Content;
        /// The shards' clock.
        pub fn now(&self) -> Now;
        /// Shards running now.
        pub fn running(&self) -> usize;
        /// Drops all sockets and joins the threads.
        pub fn shutdown(&self);
    }
}
