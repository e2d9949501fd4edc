//! What stands around all mechanisms of listeners: failures are logged, and wait before the peer hears of them.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{Readiness, SaslServer, SaslStep, SecurityLayer};
use security::{Mechanisms, Underneath, claimed_user};
use tokio::runtime::Handle;

use super::penalties::Penalties;
use crate::shard::SaslHandle;

/// Mechanisms, guarded.
pub(super) struct Guard {
    inner: Box<dyn Mechanisms>,
    penalties: Arc<Penalties>,
    runtime: Handle,
    handle: SaslHandle,
    peer: Option<SocketAddr>,
    mechanism: String,
    /// Who the peer says it is.
    user: Option<String>,
    held: Option<Held>,
}

/// A failure that the peer has not heard of yet.
struct Held {
    code: SaslCode,
    until: Instant,
    address: Option<IpAddr>,
    penalties: Arc<Penalties>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.penalties.released(self.address);
    }
}

impl Guard {
    pub(super) fn new(
        inner: Box<dyn Mechanisms>,
        penalties: Arc<Penalties>,
        runtime: Handle,
        underneath: &Underneath,
        handle: &SaslHandle,
    ) -> Self {
        Self {
            inner,
            penalties,
            runtime,
            handle: handle.clone(),
            peer: underneath.peer,
            mechanism: String::new(),
            user: None,
            held: None,
        }
    }

    fn conclude(&mut self, step: SaslStep) -> SaslStep {
        let SaslStep::Failed(code) = step else { return step };
        let reason = self.inner.reason();
        self.log(reason.as_deref().unwrap_or("no reason is known"));
        // A failure that is no fault of the peer's is no guess.
        if code == SaslCode::Auth { self.hold(code) } else { SaslStep::Failed(code) }
    }

    fn hold(&mut self, code: SaslCode) -> SaslStep {
        let (now, address) = (Instant::now(), self.peer.map(|peer| peer.ip()));
        let wait = self.penalties.failed(address, now);
        self.held = Some(Held { code, until: now + wait, address, penalties: Arc::clone(&self.penalties) });
        let handle = self.handle.clone();
        self.runtime.spawn(async move {
            tokio::time::sleep(wait).await;
            handle.poke();
        });
        SaslStep::Pending
    }

    fn log(&self, reason: &str) {
        // A library's words may have the peer's in them.
        let reason: String = reason.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let (id, mechanism) = (self.handle.connection_id(), &self.mechanism);
        let peer = self.peer.map_or_else(|| "an unknown address".to_owned(), |peer| peer.to_string());
        let user = self.user.as_deref().map_or_else(String::new, |user| format!(" of user '{user}'"));
        let mechanism = if mechanism.is_empty() { String::new() } else { format!(" by {}", mechanism.escape_debug()) };
        logging::log!(SERVER, Warning, "[C{id}] Authentication{user} from {peer}{mechanism} failed: {reason}");
    }
}

impl SaslServer for Guard {
    fn prepare(&mut self) -> Readiness {
        let readiness = self.inner.prepare();
        if let (Readiness::Failed(_), Some(reason)) = (readiness, self.inner.reason()) {
            self.log(&reason);
        }
        readiness
    }

    fn mechanisms(&self) -> Vec<Symbol> {
        self.inner.mechanisms()
    }

    fn init(&mut self, mechanism: &str, initial_response: Option<&[u8]>, hostname: Option<&str>) -> SaslStep {
        mechanism.clone_into(&mut self.mechanism);
        self.user = initial_response.and_then(|response| claimed_user(mechanism, response));
        if self.penalties.is_full(self.peer.map(|peer| peer.ip())) {
            self.log("too many have failed at this address and are waiting");
            return SaslStep::Failed(SaslCode::SysTemp);
        }
        let step = self.inner.init(mechanism, initial_response, hostname);
        self.conclude(step)
    }

    fn response(&mut self, response: &[u8]) -> SaslStep {
        self.user = self.user.take().or_else(|| claimed_user(&self.mechanism, response));
        let step = self.inner.response(response);
        self.conclude(step)
    }

    fn resume(&mut self) -> SaslStep {
        match &self.held {
            Some(held) if held.until <= Instant::now() => {
                let code = held.code;
                self.held = None;
                SaslStep::Failed(code)
            }
            Some(_) => SaslStep::Pending,
            None => {
                let step = self.inner.resume();
                self.conclude(step)
            }
        }
    }

    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        self.inner.security_layer()
    }
}
