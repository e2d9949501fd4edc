//! Links of a connection, and their credit.

use amqp::performative::{Attach, Detach, Flow, Role};
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{ErrorCondition, Performative};

use super::wire::{WIDE, Wire};

/// A link: this end's handle and the router's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) handle: u32,
    pub(crate) theirs: u32,
}

impl Wire {
    /// Attaches a sender, and waits for the answer only.
    pub(crate) fn sender(&mut self, address: &str) -> Link {
        let target = Target { address: Some(address.to_owned()), ..Target::default() };
        let attach = self.new_attach(Role::Sender);
        self.attach(Attach { source: Some(Source::default()), target: Some(target.into()), ..attach }).0
    }

    /// Attaches a sender without an address.
    pub(crate) fn anonymous_sender(&mut self) -> Link {
        let attach = self.new_attach(Role::Sender);
        self.attach(Attach { source: Some(Source::default()), target: Some(Target::default().into()), ..attach }).0
    }

    /// Attaches a receiver, and gives it credit.
    pub(crate) fn receiver(&mut self, address: &str, credit: u32) -> Link {
        let source = Source { address: Some(address.to_owned()), ..Source::default() };
        self.receiver_from(source, credit).0
    }

    /// Attaches a receiver for a source; with the source as the router has it.
    pub(crate) fn receiver_from(&mut self, source: Source, credit: u32) -> (Link, Option<Source>) {
        let attach = self.new_attach(Role::Receiver);
        let target = TargetTerminus::from(Target::default());
        let (link, answer) = self.attach(Attach { source: Some(source), target: Some(target), ..attach });
        if credit > 0 {
            self.credit(link, 0, credit);
        }
        (link, answer.source)
    }

    /// An attach with a handle of its own and a name after it.
    pub(crate) fn new_attach(&mut self, role: Role) -> Attach {
        let handle = self.next_handle;
        self.next_handle += 1;
        Attach::new(format!("link {handle}"), handle, role)
    }

    /// Sends an attach and waits for the answer.
    pub(crate) fn attach(&mut self, attach: Attach) -> (Link, Attach) {
        let (name, handle, role) = (attach.name.clone(), attach.handle, attach.role);
        self.send(Performative::Attach(Box::new(attach)));
        let answer = self.expect("the answer to an attach", |frame| match frame {
            Performative::Attach(answer) if answer.name == name && answer.role != role => Some((**answer).clone()),
            _ => None,
        });
        (Link { handle, theirs: answer.handle }, answer)
    }

    pub(crate) fn detach(&mut self, link: Link) {
        self.send(Performative::Detach(Detach { handle: link.handle, closed: true, error: None }));
        self.expect_detach(link);
    }

    /// Waits for a detach: whether it closes the link, and the reason.
    pub(crate) fn expect_detach(&mut self, link: Link) -> (bool, Option<ErrorCondition>) {
        self.expect("a detach", |frame| match frame {
            Performative::Detach(detach) if detach.handle == link.theirs => Some((detach.closed, detach.error.clone())),
            _ => None,
        })
    }

    /// What a flow about a link has in its session fields.
    pub(crate) fn new_flow(&self, link: Link) -> Flow {
        Flow {
            next_incoming_id: Some(0),
            incoming_window: self.incoming_window,
            outgoing_window: WIDE,
            handle: Some(link.handle),
            ..Flow::default()
        }
    }

    /// As a receiver: `credit` deliveries may come, counted from `delivery_count`.
    pub(crate) fn credit(&mut self, link: Link, delivery_count: u32, credit: u32) {
        let flow = self.new_flow(link);
        self.send(Performative::Flow(Flow { delivery_count: Some(delivery_count), link_credit: Some(credit), ..flow }));
    }

    /// Waits for a flow about a link that is as wanted; it and those about the link before it are dropped.
    pub(crate) fn expect_flow(&mut self, link: Link, what: &str, wanted: impl Fn(&Flow) -> bool) -> Flow {
        let of_link = |frame: &Performative<'_>| match frame {
            Performative::Flow(flow) if flow.handle == Some(link.theirs) => Some(flow.clone()),
            _ => None,
        };
        self.until(what, |wire| {
            let index = wire.frames.iter().position(|frame| of_link(frame).is_some_and(|flow| wanted(&flow)))?;
            let flow = of_link(&wire.frames[index]);
            let mut place = 0;
            wire.frames.retain(|frame| {
                place += 1;
                place > index + 1 || of_link(frame).is_none()
            });
            flow
        })
    }

    /// As a sender: waits until the router has given so much credit, and says from which delivery-count on.
    pub(crate) fn expect_credit(&mut self, link: Link, credit: u32) -> u32 {
        let flow = self.expect_flow(link, "credit", |flow| flow.link_credit == Some(credit) && !flow.drain);
        flow.delivery_count.expect("a flow about a link has it")
    }

    /// Makes a round trip, and gives the flows about a link that have come.
    pub(crate) fn flows(&mut self, link: Link) -> Vec<Flow> {
        self.sync();
        self.take(|frame| match frame {
            Performative::Flow(flow) if flow.handle == Some(link.theirs) => Some(flow.clone()),
            _ => None,
        })
    }
}
