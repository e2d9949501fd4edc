//! What a router has to know of itself before it speaks to others.

use std::time::Duration;

/// The engine's settings. The names of the intervals are those of the `router` entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The router's id, unique in the network.
    pub id: String,
    /// When the router started, in seconds since the Unix epoch. A change tells others of a restart.
    pub instance: i64,
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
    /// The old router's defaults.
    pub fn new(id: impl Into<String>, instance: i64) -> Self {
        Self {
            id: id.into(),
            instance,
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
