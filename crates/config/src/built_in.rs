//! The configuration of a router that is given none.

use crate::configuration::{Config, Settings};
use crate::load::router_of;
use crate::problem::Warning;
use crate::source::Source;
use amqp::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Standalone, clients of this machine on the standard port without authentication, the treatments of addresses that the
/// old router's installation came with, and queues.
const BUILT_IN: &str = include_str!("built_in.conf");

/// What is below the directory of a program's state.
const STORE: &str = "store";

impl Config {
    /// The configuration for a router that is given no file. Its queues are kept in `state` ([`state_directory`]); without
    /// such a directory there are none.
    pub fn built_in(state: Option<&Path>) -> Self {
        let parsed = Config::from_sources(&Source::new("built-in configuration", BUILT_IN), &mut |_| Ok(Vec::new()));
        // A test proves that the text is valid; should it ever not be, a router without listeners is the answer.
        let mut config =
            parsed.unwrap_or_else(|_| Config { router: router_of(&[]), entities: Vec::new(), warnings: Vec::new() });
        match state {
            Some(state) => config.keep_in(&state.join(STORE)),
            None => config.keep_nothing("there is no directory to keep them in: set XDG_STATE_HOME or HOME"),
        }
        config
    }

    fn keep_in(&mut self, path: &Path) {
        for entity in &mut self.entities {
            if let Settings::Store(store) = &mut entity.settings {
                entity.attributes.set("path", Value::String(path.to_string_lossy().into_owned()));
                store.path = path.to_owned();
            }
        }
    }

    /// Takes the store and all that is kept in it out, and warns of it.
    pub fn keep_nothing(&mut self, reason: &str) {
        let keeps = |settings: &Settings| {
            let of_queues = matches!(settings, Settings::Queue(_) | Settings::QueueTemplate(_) | Settings::Topic(_));
            of_queues || matches!(settings, Settings::Store(_))
        };
        self.entities.retain(|entity| !keeps(&entity.settings));
        let text = format!("There are no queues, addresses that begin with \"queue\" keep no messages: {reason}");
        self.warnings.push(Warning { place: None, text });
    }
}

/// Where programs of this user, or this service, keep their state: what systemd says in `STATE_DIRECTORY`; else
/// `waystation` in `XDG_STATE_HOME`, or in `.local/state` of the home directory. `environment` looks a variable up.
pub fn state_directory(environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(all) = environment("STATE_DIRECTORY") {
        // There may be several, separated by colons.
        let first = std::env::split_paths(&all).next().filter(|path| path.is_absolute());
        if first.is_some() {
            return first;
        }
    }
    let base = path("XDG_STATE_HOME").or_else(|| path("HOME").map(|home| home.join(".local").join("state")));
    base.map(|base| base.join("waystation"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<PathBuf> {
        state_directory(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn state_is_kept_where_the_service_manager_says_else_with_the_user() {
        let home = [("HOME", "/home/joe")];
        assert_eq!(found(&home), Some("/home/joe/.local/state/waystation".into()));
        assert_eq!(found(&[home[0], ("XDG_STATE_HOME", "/s")]), Some("/s/waystation".into()));
        assert_eq!(found(&[home[0], ("STATE_DIRECTORY", "/var/lib/a:/var/lib/b")]), Some("/var/lib/a".into()));
        assert_eq!(found(&[("HOME", "relative")]), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn the_built_in_store_is_below_the_state_directory() {
        let config = Config::built_in(Some(Path::new("/state")));
        let paths: Vec<_> = config.stores().map(|(_, store)| store.path.clone()).collect();
        assert_eq!(paths, [PathBuf::from("/state/store")]);
        assert_eq!(config.queue_templates().count(), 1);
        assert!(config.warnings.is_empty());
    }

    #[test]
    fn without_a_state_directory_there_are_no_queues_and_that_is_said() {
        let config = Config::built_in(None);
        assert_eq!((config.stores().count(), config.queues().count(), config.queue_templates().count()), (0, 0, 0));
        assert!(config.warnings[0].text.contains("XDG_STATE_HOME"), "{:?}", config.warnings);
        assert!(config.listeners().count() > 0);
    }
}
