//! What metrics tell of the store.

use queue_log::Stats;

use super::spec::QueueView;
use crate::shard::Shards;

/// What metrics tell of the store.
pub(crate) struct Report {
    /// Queues, no more than were asked for.
    pub(crate) queues: Vec<QueueView>,
    /// What the log has counted, if there is one.
    pub(crate) log: Option<Stats>,
    /// The log takes messages.
    pub(crate) takes_messages: bool,
    /// Bytes of messages in memory.
    pub(crate) cached: u64,
}

/// Looks at the store; `None`: there is none. Of its queues, no more than `most` are told of.
pub(crate) fn report(shards: &Shards, most: usize) -> Option<Report> {
    let store = shards.store()?;
    let (queues, log, takes_messages, cached) = shards.with_core(|_, _, _| {
        store.with(|node| {
            (node.views(most), node.journal.log.clone(), node.journal.stuck.is_none(), node.bodies.bytes())
        })
    });
    Some(Report { queues, log: log.map(|log| log.stats()), takes_messages, cached })
}
