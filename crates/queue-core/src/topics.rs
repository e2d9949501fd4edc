//! What the queues of subscriptions are called.

/// The address of the queue that keeps a subscription's messages.
///
/// As in qpidd, a subscription belongs to a container (`<container>_<name>`), or to whoever uses its name if it is
/// `global`. The topic is part of the address, so that one name can be used for several topics.
pub fn subscription_address(topic: &str, container: &str, name: &str, global: bool) -> String {
    if global { format!("{topic}::{name}") } else { format!("{topic}::{container}_{name}") }
}
