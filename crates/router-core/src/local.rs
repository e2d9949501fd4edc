//! Deliveries to and from within the router.

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};

use crate::address::key::{parse, phase_char};
use crate::arena::{NONE, index_of};
use crate::bind::Making;
use crate::core::Core;
use crate::forward::{Destination, Passage};
use crate::{ConnKey, Host, Level, Module, Now, SubscriberDelivery, SubscriberId, Treatment};

impl<H: Host> Core<H> {
    /// Subscribes to the address with this key, such as `M0$management` or `L$management`. The address is made with
    /// treatment closest if there is none.
    pub fn subscribe(&mut self, now: Now, host: &mut H, key: &str) -> SubscriberId {
        self.tick(now);
        let addr = self.find_or_make(key, Making::plain(Treatment::Closest));
        let id = SubscriberId(self.subscribers.len() as u32);
        self.subscribers.push(Some(addr));
        self.addresses[addr].subscribers.push(id);
        let mut letters = key.chars();
        let class = letters.next().unwrap_or_default();
        let text = if class == 'M' { letters.as_str().get(1..).unwrap_or_default() } else { letters.as_str() };
        host.log(Module::RouterCore, Level::Info, format_args!("In-process subscription {class}/{text}"));
        self.destinations_changed(host, addr);
        id
    }

    /// A subscriber that no address leads to: only links given to it bring it messages ([`crate::Bound::Subscriber`]).
    pub fn subscribe_links(&mut self) -> SubscriberId {
        let id = SubscriberId(self.subscribers.len() as u32);
        self.subscribers.push(None);
        id
    }

    /// Ends a subscription.
    pub fn unsubscribe(&mut self, now: Now, host: &mut H, subscriber: SubscriberId) {
        self.tick(now);
        let Some(addr) = self.subscriber_address(subscriber) else { return };
        self.subscribers[subscriber.0 as usize] = None;
        self.addresses[addr].subscribers.retain(|other| *other != subscriber);
        self.destinations_changed(host, addr);
        self.drop_if_idle(addr);
    }

    /// Sends a message from within the router, settled, to an address as a message's `to` names it. False: nobody is
    /// there, the message is dropped.
    pub fn send_local(&mut self, now: Now, host: &mut H, to: &str, content: H::Content) -> bool {
        self.tick(now);
        let parsed = parse(to, &self.settings.router_id, self.settings.mode);
        let phase = phase_char(self.configs.ingress_phase("", parsed.rest));
        let found = self.find_address(&parsed, phase, "").filter(|addr| self.is_reachable(*addr));
        let Some(addr) = found.or_else(|| self.uplink_address()) else { return false };
        let addr = match self.addresses[addr].fallback {
            fallback if fallback != NONE && !self.addresses[addr].has_destination() => fallback,
            _ => addr,
        };
        let mut passage = Passage { addr, ..Passage::from_within(self.clock.millis, &content) };
        let sent = match self.choose(addr, &passage) {
            Destination::Exchange(at) => self.exchange_local(host, at, &mut passage),
            chosen => self.send_settled(host, addr, chosen, &mut passage),
        };
        if sent {
            self.addresses[addr].rare().from_container += 1;
        }
        sent
    }

    /// Hands a delivery to a subscriber, and says what that makes of it.
    ///
    /// Subscribers want whole messages, and the router does not collect large ones for them.
    pub(crate) fn hand_over(
        &mut self,
        host: &mut H,
        addr: u32,
        subscriber: SubscriberId,
        passage: &Passage<'_, H::Content>,
    ) -> DeliveryState {
        let refused = |error| DeliveryState::Rejected(Some(Box::new(error)));
        if !passage.complete {
            if passage.settled && passage.link != 0 {
                self.links[index_of(passage.link)].count_dropped(&mut self.statistics);
            }
            let text = "Messages for this address must not be streamed; send less than 128 KiB";
            return refused(ErrorCondition::new(names::MESSAGE_SIZE_EXCEEDED, text));
        }
        if addr != NONE {
            self.addresses[addr].rare().to_container += 1;
        }
        let from = match passage.link {
            0 => SubscriberDelivery { conn: None, conn_id: 0 },
            link => {
                let conn = self.links[index_of(link)].conn;
                let key = ConnKey(self.connections.key_at(conn));
                SubscriberDelivery { conn: Some(key), conn_id: self.connections[conn].info.id }
            }
        };
        match host.to_subscriber(subscriber, passage.content, &from) {
            Ok(()) => DeliveryState::Accepted,
            Err(error) => refused(error),
        }
    }
}
