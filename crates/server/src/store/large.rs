//! Messages too large for memory: each has a file of its own, written while it comes and read while it leaves.

use std::sync::Arc;

use queue_log::Log;
use router_core::{Now, OutKey};

use super::links::Arrival;
use super::node::Node;
use super::signals::Signals;
use crate::content::{Content, Reader};
use crate::shard::LinkRef;

pub(super) struct Large {
    _log: Option<Arc<Log>>,
}

impl Large {
    pub(super) fn new(log: Option<Arc<Log>>, _signals: &Arc<Signals>) -> Self {
        Self { _log: log }
    }

    pub(super) fn begin_sending(&mut self, _file: u64) -> Option<Content<LinkRef>> {
        None
    }

    pub(super) fn remove(&mut self, _file: u64) {}

    pub(super) fn forget_arrival(&mut self, _key: OutKey) {}

    pub(super) fn link_gone(&mut self, _link: u32) {}

    pub(super) fn grown(&mut self, _link: u32) {}

    pub(super) fn stop(&mut self) {}
}

impl Node {
    pub(super) fn begin_large(
        &mut self,
        _now: Now,
        _arrival: Arrival,
        _reader: Reader<LinkRef>,
        _txn: Option<Vec<u8>>,
    ) {
    }

    pub(super) fn aborted(&mut self, _link: u32, _key: OutKey) {}

    pub(super) fn take_large(&mut self, _time: u64) {}
}
