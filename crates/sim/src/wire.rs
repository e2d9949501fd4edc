//! Simulated connections.

use std::time::Duration;

use router_core::Now;

use crate::world::{ClientNo, RouterNo};

/// What is at an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Router(RouterNo),
    Client(ClientNo),
}

impl End {
    pub(crate) fn is_of(self, router: RouterNo) -> bool {
        self == Self::Router(router)
    }
}

/// A connection. Side 0 has made it.
pub(crate) struct Wire {
    pub(crate) ends: [End; 2],
    pub(crate) cost: u32,
    pub(crate) open: bool,
    /// By the side that sends: nothing gets through.
    pub(crate) stalled: [bool; 2],
    /// By side: it knows that the connection is gone.
    pub(crate) noticed: [bool; 2],
    latency: Duration,
}

impl Wire {
    pub(crate) fn new(ends: [End; 2], latency: Duration, cost: u32) -> Self {
        Self { ends, cost, open: true, stalled: [false; 2], noticed: [false; 2], latency }
    }

    /// When a frame that is sent now arrives: frames keep their order, for all take the same time.
    pub(crate) fn arrival(&self, now: Now) -> Now {
        now + self.latency
    }
}
