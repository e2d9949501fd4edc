//! Links come and go.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use amqp::condition::names;
use amqp::performative::SenderSettleMode;
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{ErrorCondition, Symbol};
use queue_core::{
    Applied, Command, ConsumerId, ConsumerSettings, Done, Lifetime, Mode, Outcome, QueueSettings, Refused,
    SubscribeError, Target as To,
};
use router_core::{LinkClass, LinkKey, LinkTerms, OpenLink};
use slab::Slab;

use super::journal::Waiter;
use super::links::{Destination, End, Link, Look, Place, Receiver, Role, Sender, Side, name_and_container};
use super::node::Node;
use super::receive::condition;
use super::say::Say;
use super::transactions::Coordinator;
use super::wanted::{Kind, Receive, Wanted, invalid, is_plain, not_plain};
use super::ways;

/// What a client may ask a node for that it gets.
const CAPABILITIES: [&str; 6] = ["queue", "topic", "shared", "global", "durable", "create-on-demand"];

/// Queues beyond which none are made because a client asks for them, so that nobody fills memory and start-up with them.
pub(super) const MOST_QUEUES: usize = 100_000;
/// Bytes of their addresses.
const MOST_ADDRESS: usize = 1024;
/// Bytes of the name of a consumer: it is kept with each message that is not for it.
const MOST_NAME: usize = 128;

impl Node {
    /// The core wants a link. Its number is returned; it is attached, and answered, when the store is pumped.
    pub(super) fn open_link(&mut self, key: LinkKey, open: OpenLink) -> u32 {
        let role = Role::Attaching(Box::new(open));
        let link = self.links.insert(Link { key, role, end: End::Open, dynamic: false }) as u32;
        self.says.push(Say::Opened { key, link });
        self.attach(link);
        link
    }

    /// Attaches a link to what it wants, or has that made first.
    pub(super) fn attach(&mut self, link: u32) {
        let Some(record) = self.links.get(link as usize) else { return };
        let Role::Attaching(open) = &record.role else { return };
        let open = open.clone();
        let attached = match Wanted::of(&open) {
            Ok(Wanted::Coordinate) => self.attach_coordinator(link, &open),
            Ok(Wanted::Send(node)) => self.attach_sender(link, &open, &node),
            Ok(Wanted::Receive(receive)) => self.attach_receiver(link, &open, *receive),
            Err(error) => Err(error),
        };
        if let Err(error) = attached {
            self.refuse_link(link, &open, error);
        }
    }

    /// The answer to an attach that has a null terminus, and the end.
    fn refuse_link(&mut self, link: u32, open: &OpenLink, error: ErrorCondition) {
        let Some(record) = self.links.get_mut(link as usize) else { return };
        let key = record.key;
        record.role = Role::Nothing;
        record.end = End::Asked;
        let (source, target) = match open.incoming {
            true => (None, open.target.clone()),
            false => (open.source.clone(), None),
        };
        self.answer(key, source, target, LinkTerms::default());
        self.says.push(Say::Detach { key, closed: true, error: Some(Box::new(error)) });
    }

    fn answer(&mut self, key: LinkKey, source: Option<Source>, target: Option<TargetTerminus>, terms: LinkTerms) {
        let (source, target) = (source.map(Box::new), target.map(Box::new));
        self.says.push(Say::Answer { key, source, target, terms: Box::new(terms) });
    }

    fn attach_coordinator(&mut self, link: u32, open: &OpenLink) -> Result<(), ErrorCondition> {
        let capabilities = ["amqp:local-transactions", "amqp:multi-txns-per-ssn", "amqp:multi-ssns-per-txn"]
            .map(Symbol::from)
            .to_vec();
        let target = Some(TargetTerminus::Coordinator { capabilities });
        let key = self.set_role(link, Role::Coordinator(Coordinator::default()));
        self.answer(key, open.source.clone(), target, terms_of(open));
        self.says.push(Say::Credit { key, credit: super::transactions::CREDIT });
        Ok(())
    }

    fn attach_sender(&mut self, link: u32, open: &OpenLink, node: &super::wanted::Node) -> Result<(), ErrorCondition> {
        let relays = open.class != LinkClass::LinkRoute;
        let to = match relays && ways::Kind::of(&node.address) == ways::Kind::Pattern {
            true => Destination::Named,
            false => match self.find_or_make(link, node, false)? {
                Some(to) => to,
                None => return Ok(()),
            },
        };
        check_kind(node.kind, &to)?;
        if !relays {
            self.can_be_logged(&to)?;
        }
        let mut target = match open.target.clone() {
            Some(TargetTerminus::Target(target)) => target,
            _ => Target::default(),
        };
        target.capabilities = granted(&target.capabilities);
        target.dynamic = self.made_node(link);
        let container = if relays { "" } else { name_and_container(&open.name).1 };
        let sender = Sender {
            to,
            credit: 0,
            pending: 0,
            relays,
            starved: false,
            accounted: 0,
            window: 0,
            reserved: 0,
            size: 0,
            look: Look::default(),
            container: container.into(),
        };
        let key = self.set_role(link, Role::Sender(sender));
        self.answer(key, open.source.clone(), Some(TargetTerminus::Target(target)), terms_of(open));
        // The router's own link uses nothing.
        if let (Destination::Queue(place), false) = (to, relays) {
            self.broker(place.side).link_attached(place.queue);
        }
        self.give_credit(link);
        Ok(())
    }

    fn attach_receiver(&mut self, link: u32, open: &OpenLink, receive: Receive) -> Result<(), ErrorCondition> {
        let selector = match &receive.selector {
            Some((_, text)) => Some(selector::Selector::parse(text).map_err(|error| invalid(error.to_string()))?),
            None => None,
        };
        let Some(to) = self.find_or_make(link, &receive.node, true)? else { return Ok(()) };
        check_kind(receive.node.kind, &to)?;
        let place = match to {
            Destination::Queue(place) => place,
            to => match self.subscription(link, open, &receive, to)? {
                Some(place) => place,
                None => return Ok(()),
            },
        };
        self.can_be_logged(&Destination::Queue(place))?;
        let subscription = matches!(to, Destination::Topic(_)).then(|| receive.survives);
        let browse_only = self.settings(place).is_some_and(|settings| settings.browse_only);
        let browses = receive.browses || browse_only;
        let settings = ConsumerSettings {
            mode: if browses { Mode::Copy } else { Mode::Move },
            exclusive: receive.exclusive && !browses,
            priority: receive.priority,
            filter: selector.is_some(),
            ..ConsumerSettings::new(consumer_name(&open.name))
        };
        let consumer = self.broker(place.side).subscribe(place.queue, settings).map_err(|error| refusal(&error))?;
        self.consumers.add(place.side, consumer, link);
        let mut source = open.source.clone().unwrap_or_default();
        let no_local = self.settings(place).is_some_and(|settings| settings.no_local.is_some());
        source.filter = receive.applied(no_local);
        source.distribution_mode = Some(if browses { "copy" } else { "move" }.into());
        source.capabilities = granted(&source.capabilities);
        source.dynamic = self.made_node(link);
        let receiver = Receiver {
            place,
            consumer,
            credit: 0,
            granted: 0,
            drain: false,
            exhausted: false,
            room: true,
            settled: open.terms.snd_settle_mode == SenderSettleMode::Settled,
            selector,
            default_outcome: receive.default_outcome,
            parked: VecDeque::new(),
            txn: None,
            streaming: HashMap::new(),
            unsettled: Slab::new(),
            sent: 0,
            queued: false,
            subscription,
        };
        let key = self.set_role(link, Role::Receiver(Box::new(receiver)));
        self.answer(key, Some(source), open.target.clone(), terms_of(open));
        self.take_early_flow(link);
        Ok(())
    }

    /// Refuses what needs a log that has failed.
    fn can_be_logged(&self, to: &Destination) -> Result<(), ErrorCondition> {
        let logged = match to {
            Destination::Queue(place) => place.side == Side::Logged,
            Destination::Topic(_) => self.look_of(*to).sides[Side::Logged as usize],
            Destination::Named => false,
        };
        if logged { self.log_has_failed() } else { Ok(()) }
    }

    /// Gives a link its role. Its key is returned.
    fn set_role(&mut self, link: u32, role: Role) -> LinkKey {
        match self.links.get_mut(link as usize) {
            Some(record) => {
                record.role = role;
                record.key
            }
            None => LinkKey::DEAD,
        }
    }

    /// The node that an attach names. `None`: it is being made, and the link is attached when it is there.
    fn find_or_make(
        &mut self,
        link: u32,
        node: &super::wanted::Node,
        receives: bool,
    ) -> Result<Option<Destination>, ErrorCondition> {
        if let Some(lifetime) = node.dynamic {
            self.may_make("")?;
            self.make_dynamic(link, lifetime, receives);
            return Ok(None);
        }
        if let Some(found) = self.find(&node.address) {
            return Ok(Some(found));
        }
        let settings = self.settings_of_template(&node.address)?;
        self.make_queue(settings, Waiter::Attach { link });
        Ok(None)
    }

    /// What a queue is to be like that a client needs at an address.
    pub(super) fn settings_of_template(&self, address: &str) -> Result<QueueSettings, ErrorCondition> {
        match self.templates.best(address) {
            Some(_) if !is_plain(address) => Err(ErrorCondition::new(names::INVALID_FIELD, not_plain(address))),
            Some(template) => {
                self.may_make(address)?;
                Ok(QueueSettings { address: address.into(), ..template })
            }
            None => Err(ErrorCondition::new(
                names::NOT_FOUND,
                format!(
                    "There is no queue or topic '{address}' here: declare it with a queue, topic or queueTemplate entity"
                ),
            )),
        }
    }

    /// Whether there may be one more queue that a client has made, of this address.
    fn may_make(&self, address: &str) -> Result<(), ErrorCondition> {
        if address.len() > MOST_ADDRESS {
            let text = format!(
                "The address of a queue has at most {MOST_ADDRESS} bytes; a subscription's has its names in it"
            );
            return Err(invalid(text));
        }
        let count: usize = self.brokers.iter().map(queue_core::Broker::queue_count).sum();
        if count < self.most_queues {
            return Ok(());
        }
        let text = format!("There are {count} queues already, and no more are made for clients: delete some");
        Err(ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, text))
    }

    /// Has a queue made.
    pub(super) fn make_queue(&mut self, settings: QueueSettings, waiter: Waiter) {
        let side = Side::of(settings.durable);
        self.submit_declaration(side, Command::CreateQueue(Box::new(settings)), waiter);
    }

    /// Has a queue made for one link, with a name that nobody can guess.
    fn make_dynamic(&mut self, link: u32, lifetime: Lifetime, receives: bool) {
        let address = self.dynamic_address();
        let owner = self.links.get(link as usize).filter(|_| lifetime == Lifetime::OnClose).map(|link| link.key.0);
        let settings = QueueSettings { durable: false, lifetime, owner, ..QueueSettings::new(&*address) };
        if let Some(Link { role: Role::Attaching(open), dynamic, .. }) = self.links.get_mut(link as usize) {
            *dynamic = true;
            match (receives, &mut open.source, &mut open.target) {
                (true, Some(source), _) => (source.dynamic, source.address) = (false, Some(address.to_string())),
                (false, _, Some(TargetTerminus::Target(target))) => {
                    (target.dynamic, target.address) = (false, Some(address.to_string()));
                }
                _ => {}
            }
        }
        self.make_queue(settings, Waiter::Attach { link });
    }

    /// Whether the node of a link was made for it: the answer says so (part 3 of the specification, sections 3.5.3 and 3.5.4).
    fn made_node(&self, link: u32) -> bool {
        self.links.get(link as usize).is_some_and(|link| link.dynamic)
    }

    /// An address that nobody uses.
    fn dynamic_address(&self) -> String {
        loop {
            let address = format!("{}dynamic.{}", self.prefix, crate::boot::random_text());
            if self.find(&address).is_none() {
                return address;
            }
        }
    }

    /// The queue of a subscription. `None`: it is being made.
    fn subscription(
        &mut self,
        link: u32,
        open: &OpenLink,
        receive: &Receive,
        to: Destination,
    ) -> Result<Option<Place>, ErrorCondition> {
        let Destination::Topic(topics) = to else { return Ok(None) };
        let address = subscription_address(&receive.node.address, &open.name, receive);
        let template = self.brokers[Side::Logged as usize].topic(topics[Side::Logged as usize]);
        let template = template.map(|topic| QueueSettings::clone(topic)).unwrap_or_else(|| QueueSettings::new(""));
        // Those who share a global subscription are no one client.
        let own = receive.no_local.as_ref().filter(|_| !(receive.shared && receive.global));
        let no_local = own.map(|_| name_and_container(&open.name).1).filter(|own| !own.is_empty()).map(Arc::from);
        let filter = both(receive.selector.as_ref().map(|(_, text)| text.as_str()), template.filter.as_deref());
        match self.find(&address) {
            Some(Destination::Queue(place)) => {
                let same =
                    |settings: &Arc<QueueSettings>| (&settings.filter, &settings.no_local) == (&filter, &no_local);
                if self.settings(place).is_some_and(same) {
                    return Ok(Some(place));
                }
                match self.selector_in_use(place) {
                    // Only what the topic says is different since.
                    Some(in_use) if in_use == receive.selector.as_ref().map(|(_, text)| text.as_str()) => {
                        return Ok(Some(place));
                    }
                    Some(_) => return Err(in_use_otherwise(&address)),
                    None => {}
                }
                // What is asked for is another subscription; it takes the place of the one before (JMS 2.0, section 8.3.3).
                self.delete_queue(place, Waiter::Attach { link });
                return Ok(None);
            }
            Some(_) => {
                return Err(ErrorCondition::new(names::NOT_ALLOWED, format!("'{address}' is a topic")));
            }
            None => {}
        }
        self.may_make(&address)?;
        let durable = receive.survives && receive.durable;
        let side = Side::of(durable);
        let settings = QueueSettings {
            address: address.into(),
            durable,
            lifetime: if receive.survives { Lifetime::Manual } else { Lifetime::Unused },
            topic: Some(topics[side as usize]),
            filter,
            no_local,
            ..template
        };
        self.make_queue(settings, Waiter::Attach { link });
        Ok(None)
    }

    /// The selector of those who receive from a subscription; `None`: nobody does.
    fn selector_in_use(&self, place: Place) -> Option<Option<&str>> {
        self.links.iter().find_map(|(_, link)| match &link.role {
            Role::Receiver(receiver) if receiver.place == place && receiver.subscription.is_some() => {
                Some(receiver.selector.as_ref().map(selector::Selector::text))
            }
            _ => None,
        })
    }

    /// What became of a node that a link waits for.
    pub(super) fn node_made(&mut self, link: u32, applied: &Applied) {
        match applied {
            // Somebody else had the same wish, or another one is to take its place.
            Ok(Done::Created(_) | Done::Deleted) | Err(Refused::Exists(_) | Refused::NoQueue) => self.attach(link),
            Ok(_) => {}
            Err(refused) => self.cannot_attach(link, condition(refused)),
        }
    }

    /// What a link waits for cannot be.
    pub(super) fn cannot_attach(&mut self, link: u32, error: ErrorCondition) {
        if let Some(Link { role: Role::Attaching(open), .. }) = self.links.get(link as usize) {
            let open = open.clone();
            self.refuse_link(link, &open, error);
        }
    }

    /// The core detaches a link, or answers its detach.
    pub(super) fn detached(&mut self, link: u32, closed: bool) {
        let Some(record) = self.links.get(link as usize) else { return };
        if record.end == End::Open {
            self.says.push(Say::DetachAnswered { key: record.key, closed });
        }
        let record = self.links.remove(link as usize);
        self.let_go(record, link, closed);
    }

    /// A link is gone: what it held is free.
    fn let_go(&mut self, record: Link, link: u32, closed: bool) {
        match record.role {
            Role::Sender(sender) => {
                if let (Destination::Queue(place), false) = (sender.to, sender.relays) {
                    let now = self.clock();
                    self.broker(place.side).link_detached(place.queue, now);
                }
                self.sender_gone(sender);
            }
            Role::Receiver(receiver) => self.receiver_gone(*receiver, closed),
            Role::Coordinator(coordinator) => self.coordinator_gone(coordinator),
            Role::Attaching(_) | Role::Nothing => {}
        }
        self.nothing_comes_on(link);
        self.early_flows.remove(&link);
        for side in Side::BOTH {
            let mut commands = Vec::new();
            self.broker(side).owner_gone(record.key.0, &mut commands);
            commands.into_iter().for_each(|command| self.submit(side, command, None, Waiter::Nobody));
        }
    }

    fn receiver_gone(&mut self, receiver: Receiver, closed: bool) {
        let side = receiver.place.side;
        self.consumers.remove(side, receiver.consumer);
        // What was chosen for it and never left was not delivered.
        for acquisition in receiver.parked.into_iter().rev().filter_map(|assignment| assignment.acquisition) {
            let time = self.clock();
            self.apply_outcome(side, acquisition, &amqp::DeliveryState::Released, None, time);
        }
        let mut commands = Vec::new();
        let now = self.clock();
        self.broker(side).cancel(receiver.consumer, &Outcome::lost(), now, &mut commands);
        commands.into_iter().for_each(|command| self.submit(side, command, None, Waiter::Nobody));
        if receiver.subscription == Some(true) && closed {
            self.end_subscription(receiver.place);
        }
    }

    /// A subscription that outlives its links is given up, if nobody else has a link to it.
    fn end_subscription(&mut self, place: Place) {
        let used = self.broker(place.side).statistics(place.queue).is_some_and(|found| found.consumers > 0);
        if !used {
            self.delete_queue(place, Waiter::Nobody);
        }
    }

    fn delete_queue(&mut self, place: Place, waiter: Waiter) {
        let command = Command::DeleteQueue { queue: place.queue, if_empty: false, orphans: queue_core::Orphans::Drop };
        self.submit(place.side, command, None, waiter);
    }

    /// A queue is gone under its links.
    pub(super) fn queue_deleted(&mut self, place: Place, address: &str, _consumers: &[ConsumerId]) {
        self.unlead(address);
        self.filters.remove(&place);
        self.fullness.forget(place);
        self.promised.remove(&place);
        self.starved.remove(&place);
        self.epoch += 1;
        let error = ErrorCondition::new(names::RESOURCE_DELETED, format!("The queue '{address}' was deleted"));
        let there = |role: &Role| match role {
            Role::Sender(sender) => sender.to == Destination::Queue(place),
            Role::Receiver(receiver) => receiver.place == place,
            _ => false,
        };
        for (_, record) in self.links.iter_mut().filter(|(_, record)| record.end == End::Open && there(&record.role)) {
            record.end = End::Asked;
            self.says.push(Say::Detach { key: record.key, closed: true, error: Some(Box::new(error.clone())) });
        }
    }

    /// Brings what a sender's messages are looked at for up to date.
    pub(super) fn refresh_look(&mut self, link: u32) {
        let Some(Role::Sender(sender)) = self.links.get(link as usize).map(|link| &link.role) else { return };
        if sender.look.epoch == self.epoch {
            return;
        }
        let look = self.look_of(sender.to);
        if let Some(sender) = self.sender_mut(link) {
            sender.look = look;
        }
    }

    pub(super) fn look_of(&self, to: Destination) -> Look {
        let epoch = self.epoch;
        match to {
            Destination::Queue(place) => {
                let settings = self.settings(place);
                let is_limited = |settings: &QueueSettings| {
                    settings.overflow == queue_core::Overflow::Hold
                        && (settings.max_messages.is_some() || settings.max_bytes.is_some())
                };
                Look {
                    epoch,
                    wanted: self.brokers[place.side as usize].wanted([&To::Queue(place.queue)]),
                    filtered: self.filters.contains_key(&place),
                    sides: [false; 2],
                    limited: settings.is_some_and(|settings| is_limited(settings)),
                }
            }
            Destination::Topic(topics) => {
                let target = |side: Side| To::Topic { topic: topics[side as usize], except: Vec::new() };
                let mut wanted = self.brokers[0].wanted([&target(Side::Logged)]);
                let more = self.brokers[1].wanted([&target(Side::Memory)]);
                wanted.duplicates |= more.duplicates;
                wanted.keys.extend(more.keys);
                let bound = |side: Side| self.brokers[side as usize].bound(topics[side as usize]);
                let filtered = Side::BOTH
                    .into_iter()
                    .any(|side| bound(side).any(|queue| self.filters.contains_key(&Place { side, queue })));
                let sides = Side::BOTH.map(|side| bound(side).next().is_some());
                Look { epoch, wanted, filtered, sides, limited: false }
            }
            Destination::Named => Look { epoch, ..Look::default() },
        }
    }
}

/// The name of a consumer: that of its link, or its beginning and what tells it from others.
fn consumer_name(link: &str) -> Cow<'_, str> {
    if link.len() <= MOST_NAME {
        return link.into();
    }
    let end = (0..=MOST_NAME - 17).rev().find(|end| link.is_char_boundary(*end)).unwrap_or(0);
    let mut hash = DefaultHasher::new();
    link.hash(&mut hash);
    format!("{}~{:016x}", &link[..end], hash.finish()).into()
}

/// Of the capabilities asked for, those that there are.
fn granted(asked: &[Symbol]) -> Vec<Symbol> {
    asked.iter().filter(|asked| CAPABILITIES.contains(&asked.as_str())).cloned().collect()
}

/// The terms of the answer: the sender settles as the other end likes, the receiver first.
fn terms_of(open: &OpenLink) -> LinkTerms {
    LinkTerms { snd_settle_mode: open.terms.snd_settle_mode, ..LinkTerms::default() }
}

fn check_kind(asked: Option<Kind>, found: &Destination) -> Result<(), ErrorCondition> {
    let text = match (asked, found) {
        (Some(Kind::Queue), Destination::Topic(_)) => "The address is a topic, and a queue was asked for",
        (Some(Kind::Topic), Destination::Queue(_)) => "The address is a queue, and a topic was asked for",
        _ => return Ok(()),
    };
    Err(ErrorCondition::new(names::PRECONDITION_FAILED, text))
}

fn refusal(error: &SubscribeError) -> ErrorCondition {
    let name = match error {
        SubscribeError::NoQueue => names::NOT_FOUND,
        SubscribeError::Exclusive { .. } | SubscribeError::NotAlone { .. } => names::RESOURCE_LOCKED,
        SubscribeError::TooMany { .. } => names::RESOURCE_LIMIT_EXCEEDED,
    };
    ErrorCondition::new(name, error.to_string())
}

/// A selector that fits what two others fit.
fn both(one: Option<&str>, other: Option<&str>) -> Option<Arc<str>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("({one}) AND ({other})").into()),
        (one, other) => one.or(other).map(Arc::from),
    }
}

/// The address of a subscription's queue. The link's name is followed by its client's; links of any client share a global
/// subscription.
fn subscription_address(topic: &str, link: &str, receive: &Receive) -> String {
    let (name, client) = name_and_container(link);
    if !receive.shared {
        return queue_core::subscription_address(topic, client, name, false);
    }
    // Links that share a subscription cannot have one name on one connection: clients number them behind a bar.
    let name = name.split_once('|').map_or(name, |(name, _)| name);
    queue_core::subscription_address(topic, client, name, receive.global)
}

/// A subscription has a selector that is not the one asked for, with which the receiver would wait in vain.
fn in_use_otherwise(address: &str) -> ErrorCondition {
    let text = format!(
        "The subscription '{address}' is in use with another selector: attach with the same, or by another name of the link"
    );
    ErrorCondition::new(names::RESOURCE_LOCKED, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_of_consumers_are_shortened_and_stay_apart() {
        let long = |last: &str| format!("{}{last}", "ä".repeat(1000));
        let (one, other) = (long("1"), long("2"));
        assert_eq!(consumer_name("short"), "short");
        assert!(consumer_name(&one).len() <= MOST_NAME);
        assert_ne!(consumer_name(&one), consumer_name(&other));
    }
}
