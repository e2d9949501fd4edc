//! `store`, `queueTemplate` and `topic`; and what the configuration says of all that is kept.

use crate::control::plane::reply_to;
use crate::entities::attributes::{Row, count_or_null, text_or_null};
use crate::shard::Shards;
use crate::store::{StoreError, StoreHandle, StoreSettings, StoreView, TemplateSpec, TopicSpec};
use amqp::Value;
use config::{QueueTemplateConfig, Settings, StoreConfig, TopicConfig};
use management::{Attributes, EntityType, Failure, Later};
use queue_core::{Lifetime, Overflow, QueueSettings};
use queue_log::{Condition, Copied, Disk, Missing};
use std::path::PathBuf;
use std::sync::Arc;

/// So many of the messages that are not in a copy are named.
const MOST_MISSING: usize = 1000;

/// The store.
pub(super) fn rows(store: &StoreHandle, entity_type: &EntityType) -> Vec<Attributes> {
    vec![row(&store.view(), entity_type)]
}

fn row(view: &StoreView, entity_type: &EntityType) -> Attributes {
    let (state, problem) = match &view.condition {
        Condition::Good => ("ok", None),
        Condition::Full(reason) => ("full", Some(format!("{reason}: make room on this disk, it goes on by itself"))),
        Condition::Failed(reason) => ("failed", Some(reason.clone())),
    };
    let mean = view.log.sync_micros.checked_div(view.log.syncs);
    Row::identified(entity_type, Value::from("store"), "store/store")
        .text("path", view.settings.path.to_string_lossy())
        .count("segmentBytes", view.settings.segment_bytes)
        .count("cacheBytes", view.settings.cache_bytes)
        .count("largeMessageBytes", view.settings.large_message_bytes)
        .text("state", state)
        .with("problem", text_or_null(problem.as_deref()))
        .count("queues", view.queues)
        .count("messages", view.messages)
        .count("bytes", view.bytes)
        .count("logBytes", view.log.disk_bytes)
        .count("entries", view.log.entries)
        .count("syncs", view.log.syncs)
        .with("syncMicroseconds", count_or_null(mean))
        .count("syncMicrosecondsMax", view.log.sync_slowest)
        .done()
}

/// Has the store copied by a thread of its own, which replies. False: there is none to be had.
pub(super) fn back_up(shards: &Shards, store: &StoreHandle, arguments: &Attributes, later: Later) -> bool {
    let (shards, store) = (shards.clone(), store.clone());
    let to = PathBuf::from(arguments.text("to").unwrap_or_default());
    let copy = move || {
        let done = store.backup(&to);
        match &done {
            Ok(copied) => {
                logging::log!(AGENT, Notice, "The store was copied to {}: {} bytes", to.display(), copied.bytes)
            }
            Err(error) => logging::log!(AGENT, Error, "The store was not copied to {}: {error}", to.display()),
        }
        let answer = done.map_err(failure).map(|copied| {
            let answer = Attributes::new()
                .with("checkpoint", Value::Ulong(copied.checkpoint))
                .with("last", Value::Ulong(copied.last))
                .with("files", Value::Ulong(copied.files as u64))
                .with("bytes", Value::Ulong(copied.bytes))
                .with("missing", Value::List(missing(&copied)));
            Value::Map(answer.to_map_without_nulls())
        });
        let (to, reply) = later.reply(answer);
        reply_to(&shards, &to, &reply);
    };
    std::thread::Builder::new().name("backup".to_owned()).spawn(copy).is_ok()
}

/// What is not in a copy of the store, for people.
fn missing(copied: &Copied) -> Vec<Value> {
    let text = |of: &Missing| Value::String(format!("{}: {}", of.file.display(), of.message));
    copied.missing.iter().take(MOST_MISSING).map(text).collect()
}

/// All templates.
pub(super) fn template_rows(store: &StoreHandle, entity_type: &EntityType) -> Vec<Attributes> {
    let row = |template: &TemplateSpec| {
        let pattern = template.pattern.as_str();
        let row = Row::identified(entity_type, Value::from(pattern), format!("queueTemplate/{pattern}"));
        settings_of(row.text("pattern", pattern), &template.queue).done()
    };
    store.templates().iter().map(row).collect()
}

/// All topics.
pub(super) fn topic_rows(store: &StoreHandle, entity_type: &EntityType) -> Vec<Attributes> {
    let row = |topic: &TopicSpec| {
        let address = topic.address.as_str();
        let row = Row::identified(entity_type, Value::from(address), format!("topic/{address}"));
        settings_of(row.text("address", address), &topic.subscription).done()
    };
    store.topics().iter().map(row).collect()
}

/// Opens the store.
pub(super) fn open(shards: &Shards, config: StoreConfig, disk: Arc<dyn Disk>) -> Result<StoreHandle, StoreError> {
    let StoreConfig { path, segment_bytes, cache_bytes, large_message_bytes } = config;
    let settings = StoreSettings { path, segment_bytes, max_bytes: None, cache_bytes, large_message_bytes };
    StoreHandle::open_on(shards, &settings, disk)
}

/// Makes a template, at the request of management.
pub(super) fn create_template(store: &StoreHandle, config: QueueTemplateConfig) -> Result<(), Failure> {
    store.create_template(template(config)).map_err(failure)
}

/// Gives a template other settings; its queues stay as they are.
pub(super) fn update_template(store: &StoreHandle, config: QueueTemplateConfig) -> Result<(), Failure> {
    store.change_template(template(config)).map_err(failure)
}

/// Makes a topic, at the request of management.
pub(super) fn create_topic(store: &StoreHandle, config: TopicConfig) -> Result<(), Failure> {
    store.create_topic(topic(config)).map_err(failure)
}

/// Gives a topic other settings; its subscriptions stay as they are.
pub(super) fn update_topic(store: &StoreHandle, config: TopicConfig) -> Result<(), Failure> {
    store.change_topic(topic(config)).map_err(failure)
}

/// Deletes a template; its queues stay. False: there is none.
pub(super) fn delete_template(store: &StoreHandle, identity: &str) -> Result<bool, Failure> {
    let Some(pattern) = identity.strip_prefix("queueTemplate/") else { return Ok(false) };
    found(store.delete_template(pattern))
}

/// Deletes a topic with its subscriptions; unless forced only one that nobody would miss. False: there is none.
pub(super) fn delete_topic(store: &StoreHandle, identity: &str, forced: bool) -> Result<bool, Failure> {
    let Some(address) = identity.strip_prefix("topic/") else { return Ok(false) };
    found(store.delete_topic(address, forced))
}

fn found(deleted: Result<(), StoreError>) -> Result<bool, Failure> {
    match deleted {
        Ok(()) => Ok(true),
        Err(StoreError::NotFound(_)) => Ok(false),
        Err(error) => Err(failure(error)),
    }
}

/// Sees to it that what the configuration says of queues is so. What there is already is given these settings; its messages
/// stay. Returned is what it was like that is so no longer, for who did not expect it.
pub(super) fn declare(store: &StoreHandle, settings: Settings) -> Result<Option<String>, StoreError> {
    let (type_name, now, before) = match settings {
        Settings::Queue(config) => ("queue", config.settings.clone(), store.declare_queue(config.settings)?),
        Settings::QueueTemplate(config) => {
            let spec = template(*config);
            let now = QueueSettings { address: spec.pattern.as_str().into(), ..spec.queue.clone() };
            ("queueTemplate", now, store.declare_template(spec)?)
        }
        Settings::Topic(config) => {
            let spec = topic(*config);
            let now = QueueSettings { address: spec.address.as_str().into(), ..spec.subscription.clone() };
            ("topic", now, store.declare_topic(spec)?)
        }
        _ => return Ok(None),
    };
    Ok(before.map(|before| {
        let changes = changes(&before, &now);
        format!(
            "The {type_name} '{}' is as the configuration file says; before this start it was different: {changes}",
            now.address
        )
    }))
}

/// What is said of a queue that was different before: the attribute, and both values.
fn changes(before: &QueueSettings, now: &QueueSettings) -> String {
    let row = |settings| settings_of(Row::identified(&management::schema::QUEUE, Value::Null, ""), settings).done();
    let (before, now) = (row(before), row(now));
    let text = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), management::repr::plain);
    let values = now.iter().map(|(name, _)| (name, now.get(name), before.get(name)));
    let changed = values.filter(|(_, now, before)| now != before);
    let changed = changed.map(|(name, now, before)| format!("{name} {} instead of {}", text(now), text(before)));
    changed.collect::<Vec<_>>().join(", ")
}

fn template(config: QueueTemplateConfig) -> TemplateSpec {
    TemplateSpec { pattern: config.pattern, queue: config.settings }
}

fn topic(config: TopicConfig) -> TopicSpec {
    TopicSpec { address: config.address, subscription: config.subscription }
}

/// How a reply reports what the store does not do.
pub(super) fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::NotFound(_) => Failure::new(management::status::NOT_FOUND, error.to_string()),
        StoreError::Unavailable(_) => Failure::internal(error.to_string()),
        StoreError::Exists(..) | StoreError::InUse(..) | StoreError::Invalid(_) => {
            Failure::bad_request(error.to_string())
        }
    }
}

/// The settings of a queue, under the names that the configuration has for them.
pub(super) fn settings_of(row: Row, settings: &QueueSettings) -> Row {
    let text = |text: &Option<std::sync::Arc<str>>| text_or_null(text.as_deref());
    let overflow = match settings.overflow {
        Overflow::Hold => "hold",
        Overflow::Reject => "reject",
        Overflow::DropHead => "dropHead",
        Overflow::Ring => "ring",
    };
    let lifetime = match settings.lifetime {
        // Only queues that clients made for themselves go with their owner; the configuration has no word for it.
        Lifetime::Manual | Lifetime::OnClose => "manual",
        Lifetime::Unused => "unused",
        Lifetime::Empty => "empty",
        Lifetime::UnusedAndEmpty => "unusedAndEmpty",
    };
    row.flag("durable", settings.durable)
        .flag("priorities", settings.priorities)
        .with("maxMessages", count_or_null(settings.max_messages))
        .with("maxBytes", count_or_null(settings.max_bytes))
        .text("overflow", overflow)
        .with("defaultTtl", count_or_null(settings.default_ttl))
        .with("maxTtl", count_or_null(settings.max_ttl))
        .with("expiryAddress", text(&settings.expiry_address))
        .with("deadLetterAddress", text(&settings.dead_letter_address))
        .count("deliveryLimit", settings.delivery_limit)
        .count("redeliveryDelay", settings.redelivery_delay)
        .text("redeliveryMultiplier", (f64::from(settings.redelivery_multiplier) / 100.0).to_string())
        .with("maxRedeliveryDelay", count_or_null(settings.max_redelivery_delay))
        .flag("groups", settings.groups)
        .with("lastValueKey", text(&settings.last_value_key))
        .count("duplicateCount", settings.duplicate_count)
        .count("duplicateTime", settings.duplicate_time)
        .with("filter", text(&settings.filter))
        .flag("singleActiveConsumer", settings.single_active)
        .with("maxConsumers", count_or_null(settings.max_consumers.map(u64::from)))
        .flag("browseOnly", settings.browse_only)
        .text("lifetime", lifetime)
        .count("autoDeleteDelay", settings.auto_delete_delay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use management::schema::QUEUE;

    #[test]
    fn what_is_shown_of_a_queue_is_what_makes_such_a_queue() {
        let settings = QueueSettings {
            durable: false,
            priorities: false,
            max_messages: Some(5),
            max_bytes: Some(6),
            overflow: Overflow::DropHead,
            default_ttl: Some(7),
            max_ttl: Some(8),
            expiry_address: Some("late".into()),
            dead_letter_address: Some("dead".into()),
            delivery_limit: 9,
            redelivery_delay: 10,
            redelivery_multiplier: 150,
            max_redelivery_delay: Some(11),
            groups: false,
            last_value_key: Some("key".into()),
            duplicate_count: 12,
            duplicate_time: 13,
            filter: Some("a = 1".into()),
            single_active: true,
            max_consumers: Some(14),
            browse_only: true,
            lifetime: Lifetime::Empty,
            auto_delete_delay: 15,
            ..QueueSettings::new("orders")
        };
        for settings in [settings, QueueSettings::new("orders")] {
            let row = settings_of(Row::identified(&QUEUE, "orders".into(), "queue/orders"), &settings);
            let row = row.text("address", "orders").done();
            let config = config::QueueConfig::from_attributes(&row).expect("valid settings");
            assert_eq!(config.settings, settings);
        }
    }
}
