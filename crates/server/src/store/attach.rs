//! Links come.

mod making;
mod subscriptions;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use amqp::condition::names;
use amqp::performative::SenderSettleMode;
use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{ErrorCondition, Symbol};
use queue_core::{ConsumerSettings, Mode, SubscribeError};
use router_core::{LinkClass, LinkKey, LinkTerms, OpenLink};
use slab::Slab;

use super::links::{Destination, End, Link, Look, Receiver, Role, Sender, Side, name_and_container};
use super::node::Node;
use super::say::Say;
use super::transactions::Coordinator;
use super::wanted::{Kind, Receive, Wanted, invalid};
use super::ways;

pub(super) use making::MOST_QUEUES;

/// What a client may ask a node for that it gets.
const CAPABILITIES: [&str; 6] = ["queue", "topic", "shared", "global", "durable", "create-on-demand"];

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
        let coordinator = Coordinator::of(open.source.as_ref());
        let key = self.set_role(link, Role::Coordinator(coordinator));
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
