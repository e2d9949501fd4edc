//! Subscriptions of topics: each is a queue, with an address that its names make.

use std::sync::Arc;

use amqp::ErrorCondition;
use amqp::condition::names;
use queue_core::{Lifetime, QueueSettings};
use router_core::OpenLink;

use crate::store::journal::Waiter;
use crate::store::links::{Destination, Place, Role, Side, name_and_container};
use crate::store::node::Node;
use crate::store::wanted::Receive;

impl Node {
    /// The queue of a subscription. `None`: it is being made.
    pub(super) fn subscription(
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

    /// A subscription that outlives its links is given up, if nobody else has a link to it.
    pub(in crate::store) fn end_subscription(&mut self, place: Place) {
        let used = self.broker(place.side).statistics(place.queue).is_some_and(|found| found.consumers > 0);
        if !used {
            self.delete_queue(place, Waiter::Nobody);
        }
    }
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
