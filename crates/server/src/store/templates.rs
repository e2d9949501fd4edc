//! Queues that are made when somebody first asks for them: which addresses they have, and what they are like.
//!
//! Templates that were made while the router runs are part of the log, and those of the configuration file are not: they are
//! there as long as the file names them. One of the file takes the place of one of the log.

use std::collections::BTreeMap;

use queue_core::QueueSettings;
use router_core::{Pattern, PatternTree};

/// All templates.
#[derive(Default)]
pub(super) struct Templates {
    /// By their texts.
    patterns: BTreeMap<String, Template>,
    tree: PatternTree<QueueSettings>,
}

/// One of them.
pub(super) struct Template {
    pattern: Pattern,
    pub(super) settings: QueueSettings,
    /// It is of the configuration file.
    pub(super) of_file: bool,
}

impl Templates {
    /// What the queue at an address is to be like; `None`: there is no template for it.
    pub(super) fn best(&self, address: &str) -> Option<QueueSettings> {
        self.tree.best(address).cloned()
    }

    /// Whether there can be one of this text: it is a pattern, and no other text is the same pattern.
    pub(super) fn takes(&self, text: &str) -> bool {
        let same = |pattern: &Pattern| self.patterns.iter().any(|(other, it)| other != text && it.pattern == *pattern);
        Pattern::parse(text).is_some_and(|pattern| !same(&pattern))
    }

    /// Adds one, or puts it in the place of the one of this text. False: there can be none.
    pub(super) fn set(&mut self, text: &str, settings: QueueSettings, of_file: bool) -> bool {
        let Some(pattern) = Pattern::parse(text).filter(|_| self.takes(text)) else { return false };
        self.remove(text);
        self.tree.insert(&pattern, settings.clone());
        self.patterns.insert(text.to_owned(), Template { pattern, settings, of_file });
        true
    }

    /// Removes one. False: there is none.
    pub(super) fn remove(&mut self, text: &str) -> bool {
        let Some(Template { pattern, .. }) = self.patterns.remove(text) else { return false };
        self.tree.remove(&pattern).is_some()
    }

    /// The one of this text.
    pub(super) fn get(&self, text: &str) -> Option<&Template> {
        self.patterns.get(text)
    }

    /// All of them, in the order of their texts.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &QueueSettings)> {
        self.patterns.iter().map(|(text, template)| (text.as_str(), &template.settings))
    }
}
