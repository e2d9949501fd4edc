//! Topics, and templates of queues, for whoever manages them. What is made while the router runs is part of the log.

use queue_core::{Command, Orphans, QueueSettings};

use super::StoreHandle;
use super::handle::{check, check_address};
use super::links::{Destination, Place, Side};
use super::node::Node;
use super::say::Say;
use super::spec::{StoreError, TemplateSpec, TopicSpec};
use super::templates::Template;

impl StoreHandle {
    /// Adds a template.
    ///
    /// # Errors
    /// If there is one for this pattern, or it is none.
    pub(crate) fn create_template(&self, template: TemplateSpec) -> Result<(), StoreError> {
        let settings = self.checked(template)?;
        let pattern = settings.address.to_string();
        if self.with(|node| node.templates.get(&pattern).is_some()) {
            return Err(StoreError::Exists("template", pattern));
        }
        let command = Command::SetTemplate { settings: Box::new(settings), is_new: true };
        self.command(Side::Logged, command, &pattern).map(drop)
    }

    /// Says what the queues of a template are like from now on. Those that it has made before stay as they are.
    ///
    /// # Errors
    /// If it is not there, or they cannot be so.
    pub(crate) fn change_template(&self, template: TemplateSpec) -> Result<(), StoreError> {
        let settings = self.checked(template)?;
        let pattern = settings.address.to_string();
        match self.of_file(&pattern)? {
            // The next start reads the file again.
            true => {
                self.with(|node| node.set_template(&settings, true));
                Ok(())
            }
            false => {
                let command = Command::SetTemplate { settings: Box::new(settings), is_new: false };
                self.command(Side::Logged, command, &pattern).map(drop)
            }
        }
    }

    /// Sees to it that there is the template of the configuration file. One that was made while the router ran is given up
    /// for it: its settings are returned, if they are others.
    ///
    /// # Errors
    /// If it cannot be.
    pub(crate) fn declare_template(&self, template: TemplateSpec) -> Result<Option<QueueSettings>, StoreError> {
        let settings = self.checked(template)?;
        let pattern = settings.address.to_string();
        let made = self.with(|node| {
            let mut made = node.brokers[Side::Logged as usize].templates();
            made.find(|made| made.address == settings.address).map(|made| QueueSettings::clone(made))
        });
        if made.is_some() {
            self.delete_template(&pattern)?;
        }
        let other = made.filter(|made| *made != settings);
        self.with(|node| node.set_template(&settings, true));
        Ok(other)
    }

    /// Removes a template; its queues stay.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn delete_template(&self, pattern: &str) -> Result<(), StoreError> {
        match self.of_file(pattern)? {
            true => {
                self.with(|node| node.remove_template(pattern));
                Ok(())
            }
            false => {
                let command = Command::DeleteTemplate { pattern: pattern.into() };
                self.command(Side::Logged, command, pattern).map(drop)
            }
        }
    }

    /// What the queues of a template are to be like; the pattern stands in the place of the address.
    fn checked(&self, template: TemplateSpec) -> Result<QueueSettings, StoreError> {
        let TemplateSpec { pattern, queue } = template;
        let settings = QueueSettings { address: pattern.as_str().into(), ..queue };
        if !self.with(|node| node.templates.takes(&pattern)) {
            return Err(StoreError::Invalid(format!(
                "'{pattern}' cannot be the pattern of a template: it is empty, or another one means the same addresses"
            )));
        }
        check(&settings)?;
        Ok(settings)
    }

    fn of_file(&self, pattern: &str) -> Result<bool, StoreError> {
        let found = self.with(|node| node.templates.get(pattern).map(|Template { of_file, .. }| *of_file));
        found.ok_or_else(|| StoreError::NotFound(pattern.to_owned()))
    }

    /// Makes a topic.
    ///
    /// # Errors
    /// If there is something at its address; but for a queue that nobody has asked for, if there is nothing in it.
    pub(crate) fn create_topic(&self, topic: TopicSpec) -> Result<(), StoreError> {
        let settings = settings_of(topic)?;
        let address = settings.address.to_string();
        while let Some(Place { side, queue }) = self.made_by_itself(&address) {
            let command = Command::DeleteQueue { queue, if_empty: true, orphans: Orphans::Drop };
            self.command(side, command, &address)?;
        }
        self.is_free(&address)?;
        // Both sides know it: subscriptions are durable or not.
        for side in Side::BOTH {
            match self.command(side, Command::CreateTopic(Box::new(settings.clone())), &address) {
                Ok(_) | Err(StoreError::Exists(..)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Says what the subscriptions of a topic are like from now on. Those that there are stay as they are.
    ///
    /// # Errors
    /// If it is not there, or they cannot be so.
    pub(crate) fn change_topic(&self, topic: TopicSpec) -> Result<(), StoreError> {
        let settings = settings_of(topic)?;
        let address = settings.address.to_string();
        let [topic, _] = self.topic_at(&address)?;
        let command = Command::ChangeTopic { topic, settings: Box::new(settings) };
        self.command(Side::Logged, command, &address).map(drop)
    }

    /// Sees to it that there is such a topic. Returned are the settings it had before, if it was there with others.
    ///
    /// # Errors
    /// If it cannot be.
    pub(crate) fn declare_topic(&self, topic: TopicSpec) -> Result<Option<QueueSettings>, StoreError> {
        let Ok([id, _]) = self.topic_at(&topic.address) else {
            return self.create_topic(topic).map(|()| None);
        };
        let settings = settings_of(topic.clone())?;
        let before = self.with(|node| node.brokers[Side::Logged as usize].topic(id).map(|it| QueueSettings::clone(it)));
        let other = before.filter(|before| *before != settings);
        if other.is_some() {
            self.change_topic(topic)?;
        }
        Ok(other)
    }

    /// Deletes a topic and its subscriptions.
    ///
    /// # Errors
    /// If it is not there, or a subscription has messages or consumers and it is not to go in spite of these (`forced`).
    pub(crate) fn delete_topic(&self, address: &str, forced: bool) -> Result<(), StoreError> {
        let topics = self.topic_at(address)?;
        for side in Side::BOTH {
            let topic = topics[side as usize];
            let bound: Vec<_> = self.with(|node| node.broker(side).bound(topic).collect());
            let used = |node: &mut Node| {
                let mut found = bound.iter().filter_map(|queue| node.broker(side).statistics(*queue));
                found.find_map(|it| match (it.depth, it.consumers) {
                    (1.., _) => Some("a subscription has messages"),
                    (_, 1..) => Some("a subscription has consumers"),
                    _ => None,
                })
            };
            if let Some(why) = self.with(used).filter(|_| !forced) {
                return Err(StoreError::InUse(address.to_owned(), why));
            }
        }
        for side in Side::BOTH {
            let topic = topics[side as usize];
            let bound: Vec<_> = self.with(|node| {
                let broker = node.broker(side);
                broker.bound(topic).chain(broker.collector(topic)).collect()
            });
            for queue in bound {
                let command = Command::DeleteQueue { queue, if_empty: !forced, orphans: Orphans::Drop };
                match self.command(side, command, address) {
                    // One that is there as long as its link may have gone by itself.
                    Ok(_) | Err(StoreError::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            self.command(side, Command::DeleteTopic { topic }, address)?;
        }
        self.with(|node| node.topic_deleted(topics, address));
        Ok(())
    }

    fn topic_at(&self, address: &str) -> Result<[queue_core::TopicId; 2], StoreError> {
        match self.with(|node| node.find(address)) {
            Some(Destination::Topic(topics)) => Ok(topics),
            _ => Err(StoreError::NotFound(address.to_owned())),
        }
    }
}

/// What the queues of a topic's subscriptions are to be like; the topic's address stands in the place of theirs.
fn settings_of(topic: TopicSpec) -> Result<QueueSettings, StoreError> {
    let TopicSpec { address, subscription } = topic;
    check_address(&address)?;
    let settings = QueueSettings { address: address.as_str().into(), ..subscription };
    check(&settings)?;
    Ok(settings)
}

impl Node {
    /// Templates of the log are there from the start.
    pub(super) fn take_over_templates(&mut self) {
        let templates: Vec<_> = self.brokers[Side::Logged as usize].templates().cloned().collect();
        for settings in templates {
            self.set_template(&settings, false);
        }
    }

    /// There is a template; if there was one of this pattern, it is in its place.
    pub(super) fn set_template(&mut self, settings: &QueueSettings, of_file: bool) {
        self.make_graves_of(settings);
        let pattern = &*settings.address;
        if self.templates.set(pattern, settings.clone(), of_file) {
            self.say(Say::Lead { address: pattern.into() });
        }
    }

    /// A template is gone.
    pub(super) fn remove_template(&mut self, pattern: &str) {
        if self.templates.remove(pattern) {
            self.say(Say::Unlead { address: pattern.into() });
        }
    }
}
