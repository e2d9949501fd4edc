//! The addresses that have consumers on this router, and what others have been told of them.

use crate::Hint;
use std::collections::BTreeMap;
use std::time::Duration;

/// Addresses with consumers here, and the changes that have not been announced yet.
#[derive(Clone, Debug)]
pub(crate) struct LocalAddresses {
    /// What others know, or will once they have the last announcement.
    announced: BTreeMap<String, Hint>,
    /// What differs from it: a hint, or none if the address is gone.
    changes: BTreeMap<String, Option<Hint>>,
    /// The sequence number of `announced`.
    pub(crate) seq: i64,
    /// When the changes are to be announced.
    pub(crate) due: Option<Duration>,
    /// When changes were announced last.
    last: Option<Duration>,
    /// Changes are not announced before this.
    held: Duration,
    /// The last announcement, if it was a small one, and its sequence number.
    pub(crate) latest: Option<(i64, Announcement)>,
}

/// Changes that are announced together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) add: Vec<(String, Option<Hint>)>,
    pub(crate) del: Vec<String>,
}

impl Announcement {
    /// Of so few keys that neighbours are told of them unasked. Of more they ask one neighbour, and get them once.
    const FEW: usize = 64;

    /// Whether it is kept, for neighbours that lack just this.
    pub(crate) fn is_small(&self) -> bool {
        self.add.len() + self.del.len() <= Self::FEW
    }
}

impl LocalAddresses {
    /// The first change after a quiet time is announced almost at once. Those that follow it are gathered for so long: a fourth
    /// of what the old router waits.
    const SPACING: Duration = Duration::from_millis(250);

    /// That first change waits for so long for what comes about together with it, such as both directions of a link route.
    const GATHERING: Duration = Duration::from_millis(2);

    /// No addresses, under this sequence number.
    pub(crate) fn new(seq: i64) -> Self {
        Self {
            announced: BTreeMap::new(),
            changes: BTreeMap::new(),
            seq,
            due: None,
            last: None,
            held: Duration::ZERO,
            latest: None,
        }
    }

    /// An address has a consumer, or has none any more. Whether that is news.
    pub(crate) fn set(&mut self, now: Duration, key: &str, hint: Option<Hint>) -> bool {
        let known = self.announced.get(key).copied();
        let current = self.changes.get(key).copied().unwrap_or(known);
        if current == hint {
            return false;
        }
        if known == hint {
            self.changes.remove(key);
        } else {
            self.changes.insert(key.to_owned(), hint);
        }
        if self.due.is_none() {
            self.due =
                Some(self.last.map_or(now, |last| last + Self::SPACING).max(self.held).max(now + Self::GATHERING));
        }
        true
    }

    /// Changes are gathered until then.
    pub(crate) fn hold(&mut self, until: Duration) {
        self.held = self.held.max(until);
        self.due = self.due.map(|due| due.max(self.held));
    }

    /// Takes the changes that have not been announced, if there are any. The sequence number has then grown.
    pub(crate) fn take_changes(&mut self, now: Duration) -> Option<Announcement> {
        self.due = None;
        if self.changes.is_empty() {
            return None;
        }
        self.seq += 1;
        self.last = Some(now);
        let mut announcement = Announcement { add: Vec::new(), del: Vec::new() };
        for (key, hint) in std::mem::take(&mut self.changes) {
            match hint {
                Some(hint) => {
                    self.announced.insert(key.clone(), hint);
                    announcement.add.push((key, Some(hint)));
                }
                None => {
                    self.announced.remove(&key);
                    announcement.del.push(key);
                }
            }
        }
        self.latest = announcement.is_small().then(|| (self.seq, announcement.clone()));
        Some(announcement)
    }

    /// All addresses that have been announced.
    pub(crate) fn announced(&self) -> Vec<(String, Option<Hint>)> {
        self.announced.iter().map(|(key, hint)| (key.clone(), Some(*hint))).collect()
    }
}
