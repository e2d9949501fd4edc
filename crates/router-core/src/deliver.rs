//! A delivery comes in: where is it to go?

use std::time::Duration;

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};

use crate::address::key::{Class, parse, phase_char};
use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::Outcome;
use crate::forward::Passage;
use crate::{Host, InKey, Level, LinkKey, LinkType, Mode, Module, Now, Offer, Offered, RouteDirection, Treatment};

/// How long all of a router's credit may be held up.
const RELIEF: Duration = Duration::from_secs(1);

/// How routers further on are to be told where a message on an anonymous link goes.
enum Named<'a> {
    /// Its `to` is enough.
    To,
    /// By this text.
    Text(&'a str),
    /// By what the scratch buffer holds after the class and the phase: the address with its tenant's prefix.
    Key,
}

/// Where a message on an anonymous link goes.
enum Resolved<'a> {
    /// To this address.
    To { addr: u32, named: Named<'a> },
    /// Nobody is there now. `closed`: nor will anybody be, unless links are led to a container from there.
    Nowhere { named: Named<'a>, closed: bool },
    /// It can never go there.
    Refused(ErrorCondition),
}

impl<H: Host> Core<H> {
    /// A delivery comes in on a link. Its message is complete, or is to be streamed.
    pub fn deliver(&mut self, now: Now, host: &mut H, link: LinkKey, offer: Offer<'_>) -> Offered {
        self.tick(now);
        let Some(record) = self.links.get_mut(link.0).filter(|link| link.incoming) else { return Offered::Done };
        record.counters.deliveries += 1;
        record.hold_credit(self.clock);
        if offer.settled {
            record.count_presettled(&mut self.statistics);
        } else {
            record.unsettled += 1;
        }
        let (conn, addr) = (record.conn, record.addr);
        let from_client = record.link_type == LinkType::Endpoint;
        let connection = &mut self.connections[conn];
        connection.last_delivery = Some(self.clock.second);
        let from_container = connection.route_container;
        self.statistics.deliveries_ingress += u64::from(from_client);
        self.statistics.deliveries_ingress_route_container += u64::from(from_container);
        let mut passage = Passage::of_offer(link.0, &offer, self.clock.millis);
        if offer.ingress.is_some() {
            passage.ingress = self.origin(index_of(link.0), offer.ingress);
        }
        if addr == NONE {
            if self.links[index_of(link.0)].routed.is_some() {
                return self.deliver_routed(host, &mut passage);
            }
            return match from_client {
                true => self.deliver_anonymous(host, conn, &mut passage, &offer),
                false => self.deliver_from_router(host, &mut passage, &offer),
            };
        }
        self.count_ingress(addr, from_client, from_container);
        self.forward(host, addr, &mut passage)
    }

    fn count_ingress(&mut self, addr: u32, from_client: bool, from_container: bool) {
        let address = &mut self.addresses[addr];
        address.ingress += u64::from(from_client);
        if from_container {
            address.rare().ingress_route_container += 1;
        }
    }

    /// What comes from another router is forwarded, and the next delivery may come.
    fn deliver_from_router<'a>(
        &mut self,
        host: &mut H,
        passage: &mut Passage<'a, H::Content>,
        offer: &Offer<'a>,
    ) -> Offered {
        let link = index_of(passage.link);
        let offered = if self.links[link].link_type == LinkType::RouterControl {
            self.deliver_control(host, passage, offer)
        } else {
            match self.resolve_arrival(link, offer) {
                Some(addr) if !self.is_looping(offer) && !self.is_too_much(host, link, addr, passage) => {
                    self.forward(host, addr, passage)
                }
                Some(_) => self.unroutable(host, passage, DeliveryState::Released),
                None => self.forward_arrival_on_demand(host, passage, offer),
            }
        };
        if !passage.owed {
            self.links[link].replenish(host, &mut self.statistics);
        } else if self.links[link].credit == 0 {
            self.starved.push(passage.link);
            self.next_relief.get_or_insert(self.now() + RELIEF);
        }
        offered
    }

    fn deliver_anonymous<'a>(
        &mut self,
        host: &mut H,
        conn: u32,
        passage: &mut Passage<'a, H::Content>,
        offer: &Offer<'a>,
    ) -> Offered {
        if let Some(subscriber) = self.links[index_of(passage.link)].subscriber {
            let state = self.hand_over(host, NONE, subscriber, passage);
            return self.taken(host, passage, state);
        }
        let (addr, named) = match self.resolve(conn, offer) {
            Resolved::To { addr, named } => (self.here_or_up(addr, passage), named),
            Resolved::Nowhere { named, closed } => {
                let is_led = !closed || self.leads_links_there();
                if is_led && let Some(offered) = self.forward_by_key_on_demand(host, &named, passage) {
                    return offered;
                }
                match self.up(passage).filter(|_| is_led) {
                    Some(up) => (up, named),
                    None if closed => {
                        let text = "Deliveries cannot be sent to an unavailable address";
                        let error = ErrorCondition::new(names::NOT_FOUND, text);
                        return self.unroutable(host, passage, DeliveryState::Rejected(Some(Box::new(error))));
                    }
                    None => return self.unroutable(host, passage, DeliveryState::Released),
                }
            }
            Resolved::Refused(error) => {
                return self.unroutable(host, passage, DeliveryState::Rejected(Some(Box::new(error))));
            }
        };
        let from_client = self.links[index_of(passage.link)].link_type == LinkType::Endpoint;
        let from_container = self.connections[conn].route_container;
        self.count_ingress(addr, from_client, from_container);
        match (passage.to_override, named) {
            (None, Named::Key) => return self.forward_by_key(host, addr, passage),
            (None, Named::Text(text)) => passage.to_override = Some(text),
            _ => {}
        }
        self.forward(host, addr, passage)
    }

    /// The address itself if somebody is there; else, on an edge router, the uplink's: in the interior there may be
    /// somebody, who comes before the fallback.
    fn here_or_up(&self, addr: u32, passage: &Passage<'_, H::Content>) -> u32 {
        if self.settings.mode != Mode::Edge || self.addresses[addr].has_destination() {
            return addr;
        }
        self.up(passage).unwrap_or(addr)
    }

    /// Forwards to an address whose key is in the scratch buffer, and names it by that.
    fn forward_by_key(&mut self, host: &mut H, addr: u32, passage: &Passage<'_, H::Content>) -> Offered {
        let key = std::mem::take(&mut self.scratch);
        let offered = self.forward(host, addr, &mut Passage { to_override: key.get(2..), ..passage.clone() });
        self.scratch = key;
        offered
    }

    /// Whether links to the address whose key is in the scratch buffer are led to a container, whatever its distribution is.
    #[cold]
    fn leads_links_there(&self) -> bool {
        let text = self.scratch.strip_prefix('M').and_then(|rest| rest.get(1..));
        text.is_some_and(|text| self.link_routes.best(RouteDirection::In, text).is_some_and(|found| !found.is_empty()))
    }

    /// As [`Core::forward_on_demand`], for the address whose key is in the scratch buffer.
    #[cold]
    fn forward_by_key_on_demand(
        &mut self,
        host: &mut H,
        named: &Named<'_>,
        passage: &mut Passage<'_, H::Content>,
    ) -> Option<Offered> {
        let key = std::mem::take(&mut self.scratch);
        let text = key.strip_prefix('M').and_then(|rest| rest.get(1..));
        let offered = text.and_then(|text| {
            let to_override = match (passage.to_override, named) {
                (None, Named::Key) => Some(text),
                (given, _) => given,
            };
            self.forward_on_demand(host, text, &mut Passage { to_override, ..passage.clone() })
        });
        self.scratch = key;
        offered
    }

    /// Finds the address that a message names.
    fn resolve<'a>(&mut self, conn: u32, offer: &Offer<'a>) -> Resolved<'a> {
        let Some(to) = offer.to_override.or(offer.to) else {
            let text = "Routing failure: no address present";
            return Resolved::Refused(ErrorCondition::new(names::PRECONDITION_FAILED, text));
        };
        let parsed = parse(to, &self.settings.router_id, self.settings.mode);
        let tenant = self.connections[conn].info.tenant.as_deref().unwrap_or_default();
        let phase = offer.phase.unwrap_or_else(|| self.configs.ingress_phase(tenant, parsed.rest));
        let named = match parsed.class {
            _ if tenant.is_empty() => Named::To,
            Class::Mobile => Named::Key,
            _ => Named::Text(parsed.text),
        };
        crate::address::key::write_key(&mut self.scratch, &parsed, phase_char(phase), tenant);
        if let Some(addr) = self.addresses.find(&self.scratch) {
            return Resolved::To { addr, named };
        }
        Resolved::Nowhere { named, closed: self.making(&parsed, tenant).treatment == Treatment::Unavailable }
    }

    /// A delivery has nowhere to go: released or rejected as `state` says, or dropped if it is settled.
    ///
    /// On a link with a target its credit is lost, and the sender is asked to drain. While the message is not complete
    /// the sender is not told yet.
    pub(crate) fn unroutable(
        &mut self,
        host: &mut H,
        passage: &mut Passage<'_, H::Content>,
        state: DeliveryState,
    ) -> Offered {
        let link = &mut self.links[index_of(passage.link)];
        if host.log_enabled(Module::RouterCore, Level::Trace) {
            let (conn, id) = (self.connections[link.conn].info.id, link.id);
            host.log(Module::RouterCore, Level::Trace, format_args!("[C{conn}][L{id}] Delivery without a destination"));
        }
        if !link.flowing {
            link.ask_to_drain(host);
        }
        if passage.settled {
            link.count_dropped(&mut self.statistics);
        } else if passage.complete {
            link.unsettled -= 1;
            link.count_outcome(&mut self.statistics, Outcome::of(Some(&state)));
            link.count_settled_with_sender(&mut self.statistics, self.clock, passage.born);
            host.update_incoming(link.host, passage.delivery_id, Some(state), true);
        } else {
            self.track(passage, 0);
            self.deliveries[index_of(passage.origin)].state = Some(state);
            return Offered::Tracked(InKey(passage.origin));
        }
        link.give_back(host, &mut self.statistics);
        Offered::Done
    }

    /// A message that cannot be read, or must not be taken: it is rejected (or dropped, if settled), and counts as such.
    /// It was not offered, nor will it be.
    pub fn reject(
        &mut self,
        now: Now,
        host: &mut H,
        link: LinkKey,
        delivery_id: u32,
        settled: bool,
        error: ErrorCondition,
    ) {
        self.tick(now);
        let Some(record) = self.links.get_mut(link.0).filter(|link| link.incoming) else { return };
        record.counters.deliveries += 1;
        record.hold_credit(self.clock);
        if settled {
            record.count_presettled(&mut self.statistics);
            record.count_dropped(&mut self.statistics);
        } else {
            record.count_outcome(&mut self.statistics, Outcome::Rejected);
            record.count_settled_with_sender(&mut self.statistics, self.clock, self.clock.millis);
            let state = DeliveryState::Rejected(Some(Box::new(error)));
            host.update_incoming(record.host, delivery_id, Some(state), true);
        }
        record.give_back(host, &mut self.statistics);
        if record.is_between_routers() {
            record.replenish(host, &mut self.statistics);
        } else if record.routed.is_some() {
            self.relay_credit_to(host, index_of(link.0));
        }
    }
}
