//! What the names mean that are no application properties.

use crate::fields::Standard;

/// Before the names of fields of the header and the properties section.
pub(crate) const STANDARD: &str = "amqp.";

/// Before the names of message annotations.
pub(crate) const ANNOTATION: &str = "m.";

/// Name, and the field it stands for.
const TABLE: &[(&str, Standard)] = &[
    ("amqp.absolute_expiry_time", Standard::AbsoluteExpiryTime),
    ("amqp.content_encoding", Standard::ContentEncoding),
    ("amqp.content_type", Standard::ContentType),
    ("amqp.correlation_id", Standard::CorrelationId),
    ("amqp.creation_time", Standard::CreationTime),
    ("amqp.delivery_count", Standard::DeliveryCount),
    ("amqp.durable", Standard::Durable),
    ("amqp.first_acquirer", Standard::FirstAcquirer),
    ("amqp.group_id", Standard::GroupId),
    ("amqp.group_sequence", Standard::GroupSequence),
    ("amqp.jms_type", Standard::Subject),
    ("amqp.message_id", Standard::MessageId),
    ("amqp.priority", Standard::Priority),
    ("amqp.redelivered", Standard::Redelivered),
    ("amqp.reply_to", Standard::ReplyTo),
    ("amqp.reply_to_group_id", Standard::ReplyToGroupId),
    ("amqp.subject", Standard::Subject),
    ("amqp.to", Standard::To),
    ("amqp.ttl", Standard::Ttl),
    ("amqp.user_id", Standard::UserId),
    ("JMSCorrelationID", Standard::CorrelationId),
    ("JMSDeliveryMode", Standard::DeliveryMode),
    ("JMSDestination", Standard::To),
    ("JMSExpiration", Standard::AbsoluteExpiryTime),
    ("JMSMessageID", Standard::MessageId),
    ("JMSPriority", Standard::Priority),
    ("JMSRedelivered", Standard::Redelivered),
    ("JMSReplyTo", Standard::ReplyTo),
    ("JMSTimestamp", Standard::CreationTime),
    ("JMSType", Standard::Subject),
    ("JMSXDeliveryCount", Standard::DeliveryNumber),
    ("JMSXGroupID", Standard::GroupId),
    ("JMSXGroupSeq", Standard::GroupSequence),
    ("JMSXUserID", Standard::UserId),
];

/// All names of fields of the header and the properties section.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}

pub(crate) fn standard(name: &str) -> Option<Standard> {
    TABLE.iter().find(|(known, _)| *known == name).map(|(_, field)| *field)
}
