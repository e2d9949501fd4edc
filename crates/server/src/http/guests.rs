//! How many HTTP connections there may be: a bound for all, and one for each address, so that one client cannot keep the
//! others out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections served at a time. AMQP over WebSocket does not count: a shard has it.
const ALL: usize = 256;
/// Connections from one address.
const EACH: usize = 64;

/// The connections being served.
#[derive(Clone)]
pub(super) struct Guests {
    seats: Arc<Semaphore>,
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A place among them, given back when dropped.
pub(super) struct Seat {
    guests: Guests,
    address: IpAddr,
    _permit: OwnedSemaphorePermit,
}

impl Default for Guests {
    fn default() -> Self {
        Self { seats: Arc::new(Semaphore::new(ALL)), by_address: Arc::default() }
    }
}

impl Guests {
    /// A place for a connection from this address, as soon as there is one; `None` if the address has its share.
    pub(super) async fn admit(&self, address: IpAddr) -> Option<Seat> {
        let address = network_of(address);
        if self.by_address.lock().get(&address).is_some_and(|count| *count >= EACH) {
            return None;
        }
        // The semaphore is never closed.
        let permit = Arc::clone(&self.seats).acquire_owned().await.ok()?;
        *self.by_address.lock().entry(address).or_default() += 1;
        Some(Seat { guests: self.clone(), address, _permit: permit })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut by_address = self.guests.by_address.lock();
        if let Some(count) = by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&self.address);
            }
        }
    }
}

/// Whom an address stands for: of IPv6, each host has as many as it likes in its network.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & (u128::MAX << 64)).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_address_gets_no_more_than_its_share() {
        let guests = Guests::default();
        let mut seats = Vec::new();
        for number in 0..EACH as u128 {
            // Addresses of one network count as one.
            seats.push(guests.admit(IpAddr::V6(number.into())).await.expect("there is room"));
        }
        assert!(guests.admit(IpAddr::V6(9.into())).await.is_none());
        assert!(guests.admit([127, 0, 0, 1].into()).await.is_some());
        seats.pop();
        assert!(guests.admit(IpAddr::V6(9.into())).await.is_some());
    }

    #[tokio::test]
    async fn who_has_left_leaves_no_trace() {
        let guests = Guests::default();
        drop(guests.admit([127, 0, 0, 1].into()).await);
        assert!(guests.by_address.lock().is_empty());
        assert_eq!(guests.seats.available_permits(), ALL);
    }
}
