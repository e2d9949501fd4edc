//! `vhostStats`: what the policy of each vhost has allowed and refused.

use crate::control::policies::Policies;
use crate::entities::attributes::Row;
use crate::shard::Shards;
use amqp::{Map, Value};
use management::{Attributes, EntityType};
use security::policy::VhostUse;
use std::collections::BTreeMap;

/// One row for each vhost.
pub(super) fn rows(policies: &Policies, shards: &Shards, entity_type: &EntityType) -> Vec<Attributes> {
    let names = policies.vhosts().map(|vhost| vhost.config.hostname.as_str());
    names.map(|name| row(name, &shards.with_policy(|state| state.admissions.vhost(name)), entity_type)).collect()
}

fn row(name: &str, used: &VhostUse, entity_type: &EntityType) -> Attributes {
    let identity = format!("{}/{name}", entity_type.short);
    Row::identified(entity_type, Value::String(identity.clone()), identity)
        .text("id", name)
        .text("hostname", name)
        .count("connectionsApproved", used.approved)
        .count("connectionsDenied", used.denied)
        .count("connectionsCurrent", used.current)
        .with("perUserState", state(used.by_user.iter().map(|(user, names)| (user.to_string(), names))))
        .with("perHostState", state(used.by_host.iter().map(|(host, names)| (host.to_string(), names))))
        .count("sessionDenied", used.sessions_denied)
        .count("senderDenied", used.senders_denied)
        .count("receiverDenied", used.receivers_denied)
        .count("maxMessageSizeDenied", used.messages_denied)
        .done()
}

/// The names of connections by user or host.
fn state<'n>(entries: impl Iterator<Item = (String, &'n BTreeMap<u64, Box<str>>)>) -> Value {
    let names = |names: &BTreeMap<u64, Box<str>>| {
        Value::List(names.values().map(|name| Value::String(name.to_string())).collect())
    };
    Value::Map(Map(entries.map(|(key, of_key)| (Value::String(key), names(of_key))).collect()))
}
