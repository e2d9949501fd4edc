//! Queues that are made when they are needed: what they are like is kept here, who needs them is the host's business.

use crate::broker::Broker;
use crate::output::{Applied, Done, Refused};
use crate::settings::QueueSettings;
use std::sync::Arc;

impl Broker {
    pub(super) fn set_template(&mut self, settings: &QueueSettings, is_new: bool) -> Applied {
        if let Some(problem) = settings.problem() {
            return Err(Refused::BadSettings(problem));
        }
        match self.templates.contains_key(&settings.address) {
            true if is_new => return Err(Refused::Exists(settings.address.clone())),
            false if !is_new => return Err(Refused::NoTemplate),
            _ => {}
        }
        self.templates.insert(settings.address.clone(), Arc::new(settings.clone()));
        Ok(Done::Changed)
    }

    pub(super) fn delete_template(&mut self, pattern: &str) -> Applied {
        self.templates.remove(pattern).map(|_| Done::Deleted).ok_or(Refused::NoTemplate)
    }
}
