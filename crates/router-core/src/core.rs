//! The core's calls.

use amqp::{DeliveryState, ErrorCondition};

use crate::*;

/// The routing core. All calls are cheap and none blocks.
pub struct Core<H: Host> {
    settings: RouterSettings,
    next_connection_id: u64,
    phantom: std::marker::PhantomData<fn(H)>,
}

#[allow(unused_variables, missing_docs, reason = "signatures first")]
impl<H: Host> Core<H> {
    pub fn new(settings: RouterSettings) -> Self {
        Self { settings, next_connection_id: 0, phantom: std::marker::PhantomData }
    }
    pub fn settings(&self) -> &RouterSettings { &self.settings }

    // connections
    /// The identity for a connection just accepted, or for a connector's next attempt.
    pub fn next_connection_id(&mut self) -> u64 {
        self.next_connection_id += 1;
        self.next_connection_id
    }
    pub fn open_connection(&mut self, now: Now, host: &mut H, conn: H::Conn, info: ConnectionInfo) -> ConnKey { unimplemented!() }
    pub fn close_connection(&mut self, now: Now, host: &mut H, conn: ConnKey) { unimplemented!() }
    pub fn set_writable(&mut self, now: Now, host: &mut H, conn: ConnKey, writable: bool) { unimplemented!() }
    pub fn set_protocol_trace(&mut self, conn: ConnKey, on: bool) { unimplemented!() }
    /// The connection with this identity, and the host's reference to it.
    pub fn find_connection(&self, id: u64) -> Option<(ConnKey, H::Conn)> { unimplemented!() }

    // links
    /// Answers through `host.attach_answer`. If the attach is refused, the key returned is dead: calls with it do nothing.
    pub fn attach(&mut self, now: Now, host: &mut H, conn: ConnKey, link: H::Link, attach: AttachInfo) -> LinkKey { unimplemented!() }
    pub fn detach(&mut self, now: Now, host: &mut H, link: LinkKey, closed: bool, error: Option<ErrorCondition>) { unimplemented!() }
    pub fn link_lost(&mut self, now: Now, host: &mut H, link: LinkKey) { unimplemented!() }
    /// Detaches from this side (policy, management).
    pub fn force_detach(&mut self, now: Now, host: &mut H, link: LinkKey, error: Option<ErrorCondition>) { unimplemented!() }

    // hot path
    pub fn deliver(&mut self, now: Now, host: &mut H, link: LinkKey, offer: Offer<'_>) -> Offered { unimplemented!() }
    pub fn received(&mut self, now: Now, host: &mut H, delivery: InKey, settled: bool) { unimplemented!() }
    pub fn aborted(&mut self, now: Now, host: &mut H, delivery: InKey) { unimplemented!() }
    pub fn reject(&mut self, now: Now, host: &mut H, link: LinkKey, delivery_id: u32, settled: bool, error: ErrorCondition) { unimplemented!() }
    pub fn outcome(&mut self, now: Now, host: &mut H, delivery: OutKey, state: Option<DeliveryState>, settled: bool) { unimplemented!() }
    pub fn sender_outcome(&mut self, now: Now, host: &mut H, delivery: InKey, state: Option<DeliveryState>, settled: bool) { unimplemented!() }
    pub fn credit(&mut self, now: Now, host: &mut H, link: LinkKey, credit: u32, drain: bool) { unimplemented!() }
    pub fn drained(&mut self, now: Now, host: &mut H, link: LinkKey, returned: u32) { unimplemented!() }
    pub fn transmitted(&mut self, now: Now, host: &mut H, delivery: OutKey) { unimplemented!() }

    // in process
    /// `key`: an address key such as `M0$management` or `L$management`.
    pub fn subscribe(&mut self, now: Now, host: &mut H, key: &str) -> SubscriberId { unimplemented!() }
    pub fn unsubscribe(&mut self, now: Now, host: &mut H, subscriber: SubscriberId) { unimplemented!() }
    /// `to`: address text as in a message's `to`. False: nobody there, the message is dropped.
    pub fn send_local(&mut self, now: Now, host: &mut H, to: &str, content: H::Content) -> bool { unimplemented!() }

    // time
    pub fn next_timeout(&self) -> Option<Now> { unimplemented!() }
    pub fn handle_timeout(&mut self, now: Now, host: &mut H) { unimplemented!() }

    // management
    /// Returns the new entity's identity.
    pub fn create_address_config(&mut self, host: &mut H, new: NewAddressConfig) -> Result<u64, AddressConfigError> { unimplemented!() }
    /// False: there is none with this identity.
    pub fn delete_address_config(&mut self, id: u64) -> bool { unimplemented!() }
    /// In order of identity.
    pub fn address_configs(&self) -> Vec<AddressConfigSnapshot<'_>> { unimplemented!() }
    /// In order of identity.
    pub fn connections(&self, now: Now) -> Vec<ConnectionSnapshot<'_>> { unimplemented!() }
    /// In order of identity.
    pub fn links(&self, now: Now) -> Vec<LinkSnapshot<'_>> { unimplemented!() }
    /// In order of creation.
    pub fn addresses(&self) -> Vec<AddressSnapshot<'_>> { unimplemented!() }
    pub fn statistics(&self) -> RouterStatistics { unimplemented!() }
}
