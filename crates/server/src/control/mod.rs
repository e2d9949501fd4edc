//! The control plane: what happens seldom, on one thread.

pub(crate) mod connector;
pub(crate) mod connectors;
pub(crate) mod failover;
pub(crate) mod listener;
pub(crate) mod listeners;
pub(crate) mod lookup;
pub(crate) mod network;
pub(crate) mod plane;
pub(crate) mod resolve;
pub(crate) mod retry;
pub(crate) mod settings;
