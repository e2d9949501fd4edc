//! An interior router's side of the edge protocol: who of the edge routers is still there, and what they are told of
//! addresses. Routers of other modes only hear heartbeats, of whoever sends them.

use crate::control::protocol::{Core, log};
use crate::shard::{EdgeUpdate, Shards, SubscriberMessage};
use router_core::{Destinations, LinkKey, Mode, SubscriberId};
use router_net::edge::{Interior, InteriorOutput, answer_lookup};
use router_net::{LinkRef, edge};
use std::collections::BTreeMap;
use std::time::Duration;

/// Where edge routers ask what an address is.
const LOOKUPS: &str = "M0_$qd.addr_lookup";

/// The edge routers of an interior router.
pub(crate) struct Edges {
    shards: Shards,
    interior: Interior,
    /// The links on which edge routers are told of addresses.
    tracking: BTreeMap<LinkRef, LinkKey>,
    /// Where look-ups come in, if this router answers them.
    lookups: Option<SubscriberId>,
}

impl Edges {
    pub(crate) fn start(shards: &Shards) -> Self {
        let lookups = shards.with_core(|core, host, now| {
            let answers = core.settings().mode == Mode::Interior;
            answers.then(|| core.subscribe(now, host, LOOKUPS))
        });
        if let Some(lookups) = lookups {
            shards.take_only_lookups(lookups);
        }
        Self { shards: shards.clone(), interior: Interior::new(), tracking: BTreeMap::new(), lookups }
    }

    /// The core has news.
    pub(crate) fn update(&mut self, update: EdgeUpdate) {
        let now = self.shards.now();
        match update {
            EdgeUpdate::ConnectionLost { conn } => {
                self.tracking.remove(&conn.into());
                self.interior.connection_lost(conn.into());
            }
            EdgeUpdate::Producer { conn, key, present: true, destinations } => {
                self.interior.producer_attached(conn.into(), &key, known_as(destinations));
            }
            EdgeUpdate::Producer { conn, key, .. } => self.interior.producer_detached(conn.into(), &key),
            EdgeUpdate::Destinations { key, destinations } => self.interior.destinations(&key, known_as(destinations)),
            EdgeUpdate::Tracking { conn, link, present } => {
                let on = conn.into();
                if present {
                    self.tracking.insert(on, link);
                } else if self.tracking.get(&on) == Some(&link) {
                    self.tracking.remove(&on);
                }
                self.interior.tracking_link(on, self.tracking.contains_key(&on));
            }
            EdgeUpdate::HeartbeatLink { conn, container, present } => {
                self.interior.heartbeat_link(now, conn.into(), &container, present);
            }
            EdgeUpdate::Heartbeat { conn } => self.interior.heartbeat(now, conn.into()),
            // For edge routers.
            EdgeUpdate::UplinkOpened { .. }
            | EdgeUpdate::LinkAnswered { .. }
            | EdgeUpdate::LinkLost { .. }
            | EdgeUpdate::Outcome { .. }
            | EdgeUpdate::Producers { .. } => {}
        }
        self.carry_out();
    }

    /// A message has come for one of the core's subscribers. False: it is no look-up.
    pub(crate) fn receive(&mut self, message: &SubscriberMessage) -> bool {
        if Some(message.subscriber) != self.lookups {
            return false;
        }
        self.shards.with_core(|core, host, now| {
            let answer = answer_lookup(&message.message, |address, client_sends| {
                core.look_up_for(now, message.from.conn, address, client_sends)
            });
            if let Some((reply_to, content)) = answer {
                core.send_local(now, host, &reply_to, Shards::content(&content));
            }
        });
        true
    }

    /// When [`Edges::handle_timeout`] is to be called.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.interior.next_timeout()
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self) {
        self.interior.handle_timeout(self.shards.now());
        self.carry_out();
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.interior.poll_output() {
            match output {
                InteriorOutput::Track { on, content } => {
                    let Some(&link) = self.tracking.get(&on) else { continue };
                    let content = Shards::content(&content);
                    self.shards.with_core(|core, host, now| core.send_on(now, host, link, content));
                }
                InteriorOutput::Drop { on } => {
                    if let Some(id) = self.shards.with_core(|core, _, now| number(core, now, on)) {
                        self.shards.drop_connection(id);
                    }
                }
                InteriorOutput::Log { module, level, text } => log(module, level, &text),
            }
        }
    }
}

/// The number of a connection.
fn number(core: &Core, now: Duration, on: LinkRef) -> Option<u64> {
    core.connection(now, on.into()).map(|connection| connection.id)
}

fn known_as(destinations: Destinations) -> edge::Destinations {
    match destinations {
        Destinations::None => edge::Destinations::None,
        Destinations::Only(conn) => edge::Destinations::Only(conn.into()),
        Destinations::Elsewhere => edge::Destinations::Elsewhere,
    }
}
