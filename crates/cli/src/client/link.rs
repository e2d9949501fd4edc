//! Links that send, and links that receive.

use std::time::Instant;

use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};
use amqp_endpoint::{LinkId, NewDelivery, NewLink};

use super::connection::random_id;
use super::{Client, ClientError, Incoming};

/// How the text begins that says that a message waits for credit or for room.
pub(super) const NO_CREDIT: &str = "Sending on sender";

/// A link on which this end sends.
#[derive(Clone, Debug)]
pub struct Sender {
    link: LinkId,
    name: String,
    address: String,
}

/// A link on which this end receives.
#[derive(Clone, Debug)]
pub struct Receiver {
    link: LinkId,
    name: String,
    /// The address it receives from; the peer's choice if it is dynamic.
    pub address: String,
    /// The peer applies a filter.
    pub is_filtered: bool,
}

/// What a receiver is to be.
#[derive(Clone, Debug, Default)]
pub struct ReceiverOptions {
    /// Where to receive from; `None`: from a new address of the peer's making.
    pub address: Option<String>,
    /// When the peer is asked to settle.
    pub snd_settle_mode: SenderSettleMode,
    /// When this end settles.
    pub rcv_settle_mode: ReceiverSettleMode,
    /// How many messages the peer may send at first.
    pub credit: u32,
    /// The link's name; one that nobody else has if absent.
    pub name: Option<String>,
    /// What is asked for beside the address: filters, durability, ...
    pub source: Source,
}

impl Client {
    /// Attaches a link to send to an address; `None`: each message names its own (an anonymous sender).
    ///
    /// # Errors
    /// If the peer refuses it or does not answer.
    pub fn sender(&mut self, address: Option<&str>, mode: SenderSettleMode) -> Result<Sender, ClientError> {
        let name = format!("{}-{}", self.container, address.unwrap_or_default());
        let target = Target { address: address.map(str::to_owned), ..Target::default() };
        let link = self.attach(NewLink {
            name: name.clone(),
            sender: true,
            snd_settle_mode: mode,
            rcv_settle_mode: ReceiverSettleMode::First,
            source: Some(Source::default()),
            target: Some(TargetTerminus::Target(target)),
            max_message_size: None,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
        })?;
        let sender = Sender { link, name, address: address.unwrap_or_default().to_owned() };
        self.wait(&format!("Opening link {}", sender.name), |books| books.link(link).answer.is_some())?;
        if self.books.link(link).answer.as_ref().is_none_or(|attach| attach.target.is_none()) {
            return Err(self.refused("sender", link, &sender.name, &sender.address));
        }
        Ok(sender)
    }

    /// Attaches a link to receive on.
    ///
    /// # Errors
    /// If the peer refuses it or does not answer.
    pub fn receiver(&mut self, options: &ReceiverOptions) -> Result<Receiver, ClientError> {
        let asked = options.address.clone();
        let name = options.name.clone();
        let name = name.unwrap_or_else(|| format!("{}-{}", self.container, asked.clone().unwrap_or_else(random_id)));
        let dynamic = asked.is_none();
        let link = self.attach(NewLink {
            name: name.clone(),
            sender: false,
            snd_settle_mode: options.snd_settle_mode,
            rcv_settle_mode: options.rcv_settle_mode,
            source: Some(Source { address: asked.clone(), dynamic, ..options.source.clone() }),
            target: Some(TargetTerminus::Target(Target::default())),
            max_message_size: None,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: None,
        })?;
        self.wait(&format!("Opening link {name}"), |books| books.link(link).answer.is_some())?;
        let source = self.books.link(link).answer.as_ref().and_then(|attach| attach.source.clone());
        let Some(source) = source else {
            return Err(self.refused("receiver", link, &name, asked.as_deref().unwrap_or_default()));
        };
        let address = source.address.or(asked).unwrap_or_default();
        let is_filtered = source.filter.is_some_and(|filter| !filter.is_empty());
        let receiver = Receiver { link, name, address, is_filtered };
        self.grant(&receiver, options.credit);
        Ok(receiver)
    }

    /// Lets the peer send `credit` more messages.
    pub fn grant(&mut self, receiver: &Receiver, credit: u32) {
        if credit > 0 {
            self.engine.add_credit(receiver.link, credit);
        }
    }

    /// Sends an encoded message, waiting for credit as long as the connection's time-out says. The outcome of one not
    /// sent `settled` is told by [`Client::take_outcomes`] under the key returned.
    ///
    /// # Errors
    /// If the connection or link ends, or if credit does not come.
    pub fn send(&mut self, sender: &Sender, bytes: &[u8], settled: bool) -> Result<u64, ClientError> {
        self.next_key += 1;
        let key = self.next_key;
        let tag = key.to_be_bytes();
        let first = tag.iter().position(|byte| *byte != 0).unwrap_or(7);
        let delivery = NewDelivery {
            key,
            tag: &tag[first..],
            message_format: 0,
            settled,
            state: None,
            manner: Default::default(),
        };
        let mut deadline = self.deadline();
        while !self.engine.begin_delivery(sender.link, &delivery) {
            self.sending(sender, deadline)?;
        }
        if !settled {
            self.books.sent(key, sender.link);
        }
        let mut rest = bytes;
        loop {
            let taken = self.engine.send_payload(sender.link, rest, false);
            rest = &rest[taken..];
            if rest.is_empty() && !self.engine.is_sending(sender.link) {
                return Ok(key);
            }
            if taken > 0 {
                deadline = self.deadline();
            }
            self.sending(sender, deadline)?;
        }
    }

    /// One turn while a message waits to be sent.
    fn sending(&mut self, sender: &Sender, deadline: Option<Instant>) -> Result<(), ClientError> {
        self.check_link("sender", sender.link, &sender.name, &sender.address)?;
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(self.timed_out(&format!("{NO_CREDIT} {}", sender.name)));
        }
        self.turn(deadline)
    }

    /// The next message, waiting for it until `deadline`; `None` if none came.
    ///
    /// # Errors
    /// If the connection or link ended.
    pub fn receive(&mut self, receiver: &Receiver, deadline: Option<Instant>) -> Result<Option<Incoming>, ClientError> {
        loop {
            if let Some(message) = self.books.link(receiver.link).ready.pop_front() {
                return Ok(Some(message));
            }
            self.check_link("receiver", receiver.link, &receiver.name, &receiver.address)?;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            self.turn(deadline)?;
        }
    }

    /// Tells the peer what became of a message, and settles it.
    pub fn settle(&mut self, receiver: &Receiver, delivery_id: u32, state: DeliveryState) {
        self.engine.update_incoming(receiver.link, delivery_id, Some(state), true);
    }

    fn attach(&mut self, link: NewLink) -> Result<LinkId, ClientError> {
        let link = self.engine.attach(self.session, link).map_err(|error| self.failed(error.to_string()))?;
        self.books.open(link);
        Ok(link)
    }

    fn check_link(&mut self, role: &'static str, link: LinkId, name: &str, address: &str) -> Result<(), ClientError> {
        self.check()?;
        match self.books.link(link).ended.clone() {
            Some(error) => Err(detached(role, name, address, error)),
            None => Ok(()),
        }
    }

    /// The error for a link whose attach was answered without a terminus; the reason follows in a detach.
    fn refused(&mut self, role: &'static str, link: LinkId, name: &str, address: &str) -> ClientError {
        let waited = self.wait(&format!("Opening link {name}"), |books| books.link(link).ended.is_some());
        match self.books.link(link).ended.clone() {
            Some(error) => detached(role, name, address, error),
            None => waited.err().unwrap_or_else(|| self.failed("the peer refused a link without a reason".to_owned())),
        }
    }
}

fn detached(role: &'static str, name: &str, address: &str, error: ErrorCondition) -> ClientError {
    ClientError::LinkDetached { role, name: name.to_owned(), address: address.to_owned(), error: Box::new(error) }
}
