//! What a router has to know of itself before it speaks to others.

use std::time::Duration;

/// The engine's settings. The names of the intervals are those of the `router` entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The router's id, unique in the network.
    pub id: String,
    /// When the router started, in seconds since the Unix epoch. A change tells others of a restart.
    pub instance: i64,
    /// Where the sequence numbers of the router's link state begin. Others take an equal or a smaller one for old news, even
    /// after a restart within one second, which does not show in the instance: so a later start begins with a larger one.
    pub first_ls_seq: i64,
    /// Where the sequence numbers of the router's addresses begin. The old router takes an equal number for equal
    /// addresses, even after a restart, which within one second does not show in the instance: so no two starts of a
    /// router may begin with the same.
    pub first_mobile_seq: i64,
    /// `helloIntervalSeconds`: how often neighbours greet each other.
    pub hello_interval: Duration,
    /// `helloMaxAgeSeconds`: a neighbour that is silent for longer is lost.
    pub hello_max_age: Duration,
    /// `raIntervalSeconds`: how often a router advertises its sequence numbers while nothing happens.
    pub ra_interval: Duration,
    /// `raIntervalFluxSeconds`: how often while the topology changes.
    pub ra_interval_flux: Duration,
    /// `remoteLsMaxAgeSeconds`: the link state of a router that is silent for longer is forgotten.
    pub remote_ls_max_age: Duration,
    /// How many routers the network may have, this one included. Routers of the old kind know 128 at most.
    pub max_routers: u16,
    /// How many addresses one other router may announce. Those beyond are left out, with a line in the log.
    pub max_addresses: usize,
}

impl Config {
    /// The old router's defaults, and sequence numbers by the instance.
    pub fn new(id: impl Into<String>, instance: i64) -> Self {
        Self {
            id: id.into(),
            instance,
            first_ls_seq: 0,
            first_mobile_seq: first_seq(instance, 0),
            hello_interval: Duration::from_secs(1),
            hello_max_age: Duration::from_secs(3),
            ra_interval: Duration::from_secs(30),
            ra_interval_flux: Duration::from_secs(4),
            remote_ls_max_age: Duration::from_secs(60),
            max_routers: 128,
            max_addresses: 1_000_000,
        }
    }
}

impl Config {
    /// The same with sequence numbers that differ from those of any start at another millisecond.
    pub fn started_at(self, millis_since_epoch: u64) -> Self {
        let seconds = i64::try_from(millis_since_epoch / 1_000).unwrap_or(i64::MAX);
        let first = first_seq(seconds, millis_since_epoch % 1_000);
        Self { first_ls_seq: first, first_mobile_seq: first, ..self }
    }
}

/// Numbers for a start: within a second later ones are larger, and there is room for a million changes until they meet
/// those of the next millisecond; starts in different seconds have different ones nearly always. They fit into 32 bits.
fn first_seq(seconds: i64, millis: u64) -> i64 {
    let millis = i64::try_from(millis).unwrap_or(0);
    millis << 20 | (seconds & 0x3ff) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_start_within_a_second_has_larger_numbers_for_all_that_it_says() {
        let start = |millis| Config::new("A", 1_700_000_000).started_at(millis);
        for (one, next) in [(0, 1), (1, 2), (998, 999)] {
            let [one, next] = [one, next].map(|millis| start(1_700_000_000_000 + millis));
            assert!(next.first_mobile_seq > one.first_mobile_seq + 1_000_000);
            assert!(next.first_ls_seq > one.first_ls_seq + 1_000_000);
        }
        assert!(start(u64::MAX).first_ls_seq <= i64::from(i32::MAX));
    }

    #[test]
    fn starts_in_different_seconds_are_numbered_differently() {
        let start = |seconds: u64| Config::new("A", 1).started_at(seconds * 1_000).first_mobile_seq;
        assert_ne!(start(1_700_000_000), start(1_700_000_001));
    }
}
