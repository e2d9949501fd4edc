//! From what an endpoint tells to what the core must know.

use std::sync::Arc;

use amqp::performative::{Attach, Role, SenderSettleMode};
use amqp_endpoint::{Event, Input, LinkId};
use router_core::{AttachInfo, ConnKey, Core, InKey, LinkKey, LinkTerms, OutKey};

use super::conn::Link;
use super::host::{ShardHost, mark_dirty};
use super::outgoing::OUTPUT_HIGH;
use super::own_sessions::Origin;
use super::place::LinkRef;

impl ShardHost {
    /// Gives an endpoint the bytes that came, and acts on what it makes of them. Says how many it is done with.
    pub(super) fn drive(&mut self, core: &mut Core<Self>, slot: u32, buffer: &Arc<Vec<u8>>, filled: usize) -> usize {
        self.buffer = Arc::clone(buffer);
        let mut input = Input::new(buffer.get(..filled).unwrap_or_default());
        while let Some(conn) = self.conns.get_mut(slot as usize) {
            let Some(event) = conn.endpoint.poll(self.now, &mut input) else {
                mark_dirty(&mut self.dirty, conn);
                break;
            };
            self.event(core, slot, event);
            self.report(core);
        }
        self.buffer = Arc::clone(&self.nothing);
        input.consumed()
    }

    /// Acts on what an endpoint has to tell without new bytes.
    pub(super) fn attend(&mut self, core: &mut Core<Self>, slot: u32) {
        if let Some(conn) = self.conns.get_mut(slot as usize) {
            conn.flags.attention = false;
            let nothing = Arc::clone(&self.nothing);
            self.drive(core, slot, &nothing, 0);
        }
    }

    /// Tells the core which connections take no more messages: their output is full.
    pub(super) fn choke(&mut self, core: &mut Core<Self>) {
        for index in 0..self.dirty.len() {
            let Some(conn) = self.dirty.get(index).and_then(|slot| self.conns.get_mut(*slot as usize)) else {
                continue;
            };
            if conn.endpoint.output().len() > OUTPUT_HIGH
                && !conn.flags.choked
                && let Some(key) = conn.key
            {
                conn.flags.choked = true;
                core.set_writable(self.now, self, key, false);
            }
        }
    }

    /// Tells the core that a connection takes messages again.
    pub(super) fn unchoke(&mut self, core: &mut Core<Self>, slot: u32) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        if std::mem::take(&mut conn.flags.choked)
            && let Some(key) = conn.key
        {
            core.set_writable(self.now, self, key, true);
            self.report(core);
        }
    }

    /// Tells the core which deliveries are through, and which credit has changed by itself.
    #[inline]
    pub(super) fn report(&mut self, core: &mut Core<Self>) {
        while let Some(key) = self.through.pop_front() {
            core.transmitted(self.now, self, key);
        }
        while let Some(link) = self.recount.pop() {
            self.credit_again(core, link);
        }
    }

    #[inline]
    fn event(&mut self, core: &mut Core<Self>, slot: u32, event: Event<'_>) {
        match event {
            Event::Transfer(transfer) => self.transfer(core, slot, transfer),
            Event::Outcome { key, state, settled } => core.outcome(self.now, self, OutKey(key), state, settled),
            Event::SenderOutcome { key, state, settled } => {
                core.sender_outcome(self.now, self, InKey(key), state, settled);
            }
            Event::Credit { link, context, credit, drain, .. } => self.credit(core, slot, link, context, credit, drain),
            Event::Drained { context, returned, .. } => core.drained(self.now, self, LinkKey(context), returned),
            other => self.rare_event(core, slot, other),
        }
    }

    fn rare_event(&mut self, core: &mut Core<Self>, slot: u32, event: Event<'_>) {
        match event {
            Event::Authenticated { mechanism, user } => {
                if let Some(conn) = self.conns.get_mut(slot as usize) {
                    conn.authenticated = (mechanism.map(|mechanism| mechanism.0), user);
                    conn.flags.securing = conn.endpoint.has_security_layer();
                }
            }
            Event::Opened(open) => self.opened(core, slot, open),
            Event::Attached(link, attach) => self.attached(core, slot, link, *attach),
            Event::Detached { link, context, closed, error, answer } => {
                if self.detached_while_parked(slot, link, closed) {
                    return;
                }
                self.link_gone(core, slot, link);
                self.count_link_out(slot, link);
                if answer {
                    core.detach_answered(self.now, self, LinkKey(context), closed, error);
                } else {
                    core.detach(self.now, self, LinkKey(context), closed, error);
                }
            }
            Event::LinkFailed { link, context, .. } | Event::LinkLost { link, context } => {
                self.link_gone(core, slot, link);
                self.count_link_out(slot, link);
                core.link_lost(self.now, self, LinkKey(context));
            }
            Event::FlowProperties { context, properties, .. } => {
                core.flow_properties(self.now, self, LinkKey(context), properties);
            }
            Event::SessionWritable(_) => self.pump(slot),
            Event::Closed(error) => self.closed_by_peer(core, slot, error),
            Event::Failed(error) => self.failed(core, slot, &error),
            Event::AttachAnswered(link, attach) => self.attach_answered(core, slot, link, *attach),
            // Its links were told of one by one.
            Event::SessionEnded(session, _) => {
                if let Some(conn) = self.conns.get_mut(slot as usize) {
                    conn.sessions.ended(session);
                    conn.count_session_out(session);
                }
            }
            Event::SessionBegun(session, _) => self.session_begun(slot, session),
            // TLS is not allowed here. The frequent ones never come here.
            Event::SessionAnswered(..)
            | Event::StartTls
            | Event::Transfer(_)
            | Event::Outcome { .. }
            | Event::SenderOutcome { .. }
            | Event::Credit { .. }
            | Event::Drained { .. } => {}
        }
    }

    fn attached(&mut self, core: &mut Core<Self>, slot: u32, link: LinkId, mut attach: Attach) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let Some(key) = conn.key else { return };
        let incoming = attach.role == Role::Sender;
        let own_user_id_only = conn.own_user_id_only();
        let state = Link::new(
            &conn.settings,
            conn.flags.watched,
            own_user_id_only,
            attach.source.as_ref(),
            attach.target.as_ref(),
        );
        *conn.link_mut(link) = state;
        if !self.may_attach(slot, link, &attach) {
            return;
        }
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let at = conn.link_ref(link);
        let terms = terms_of(&mut attach);
        let info = AttachInfo {
            name: attach.name,
            incoming,
            send_settled: !incoming && attach.snd_settle_mode == SenderSettleMode::Settled,
            terms,
            source: attach.source,
            target: attach.target,
        };
        if !self.park(core, at, key, &info) {
            self.go_on_attaching(core, at, key, info);
        }
    }

    /// Has the core decide about an attach.
    pub(super) fn go_on_attaching(&mut self, core: &mut Core<Self>, at: LinkRef, key: ConnKey, attach: AttachInfo) {
        self.attaching = self.origin_of(at);
        let link_key = core.attach(self.now, self, key, at, attach);
        self.attaching = None;
        if let Some(conn) = self.conns.get_mut(at.conn.slot as usize) {
            conn.endpoint.set_link_context(LinkId(at.link), link_key.0);
        }
    }

    /// Takes a link out of what policy counts, unless the whole connection ends.
    fn count_link_out(&mut self, slot: u32, link: LinkId) {
        if let Some(conn) = self.conns.get_mut(slot as usize)
            && !conn.endpoint.is_ending()
        {
            conn.count_link_out(link);
        }
    }

    /// Whose link this is, should it be passed on: a client's, on whatever session, or that of a session of another
    /// router, which has one for each client.
    pub(super) fn origin_of(&self, at: LinkRef) -> Option<Origin> {
        let conn = self.conns.get(at.conn.slot as usize)?;
        let session = if at.conn.peer { conn.endpoint.link(LinkId(at.link))?.session.0 } else { 0 };
        Some(Origin { conn: conn.id, session })
    }

    /// Lets go of what was on its way on a link.
    fn link_gone(&mut self, core: &mut Core<Self>, slot: u32, link: LinkId) {
        self.abandon_incoming(core, slot, link);
        self.hold_up_at(slot, link, false);
        if let Some(conn) = self.conns.get_mut(slot as usize) {
            conn.link_mut(link).parked = None;
            conn.clear_outgoing(link);
            conn.free_session(link);
            self.openings.extend(conn.postponed.drain(..));
        }
    }

    #[inline]
    fn credit(&mut self, core: &mut Core<Self>, slot: u32, link: LinkId, context: u64, credit: u32, drain: bool) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let state = conn.link_mut(link);
        state.draining = drain;
        if state.waiting.is_empty() {
            core.credit(self.now, self, LinkKey(context), credit, drain);
        } else {
            let at = conn.link_ref(link);
            self.grown(at);
            self.report_credit(core, slot, link);
        }
    }

    /// The endpoint has taken credit back.
    fn credit_again(&mut self, core: &mut Core<Self>, link: LinkRef) {
        if self.conn(link.conn).is_some() {
            self.report_credit(core, link.conn.slot, LinkId(link.link));
        }
    }

    /// Tells the core how much credit a link has beyond what waits for it here.
    pub(super) fn report_credit(&mut self, core: &mut Core<Self>, slot: u32, link: LinkId) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let Some(info) = conn.endpoint.link(link) else { return };
        let (key, credit) = (LinkKey(info.context), info.credit);
        let state = conn.link_mut(link);
        let waiting = state.waiting.iter().filter(|delivery| !delivery.is_begun()).count();
        let credit = credit.saturating_sub(u32::try_from(waiting).unwrap_or(u32::MAX));
        let drain = state.draining;
        core.credit(self.now, self, key, credit, drain);
    }

    /// Sends what waits on a connection.
    pub(super) fn pump(&mut self, slot: u32) {
        let mut through = std::mem::take(&mut self.pumped);
        if let Some(conn) = self.conns.get_mut(slot as usize) {
            let before = conn.endpoint.output().len();
            // Without a change there is nothing to flush: it would be pumped again at once, for ever.
            if conn.pump(&mut through) || conn.endpoint.output().len() != before {
                mark_dirty(&mut self.dirty, conn);
            }
        }
        self.through.extend(through.drain(..));
        self.pumped = through;
    }
}

/// What an attach says beside name, direction and termini.
pub(super) fn terms_of(attach: &mut Attach) -> LinkTerms {
    LinkTerms {
        snd_settle_mode: attach.snd_settle_mode,
        rcv_settle_mode: attach.rcv_settle_mode,
        max_message_size: attach.max_message_size,
        offered_capabilities: std::mem::take(&mut attach.offered_capabilities),
        desired_capabilities: std::mem::take(&mut attach.desired_capabilities),
        properties: attach.properties.take(),
    }
}
