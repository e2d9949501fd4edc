//! SASL exchanges that wait for something outside of the shard: a library that blocks, another service, a moment to pass.

use std::sync::Arc;

use router_core::Core;

use super::host::ShardHost;
use super::mailbox::Mail;
use super::place::ConnRef;
use super::shared::Shared;

/// A connection, for the mechanisms that authenticate it: their work is done elsewhere, and its shard has to hear of it.
#[derive(Clone)]
#[allow(dead_code, reason = "the mechanisms that wait are on their way")]
pub(crate) struct SaslHandle {
    shared: Arc<Shared>,
    id: u64,
}

#[allow(dead_code, reason = "the mechanisms that wait are on their way")]
impl SaslHandle {
    pub(super) fn new(shared: &Arc<Shared>, id: u64) -> Self {
        Self { shared: Arc::clone(shared), id }
    }

    /// The connection's number, as the log shows it.
    pub(crate) fn connection_id(&self) -> u64 {
        self.id
    }

    /// Has the connection ask its mechanisms again. From any thread; it is harmless when there is nothing to ask, and
    /// when the connection is gone.
    pub(crate) fn poke(&self) {
        if let Some(at) = self.shared.find(self.id)
            && let Some(post) = self.shared.post(at.shard.into())
        {
            post.send(Mail::PokeSasl(at));
        }
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
    }
}
