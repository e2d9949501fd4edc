//! What one HTTP listener serves.

use std::path::PathBuf;
use std::sync::Arc;

use config::ListenerConfig;

use crate::shard::{Accepting, ListenerId, ListenerSpec, ListenerTls, Shards};

/// An HTTP listener as the HTTP thread sees it.
pub(crate) struct Site {
    /// Names it.
    pub(crate) id: ListenerId,
    /// As logs show it.
    pub(crate) host_port: String,
    /// Where files come from; `None`: the console within the program.
    pub(crate) root: Option<PathBuf>,
    /// TLS, if there is any.
    pub(crate) tls: Option<Arc<ListenerTls>>,
    /// Whether `/healthz` is served.
    pub(crate) healthz: bool,
    /// Whether `/metrics` is served.
    pub(crate) metrics: bool,
    /// How connections over WebSocket are taken; `None`: they are not.
    pub(crate) websockets: Option<Arc<Accepting>>,
}

impl Site {
    /// As configured.
    pub(crate) fn new(config: &ListenerConfig, spec: ListenerSpec) -> Self {
        let (id, host_port, tls) = (spec.id, spec.host_port.clone(), spec.tls.clone());
        Self {
            id,
            host_port,
            root: config.http_root_dir.as_ref().map(PathBuf::from),
            tls,
            healthz: config.healthz,
            metrics: config.metrics,
            websockets: config.websockets.then(|| Arc::new(Shards::accepting(spec))),
        }
    }
}
