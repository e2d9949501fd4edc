//! `policy`: limits for everybody, and what they kept out.

use crate::control::policies::Policies;
use crate::shard::Shards;
use amqp::Value;
use management::Attributes;

/// The policy as configured, with its counters. As with the old router, `connectionsDenied` counts those that were
/// dropped because there were too many; those that a vhost refused count there.
pub(super) fn row(policies: &Policies, shards: &Shards) -> Attributes {
    let counts = shards.counts();
    let (links, sessions, messages) = shards.with_policy(|state| {
        let admissions = &state.admissions;
        (admissions.links_denied, admissions.sessions_denied, admissions.messages_denied)
    });
    let mut row = policies.attributes.clone();
    let mut show = |name: &str, count: u64| row.set(name, Value::Ulong(count));
    show("connectionsProcessed", counts.accepted);
    show("connectionsDenied", counts.denied);
    show("connectionsCurrent", counts.connected);
    show("linksDenied", links);
    show("maxMessageSizeDenied", messages);
    show("totalDenials", counts.denied + links + sessions + messages);
    row
}
