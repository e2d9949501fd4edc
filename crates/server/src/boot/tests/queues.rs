//! The store and its queues, from configurations and by management.

use super::reload::Reloaded;
use super::*;
use amqp::Value;
use config::Source;

/// A directory for a store that goes with the test.
pub(super) struct Directory(pub(super) PathBuf);

impl Directory {
    pub(super) fn new() -> Self {
        Directory(std::env::temp_dir().join(format!("waystation-boot-{:x}", identity::random())))
    }

    /// The section of a store in it.
    pub(super) fn store(&self) -> String {
        format!("store {{\n path: {}\n segmentBytes: 1048576\n largeMessageBytes: 65536\n}}\n", self.0.display())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Router {
    /// The row of a queue.
    pub(super) fn queue(&mut self, address: &str) -> Option<Attributes> {
        self.plane.entities.find(type_of("queue"), "address", address)
    }
}

#[tokio::test]
async fn queues_of_the_file_are_there() {
    let directory = Directory::new();
    let sections =
        "queue {\n address: a\n maxMessages: 5\n}\ntopic {\n address: t\n}\nqueueTemplate {\n pattern: q.#\n}\n";
    let mut router = Router::start(&(directory.store() + sections));
    let queue = router.queue("a").unwrap();
    assert_eq!((queue.text("identity"), queue.integer("maxMessages")), (Some("queue/a"), Some(5)));
    assert_eq!(router.only("topic", "address").as_deref(), Some("t"));
    assert_eq!(router.only("queueTemplate", "pattern").as_deref(), Some("q.#"));
    assert_eq!(router.only("store", "state").as_deref(), Some("ok"));
}

#[tokio::test]
async fn queues_outlive_the_router_and_get_the_settings_of_the_file() {
    let directory = Directory::new();
    let mut router = Router::start(&(directory.store() + "queue {\n address: a\n maxMessages: 5\n}\n"));
    router.create("queue", &[("address", "b")]).unwrap();
    drop(router);
    let mut router = Router::start(&(directory.store() + "queue {\n address: a\n maxMessages: 6\n}\n"));
    assert_eq!(router.queue("a").unwrap().integer("maxMessages"), Some(6));
    assert!(router.queue("b").is_some(), "what management has made stays");
}

#[tokio::test]
async fn topics_and_templates_that_management_has_made_outlive_the_router() {
    let directory = Directory::new();
    let mut router = Router::start(&directory.store());
    router.create("topic", &[("address", "news"), ("deadLetterAddress", "news.dead")]).unwrap();
    router.create("queueTemplate", &[("pattern", "q.#"), ("overflow", "hold"), ("deadLetterAddress", "d")]).unwrap();
    router.create("queueTemplate", &[("pattern", "gone.#")]).unwrap();
    router.update("topic", "topic/news", &[("expiryAddress", "news.late")]).unwrap();
    router.update("queueTemplate", "queueTemplate/q.#", &[("expiryAddress", "late")]).unwrap();
    router.delete("queueTemplate", "queueTemplate/gone.#").unwrap();
    drop(router);
    let mut router = Router::start(&directory.store());
    let topic = router.plane.entities.find(type_of("topic"), "address", "news").unwrap();
    let of = |row: &Attributes, name: &str| row.text(name).map(str::to_owned);
    let (dead, late) = (of(&topic, "deadLetterAddress"), of(&topic, "expiryAddress"));
    assert_eq!((dead.as_deref(), late.as_deref()), (Some("news.dead"), Some("news.late")));
    assert_eq!(router.only("queueTemplate", "pattern").as_deref(), Some("q.#"));
    let template = router.plane.entities.find(type_of("queueTemplate"), "pattern", "q.#").unwrap();
    let (dead, late) = (of(&template, "deadLetterAddress"), of(&template, "expiryAddress"));
    assert_eq!((dead.as_deref(), late.as_deref()), (Some("d"), Some("late")));
}

#[tokio::test]
async fn the_file_has_precedence_over_what_management_has_made_and_it_is_told() {
    let directory = Directory::new();
    let mut router = Router::start(&directory.store());
    for (entity_type, key) in [("queue", "address"), ("topic", "address"), ("queueTemplate", "pattern")] {
        router.create(entity_type, &[(key, &format!("my.{entity_type}")), ("deadLetterAddress", "before")]).unwrap();
    }
    let mut told = Vec::new();
    let mut declare = |router: &mut Router, dead: &str| {
        for (entity_type, key) in [("queue", "address"), ("topic", "address"), ("queueTemplate", "pattern")] {
            let row = attributes(&[(key, &format!("my.{entity_type}")), ("deadLetterAddress", dead)]);
            let ty = type_of(entity_type);
            let row = management::schema::validate_create(ty, &row, management::schema::Source::File).unwrap();
            let settings = config::Settings::from_attributes(ty, &row.attributes).unwrap();
            told.extend(router.plane.entities.declare(settings).unwrap());
            let row = router.plane.entities.find(ty, key, &format!("my.{entity_type}")).unwrap();
            assert_eq!(row.text("deadLetterAddress"), Some(dead), "{entity_type}");
        }
    };
    declare(&mut router, "now");
    declare(&mut router, "now");
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().all(|line| line.ends_with("different: deadLetterAddress now instead of before")), "{told:?}");
}

#[tokio::test]
async fn a_template_of_the_file_is_there_as_long_as_the_file_names_it() {
    let directory = Directory::new();
    let mut router = Router::start(&(directory.store() + "queueTemplate {\n pattern: q.#\n}\n"));
    router.update("queueTemplate", "queueTemplate/q.#", &[("expiryAddress", "late")]).unwrap();
    drop(router);
    let mut router = Router::start(&directory.store());
    assert!(router.plane.entities.list(type_of("queueTemplate")).is_empty());
}

#[tokio::test]
async fn a_topic_whose_subscriptions_have_messages_is_deleted_only_by_force() {
    let directory = Directory::new();
    let port = free_port();
    let mut router = Router::start(&(directory.store() + &listener(port)));
    router.until_listening().await;
    router.create("topic", &[("address", "news")]).unwrap();
    let refused = router.delete("topic", "topic/news");
    assert!(refused.is_ok(), "a topic that nobody uses goes: {refused:?}");
    router.create("topic", &[("address", "news")]).unwrap();
    let _client = router
        .meanwhile(move || {
            let mut client = crate::shard::tests::client::Client::connect(([127, 0, 0, 1], port).into());
            client.receiver("news", 0);
            let link = client.sender(Some("news"));
            let key = client.send(link, false, &crate::shard::tests::client::message(10));
            client.outcome(key);
            client
        })
        .await;
    let refused = router.delete("topic", "topic/news").unwrap_err();
    assert!(refused.status == 400 && refused.description.contains("is in use"), "{}", refused.description);
    let forced = RequestContext { forced: true, ..RequestContext::default() };
    router.plane.entities.delete(type_of("topic"), "topic/news", &forced).unwrap();
    assert!(router.plane.entities.list(type_of("topic")).is_empty());
}

#[tokio::test]
async fn management_makes_changes_and_deletes_queues() {
    let directory = Directory::new();
    let mut router = Router::start(&directory.store());
    router.create("queue", &[("address", "a")]).unwrap();
    let refused = router.create("queue", &[("address", "a")]).unwrap_err();
    assert!(refused.status == 400 && refused.description.contains("already"), "{}", refused.description);
    let changed = router.update("queue", "queue/a", &[("deadLetterAddress", "a.dead")]).unwrap();
    assert_eq!(changed.text("deadLetterAddress"), Some("a.dead"));
    router.delete("queue", "queue/a").unwrap();
    assert_eq!(router.delete("queue", "queue/a").unwrap_err().status, 404);
}

#[tokio::test]
async fn a_reload_changes_queues_in_place() {
    let directory = Directory::new();
    let with = |queues: &str| directory.store() + queues;
    let mut router = Reloaded::start(&with("queue {\n address: a\n}\nqueue {\n address: b\n}\n")).await;
    let told = router.with(&with("queue {\n address: a\n maxBytes: 99\n}\nqueue {\n address: c\n}\n")).unwrap();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().all(|line| !line.contains("failed")), "{told:?}");
    assert_eq!(router.0.queue("a").unwrap().integer("maxBytes"), Some(99));
    assert!(router.0.queue("b").is_none() && router.0.queue("c").is_some());
}

#[tokio::test]
async fn where_the_store_is_changes_with_a_restart_only() {
    let (one, other) = (Directory::new(), Directory::new());
    let mut router = Reloaded::start(&one.store()).await;
    for _ in 0..2 {
        let told = router.with(&other.store()).unwrap();
        assert!(told.len() == 1 && told[0].contains("only when the router is started again"), "{told:?}");
    }
    assert!(!other.0.exists());
}

#[tokio::test]
async fn a_store_is_opened_while_the_router_runs() {
    let directory = Directory::new();
    let mut router = Router::start("");
    let refused = router.create("queue", &[("address", "a")]).unwrap_err();
    assert!(refused.description.contains("store { path: ... }"), "{}", refused.description);
    let path = directory.0.display().to_string();
    router.create("store", &[("path", &path)]).unwrap();
    router.create("queue", &[("address", "a")]).unwrap();
}

#[tokio::test]
async fn two_routers_do_not_share_a_store() {
    let directory = Directory::new();
    let _first = Router::start(&directory.store());
    let second = ConfigFile::new(&format!("{SILENT}{}", directory.store()));
    let failure = start(&second.options()).err().unwrap().to_string();
    let path = directory.0.display();
    let plain = format!("The store cannot be opened: {path}: the store is open in another process; stop that, ");
    assert!(failure.starts_with(&plain), "{failure}");
}

#[tokio::test]
async fn who_cannot_start_because_of_the_store_is_told_in_plain_words_what_to_do() {
    let file = ConfigFile::new("");
    let path = file.0.display();
    let config = ConfigFile::new(&format!("{SILENT}store {{\n path: {path}\n}}\n"));
    let failure = start(&config.options()).err().unwrap().to_string();
    let begin = format!("The store cannot be opened: {path}: cannot make the directory: ");
    assert!(failure.starts_with(&begin) && failure.contains("give store { path: ... }"), "{failure}");
    let directory = Directory::new();
    drop(Router::start(&(directory.store() + "queue {\n address: a\n}\n")));
    let config = ConfigFile::new(&format!("{SILENT}{}queue {{\n address: a\n durable: no\n}}\n", directory.store()));
    let failure = start(&config.options()).err().unwrap().to_string();
    assert!(failure.starts_with("The queue 'a' cannot be as the configuration says: durable cannot"), "{failure}");
}

#[tokio::test]
async fn updates_that_cannot_be_say_which_attribute_and_why() {
    let directory = Directory::new();
    let mut router = Router::start(&(directory.store() + "queue {\n address: a\n}\n"));
    let ty = type_of("queue");
    let row = router.queue("a").unwrap();
    for (name, value, why) in [
        ("address", Value::from("b"), "create another one"),
        ("depth", Value::Ulong(3), "not set"),
        ("durable", Value::Bool(false), "delete it"),
        ("maxMessages", Value::Ulong(0), "from 1"),
        ("overflow", Value::from("ring"), "there is no limit"),
        ("filter", Value::from("a ="), "expected"),
        ("maxmessages", Value::Ulong(1), "write maxMessages"),
        ("lifetime", Value::from("forever"), "manual"),
        ("redeliveryMultiplier", Value::from("0.5"), "1"),
        ("duplicateCount", Value::Ulong(2_000_000), "1000000"),
    ] {
        let given = Attributes(vec![(name.to_owned(), value)]);
        let refused = match management::schema::validate_update(ty, &row, &given) {
            Err(wrong) => wrong[0].to_string(),
            Ok(changes) => {
                let context = RequestContext::default();
                router.plane.entities.update(ty, "queue/a", changes.attributes, &context).unwrap_err().description
            }
        };
        assert!(refused.to_lowercase().contains(&name.to_lowercase()) && refused.contains(why), "{name}: {refused}");
    }
    assert_eq!(router.queue("a"), Some(row));
}

#[tokio::test]
async fn every_setting_but_durable_can_be_updated() {
    let directory = Directory::new();
    let mut router = Router::start(&(directory.store() + "queue {\n address: a\n}\n"));
    let ty = type_of("queue");
    let changes: Vec<(&str, Value)> = vec![
        ("priorities", false.into()),
        ("maxMessages", Value::Ulong(5)),
        ("maxBytes", Value::Ulong(6)),
        ("overflow", "dropHead".into()),
        ("defaultTtl", Value::Ulong(7)),
        ("maxTtl", Value::Ulong(8)),
        ("expiryAddress", "late".into()),
        ("deadLetterAddress", "dead".into()),
        ("deliveryLimit", Value::Ulong(9)),
        ("redeliveryDelay", Value::Ulong(10)),
        ("redeliveryMultiplier", "1.5".into()),
        ("maxRedeliveryDelay", Value::Ulong(11)),
        ("groups", false.into()),
        ("lastValueKey", "key".into()),
        ("duplicateCount", Value::Ulong(12)),
        ("duplicateTime", Value::Ulong(13)),
        ("filter", "a = 1".into()),
        ("singleActiveConsumer", true.into()),
        ("maxConsumers", Value::Ulong(14)),
        ("browseOnly", true.into()),
        ("lifetime", "empty".into()),
        ("autoDeleteDelay", Value::Ulong(15)),
    ];
    for (name, value) in changes {
        let row = router.queue("a").unwrap();
        let given = Attributes(vec![(name.to_owned(), value)]);
        let changes = management::schema::validate_update(ty, &row, &given).unwrap();
        assert!(!changes.attributes.0.is_empty(), "{name} is as before");
        let updated = router.plane.entities.update(ty, "queue/a", changes.attributes, &RequestContext::default());
        let updated = updated.unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let text = |value: Option<&Value>| management::repr::plain(value.unwrap());
        assert_eq!(text(updated.get(name)), text(given.get(name)), "{name}");
    }
}

#[tokio::test]
async fn where_the_built_in_store_cannot_be_kept_there_are_no_queues() {
    let mut router = Router::start("");
    // A file is no directory.
    let file = ConfigFile::new("");
    let config = Config::built_in(Some(&file.0));
    let kept = config.entities.into_iter().filter(is_kept).collect();
    apply_all(&mut router.plane.entities, &ConfigSource::BuiltIn, kept).unwrap();
    assert!(router.plane.entities.list(type_of("store")).is_empty());
    let same = Config::from_sources(
        &Source::new("own", format!("store {{\n path: {}/store\n}}\n", file.0.display())),
        &mut |_| Ok(Vec::new()),
    );
    let kept = same.unwrap().entities.into_iter().filter(is_kept).collect();
    let asked_for = apply_all(&mut router.plane.entities, &ConfigSource::File(file.0.clone()), kept);
    assert!(asked_for.is_err(), "whoever asks for a store gets one, or no router");
}
