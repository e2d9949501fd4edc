//! Where messages stay until a consumer takes them: the store, queues, templates of queues, topics. The old router has none of
//! these.

use super::base::CONFIGURATION_ENTITY;
use super::build::{boolean, choice, counter, full, integer, path, required, text};
use super::entity_type::{Call, EntityType};

/// What happens when a queue has reached a limit.
const OVERFLOW: &[&str] = &["hold", "reject", "dropHead", "ring"];

/// When a queue goes by itself.
const LIFETIMES: &[&str] = &["manual", "unused", "empty", "unusedAndEmpty"];

/// Where queues are kept.
pub static STORE: EntityType = EntityType::new(
    "store",
    full!("store"),
    &CONFIGURATION_ENTITY,
    "The directory in which this router keeps its queues; what a sender was told is accepted is on its disk. (Not in Qpid \
     Dispatch Router.)",
)
.operations(&["CREATE"])
.calls(&[Call {
    name: "BACKUP",
    description: "Copies the store, as it is now, while it goes on. The answer has `last`, the number of the last entry in the \
                  backup, `checkpoint`, that of its snapshot, `files` and `bytes`, how many were copied, \
                  and `missing`, the large messages that are not in it because their files are gone: all others are.",
    arguments: &[required("to", "The directory, on the router's machine; it must be empty, or not exist.")],
}])
.attributes(&[
    path("path", "The directory; it is made if it is not there. No other router may use it at the same time.")
        .required()
        .create(),
    integer("segmentBytes", "Size of one file of the log, in bytes.").default_number(64 << 20).create(),
    integer("cacheBytes", "How many bytes of messages stay in memory, so that they need not be read back from disk.")
        .default_number(64 << 20)
        .create(),
    integer(
        "largeMessageBytes",
        "From how many bytes on a message gets a file of its own: 1 MiB unless told otherwise, or a quarter of segmentBytes if that \
         is less.",
    )
    .create(),
    text("state", "`ok`; `full` while the disk is full and nothing more is accepted; `failed` after a failed write."),
    text("problem", "What is wrong, and what to do, unless the state is ok."),
    counter("queues", "How many queues there are."),
    counter("messages", "How many messages are in all queues."),
    counter("bytes", "Bytes of these messages."),
    counter("logBytes", "Bytes that the log takes on the disk."),
    counter("entries", "Entries written since the router was started; one holds what came in one turn."),
    counter("syncs", "How often the disk was asked to make certain since then."),
    counter("syncMicroseconds", "How long the disk took for that, in microseconds; the mean."),
    counter("syncMicrosecondsMax", "The longest that it took."),
]);

/// What queues, templates and topics have in common.
pub static QUEUE_SETTINGS: EntityType = EntityType {
    is_abstract: true,
    ..EntityType::new("queueSettings", full!("queueSettings"), &CONFIGURATION_ENTITY, "How a queue behaves.")
        .attributes(&[
        boolean(
            "durable",
            "Whether messages survive a restart. If not, they are in memory only. It cannot change once there is a queue.",
        )
            .default_flag(true)
            .create()
            .update(),
        boolean("priorities", "Whether messages of higher priority go first.").default_flag(true).create().update(),
        integer("maxMessages", "The most messages that it holds; no limit if not given.").create().update(),
        integer("maxBytes", "The most bytes of messages that it holds; no limit if not given.").create().update(),
        choice(
            "overflow",
            OVERFLOW,
            "What happens at these limits: senders get no more credit (hold); the message is rejected (reject); the \
                 oldest message goes to the dead-letter address (dropHead), or nowhere (ring).",
        )
        .default_text("hold")
        .create()
        .update(),
        integer("defaultTtl", "Milliseconds that messages live that do not say; for ever if not given.")
            .create()
            .update(),
        integer("maxTtl", "The most milliseconds that any message lives, whatever it says.").create().update(),
        text("expiryAddress", "The queue that messages go to whose time is up; they are dropped if not given.")
            .create()
            .update(),
        text(
            "deadLetterAddress",
            "The queue that messages go to that were rejected, or were delivered in vain too often. If not given, \
                 rejected messages are dropped, and the number of deliveries is not limited.",
        )
        .create()
        .update(),
        integer(
            "deliveryLimit",
            "How many deliveries of a message may fail before it goes to the dead-letter address; 0 for any number.",
        )
        .default_number(10)
        .create()
        .update(),
        integer("redeliveryDelay", "Milliseconds before a message whose delivery failed is delivered again.")
            .default_number(0)
            .create()
            .update(),
        text("redeliveryMultiplier", "By which factor this delay grows with each failure, such as `2` or `1.5`.")
            .default_text("1")
            .create()
            .update(),
        integer(
            "maxRedeliveryDelay",
            "The most milliseconds that it grows to; ten times redeliveryDelay if not given.",
        )
        .create()
        .update(),
        boolean("groups", "Whether messages of one group, by their group-id, go in order to one consumer at a time.")
            .default_flag(true)
            .create()
            .update(),
        text(
            "lastValueKey",
            "Name of an application property (or of a message annotation that begins with `x-opt-`): a message takes \
                 the place of the one before that has the same value of it.",
        )
        .create()
        .update(),
        integer(
            "duplicateCount",
            "How many ids of messages are remembered, so that one that comes again is taken for a duplicate and not \
                 kept; 0 for none.",
        )
        .default_number(0)
        .create()
        .update(),
        integer("duplicateTime", "For how many milliseconds they are remembered; 0 for any time.")
            .default_number(0)
            .create()
            .update(),
        text("filter", "A selector; messages that do not match it are not kept.").create().update(),
        boolean("singleActiveConsumer", "Whether one consumer at a time gets messages; the next one when it goes.")
            .default_flag(false)
            .create()
            .update(),
        integer("maxConsumers", "The most consumers that may be attached at once; 1 for exclusive use.")
            .create()
            .update(),
        boolean("browseOnly", "Whether every consumer browses: it sees messages and takes none.")
            .default_flag(false)
            .create()
            .update(),
        choice(
            "lifetime",
            LIFETIMES,
            "When the queue is deleted by itself: never (manual), when it has no links any more (unused), no messages \
                 any more (empty), or neither (unusedAndEmpty).",
        )
        .default_text("manual")
        .create()
        .update(),
        integer("autoDeleteDelay", "Milliseconds that it must have been so before it is deleted.")
            .default_number(0)
            .create()
            .update(),
    ])
};

/// Which messages an operation is about.
const WHICH: [super::Attribute; 3] = [
    text("selector", "Which messages: those that match; all if not given."),
    integer("count", "How many of them at most, the first ones; all if not given."),
    text("from", "The place in the queue to begin with, such as `4-17`; the front if not given."),
];

/// What the answers of operations on messages have in common.
macro_rules! and_next {
    ($text:literal) => {
        concat!(
            $text,
            " If there may be more of them, it has `next`, the place to go on from: one request looks at so many messages only."
        )
    };
}

/// A queue.
pub static QUEUE: EntityType = EntityType::new(
    "queue",
    full!("queue"),
    &QUEUE_SETTINGS,
    "An address that keeps its messages until a consumer takes them. (Not in Qpid Dispatch Router.)",
)
.operations(&["CREATE", "UPDATE", "DELETE"])
.calls(&[
    Call {
        name: "PEEK",
        description: and_next!(
            "Shows messages in the order of delivery and leaves them where they are. The answer has `messages`, a list of maps."
        ),
        arguments: &[
            WHICH[0],
            integer("count", "How many at most.").default_number(10),
            WHICH[2],
            integer("bodyBytes", "How many bytes of each body are shown at most.").default_number(1024),
        ],
    },
    Call {
        name: "PURGE",
        description: and_next!("Drops messages. The answer has `messages`, the number of those dropped, and `held`, the number of those that stay because consumers hold them."),
        arguments: &WHICH,
    },
    Call {
        name: "MOVE",
        description: and_next!("Moves messages to another queue. The answer has `messages`, the number of those moved, and `held`, the number of those that stay because consumers hold them."),
        arguments: &[required("to", "The address of the other queue."), WHICH[0], WHICH[1], WHICH[2]],
    },
    Call {
        name: "RETRY",
        description: and_next!(
            "Moves dead-lettered and expired messages back to the queues they came from. The answer has `messages`, the number of those moved, and `held`, the number of those that stay because consumers hold them."
        ),
        arguments: &WHICH,
    },
])
.attributes(&[
    text("address", "Its address.").required().create(),
    counter("depth", "Messages in it."),
    counter("bytes", "Bytes of these messages."),
    counter("acquired", "Those of them that consumers have and have not settled."),
    counter("delayed", "Those of them that wait for their time."),
    counter("consumers", "Links that receive from it, browsers included."),
    counter("producers", "Links that send to it."),
    counter("oldestAge", "Milliseconds since the oldest message came."),
    counter("messagesIn", "Messages that have come since it was made."),
    counter("messagesOut", "Messages that consumers have taken since then."),
    counter("redelivered", "Deliveries since the router was started that were not the first of their message."),
    counter("deadLettered", "Messages that went to the dead-letter address since it was made."),
    counter("expired", "Messages whose time was up since then."),
    counter("dropped", "Messages that were refused or dropped since then for want of room, or as dead letters without an address."),
    boolean("full", "It has reached `maxMessages` or `maxBytes`, and has had less than an eighth of that free since."),
]);

/// Queues that are made when they are needed.
pub static QUEUE_TEMPLATE: EntityType = EntityType::new(
    "queueTemplate",
    full!("queueTemplate"),
    &QUEUE_SETTINGS,
    "Queues that are made as soon as somebody sends to them or receives from them. (Not in Qpid Dispatch Router.)",
)
.operations(&["CREATE", "UPDATE", "DELETE"])
.attributes(&[text(
    "pattern",
    "Which addresses are such queues; `*` stands for one token, `#` for any number of them.",
)
.required()
.create()]);

/// An address whose messages go to every subscription.
pub static TOPIC: EntityType = EntityType::new(
    "topic",
    full!("topic"),
    &QUEUE_SETTINGS,
    "An address of which every subscription gets its own copy of each message. The other attributes are those of the \
     subscriptions' queues. (Not in Qpid Dispatch Router.)",
)
.operations(&["CREATE", "UPDATE", "DELETE"])
.attributes(&[text("address", "Its address.").required().create()]);
