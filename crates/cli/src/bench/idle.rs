//! Connections that do nothing: what they cost the server in memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use amqp_endpoint::{Connection, Event, SessionId};

use super::party::{Party, link_ended};
use super::plan::Plan;
use super::receiver::attach_receiver;
use super::shared::Counters;

/// A connection with receiving links on which nothing comes.
pub(super) struct IdleParty {
    plan: Arc<Plan>,
    /// Number of its first link.
    first: usize,
    /// Links it has.
    links: usize,
    session: Option<SessionId>,
}

/// Counts the links attached.
#[derive(Debug, Default)]
pub(super) struct Attached(u64);

impl IdleParty {
    /// `first`: the number of its first link; the others have the numbers after it.
    pub(super) fn new(plan: Arc<Plan>, first: usize) -> Self {
        Self { plan, first, links: 0, session: None }
    }
}

impl Party for IdleParty {
    type Common = Attached;

    fn begin(&mut self, engine: &mut Connection, session: SessionId) -> Result<(), String> {
        self.session = Some(session);
        self.attach(engine, 1)
    }

    fn attach(&mut self, engine: &mut Connection, count: usize) -> Result<(), String> {
        let Some(session) = self.session else { return Ok(()) };
        for _ in 0..count {
            let number = self.first + self.links;
            attach_receiver(&self.plan, engine, session, number, number)?;
            self.links += 1;
        }
        Ok(())
    }

    fn event(
        &mut self,
        common: &mut Attached,
        _engine: &mut Connection,
        event: Event<'_>,
        _now: u64,
    ) -> Result<(), String> {
        let address = |context: u64| self.plan.address_of(context as usize);
        match event {
            Event::AttachAnswered(_, attach) if attach.source.is_some() => common.0 += 1,
            Event::Detached { context, error, .. } => {
                return Err(link_ended("receiver", &address(context), error.as_ref()));
            }
            Event::LinkFailed { context, error, .. } => {
                return Err(link_ended("receiver", &address(context), Some(&error)));
            }
            _ => {}
        }
        Ok(())
    }

    fn report(common: &mut Attached, counters: &Counters, _now: u64) {
        counters.attached.fetch_add(std::mem::take(&mut common.0), Ordering::Relaxed);
    }
}
