//! Queues that are made when somebody first asks for them, and what the subscriptions of topics are like.

use std::collections::BTreeMap;

use queue_core::QueueSettings;
use router_core::{Pattern, PatternTree};

/// All templates, and all topics.
#[derive(Default)]
pub(super) struct Templates {
    /// By their texts.
    patterns: BTreeMap<String, (Pattern, QueueSettings)>,
    tree: PatternTree<QueueSettings>,
    topics: BTreeMap<String, QueueSettings>,
}

impl Templates {
    /// What the queue at an address is to be like; `None`: there is no template for it.
    pub(super) fn best(&self, address: &str) -> Option<QueueSettings> {
        self.tree.best(address).cloned()
    }

    /// Adds one. False: there is one for this pattern, or the pattern has no tokens.
    pub(super) fn add(&mut self, text: &str, settings: QueueSettings) -> bool {
        let Some(pattern) = Pattern::parse(text) else { return false };
        let is_new = self.tree.insert(&pattern, settings.clone());
        if is_new {
            self.patterns.insert(text.to_owned(), (pattern, settings));
        }
        is_new
    }

    /// Removes one. False: there is none.
    pub(super) fn remove(&mut self, text: &str) -> bool {
        let Some((pattern, _)) = self.patterns.remove(text) else { return false };
        self.tree.remove(&pattern).is_some()
    }

    /// All of them, in the order of their texts.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &QueueSettings)> {
        self.patterns.iter().map(|(text, (_, settings))| (text.as_str(), settings))
    }

    /// What the queues of a topic's subscriptions are to be like.
    pub(super) fn topic(&self, address: &str) -> QueueSettings {
        self.topics.get(address).cloned().unwrap_or_else(|| QueueSettings::new(address))
    }

    /// Says what the queues of a topic's subscriptions are to be like.
    pub(super) fn set_topic(&mut self, address: &str, settings: QueueSettings) {
        self.topics.insert(address.to_owned(), settings);
    }

    /// A topic is gone.
    pub(super) fn remove_topic(&mut self, address: &str) {
        self.topics.remove(address);
    }
}
