//! Those who fail wait: the longer, the more have failed at the same address lately.
//!
//! Whoever succeeds never waits, so that others behind the same address are not harmed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The wait after the first failure.
const FIRST: Duration = Duration::from_millis(200);
/// Each further failure doubles it, this often at the most: to 3.2 seconds, well within the time for a handshake.
const DOUBLINGS: u32 = 4;
/// After so long half of the failures are forgotten.
const HALF_LIFE: Duration = Duration::from_secs(30);
/// Failures that may be waiting at one address. More guesses are not even looked at.
const HELD: u32 = 64;
/// Addresses that are kept. Those beyond share one record.
const ADDRESSES: usize = 10_000;
/// How often the table is searched for those that have been good.
const SWEEP: Duration = Duration::from_secs(1);

/// What is known of those who failed.
#[derive(Default)]
pub(super) struct Penalties(Mutex<Table>);

#[derive(Default)]
struct Table {
    records: HashMap<Option<Prefix>, Record>,
    swept: Option<Instant>,
}

/// An IPv4 address, or the half of an IPv6 address that names a network: whoever has one has all of it.
type Prefix = (u8, u64);

struct Record {
    failures: u32,
    /// When they were halved last.
    since: Instant,
    held: u32,
}

impl Record {
    fn forget(&mut self, now: Instant) {
        let halvings = now.saturating_duration_since(self.since).as_secs() / HALF_LIFE.as_secs();
        if halvings > 0 {
            self.failures = self.failures.checked_shr(u32::try_from(halvings).unwrap_or(u32::MAX)).unwrap_or(0);
            self.since = now;
        }
    }
}

impl Penalties {
    /// Somebody at this address has failed: how long it is to wait. [`Penalties::released`] is to follow.
    pub(super) fn failed(&self, address: Option<IpAddr>, now: Instant) -> Duration {
        let mut table = self.0.lock();
        let record = table.record(address, now);
        record.forget(now);
        let wait = FIRST * 2_u32.pow(record.failures.min(DOUBLINGS));
        record.failures = record.failures.saturating_add(1);
        record.held += 1;
        wait
    }

    /// The wait of somebody at this address is over, or it has given up.
    pub(super) fn released(&self, address: Option<IpAddr>) {
        let mut table = self.0.lock();
        let key = table.key(address);
        if let Some(record) = table.records.get_mut(&key) {
            record.held = record.held.saturating_sub(1);
        }
    }

    /// Whether so many who failed are waiting at this address that no more may try.
    pub(super) fn is_full(&self, address: Option<IpAddr>) -> bool {
        let table = self.0.lock();
        table.records.get(&table.key(address)).is_some_and(|record| record.held >= HELD)
    }
}

impl Table {
    /// The key of the record for this address: its own, or the one that all without their own share.
    fn key(&self, address: Option<IpAddr>) -> Option<Prefix> {
        let own = address.map(prefix);
        own.filter(|_| self.records.contains_key(&own))
    }

    fn record(&mut self, address: Option<IpAddr>, now: Instant) -> &mut Record {
        let own = address.map(prefix);
        if !self.records.contains_key(&own) && self.records.len() >= ADDRESSES {
            self.sweep(now);
        }
        let key = if self.records.contains_key(&own) || self.records.len() < ADDRESSES { own } else { None };
        self.records.entry(key).or_insert(Record { failures: 0, since: now, held: 0 })
    }

    /// Forgets those that have nothing to be remembered.
    fn sweep(&mut self, now: Instant) {
        if self.swept.is_some_and(|swept| now.saturating_duration_since(swept) < SWEEP) {
            return;
        }
        self.swept = Some(now);
        self.records.retain(|_, record| {
            record.forget(now);
            record.failures > 0 || record.held > 0
        });
    }
}

fn prefix(address: IpAddr) -> Prefix {
    match address.to_canonical() {
        IpAddr::V4(address) => (4, u64::from(address.to_bits())),
        // The upper half.
        IpAddr::V6(address) => (6, (address.to_bits() >> 64) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    fn waits(penalties: &Penalties, at: Option<IpAddr>, now: Instant, count: usize) -> Vec<u128> {
        (0..count).map(|_| penalties.failed(at, now).as_millis()).collect()
    }

    #[test]
    fn each_failure_waits_longer_up_to_a_bound() {
        let waits = waits(&Penalties::default(), address("192.0.2.1"), Instant::now(), 7);
        assert_eq!(waits, [200, 400, 800, 1600, 3200, 3200, 3200]);
    }

    #[test]
    fn addresses_are_apart() {
        let (penalties, now) = (Penalties::default(), Instant::now());
        waits(&penalties, address("192.0.2.1"), now, 5);
        assert_eq!(waits(&penalties, address("192.0.2.2"), now, 1), [200]);
    }

    #[test]
    fn a_network_of_version_6_is_one_address() {
        let (penalties, now) = (Penalties::default(), Instant::now());
        waits(&penalties, address("2001:db8::1"), now, 1);
        assert_eq!(waits(&penalties, address("2001:db8::ffff:2"), now, 1), [400]);
        assert_eq!(waits(&penalties, address("2001:db8:1::1"), now, 1), [200]);
    }

    #[test]
    fn failures_are_forgotten_in_time() {
        let (penalties, now) = (Penalties::default(), Instant::now());
        waits(&penalties, address("192.0.2.1"), now, 4);
        assert_eq!(waits(&penalties, address("192.0.2.1"), now + HALF_LIFE, 1), [800]);
        assert_eq!(waits(&penalties, address("192.0.2.1"), now + HALF_LIFE * 100, 1), [200]);
    }

    #[test]
    fn only_so_many_wait_at_one_address() {
        let (penalties, now) = (Penalties::default(), Instant::now());
        let at = address("192.0.2.1");
        assert!(!penalties.is_full(at));
        waits(&penalties, at, now, HELD as usize);
        assert!(penalties.is_full(at) && !penalties.is_full(address("192.0.2.2")));
        penalties.released(at);
        assert!(!penalties.is_full(at));
    }

    #[test]
    fn however_many_addresses_fail_the_table_stays_small() {
        let (penalties, now) = (Penalties::default(), Instant::now());
        for number in 0..3 * ADDRESSES as u32 {
            let at = Some(IpAddr::from(number.to_be_bytes()));
            penalties.failed(at, now);
            penalties.released(at);
        }
        assert!(penalties.0.lock().records.len() <= ADDRESSES + 1);
        // Those who have been good since make room.
        let later = now + HALF_LIFE * 40;
        assert_eq!(penalties.failed(address("198.51.100.7"), later), FIRST);
        assert_eq!(penalties.0.lock().records.len(), 1);
    }
}
