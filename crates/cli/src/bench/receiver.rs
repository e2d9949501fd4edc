//! Links that receive.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use amqp::DeliveryState;
use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp_endpoint::{Connection, Event, IncomingTransfer, LinkId, NewLink, SessionId};

use super::histogram::Histogram;
use super::party::{Party, link_ended};
use super::plan::Plan;
use super::seen::Seen;
use super::shared::{Counters, Window};
use super::stamp::{self, Found, Stamp};
use crate::client::Url;

/// What the receivers of a worker have in common.
pub(super) struct Receiving {
    run: u32,
    window: Option<Window>,
    /// How long measured messages were under way.
    pub(super) latency: Histogram,
    /// Which messages came, by sender. (Of a run in which every receiver gets every message, each link has its own.)
    pub(super) seen: Vec<Seen>,
    /// What is wrong with what came.
    pub(super) faults: Faults,
    received: u64,
    told: u64,
    attached: u64,
}

/// What is wrong with messages that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    /// Came after one that was sent later by the same sender.
    pub(super) disordered: u64,
    /// Too short or too long.
    pub(super) damaged: u64,
    /// Not of this run.
    pub(super) foreign: u64,
    /// Given up by the peer half-way.
    pub(super) aborted: u64,
}

impl Receiving {
    pub(super) fn new(plan: &Plan, run: u32) -> Self {
        let seen = if plan.fan_out { Vec::new() } else { vec![Seen::default(); plan.senders] };
        Self {
            run,
            window: None,
            latency: Histogram::default(),
            seen,
            faults: Faults::default(),
            received: 0,
            told: 0,
            attached: 0,
        }
    }
}

/// A message of which more frames are to come.
struct Partial {
    /// `None`: not of this run.
    found: Option<Found>,
    length: usize,
}

struct Link {
    /// Which of the run's receivers.
    number: usize,
    partial: Option<Partial>,
    /// By sender of this address: the number that its next message has at least.
    expected: Vec<u64>,
    /// By sender of this address, if every receiver gets every message.
    seen: Vec<Seen>,
}

/// A connection with links that receive.
pub(super) struct ReceiverParty {
    plan: Arc<Plan>,
    links: Vec<Link>,
    window: Option<Window>,
}

impl ReceiverParty {
    /// For these of the run's receivers.
    pub(super) fn new(plan: Arc<Plan>, numbers: &[usize]) -> Self {
        let link = |number: &usize| {
            let senders = (plan.senders - *number % plan.addresses).div_ceil(plan.addresses);
            let seen = if plan.fan_out { vec![Seen::default(); senders] } else { Vec::new() };
            Link { number: *number, partial: None, expected: vec![0; senders], seen }
        };
        let links = numbers.iter().map(link).collect();
        Self { plan, links, window: None }
    }

    /// In a run in which every receiver gets every message: for each receiver and sender, what came. The sender's
    /// number comes first.
    pub(super) fn fanned_out(&self) -> impl Iterator<Item = (usize, &Seen)> {
        self.links.iter().flat_map(move |link| {
            let address = link.number % self.plan.addresses;
            link.seen.iter().enumerate().map(move |(index, seen)| (address + index * self.plan.addresses, seen))
        })
    }

    fn transfer(&mut self, common: &mut Receiving, engine: &mut Connection, transfer: &IncomingTransfer<'_>, now: u64) {
        let link = &mut self.links[transfer.context as usize];
        if transfer.aborted {
            link.partial = None;
            common.faults.aborted += 1;
            engine.add_credit(transfer.link, 1);
            return;
        }
        let partial = match link.partial.take() {
            Some(partial) if !transfer.first => Partial { length: partial.length + transfer.payload.len(), ..partial },
            _ => Partial { found: stamp::find(transfer.payload), length: transfer.payload.len() },
        };
        if transfer.more {
            link.partial = Some(partial);
            return;
        }
        if !transfer.settled {
            engine.update_incoming(transfer.link, transfer.delivery_id, Some(DeliveryState::Accepted), true);
        }
        engine.add_credit(transfer.link, 1);
        match partial.found {
            Some(found) if found.stamp.run == common.run && (found.stamp.sender as usize) < self.plan.senders => {
                if found.section + found.length != partial.length {
                    common.faults.damaged += 1;
                }
                link.came(&self.plan, common, found.stamp, now);
            }
            _ => common.faults.foreign += 1,
        }
    }
}

impl Link {
    fn came(&mut self, plan: &Plan, common: &mut Receiving, stamp: Stamp, now: u64) {
        let sender = stamp.sender as usize;
        let here = sender / plan.addresses;
        let seen = if plan.fan_out { self.seen.get_mut(here) } else { common.seen.get_mut(sender) };
        if sender % plan.addresses != self.number % plan.addresses
            || !seen.is_some_and(|seen| seen.mark(stamp.sequence))
        {
            // Of this run, but it should never have come here.
            common.faults.foreign += 1;
            return;
        }
        common.received += 1;
        let expected = &mut self.expected[here];
        if stamp.sequence < *expected {
            common.faults.disordered += 1;
        } else {
            *expected = stamp.sequence + 1;
        }
        if common.window.is_some_and(|window| window.measures(stamp.due)) {
            common.latency.add(now.saturating_sub(stamp.due));
        }
    }
}

impl Party for ReceiverParty {
    type Common = Receiving;

    fn url(plan: &Plan) -> &Url {
        plan.receive_from.as_ref().unwrap_or(&plan.connect.url)
    }

    fn begin(&mut self, engine: &mut Connection, session: SessionId) -> Result<(), String> {
        for (index, link) in self.links.iter().enumerate() {
            attach_receiver(&self.plan, engine, session, link.number, index)?;
        }
        Ok(())
    }

    fn event(
        &mut self,
        common: &mut Receiving,
        engine: &mut Connection,
        event: Event<'_>,
        now: u64,
    ) -> Result<(), String> {
        let address = |context: u64| {
            self.links.get(context as usize).map(|link| self.plan.address_of(link.number)).unwrap_or_default()
        };
        match event {
            Event::AttachAnswered(_, attach) if attach.source.is_some() => common.attached += 1,
            Event::Transfer(transfer) => {
                common.window = self.window;
                self.transfer(common, engine, &transfer, now);
            }
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

    fn go(&mut self, window: Window) {
        self.window = Some(window);
    }

    fn report(common: &mut Receiving, counters: &Counters, now: u64) {
        if common.received != common.told {
            counters.received.fetch_add(common.received - common.told, Ordering::Relaxed);
            counters.last_received.fetch_max(now, Ordering::Relaxed);
            common.told = common.received;
        }
        counters.attached.fetch_add(std::mem::take(&mut common.attached), Ordering::Relaxed);
    }
}

/// Attaches a receiving link of the run, and gives it its credit.
pub(super) fn attach_receiver(
    plan: &Plan,
    engine: &mut Connection,
    session: SessionId,
    number: usize,
    context: usize,
) -> Result<LinkId, String> {
    let source = Source { address: Some(plan.address_of(number)), ..Source::default() };
    let link = engine.attach(
        session,
        NewLink {
            name: format!("receiver-{number}"),
            sender: false,
            snd_settle_mode: SenderSettleMode::Mixed,
            rcv_settle_mode: ReceiverSettleMode::First,
            source: Some(source),
            target: Some(TargetTerminus::Target(Target::default())),
            max_message_size: None,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
        },
    );
    let link = link.map_err(|error| error.to_string())?;
    engine.set_link_context(link, context as u64);
    engine.add_credit(link, plan.credit);
    Ok(link)
}
