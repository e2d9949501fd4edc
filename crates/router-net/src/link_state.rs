//! Who a router's neighbours are, in its own words.

use crate::log;
use std::collections::BTreeMap;
use std::fmt;

/// The link state of one router.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LinkState {
    /// The router's id.
    pub id: String,
    /// Grows with each change.
    pub ls_seq: i64,
    /// Neighbours, and what the connection to each costs.
    pub peers: BTreeMap<String, u32>,
}

impl fmt::Display for LinkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peers = log::map(self.peers.iter().map(|(id, cost)| (id.as_str(), cost)));
        write!(f, "LS(id={} area=0 ls_seq={} peers={peers})", self.id, self.ls_seq)
    }
}
