//! `router.config.exchange` and `router.config.binding`: addresses whose messages go on to others, by subject.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::entities::attributes::{Row, text_or_null};
use crate::shard::Shards;
use amqp::Value;
use config::{BindingConfig, ExchangeConfig};
use management::{Attributes, EntityType, Failure};
use router_core::{BindingSnapshot, ExchangeSnapshot, MatchMethod, NewBinding, NewExchange};

/// All exchanges.
pub(super) fn rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    shards.with_core(|core, _, _| core.exchanges().iter().map(|exchange| row(exchange, entity_type)).collect())
}

/// All bindings.
pub(super) fn binding_rows(shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    shards.with_core(|core, _, _| core.bindings().iter().map(|binding| binding_row(binding, entity_type)).collect())
}

/// Creates an exchange, at the request of management.
pub(super) fn create(shards: &Shards, entity_type: &EntityType, config: ExchangeConfig) -> Result<Attributes, Failure> {
    let created = add(shards, config).map_err(Failure::bad_request)?;
    let row = shards.with_core(|core, _, _| {
        core.exchanges().iter().find(|exchange| exchange.id == created).map(|exchange| row(exchange, entity_type))
    });
    row.ok_or_else(Failure::not_found)
}

/// Creates a binding, at the request of management.
pub(super) fn create_binding(
    shards: &Shards,
    entity_type: &EntityType,
    config: BindingConfig,
) -> Result<Attributes, Failure> {
    let created = add_binding(shards, config).map_err(Failure::bad_request)?;
    let row = shards.with_core(|core, _, _| {
        core.bindings().iter().find(|binding| binding.id == created).map(|binding| binding_row(binding, entity_type))
    });
    row.ok_or_else(Failure::not_found)
}

/// Creates an exchange and returns its number.
pub(crate) fn add(shards: &Shards, config: ExchangeConfig) -> Result<u64, String> {
    let new = NewExchange {
        name: config.name,
        address: config.address,
        phase: config.phase,
        alternate_address: config.alternate_address,
        alternate_phase: config.alternate_phase,
        match_method: match config.match_method {
            config::MatchMethod::Amqp => MatchMethod::Amqp,
            config::MatchMethod::Mqtt => MatchMethod::Mqtt,
        },
    };
    let id =
        shards.with_core(|core, host, now| core.create_exchange(now, host, new)).map_err(|error| error.to_string());
    if id.is_ok() {
        warn_once();
    }
    id
}

/// Creates a binding and returns its number.
pub(crate) fn add_binding(shards: &Shards, config: BindingConfig) -> Result<u64, String> {
    let new = NewBinding {
        name: config.name,
        exchange: config.exchange_name,
        key: config.binding_key,
        next_hop: config.next_hop_address,
        next_hop_phase: config.next_hop_phase,
    };
    shards.with_core(|core, host, now| core.create_binding(now, host, new)).map_err(|error| error.to_string())
}

/// Deletes the exchange with this identity. False: there is none.
pub(super) fn delete(shards: &Shards, identity: &str) -> bool {
    identity.parse().is_ok_and(|id| shards.with_core(|core, host, now| core.delete_exchange(now, host, id)))
}

/// Deletes the binding with this identity. False: there is none.
pub(super) fn delete_binding(shards: &Shards, identity: &str) -> bool {
    identity.parse().is_ok_and(|id| shards.with_core(|core, host, now| core.delete_binding(now, host, id)))
}

/// Says once what whoever uses exchanges should know. (The old router warns that they may change; here they stay.)
fn warn_once() {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        logging::log!(
            AGENT,
            Warning,
            "Exchanges accept messages as soon as they are passed on: what becomes of the copies is not told their senders"
        );
    }
}

fn phase(phase: u8) -> Value {
    Value::Int(phase.into())
}

fn row(exchange: &ExchangeSnapshot<'_>, entity_type: &EntityType) -> Attributes {
    let given = exchange.given;
    let alternate = given.alternate_address.as_deref();
    Row::identified(entity_type, Value::from(given.name.as_str()), exchange.id.to_string())
        .text("address", &given.address)
        .with("phase", phase(given.phase))
        .with("alternateAddress", text_or_null(alternate))
        .with("alternatePhase", alternate.map_or(Value::Null, |_| phase(given.alternate_phase)))
        .text("matchMethod", given.match_method.as_str())
        .count("bindingCount", exchange.bindings)
        .count("receivedCount", exchange.received)
        .count("droppedCount", exchange.dropped)
        .count("forwardedCount", exchange.forwarded)
        .count("divertedCount", exchange.diverted)
        .done()
}

fn binding_row(binding: &BindingSnapshot<'_>, entity_type: &EntityType) -> Attributes {
    let given = binding.given;
    Row::identified(entity_type, text_or_null(given.name.as_deref()), binding.id.to_string())
        .text("exchangeName", &given.exchange)
        .with("bindingKey", text_or_null(given.key.as_deref()))
        .text("nextHopAddress", &given.next_hop)
        .with("nextHopPhase", phase(given.next_hop_phase))
        .count("matchedCount", binding.matched)
        .done()
}
