//! What is kept of a neighbour that shares what it knows: what it has, and what it is still to be told.

use crate::NodeIndex;
use crate::wire::Seqs;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One neighbour's. Everything here is bounded by the number of routers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sharing {
    /// How far the neighbour knows each router, by what it said and was told.
    pub(crate) told: BTreeMap<NodeIndex, Seqs>,
    /// Routers of which it may lack something.
    pub(crate) news: BTreeSet<NodeIndex>,
    /// Routers the addresses of which it has asked for, and the sequence number that it has heard of.
    pub(crate) wanted: BTreeMap<NodeIndex, i64>,
    /// Routers the addresses of which it is to be asked for.
    pub(crate) ask: BTreeSet<NodeIndex>,
    /// It is to be told all that is known here by name and number.
    pub(crate) list: bool,
    /// It is to be told a number for that.
    pub(crate) digest: bool,
    /// When a list was sent last.
    pub(crate) listed: Option<Duration>,
    /// When the next message goes out.
    pub(crate) due: Option<Duration>,
    /// When the last one did.
    sent: Option<Duration>,
}

impl Sharing {
    /// What comes about within so long after a message goes out together.
    const SPACING: Duration = Duration::from_millis(20);

    /// There is something to be told: at once, if nothing was told just now.
    pub(crate) fn soon(&mut self, now: Duration) {
        if self.due.is_none() {
            self.due = Some(self.sent.map_or(now, |sent| now.max(sent + Self::SPACING)));
        }
    }

    /// Everything is told now.
    pub(crate) fn sent(&mut self, now: Duration) {
        self.due = None;
        self.sent = Some(now);
    }

    /// A router is gone, and its number may be given to another.
    pub(crate) fn forget(&mut self, index: NodeIndex) {
        self.told.remove(&index);
        self.news.remove(&index);
        self.wanted.remove(&index);
        self.ask.remove(&index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_news_go_out_at_once_and_those_that_follow_together() {
        let (mut sharing, now) = (Sharing::default(), Duration::from_secs(100));
        sharing.soon(now);
        assert_eq!(sharing.due, Some(now));
        sharing.sent(now);
        sharing.soon(now);
        sharing.soon(now + Duration::from_millis(1));
        assert_eq!(sharing.due, Some(now + Sharing::SPACING));
    }
}
