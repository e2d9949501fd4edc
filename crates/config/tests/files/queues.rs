//! Queues, templates, topics and their store, as users write them.

use super::reading::{mistake, mistakes, read};
use config::Config;
use queue_core::{Lifetime, Overflow, QueueSettings};

const STORE: &str = "store {\n path: /var/lib/waystation\n}\n";

fn with_store(sections: &str) -> Config {
    read(&format!("{STORE}{sections}")).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The only queue of a file.
fn queue(attributes: &str) -> QueueSettings {
    let config = with_store(&format!("queue {{\n address: orders\n{attributes}}}\n"));
    let (_, queue) = config.queues().next().expect("a queue");
    queue.settings.clone()
}

fn hint(text: &str) -> String {
    let errors = read(text).expect_err("the file should be refused");
    errors.problems[0].hint.clone().unwrap_or_default()
}

#[test]
fn a_path_and_an_address_are_a_complete_configuration() {
    assert_eq!(queue(""), QueueSettings::new("orders"));
    let config = with_store("queue {\n address: orders\n}\n");
    let (_, store) = config.stores().next().unwrap();
    assert_eq!((store.segment_bytes, store.cache_bytes), (64 << 20, 64 << 20));
}

#[test]
fn every_setting_has_its_place() {
    let text = " durable: no\n priorities: no\n maxMessages: 5\n maxBytes: 6\n overflow: dropHead\n defaultTtl: 7\n \
                maxTtl: 8\n expiryAddress: late\n deadLetterAddress: dead\n deliveryLimit: 9\n redeliveryDelay: 10\n \
                redeliveryMultiplier: 1.5\n maxRedeliveryDelay: 11\n groups: no\n lastValueKey: key\n duplicateCount: 12\n \
                duplicateTime: 13\n filter: colour = 'red'\n singleActiveConsumer: yes\n maxConsumers: 14\n \
                browseOnly: yes\n lifetime: unusedAndEmpty\n autoDeleteDelay: 15\n";
    let expected = QueueSettings {
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
        filter: Some("colour = 'red'".into()),
        single_active: true,
        max_consumers: Some(14),
        browse_only: true,
        lifetime: Lifetime::UnusedAndEmpty,
        auto_delete_delay: 15,
        ..QueueSettings::new("orders")
    };
    assert_eq!(queue(text), expected);
}

#[test]
fn templates_and_topics_have_the_same_settings() {
    let config = with_store(
        "queueTemplate {\n pattern: q.#\n maxMessages: 5\n}\ntopic {\n address: news\n defaultTtl: 1000\n}\n",
    );
    let (_, template) = config.queue_templates().next().unwrap();
    assert_eq!((template.pattern.as_str(), template.settings.max_messages), ("q.#", Some(5)));
    let (entity, topic) = config.topics().next().unwrap();
    assert_eq!((topic.address.as_str(), topic.subscription.default_ttl), ("news", Some(1000)));
    assert_eq!(entity.attributes.text("identity"), Some("topic/news"));
}

#[test]
fn all_mistakes_are_told_at_once_each_with_its_place() {
    let text = format!(
        "{STORE}queue {{\n address: a.*\n}}\nqueue {{\n address: b\n overflow: ring\n}}\nqueue {{\n address: c\n filter: x ==\n}}\n\
         queue {{\n address: d\n maxMesages: 4\n}}\nqueue {{\n address: e\n redeliveryMultiplier: half\n}}\n"
    );
    let places: Vec<_> = mistakes(&text).into_iter().map(|(line, _, _)| line).collect();
    assert_eq!(places, [5, 9, 13, 17, 21]);
}

#[test]
fn each_mistake_has_a_remedy() {
    for (queue, remedy) in [
        ("address: a.*", "queueTemplate"),
        ("address: amqp://host/a", "write a"),
        ("address: /a", "write a"),
        ("address: a.", "write a"),
        ("address: a\n deadLetterAddress: a.*", "queueTemplate"),
        ("address: a\n deadLetterAddress: $management", "another character"),
        ("address: a\n expiryAddress: amqp:/b", "write b"),
        ("address: $management", "another character"),
        ("address: a\n name: b", "remove name"),
        ("address: a\n overflow: ring", "maxMessages"),
        ("address: a\n overflow: drop", "dropHead"),
        ("address: a\n maxMessages: 0", "from 1"),
        ("address: a\n filter: x ==", "single `=`"),
        ("address: a\n duplicateTime: 5", "duplicateCount"),
        ("address: a\n autoDeleteDelay: 5", "lifetime"),
        ("address: a\n deadLetterAddress: a", "a.dead"),
        ("address: a\n redeliveryMultiplier: 0.5", "such as 2"),
        ("adress: a", "address"),
    ] {
        let hint = hint(&format!("{STORE}queue {{\n {queue}\n}}\n"));
        assert!(hint.contains(remedy), "{queue}: {hint}");
    }
}

#[test]
fn a_template_takes_no_address_that_the_router_itself_uses() {
    for pattern in ["#", "*", "*/#", "$management", "$management.#", "_topo/#"] {
        let hint = hint(&format!("{STORE}queueTemplate {{\n pattern: {pattern}\n}}\n"));
        assert!(hint.contains("such as queue.#"), "{pattern}: {hint}");
    }
    for pattern in ["*.dead", "#.dead", "queue.#"] {
        let config = with_store(&format!("queueTemplate {{\n pattern: {pattern}\n}}\n"));
        assert_eq!(config.queue_templates().count(), 1, "{pattern}");
    }
}

#[test]
fn an_address_is_one_thing() {
    let text = mistakes(&format!("{STORE}queue {{\n address: a\n}}\ntopic {{\n address: a\n}}\n"));
    assert_eq!(text, [(8, 11, "There is a queue 'a' already".to_owned())]);
    let text = mistake(&format!("{STORE}queueTemplate {{\n pattern: a.#\n}}\nqueueTemplate {{\n pattern: a.#\n}}\n"));
    assert_eq!(text, "There is a queueTemplate 'a.#' already");
}

#[test]
fn there_is_one_store() {
    assert_eq!(mistake(&format!("{STORE}store {{\n path: /b\n}}\n")), "There is a store already");
}

#[test]
fn what_is_durable_needs_a_store() {
    let text = "queue {\n address: orders\n}\n";
    assert_eq!(mistake(text), "The queue 'orders' is durable, but there is no store to keep its messages in");
    assert!(hint(text).contains("store { path:"));
    assert!(read("queue {\n address: orders\n durable: no\n}\n").is_ok());
}

#[test]
fn a_store_needs_a_directory() {
    assert!(mistake("store {\n}\n").contains("Missing required attribute 'path'"));
    assert!(mistake("store {\n path: /a\n segmentBytes: 5\n}\n").contains("between 1048576 and"));
    assert!(mistake("store {\n path: /a\n largeMessageBytes: 100000000\n}\n").contains("between 4096 and 16777216"));
}

#[test]
fn a_small_segment_makes_messages_large_sooner() {
    let large = |lines: &str| {
        let config = read(&format!("store {{\n path: /a\n{lines}}}\n")).unwrap();
        config.stores().next().unwrap().1.large_message_bytes
    };
    assert_eq!(large(""), 1 << 20);
    assert_eq!(large(" segmentBytes: 1048576\n"), 1 << 18);
    assert_eq!(large(" segmentBytes: 1048576\n largeMessageBytes: 5000\n"), 5000);
}

#[test]
fn the_store_is_put_to_work_before_what_it_keeps_and_before_listeners() {
    let config = with_store("listener {\n port: 1\n}\nqueueTemplate {\n pattern: q.#\n}\nqueue {\n address: a\n}\n");
    let order: Vec<_> = config.entities.iter().map(|entity| entity.entity_type.short).collect();
    let place = |name| order.iter().position(|short| *short == name).expect(name);
    assert!(place("store") < place("queue") && place("queue") < place("queueTemplate"));
    assert!(place("queueTemplate") < place("listener"));
}

#[test]
fn a_file_without_a_store_gets_none() {
    assert_eq!(read("listener {\n port: 1\n}\n").unwrap().stores().count(), 0);
}
