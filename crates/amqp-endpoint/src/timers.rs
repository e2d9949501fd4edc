//! What is due when: idle time-outs both ways (part 2, section 2.4.5), the handshake's time-out, the wait for the
//! peer's close.

use std::time::Duration;

use amqp::condition::names;

use crate::connection::{Connection, Phase};
use amqp::ErrorCondition;

use crate::Now;

/// No peer gets empty frames more often than this, however short an idle time-out it announces.
const SHORTEST_HEARTBEAT: Duration = Duration::from_millis(50);
/// How long the answer to our close is waited for.
const CLOSE_TIME_OUT: Duration = Duration::from_secs(10);

/// An owner that calls so late after a time-out was held up, and may have missed what the peer sent.
const HELD_UP: Duration = Duration::from_secs(1);

/// Moments and durations of one connection.
#[derive(Debug)]
pub(crate) struct Timers {
    /// The latest moment the owner told us of.
    pub(crate) now: Now,
    /// When something was last heard of the peer.
    pub(crate) heard: Now,
    /// Bytes of the frame that is coming in, as many as were ever seen of it.
    part: usize,
    /// When something was last given out for the peer.
    sent: Now,
    /// The longest silence of the peer that is borne, once it knows of it.
    pub(crate) idle_time_out: Option<Duration>,
    /// The owner does not read, so that silence means nothing.
    idle_held: bool,
    /// The longest silence of ours, as the peer asked.
    heartbeat: Option<Duration>,
    /// When the peer's open must have come.
    pub(crate) handshake_by: Option<Now>,
    /// When the peer's answer to our close must have come.
    close_by: Option<Now>,
}

impl Timers {
    pub(crate) fn new(now: Now, handshake_time_out: Option<Duration>) -> Self {
        Self {
            now,
            heard: now,
            part: 0,
            sent: now,
            idle_time_out: None,
            idle_held: false,
            heartbeat: None,
            handshake_by: handshake_time_out.map(|time_out| now.saturating_add(time_out)),
            close_by: None,
        }
    }

    /// The peer's idle-time-out: it is sent an empty frame whenever half of it has passed in silence.
    pub(crate) fn set_peer_idle_time_out(&mut self, milliseconds: Option<u32>) {
        let time_out = milliseconds.filter(|&milliseconds| milliseconds > 0);
        self.heartbeat = time_out.map(|ms| (Duration::from_millis(ms.into()) / 2).max(SHORTEST_HEARTBEAT));
    }

    /// Something whole has come from the peer.
    #[inline]
    pub(crate) fn hear(&mut self) {
        self.heard = self.now;
        self.part = 0;
    }

    /// All that is there of the next frame are `bytes`. A large frame on a slow line is not silence, but looking at the
    /// same bytes again is.
    #[inline]
    pub(crate) fn hear_part(&mut self, bytes: usize) {
        if bytes > self.part {
            self.heard = self.now;
            self.part = bytes;
        }
    }

    pub(crate) fn wait_for_close(&mut self) {
        self.close_by = Some(self.now.saturating_add(CLOSE_TIME_OUT));
    }

    fn idle_by(&self) -> Option<Now> {
        self.idle_time_out.filter(|_| !self.idle_held).map(|time_out| self.heard.saturating_add(time_out))
    }

    /// The reason to end with a peer that was silent for too long: whose silence it was, and whether this end may be to
    /// blame. Scripts know it by its beginning, which is the old router's.
    fn silence(&self) -> ErrorCondition {
        let silent = self.now.saturating_sub(self.heard);
        let late = silent.saturating_sub(self.idle_time_out.unwrap_or_default());
        let mut text = format!("local-idle-timeout expired: nothing came from the peer for {silent:.1?}");
        if late >= HELD_UP {
            // The owner was to call at the time-out: it did not get the processor, or was busy elsewhere.
            text.push_str(&format!(", of which this end was itself held up for {late:.1?}"));
        }
        ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, text)
    }

    fn heartbeat_by(&self) -> Option<Now> {
        self.heartbeat.map(|interval| self.sent.saturating_add(interval))
    }
}

impl Connection {
    /// When to call [`Connection::handle_timeout`] at the latest. It moves with each flush and each frame received.
    pub fn next_timeout(&self) -> Option<Now> {
        if self.phase == Phase::Finished {
            return None;
        }
        let timers = &self.timers;
        [timers.idle_by(), timers.heartbeat_by(), timers.handshake_by, timers.close_by].into_iter().flatten().min()
    }

    /// Whether [`Connection::handle_timeout`] would give the peer up now. An owner that may have been held up first reads
    /// what has come in the meantime, which may be a sign of life.
    pub fn is_overdue(&self, now: Now) -> bool {
        let due = |moment: Option<Now>| moment.is_some_and(|moment| moment <= now);
        let timers = &self.timers;
        self.phase != Phase::Finished && (due(timers.idle_by()) || due(timers.handshake_by) || due(timers.close_by))
    }

    /// Does what is due at `now`: an empty frame, or an end. Poll for what came of it, with or without input.
    pub fn handle_timeout(&mut self, now: Now) {
        self.timers.now = now;
        if self.phase == Phase::Finished {
            return;
        }
        let due = |moment: Option<Now>| moment.is_some_and(|moment| moment <= now);
        if due(self.timers.close_by) {
            self.finish_close(None);
        } else if due(self.timers.handshake_by) {
            self.fail(ErrorCondition::new(names::NOT_ALLOWED, "Timeout waiting for initial handshake"));
        } else if due(self.timers.idle_by()) {
            self.fail(self.timers.silence());
        } else if due(self.timers.heartbeat_by()) {
            self.beat(now);
        }
    }

    /// An empty frame, unless something is on its way anyway.
    fn beat(&mut self, now: Now) {
        self.timers.sent = now;
        if self.output.is_empty() && self.may_write_frames() {
            self.output.heartbeat();
        }
    }

    /// Turns what was coalesced into frames: call it once per turn, before writing the output.
    pub fn flush(&mut self, now: Now) {
        self.timers.now = now;
        self.write_due();
        if self.output.take_oversize() {
            self.fail_oversize();
        }
        if self.output.was_touched() {
            self.timers.sent = now;
        }
    }

    /// Writes the dispositions and flows that wait.
    pub(crate) fn write_due(&mut self) {
        if self.due_sessions.is_empty() && self.due_links.is_empty() {
            return;
        }
        self.write_all_dispositions();
        // A link's flow tells of its session, too.
        let links = std::mem::take(&mut self.due_links);
        links.iter().for_each(|&link| self.write_link_flow(link));
        self.due_links = emptied(links);
        let sessions = std::mem::take(&mut self.due_sessions);
        for &session in &sessions {
            self.write_session_flow(session);
            if let Some(session) = self.sessions.get_mut(session as usize) {
                session.due = false;
            }
        }
        self.due_sessions = emptied(sessions);
    }

    /// The time-out for what is heard stands still while the owner does not read the peer's bytes (`hold`), and starts
    /// anew afterwards. Heartbeats to the peer go on.
    pub fn hold_idle_time_out(&mut self, now: Now, hold: bool) {
        if self.timers.idle_held && !hold {
            self.timers.heard = now;
        }
        self.timers.idle_held = hold;
    }

    /// When something was last heard of the peer.
    pub fn last_heard(&self) -> Now {
        self.timers.heard
    }
}

/// The list again, without its entries, and without much room.
fn emptied(mut list: Vec<u32>) -> Vec<u32> {
    list.clear();
    if list.capacity() > 64 { Vec::new() } else { list }
}
