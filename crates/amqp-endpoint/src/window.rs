//! Session windows (part 2, section 2.5.6): how many transfer frames each end may send.

use amqp::condition::names;
use amqp::performative::{Flow, Role};

use crate::coalesce::Wire;
use crate::connection::Queued;
use crate::fault::Fault;
use crate::session::{OUTGOING_WINDOW, Session};
use crate::{Connection, Event, SessionId};

/// Why a peer is made to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Whoever reads what it sends lags behind.
    Lag,
    /// There is too little memory for what it sends.
    Memory,
}

/// For which of the reasons a session is held; by default for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holds {
    lag: bool,
    memory: bool,
}

impl Holds {
    /// Whether it is held at all.
    pub(crate) fn any(self) -> bool {
        self.lag || self.memory
    }
}

impl Session {
    /// Takes a transfer frame of the peer's; false if its window was used up.
    #[inline]
    pub(crate) fn take_frame(&mut self) -> bool {
        if self.incoming_window == 0 {
            return false;
        }
        self.incoming_window -= 1;
        self.next_incoming_id = self.next_incoming_id.wrapping_add(1);
        true
    }

    /// Half of the window announced is used.
    #[inline]
    pub(crate) fn wants_replenishing(&self, full: u32) -> bool {
        self.incoming_window <= full / 2 && !self.held.any()
    }

    /// Accounts for a transfer frame of ours.
    #[inline]
    pub(crate) fn sent_frame(&mut self) {
        self.next_outgoing_id = self.next_outgoing_id.wrapping_add(1);
        self.remote_incoming_window -= 1;
    }

    /// A flow with the session's part of the fields. It announces a full window, or none while the session is held;
    /// what was announced before stays allowed, as frames may be on their way.
    pub(crate) fn flow(&mut self, full: u32) -> Flow {
        self.flow_due = false;
        let held = self.held.any();
        if !held {
            self.incoming_window = full;
        }
        Flow {
            next_incoming_id: self.mapped.then_some(self.next_incoming_id),
            incoming_window: if held { 0 } else { full },
            next_outgoing_id: self.next_outgoing_id,
            outgoing_window: OUTGOING_WINDOW,
            ..Flow::default()
        }
    }

    /// The peer's view of the session. False if it has seen frames that we did not send.
    fn update(&mut self, flow: &Flow) -> bool {
        // Before the peer has seen our begin it counts from the first id, which is 0 here.
        let seen = flow.next_incoming_id.unwrap_or(0);
        let in_flight = self.next_outgoing_id.wrapping_sub(seen);
        self.next_incoming_id = flow.next_outgoing_id;
        self.remote_incoming_window = flow.incoming_window.saturating_sub(in_flight);
        in_flight <= i32::MAX as u32
    }
}

impl Connection {
    /// Announces an incoming window of 0, or the full one again when it is held for no reason any more: how an owner that
    /// cannot take more makes the peer wait.
    pub fn hold_session(&mut self, session: SessionId, why: Hold, hold: bool) {
        let Some(there) = self.sessions.get_mut(session.0 as usize) else { return };
        let before = there.held;
        match why {
            Hold::Lag => there.held.lag = hold,
            Hold::Memory => there.held.memory = hold,
        }
        if there.held.any() != before.any() {
            self.session_flow_due(session.0);
        }
    }

    /// The session's part of a flow.
    pub(crate) fn update_window(&mut self, index: u32, flow: &Flow) -> Result<(), Fault> {
        let Some(session) = self.sessions.get_mut(index as usize) else { return Ok(()) };
        if !session.update(flow) {
            let text = format!(
                "next-incoming-id {} is beyond the {} transfer frames sent",
                flow.next_incoming_id.unwrap_or(0),
                session.next_outgoing_id
            );
            return Err(Fault::session(index, names::INVALID_FIELD, text));
        }
        if session.blocked && session.remote_incoming_window > 0 {
            session.blocked = false;
            self.send_aborts(index);
            self.queue.push_back(Queued::event(Event::SessionWritable(SessionId(index))));
        }
        Ok(())
    }

    /// Sends the aborts that waited for the window.
    fn send_aborts(&mut self, index: u32) {
        let Some(session) = self.sessions.get_mut(index as usize) else { return };
        if !std::mem::take(&mut session.aborts_due) {
            return;
        }
        let waiting = |link: &u32| self.links.get(*link as usize).is_some_and(|link| link.abort_due);
        let links: Vec<u32> = session.handles.iter().map(|(_, &link)| link).filter(waiting).collect();
        links.into_iter().for_each(|link| self.abort_or_wait(link));
    }

    /// Has a flow sent for the session at the next flush.
    pub(crate) fn session_flow_due(&mut self, index: u32) {
        if let Some(session) = self.sessions.get_mut(index as usize) {
            session.flow_due = true;
            self.session_due(index);
        }
    }

    /// Has the session looked at at the next flush.
    #[inline]
    pub(crate) fn session_due(&mut self, index: u32) {
        if let Some(session) = self.sessions.get_mut(index as usize).filter(|session| !session.due) {
            session.due = true;
            self.due_sessions.push(index);
        }
    }

    /// Writes the flow that is due, if it is.
    pub(crate) fn write_session_flow(&mut self, index: u32) {
        let due = |session: &&mut Session| session.flow_due && session.mapped && !session.ended;
        if let Some(session) = self.sessions.get_mut(index as usize).filter(due) {
            let mut flow = session.flow(self.limits.session_window);
            self.output.flow(index as u16, &mut flow);
        }
    }

    /// Writes the dispositions of all sessions that wait.
    #[cold]
    pub(crate) fn write_all_dispositions(&mut self) {
        self.ordered = false;
        for at in 0..self.due_sessions.len() {
            self.write_dispositions(self.due_sessions[at]);
        }
    }

    /// Writes the dispositions that wait.
    pub(crate) fn write_dispositions(&mut self, index: u32) {
        if let Some(session) = self.sessions.get_mut(index as usize).filter(|session| !session.ended) {
            let mut wire = Wire { output: &mut self.output, channel: index as u16, role: Role::Receiver };
            session.as_receiver.write(&mut wire);
            wire.role = Role::Sender;
            session.as_sender.write(&mut wire);
        }
    }
}
