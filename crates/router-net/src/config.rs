//! What a router has to know of itself before it speaks to others.

use std::time::Duration;

/// The engine's settings. The names of the intervals are those of the `router` entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The router's id, unique in the network.
    pub id: String,
    /// When the router started, in seconds since the Unix epoch. A change tells others of a restart.
    pub instance: i64,
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
            first_mobile_seq: mobile_seq_of(instance),
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
        let start = i64::try_from(millis_since_epoch).unwrap_or(i64::MAX);
        Self { first_mobile_seq: mobile_seq_of(start), ..self }
    }
}

/// Numbers for a start, far apart from those of the one before it; they have room in 32 bits.
fn mobile_seq_of(start: i64) -> i64 {
    (start & 0xf_ffff) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_starts_within_a_second_do_not_number_their_addresses_alike() {
        let start = |millis| Config::new("A", 1_700_000_000).started_at(millis).first_mobile_seq;
        assert!(start(1_700_000_000_001) > start(1_700_000_000_000) + 1_000);
        assert!(start(u64::MAX) <= i64::from(i32::MAX));
    }
}
