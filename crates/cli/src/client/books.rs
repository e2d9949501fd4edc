//! What a client has been told so far, kept until someone asks.

use std::collections::{BTreeMap, VecDeque};

use amqp::performative::Attach;
use amqp::{DeliveryState, ErrorCondition};
use amqp_endpoint::{Connection, Event, IncomingTransfer, LinkId};

/// A message that came.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Id to settle it by.
    pub delivery_id: u32,
    /// The sender has settled it already.
    pub settled: bool,
    /// The encoded message.
    pub bytes: Vec<u8>,
}

/// What the peer says of a message that was sent.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// As given by [`super::Client::send`].
    pub key: u64,
    /// What became of it; a settlement without one counts as accepted.
    pub state: DeliveryState,
}

/// What is known of a link.
#[derive(Default)]
pub(super) struct LinkBook {
    pub(super) answer: Option<Box<Attach>>,
    pub(super) ended: Option<ErrorCondition>,
    pub(super) ready: VecDeque<Incoming>,
    partial: Vec<u8>,
}

/// What is known of a connection.
#[derive(Default)]
pub(super) struct Books {
    pub(super) opened: bool,
    pub(super) closed: bool,
    pub(super) ended: Option<ErrorCondition>,
    pub(super) outcomes: VecDeque<Outcome>,
    links: BTreeMap<u32, LinkBook>,
    /// The links of the deliveries sent unsettled, by key.
    unsettled: BTreeMap<u64, LinkId>,
}

impl Books {
    pub(super) fn open(&mut self, link: LinkId) {
        self.links.insert(link.0, LinkBook::default());
    }

    pub(super) fn link(&mut self, link: LinkId) -> &mut LinkBook {
        self.links.entry(link.0).or_default()
    }

    /// A message was sent unsettled.
    pub(super) fn sent(&mut self, key: u64, link: LinkId) {
        self.unsettled.insert(key, link);
    }

    /// How many messages were sent whose outcome is not known yet.
    pub(super) fn unsettled(&self) -> usize {
        self.unsettled.len()
    }

    /// Writes down what happened, and answers where an answer is due.
    pub(super) fn absorb(&mut self, engine: &mut Connection, event: Event<'_>) {
        match event {
            Event::Opened(_) => self.opened = true,
            Event::AttachAnswered(link, attach) => self.link(link).answer = Some(attach),
            Event::Transfer(transfer) => self.transfer(engine, &transfer),
            Event::Outcome { key, state, settled } => self.outcome(engine, key, state, settled),
            Event::Detached { link, error, answer, .. } => {
                if !answer {
                    engine.detach(link, true, None);
                }
                self.link(link).ended = Some(error.unwrap_or_else(|| without_reason("the peer detached the link")));
            }
            Event::LinkFailed { link, error, .. } => self.link(link).ended = Some(error),
            Event::LinkLost { link, .. } => {
                self.link(link).ended.get_or_insert_with(|| without_reason("the connection ended"));
            }
            Event::SessionEnded(_, error) => {
                self.ended.get_or_insert_with(|| error.unwrap_or_else(|| without_reason("the peer ended the session")));
            }
            Event::Closed(error) => {
                self.closed = true;
                self.ended
                    .get_or_insert_with(|| error.unwrap_or_else(|| without_reason("the peer closed the connection")));
            }
            Event::Failed(error) => {
                self.closed = true;
                self.ended.get_or_insert(error);
            }
            // Links that the peer wants to attach to this client; it has no nodes to offer.
            Event::Attached(link, _) => {
                engine.attach_answer(link, None, None, None);
                let error = ErrorCondition::new(amqp::condition::names::NOT_FOUND, "this is a client without nodes");
                engine.detach(link, true, Some(error));
            }
            Event::Authenticated { .. }
            | Event::StartTls
            | Event::SessionBegun(..)
            | Event::SessionAnswered(..)
            | Event::Credit { .. }
            | Event::FlowProperties { .. }
            | Event::Drained { .. }
            | Event::SenderOutcome { .. }
            | Event::SessionWritable(_) => {}
        }
    }

    fn transfer(&mut self, engine: &mut Connection, transfer: &IncomingTransfer<'_>) {
        let book = self.link(transfer.link);
        if transfer.first {
            book.partial.clear();
        }
        if transfer.aborted {
            book.partial.clear();
            // The delivery used a credit that the owner counted for a message.
            engine.add_credit(transfer.link, 1);
            return;
        }
        book.partial.extend_from_slice(transfer.payload);
        if !transfer.more {
            let bytes = std::mem::take(&mut book.partial);
            book.ready.push_back(Incoming { delivery_id: transfer.delivery_id, settled: transfer.settled, bytes });
        }
    }

    fn outcome(&mut self, engine: &mut Connection, key: u64, state: Option<DeliveryState>, settled: bool) {
        let terminal = state.as_ref().is_some_and(DeliveryState::is_terminal);
        if !terminal && !settled {
            return;
        }
        let Some(link) = self.unsettled.remove(&key) else { return };
        if !settled {
            // A receiver that settles second waits for this end to settle.
            engine.update_outgoing(link, key, None, true);
        }
        self.outcomes.push_back(Outcome { key, state: state.unwrap_or(DeliveryState::Accepted) });
    }
}

fn without_reason(text: &str) -> ErrorCondition {
    ErrorCondition::new(amqp::condition::names::CONNECTION_FORCED, format!("{text} without giving a reason"))
}
