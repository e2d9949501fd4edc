//! Who is connected, counted by sockets: how many connections there are, and how many of them have not been opened yet.
//!
//! A connection that is accepted costs memory before anybody knows whose it is. When there are many of those, no host may
//! have more than its share of them: who floods is refused, others get in.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;

/// Connections that may be without an Open before shares are looked at.
const HALF_OPEN_MAX: u32 = 8192;
/// Who has an IPv6 address usually has all those that share its first 64 bits.
const IPV6_NETWORK: u128 = u64::MAX as u128;

/// The counts.
#[derive(Debug)]
pub(super) struct Census(Mutex<Counts>);

#[derive(Debug)]
struct Counts {
    most: u64,
    connections: u64,
    denied: u64,
    half_open: u32,
    /// By network; none at 0.
    by_host: HashMap<IpAddr, u32>,
}

/// A connection's place in the counts, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    census: Arc<Census>,
    /// While it has not been opened.
    half_open: Option<IpAddr>,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// There are as many connections as there may be: this number.
    Connections(u64),
    /// So many connections of this host have not been opened.
    HalfOpen(u32),
}

impl Census {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Counts { most: u64::MAX, connections: 0, denied: 0, half_open: 0, by_host: HashMap::new() }))
    }

    /// How many connections there may be from now on.
    pub(super) fn set_most(&self, most: u64) {
        self.0.lock().most = most;
    }

    /// Connections that there are, and those that were denied because there were too many.
    pub(super) fn counts(&self) -> (u64, u64) {
        let counts = self.0.lock();
        (counts.connections, counts.denied)
    }

    /// A place for a connection from this host.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn enter(self: &Arc<Self>, host: IpAddr) -> Result<Place, Full> {
        let host = network(host);
        let mut counts = self.0.lock();
        if counts.connections >= counts.most {
            counts.denied += 1;
            return Err(Full::Connections(counts.connections));
        }
        let own = counts.by_host.get(&host).copied().unwrap_or(0);
        if counts.half_open >= HALF_OPEN_MAX && own >= share(counts.by_host.len()) {
            return Err(Full::HalfOpen(own));
        }
        counts.connections += 1;
        counts.half_open += 1;
        counts.by_host.insert(host, own + 1);
        drop(counts);
        Ok(Place { census: Arc::clone(self), half_open: Some(host) })
    }
}

/// How many connections without an Open one of so many hosts may have.
fn share(hosts: usize) -> u32 {
    HALF_OPEN_MAX / u32::try_from(hosts.max(1)).unwrap_or(u32::MAX)
}

/// Whom connections from this address are held against.
fn network(host: IpAddr) -> IpAddr {
    match host.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !IPV6_NETWORK).into(),
        address @ IpAddr::V4(_) => address,
    }
}

impl Counts {
    fn no_longer_half_open(&mut self, host: IpAddr) {
        self.half_open = self.half_open.saturating_sub(1);
        if let Some(own) = self.by_host.get_mut(&host) {
            *own -= 1;
            if *own == 0 {
                self.by_host.remove(&host);
            }
        }
    }
}

impl Place {
    /// The connection has been opened.
    pub(super) fn opened(&mut self) {
        if let Some(host) = self.half_open.take() {
            self.census.0.lock().no_longer_half_open(host);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.census.0.lock();
        counts.connections = counts.connections.saturating_sub(1);
        if let Some(host) = self.half_open.take() {
            counts.no_longer_half_open(host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOODER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn flooded() -> (Arc<Census>, Vec<Place>) {
        let census = Arc::new(Census::new());
        let places = (0..HALF_OPEN_MAX).map(|_| census.enter(FLOODER).unwrap()).collect();
        (census, places)
    }

    #[test]
    fn there_are_no_more_connections_than_there_may_be() {
        let census = Arc::new(Census::new());
        census.set_most(1);
        let place = census.enter(FLOODER).unwrap();
        assert_eq!(census.enter(OTHER).unwrap_err(), Full::Connections(1));
        drop(place);
        assert!(census.enter(OTHER).is_ok());
        assert_eq!(census.counts(), (0, 1));
    }

    #[test]
    fn who_floods_is_refused_and_others_get_in() {
        let (census, _places) = flooded();
        assert_eq!(census.enter(FLOODER).unwrap_err(), Full::HalfOpen(HALF_OPEN_MAX));
        assert!(census.enter(OTHER).is_ok());
    }

    #[test]
    fn connections_that_were_opened_are_no_flood() {
        let (census, mut places) = flooded();
        places.iter_mut().for_each(Place::opened);
        assert!(census.enter(FLOODER).is_ok());
        assert_eq!(census.counts().0, u64::from(HALF_OPEN_MAX));
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_place() {
        let a: IpAddr = "2001:db8::1".parse().unwrap();
        let b: IpAddr = "2001:db8::ffff:1".parse().unwrap();
        assert_eq!(network(a), network(b));
        assert_ne!(network(a), network("2001:db8:0:1::1".parse().unwrap()));
    }
}
