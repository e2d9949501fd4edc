//! SASL exchanges that wait for something outside of the shard: a library that blocks, another service, a moment to pass.

use std::sync::Arc;

use router_core::Core;
use security::policy::Authorised;

use super::host::ShardHost;
use super::mailbox::Mail;
use super::place::ConnRef;
use super::shared::Shared;

/// A connection, for the mechanisms that authenticate it: their work is done elsewhere, and its shard has to hear of it.
#[derive(Clone)]
pub(crate) struct SaslHandle {
    shared: Arc<Shared>,
    id: u64,
    hostname: Option<Arc<str>>,
}

impl SaslHandle {
    /// Of a connection that was accepted.
    pub(super) fn new(shared: &Arc<Shared>, id: u64) -> Self {
        Self { shared: Arc::clone(shared), id, hostname: None }
    }

    /// Of a connection that leads to the server of this name.
    pub(super) fn to(shared: &Arc<Shared>, id: u64, hostname: &str) -> Self {
        Self { hostname: Some(hostname.into()), ..Self::new(shared, id) }
    }

    /// The server's name, as it is configured.
    pub(crate) fn hostname(&self) -> Option<&str> {
        self.hostname.as_deref()
    }

    /// Tells what an authentication service lets the peer do. To be called before its success is known.
    pub(crate) fn authorise(&self, authorised: Authorised) {
        self.send(|at| Mail::Authorised(at, Box::new(authorised)));
    }

    fn send(&self, mail: impl FnOnce(ConnRef) -> Mail) {
        if let Some(at) = self.shared.find(self.id)
            && let Some(post) = self.shared.post(at.shard.into())
        {
            post.send(mail(at));
        }
    }

    /// The connection's number, as the log shows it.
    pub(crate) fn connection_id(&self) -> u64 {
        self.id
    }

    /// Has the connection ask its mechanisms again. From any thread; it is harmless when there is nothing to ask, and
    /// when the connection is gone.
    pub(crate) fn poke(&self) {
        self.send(Mail::PokeSasl);
    }
}

impl ShardHost {
    /// Something has happened to the SASL exchange of a connection.
    pub(super) fn poke_sasl(&mut self, core: &mut Core<Self>, at: ConnRef) {
        let Some(conn) = self.conn(at) else { return };
        conn.endpoint.poke_sasl();
        // What the peer has sent meanwhile has been read already, and no event will tell of it again.
        let waiting = Arc::new(std::mem::take(&mut conn.leftover));
        let used = self.drive(core, at.slot, &waiting, waiting.len());
        if let Some(conn) = self.touch(at) {
            conn.leftover = waiting.get(used..).unwrap_or_default().to_vec();
        }
        // It was not read meanwhile.
        self.queue_read(at.slot);
    }
}
