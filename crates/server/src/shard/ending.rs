//! How connections end.

use std::time::Duration;

use amqp::ErrorCondition;
use amqp::condition::names;
use amqp_endpoint::LinkId;
use router_core::Core;

use super::conn::{Conn, Peer};
use super::event::ShardEvent;
use super::host::{ShardHost, mark_dirty};
use super::place::ConnRef;

/// How long a connection may take to hear our last words.
const LINGER: Duration = Duration::from_secs(5);

impl ShardHost {
    /// The peer has closed the connection.
    pub(super) fn closed_by_peer(&mut self, core: &mut Core<Self>, slot: u32, mut error: Option<ErrorCondition>) {
        if let Some(error) = error.as_mut().filter(|error| error.condition.as_str() == names::CONNECTION_REDIRECT)
            && let Some(info) = error.info.take()
            && let Some(conn) = self.conns.get(slot as usize)
            && let Peer::Connected { attempt, .. } = &conn.peer
        {
            let (connector, connection_id) = (attempt.id, conn.id);
            self.shared.tell(ShardEvent::ConnectorRedirected { connector, connection_id, info });
        }
        let message = self.conns.get(slot as usize).map(|conn| match error {
            Some(error) => conn.failed_line(&error.to_string()),
            None => format!("[C{}] Connection to {} closed by the peer", conn.id, conn.peer.host()),
        });
        self.end(core, slot, message.unwrap_or_default());
    }

    /// The connection cannot go on.
    pub(super) fn failed(&mut self, core: &mut Core<Self>, slot: u32, error: &ErrorCondition) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        // There is no way to say a last word before the layers are ready.
        conn.flags.broken |= conn.flags.preparing;
        let reason = conn.transport.fault().unwrap_or_else(|| error.to_string());
        let line = conn.failed_line(&reason);
        conn.log_failure(&line);
        self.end(core, slot, line);
    }

    /// Closes all connections of this shard, in an orderly way.
    pub(super) fn close_all(&mut self, error: &ErrorCondition) {
        for (slot, conn) in &mut self.conns {
            conn.endpoint.close(Some(error.clone()));
            // Slots are fewer than 2^32.
            self.attention.push(slot as u32);
            mark_dirty(&mut self.dirty, conn);
        }
    }

    /// Drops a connection without a word to the peer.
    pub(super) fn drop_now(&mut self, core: &mut Core<Self>, at: ConnRef) {
        let Some(conn) = self.conn(at) else { return };
        conn.flags.broken = true;
        let line = conn.failed_line("amqp:connection:framing-error connection aborted");
        for link in 0..conn.links.len() as u32 {
            self.abandon_incoming(core, at.slot, LinkId(link));
        }
        self.end(core, at.slot, line);
        self.reap(at.slot);
    }

    /// The connection could not be made.
    pub(super) fn cannot_connect(&mut self, core: &mut Core<Self>, slot: u32, reason: &str) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        conn.flags.broken = true;
        let line = conn.failed_line(reason);
        conn.log_failure(&line);
        self.end(core, slot, line);
        self.reap(slot);
    }

    /// Tells everyone of the end, once.
    fn end(&mut self, core: &mut Core<Self>, slot: u32, message: String) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        if std::mem::replace(&mut conn.flags.ended, true) {
            return;
        }
        conn.deadline = Some(self.now + LINGER);
        let (id, key) = (conn.id, conn.key.take());
        conn.leave(&self.shared);
        if let Peer::Connected { attempt, .. } = &conn.peer {
            let (connector, connection_id) = (attempt.id, id);
            self.shared.tell(match key {
                Some(_) => ShardEvent::ConnectorLost { connector, connection_id, message },
                None => ShardEvent::ConnectorFailed { connector, connection_id, message },
            });
        }
        if let Some(key) = key {
            logging::log!(ROUTER_CORE, Info, "[C{id}] Connection Closed");
            core.close_connection(self.now, self, key);
        }
    }

    /// Removes a connection that has ended and has nothing more to say, or nobody to say it to.
    pub(super) fn reap(&mut self, slot: u32) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        if !conn.flags.ended {
            return;
        }
        let late = conn.deadline.is_some_and(|deadline| deadline <= self.now);
        let silent = conn.endpoint.is_finished() && conn.endpoint.output().is_empty();
        if conn.flags.broken || late || silent && conn.transport.close() {
            self.shared.forget(conn.id);
            self.conns.remove(slot as usize);
        }
    }
}

impl Conn {
    /// Logs a failure: once, if a connector's attempts fail for the same reason again and again.
    fn log_failure(&self, line: &str) {
        if let Peer::Connected { attempt, .. } = &self.peer {
            if self.key.is_some() {
                // The attempt had succeeded, and the connection is lost.
                attempt.failures.forget();
            }
            if !attempt.failures.is_news(line) {
                logging::log!(SERVER, Debug, "{line}");
                return;
            }
        }
        logging::log!(SERVER, Info, "{line}");
    }

    /// The log line of a connection that failed for this reason, in the old router's words.
    pub(super) fn failed_line(&self, reason: &str) -> String {
        match &self.peer {
            Peer::Connected { attempt, .. } => {
                format!("[C{}] Connection to {} failed: {reason}", self.id, attempt.host_port)
            }
            Peer::Accepted { from, to, .. } => {
                format!("[C{}] Connection from {from} (to {}) failed: {reason}", self.id, to.host_port)
            }
        }
    }
}

impl Peer {
    /// Who it is, for logs and management: `ip:port` of a client, the configured `host:port` of a server.
    pub(super) fn host(&self) -> String {
        match self {
            Self::Accepted { from, .. } => from.to_string(),
            Self::Connected { attempt, .. } => attempt.host_port.clone(),
        }
    }
}
