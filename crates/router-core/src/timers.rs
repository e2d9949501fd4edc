//! What time alone brings about: deliveries found stuck, links found blocked.

use std::time::Duration;

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::delivery::Delivery;
use crate::{Host, Level, Module, Now};

impl<H: Host> Core<H> {
    /// How often stuck deliveries and blocked links are looked for.
    pub(crate) fn scan_interval(&self) -> Duration {
        Duration::from_secs(if self.settings.test_hooks { 5 } else { 30 })
    }

    /// From which age on a delivery is stuck, and a link without credit blocked, in seconds.
    fn stuck_age(&self) -> u32 {
        if self.settings.test_hooks { 3 } else { 10 }
    }

    /// Logs at what ages and intervals stuck deliveries are looked for, for the start of the router.
    pub fn log_start(&self, host: &mut H) {
        host.log(
            Module::RouterCore,
            Level::Info,
            format_args!(
                "Stuck delivery detection: Scan interval: {} seconds, Delivery age threshold: {} seconds",
                self.scan_interval().as_secs(),
                self.stuck_age()
            ),
        );
        self.log_scrubber(host);
    }

    /// Makes sure that a scan will come: there is something that can be stuck.
    pub(crate) fn schedule_scan(&mut self) {
        if self.next_scan.is_none() {
            self.next_scan = Some(self.now() + self.scan_interval());
        }
    }

    /// When [`Core::handle_timeout`] is to be called next; `None`: not before some other call was made.
    pub fn next_timeout(&self) -> Option<Now> {
        [self.next_scan, self.next_relief, self.auto_links.next_retry()].into_iter().flatten().min()
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Now, host: &mut H) {
        self.tick(now);
        if self.next_relief.is_some_and(|due| now >= due) {
            self.relieve_routers(host);
        }
        self.retry_auto_links(host);
        if self.next_scan.is_none_or(|due| now < due) {
            return;
        }
        self.find_stuck_deliveries(host);
        self.find_blocked_links(host);
        self.release_idle_streams();
        self.scrub_streams(host);
        self.next_scan = (self.links.len() > 0).then(|| now + self.scan_interval());
    }

    /// Gives credit to other routers whose deliveries wait for what does not get on.
    fn relieve_routers(&mut self, host: &mut H) {
        self.next_relief = None;
        for link in std::mem::take(&mut self.starved) {
            if let Some(link) = self.links.get_mut(link) {
                link.relieve(host, &mut self.statistics);
            }
        }
    }

    fn is_old(&self, born: u32) -> bool {
        self.clock.millis.wrapping_sub(born) > self.stuck_age() * 1_000
    }

    /// When something of a delivery last came: a stream that moves is not stuck, however long it takes.
    fn last_moved(&self, delivery: &Delivery<H::Content>) -> u32 {
        match self.deliveries.get(delivery.origin) {
            Some(origin) if !delivery.direct => origin.moved,
            _ => delivery.moved,
        }
    }

    /// Looks at both sides of each delivery.
    fn find_stuck_deliveries(&mut self, host: &mut H) {
        let mut found = Vec::new();
        for (key, delivery) in self.deliveries.iter() {
            if !self.is_old(self.last_moved(delivery)) {
                continue;
            }
            if !delivery.sender_stuck && !delivery.sender_settled && self.links.get(delivery.sender).is_some() {
                found.push((index_of(key), index_of(delivery.sender), true));
            }
            if !delivery.stuck && delivery.link != NONE && !delivery.resolved {
                found.push((index_of(key), delivery.link, false));
            }
        }
        for (delivery, link, coming_in) in found {
            let delivery = &mut self.deliveries[delivery];
            if coming_in {
                delivery.sender_stuck = true;
            } else {
                delivery.stuck = true;
            }
            self.found_stuck(host, link);
        }
    }

    /// Counts a stuck delivery; the first one of a link is logged.
    fn found_stuck(&mut self, host: &mut H, link: u32) {
        self.statistics.deliveries_stuck += 1;
        let age = self.stuck_age();
        let record = &mut self.links[link];
        let counters = record.counters.rare();
        counters.stuck += 1;
        if !std::mem::replace(&mut counters.stuck_logged, true) {
            let conn = self.connections[record.conn].info.id;
            host.log(
                Module::RouterCore,
                Level::Info,
                format_args!(
                    "[C{conn}][L{}] Stuck delivery: At least one delivery on this link has been undelivered/unsettled for \
                     more than {age} seconds",
                    record.id
                ),
            );
        }
    }

    fn find_blocked_links(&mut self, host: &mut H) {
        let (second, age) = (self.clock.second, self.stuck_age());
        for link in self.links.values_mut() {
            let without = link.seconds_without_credit(second);
            if link.blocked || without <= age {
                continue;
            }
            link.blocked = true;
            self.statistics.links_blocked += 1;
            let conn = self.connections[link.conn].info.id;
            host.log(
                Module::RouterCore,
                Level::Info,
                format_args!("[C{conn}][L{}] Link blocked with zero credit for {without} seconds", link.id),
            );
        }
    }
}
