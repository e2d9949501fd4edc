//! The control plane: what happens seldom, on one thread.

pub(crate) mod connector;
pub(crate) mod connectors;
pub(crate) mod edges;
pub(crate) mod errands;
pub(crate) mod failover;
pub(crate) mod inbox;
pub(crate) mod listener;
pub(crate) mod listeners;
pub(crate) mod live_profile;
pub(crate) mod lookup;
pub(crate) mod network;
pub(crate) mod plane;
pub(crate) mod policies;
pub(crate) mod profiles;
mod protocol;
pub(crate) mod report;
pub(crate) mod resolve;
pub(crate) mod retry;
pub(crate) mod settings;
pub(crate) mod stopping;
pub(crate) mod uplink;
