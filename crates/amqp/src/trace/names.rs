//! The names of composite types and of their fields.

use crate::codec::format;
use crate::descriptor as d;

/// Name and field names of the described type with this number.
pub(super) fn composite(code: u64) -> Option<(&'static str, &'static [&'static str])> {
    Some(match code {
        d::OPEN => ("open", OPEN),
        d::BEGIN => ("begin", BEGIN),
        d::ATTACH => ("attach", ATTACH),
        d::FLOW => ("flow", FLOW),
        d::TRANSFER => ("transfer", TRANSFER),
        d::DISPOSITION => ("disposition", &["role", "first", "last", "settled", "state", "batchable"]),
        d::DETACH => ("detach", &["handle", "closed", "error"]),
        d::END => ("end", &["error"]),
        d::CLOSE => ("close", &["error"]),
        d::ERROR => ("error", &["condition", "description", "info"]),
        d::RECEIVED => ("received", &["section-number", "section-offset"]),
        d::ACCEPTED => ("accepted", &[]),
        d::REJECTED => ("rejected", &["error"]),
        d::RELEASED => ("released", &[]),
        d::MODIFIED => ("modified", &["delivery-failed", "undeliverable-here", "message-annotations"]),
        d::SOURCE => ("source", SOURCE),
        d::TARGET => ("target", TARGET),
        d::DELETE_ON_CLOSE => ("delete-on-close", &[]),
        d::DELETE_ON_NO_LINKS => ("delete-on-no-links", &[]),
        d::DELETE_ON_NO_MESSAGES => ("delete-on-no-messages", &[]),
        d::DELETE_ON_NO_LINKS_OR_MESSAGES => ("delete-on-no-links-or-messages", &[]),
        d::COORDINATOR => ("coordinator", &["capabilities"]),
        d::DECLARE => ("declare", &["global-id"]),
        d::DISCHARGE => ("discharge", &["txn-id", "fail"]),
        d::DECLARED => ("declared", &["txn-id"]),
        d::TRANSACTIONAL_STATE => ("transactional-state", &["txn-id", "outcome"]),
        d::SASL_MECHANISMS => ("sasl-mechanisms", &["sasl-server-mechanisms"]),
        d::SASL_INIT => ("sasl-init", &["mechanism", "initial-response", "hostname"]),
        d::SASL_CHALLENGE => ("sasl-challenge", &["challenge"]),
        d::SASL_RESPONSE => ("sasl-response", &["response"]),
        d::SASL_OUTCOME => ("sasl-outcome", &["code", "additional-data"]),
        d::HEADER => ("header", &["durable", "priority", "ttl", "first-acquirer", "delivery-count"]),
        d::DELIVERY_ANNOTATIONS => ("delivery-annotations", &[]),
        d::MESSAGE_ANNOTATIONS => ("message-annotations", &[]),
        d::PROPERTIES => ("properties", PROPERTIES),
        d::APPLICATION_PROPERTIES => ("application-properties", &[]),
        d::DATA => ("data", &[]),
        d::AMQP_SEQUENCE => ("amqp-sequence", &[]),
        d::AMQP_VALUE => ("amqp-value", &[]),
        d::FOOTER => ("footer", &[]),
        _ => return None,
    })
}

const OPEN: &[&str] = &[
    "container-id",
    "hostname",
    "max-frame-size",
    "channel-max",
    "idle-time-out",
    "outgoing-locales",
    "incoming-locales",
    "offered-capabilities",
    "desired-capabilities",
    "properties",
];

const BEGIN: &[&str] = &[
    "remote-channel",
    "next-outgoing-id",
    "incoming-window",
    "outgoing-window",
    "handle-max",
    "offered-capabilities",
    "desired-capabilities",
    "properties",
];

const ATTACH: &[&str] = &[
    "name",
    "handle",
    "role",
    "snd-settle-mode",
    "rcv-settle-mode",
    "source",
    "target",
    "unsettled",
    "incomplete-unsettled",
    "initial-delivery-count",
    "max-message-size",
    "offered-capabilities",
    "desired-capabilities",
    "properties",
];

const FLOW: &[&str] = &[
    "next-incoming-id",
    "incoming-window",
    "next-outgoing-id",
    "outgoing-window",
    "handle",
    "delivery-count",
    "link-credit",
    "available",
    "drain",
    "echo",
    "properties",
];

const TRANSFER: &[&str] = &[
    "handle",
    "delivery-id",
    "delivery-tag",
    "message-format",
    "settled",
    "more",
    "rcv-settle-mode",
    "state",
    "resume",
    "aborted",
    "batchable",
];

const SOURCE: &[&str] = &[
    "address",
    "durable",
    "expiry-policy",
    "timeout",
    "dynamic",
    "dynamic-node-properties",
    "distribution-mode",
    "filter",
    "default-outcome",
    "outcomes",
    "capabilities",
];

const TARGET: &[&str] =
    &["address", "durable", "expiry-policy", "timeout", "dynamic", "dynamic-node-properties", "capabilities"];

const PROPERTIES: &[&str] = &[
    "message-id",
    "user-id",
    "to",
    "subject",
    "reply-to",
    "correlation-id",
    "content-type",
    "content-encoding",
    "absolute-expiry-time",
    "creation-time",
    "group-id",
    "group-sequence",
    "reply-to-group-id",
];

/// The name of an array's element type, which is finer than that of a value.
pub(super) fn array_type(code: u8) -> &'static str {
    match code {
        format::TRUE => "true",
        format::FALSE => "false",
        _ => value_type(code),
    }
}

/// The name of the type of values with this format code.
pub(super) fn value_type(code: u8) -> &'static str {
    match code {
        format::NULL => "null",
        format::BOOLEAN | format::TRUE | format::FALSE => "bool",
        format::UBYTE => "ubyte",
        format::USHORT => "ushort",
        format::UINT | format::SMALL_UINT | format::UINT_0 => "uint",
        format::ULONG | format::SMALL_ULONG | format::ULONG_0 => "ulong",
        format::BYTE => "byte",
        format::SHORT => "short",
        format::INT | format::SMALL_INT => "int",
        format::LONG | format::SMALL_LONG => "long",
        format::FLOAT => "float",
        format::DOUBLE => "double",
        format::DECIMAL32 => "decimal32",
        format::DECIMAL64 => "decimal64",
        format::DECIMAL128 => "decimal128",
        format::CHAR => "char",
        format::TIMESTAMP => "timestamp",
        format::UUID => "uuid",
        format::BINARY8 | format::BINARY32 => "binary",
        format::STRING8 | format::STRING32 => "string",
        format::SYMBOL8 | format::SYMBOL32 => "symbol",
        format::LIST_0 | format::LIST8 | format::LIST32 => "list",
        format::MAP8 | format::MAP32 => "map",
        format::ARRAY8 | format::ARRAY32 => "array",
        _ => "described",
    }
}
