//! Clients: senders and receivers on one connection, which come back when their connection is lost.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use amqp::DeliveryState;
use amqp::terminus::{Source, Target, TargetTerminus};

use crate::frame::{Attach, Frame, Transfer, WireLink};
use crate::ledger::{Fate, Ledger};
use crate::message::Message;

/// Credit that a receiver keeps its router supplied with.
const CREDIT: u32 = 100;

/// What a client does on one link.
#[derive(Clone, Debug)]
pub enum Does {
    /// It sends to this address; `None`: each message says where it goes to.
    Sends(Option<String>),
    /// It receives from this address, and accepts what comes.
    Receives(String),
}

/// A message to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) id: u64,
    /// What its bytes look like.
    pub(crate) looks: u64,
    pub(crate) to: Option<String>,
    pub(crate) priority: u8,
    pub(crate) settled: bool,
}

struct Link {
    does: Does,
    wire: Option<WireLink>,
    attached: bool,
    credit: u32,
    /// Not sent yet.
    waiting: VecDeque<Outgoing>,
}

/// A client.
#[derive(Default)]
pub(crate) struct Client {
    links: Vec<Link>,
    /// It has a connection that is open.
    pub(crate) connected: bool,
    next_wire: u32,
    next_delivery: u64,
    /// Messages sent and not settled, by their deliveries.
    unsettled: BTreeMap<u64, u64>,
    pub(crate) out: Vec<Frame>,
}

impl Client {
    /// Adds a link; returns its number.
    pub(crate) fn add(&mut self, does: Does) -> usize {
        self.links.push(Link { does, wire: None, attached: false, credit: 0, waiting: VecDeque::new() });
        if self.connected {
            self.attach(self.links.len() - 1);
        }
        self.links.len() - 1
    }

    /// Whether a link has been attached and not refused.
    pub(crate) fn is_attached(&self, link: usize) -> bool {
        self.links[link].attached
    }

    /// Credit of a link that sends.
    pub(crate) fn credit(&self, link: usize) -> u32 {
        self.links[link].credit
    }

    fn attach(&mut self, number: usize) {
        let wire = WireLink { side: 0, number: self.next_wire };
        self.next_wire += 1;
        let link = &mut self.links[number];
        link.wire = Some(wire);
        let terminus = |address: Option<String>| TargetTerminus::Target(Target { address, ..Target::default() });
        let (sends, source, target) = match &link.does {
            Does::Sends(address) => (true, None, Some(terminus(address.clone()))),
            Does::Receives(address) => {
                (false, Some(Source { address: Some(address.clone()), ..Source::default() }), Some(terminus(None)))
            }
        };
        let name = format!("client-{number}");
        self.out.push(Frame::Attach(Box::new(Attach { link: wire, name, sends, class: None, source, target })));
        if !sends {
            self.out.push(Frame::Credit { link: wire, more: CREDIT });
        }
    }

    /// Sends a message as soon as there is credit.
    pub(crate) fn send(&mut self, link: usize, message: Outgoing, ledger: &mut Ledger) {
        self.links[link].waiting.push_back(message);
        self.pump(link, ledger);
    }

    fn pump(&mut self, number: usize, ledger: &mut Ledger) {
        let link = &mut self.links[number];
        let Some(wire) = link.wire else { return };
        while link.credit > 0
            && let Some(message) = link.waiting.pop_front()
        {
            link.credit -= 1;
            self.next_delivery += 1;
            let Outgoing { id, looks, to, priority, settled } = message;
            ledger.sent(id);
            if !settled {
                self.unsettled.insert(self.next_delivery, id);
            }
            let to = to.or_else(|| match &link.does {
                Does::Sends(address) => address.clone(),
                Does::Receives(_) => None,
            });
            let message = Rc::new(Message::of_client(id, looks, to, priority));
            let transfer = Transfer { link: wire, delivery: self.next_delivery, settled, stamp: 0, message };
            self.out.push(Frame::Transfer(transfer));
        }
    }

    /// Its connection is there: its links are attached, again if need be.
    pub(crate) fn opened(&mut self) {
        self.connected = true;
        for link in 0..self.links.len() {
            self.attach(link);
        }
    }

    /// Its connection is gone: what became of its messages is not known.
    pub(crate) fn lost(&mut self, ledger: &mut Ledger) {
        self.connected = false;
        self.out.clear();
        for message in std::mem::take(&mut self.unsettled).into_values() {
            ledger.fate(message, Fate::Unknown);
        }
        for link in &mut self.links {
            (link.wire, link.attached, link.credit) = (None, false, 0);
        }
    }

    /// A frame came.
    pub(crate) fn frame(&mut self, number: usize, frame: Frame, ledger: &mut Ledger) {
        match frame {
            Frame::Open { .. } => self.opened(),
            Frame::Answer { link, source, target } => {
                if let Some(at) = self.find(link) {
                    let sends = matches!(self.links[at].does, Does::Sends(_));
                    self.links[at].attached = if sends { target.is_some() } else { source.is_some() };
                }
            }
            Frame::Detach { link, closed, answer, .. } => {
                if let Some(at) = self.find(link) {
                    (self.links[at].wire, self.links[at].attached, self.links[at].credit) = (None, false, 0);
                    if !answer {
                        self.out.push(Frame::Detach { link, closed, error: None, answer: true });
                    }
                }
            }
            Frame::Credit { link, more } => {
                if let Some(at) = self.find(link) {
                    self.links[at].credit += more;
                    self.pump(at, ledger);
                }
            }
            Frame::Drain { link, on: true } => {
                if let Some(at) = self.find(link) {
                    let returned = std::mem::take(&mut self.links[at].credit);
                    self.out.push(Frame::Drained { link, returned });
                }
            }
            Frame::Transfer(Transfer { link, delivery, settled, message, .. }) => {
                let (Some(at), Some(id)) = (self.find(link), message.id) else { return };
                ledger.received(id, (number, at));
                self.out.push(Frame::Credit { link, more: 1 });
                if !settled {
                    let state = Some(DeliveryState::Accepted);
                    self.out.push(Frame::Outcome { delivery, state, settled: true });
                }
            }
            Frame::Outcome { delivery, state, settled } => {
                if settled && let Some(id) = self.unsettled.remove(&delivery) {
                    ledger.fate(id, Fate::of(state.as_ref()));
                }
            }
            Frame::Drain { .. } | Frame::Drained { .. } | Frame::SenderOutcome { .. } | Frame::Attach(_) => {}
        }
    }

    fn find(&self, wire: WireLink) -> Option<usize> {
        self.links.iter().position(|link| link.wire == Some(wire))
    }
}
