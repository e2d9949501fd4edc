//! `queue`: queues of this router's store, and what can be done with their messages.

use super::peek;
use super::store::{failure, settings_of};
use crate::entities::attributes::{Row, count_or_null};
use crate::store::{QueueView, StoreHandle, Which};
use amqp::Value;
use config::QueueConfig;
use management::{Attributes, EntityType, Failure};
use queue_core::Seq;

/// All queues.
pub(super) fn rows(store: &StoreHandle, entity_type: &EntityType) -> Vec<Attributes> {
    store.queues().iter().map(|queue| row(queue, entity_type)).collect()
}

/// Some of the queues.
pub(super) fn page(store: &StoreHandle, entity_type: &EntityType, offset: usize, count: usize) -> Vec<Attributes> {
    store.queues().iter().skip(offset).take(count).map(|queue| row(queue, entity_type)).collect()
}

/// The queue whose attribute has this value; one that is called by its address is found at once.
pub(super) fn find(store: &StoreHandle, entity_type: &EntityType, attribute: &str, value: &str) -> Option<Attributes> {
    let address = match attribute {
        "name" | "address" => value,
        "identity" => address_of(value)?,
        _ => return rows(store, entity_type).into_iter().find(|row| row.text(attribute) == Some(value)),
    };
    store.queue(address).map(|queue| row(&queue, entity_type))
}

/// The address in an identity.
fn address_of(identity: &str) -> Option<&str> {
    identity.strip_prefix("queue/")
}

/// Makes a queue.
pub(super) fn create(store: &StoreHandle, config: QueueConfig) -> Result<(), Failure> {
    store.create_queue(config.settings).map_err(failure)
}

/// Gives a queue other settings.
pub(super) fn update(store: &StoreHandle, config: QueueConfig) -> Result<(), Failure> {
    store.change_queue(config.settings).map_err(failure)
}

/// Deletes a queue; unless forced only one that nobody would miss. False: there is none.
pub(super) fn delete(store: &StoreHandle, identity: &str, forced: bool) -> Result<bool, Failure> {
    let Some(address) = address_of(identity) else { return Ok(false) };
    if store.queue(address).is_none() {
        return Ok(false);
    }
    store.delete_queue(address, !forced, !forced).map_err(failure).map(|()| true)
}

/// Does something with messages.
pub(super) fn call(
    store: &StoreHandle,
    identity: &str,
    operation: &str,
    arguments: &Attributes,
) -> Result<Attributes, Failure> {
    let address = address_of(identity).ok_or_else(Failure::not_found)?;
    let number = |name: &str| match arguments.integer(name).map(|number| (u64::try_from(number), number)) {
        Some((Err(_), number)) => Err(Failure::bad_request(format!("{operation} {name}: {number} is less than 0"))),
        Some((Ok(number), _)) => Ok(Some(number)),
        None => Ok(None),
    };
    let from = arguments.text("from").filter(|text| !text.is_empty()).map(str::parse).transpose();
    let which = Which {
        selector: arguments.text("selector").filter(|text| !text.is_empty()).map(str::to_owned),
        from: from.map_err(|error: queue_core::BadSeq| Failure::bad_request(format!("{operation} from: {error}")))?,
        most: number("count")?,
    };
    let done = match operation {
        "PEEK" => {
            let body = number("bodyBytes")?.unwrap_or(peek::BODY);
            let found = store.peek(address, &peek::bounded(which)).map_err(failure)?;
            let (messages, next) = peek::shown(found, body);
            return Ok(answer(messages, next));
        }
        "PURGE" => store.purge(address, &which),
        "MOVE" => store.move_messages(address, arguments.text("to").unwrap_or_default(), &which),
        "RETRY" => store.retry(address, &which),
        _ => return Err(Failure::not_found()),
    };
    let done = done.map_err(failure)?;
    Ok(answer(Value::Ulong(done.done), done.next).with("held", Value::Ulong(done.held)))
}

fn answer(messages: Value, next: Option<Seq>) -> Attributes {
    let next = next.map_or(Value::Null, |next| Value::String(next.to_string()));
    Attributes::new().with("messages", messages).with("next", next)
}

fn row(queue: &QueueView, entity_type: &EntityType) -> Attributes {
    let address = queue.settings.address.as_ref();
    let row = Row::identified(entity_type, Value::from(address), format!("queue/{address}"))
        .text("address", address)
        .count("depth", queue.messages)
        .count("bytes", queue.bytes)
        .count("acquired", queue.acquired)
        .count("delayed", queue.delayed)
        .count("consumers", queue.consumers)
        .count("producers", queue.producers)
        .with("oldestAge", count_or_null(queue.oldest.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX))))
        .count("messagesIn", queue.enqueued)
        .count("messagesOut", queue.dequeued)
        .count("redelivered", queue.redelivered)
        .count("deadLettered", queue.dead_lettered)
        .count("expired", queue.expired)
        .count("dropped", queue.dropped)
        .flag("full", queue.full);
    settings_of(row, &queue.settings).done()
}
