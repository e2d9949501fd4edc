//! Reading the configuration file again.

use super::*;

/// A router whose file can be written anew.
pub(super) struct Reloaded(pub(super) Router);

impl Reloaded {
    pub(super) async fn start(sections: &str) -> Self {
        let mut router = Router::start(sections);
        router.until_listening().await;
        Self(router)
    }

    pub(super) fn with(&mut self, sections: &str) -> Result<Vec<String>, String> {
        std::fs::write(&self.0._config.0, format!("{SILENT}{sections}")).unwrap();
        let entities = &mut self.0.plane.entities;
        entities.read_again().map(|report| report.make(&entities.shards, &entities.store))
    }

    fn names(&mut self, entity_type: &str, attribute: &str) -> Vec<String> {
        let rows = self.0.plane.entities.list(type_of(entity_type));
        rows.iter().filter_map(|row| row.text(attribute).map(str::to_owned)).collect()
    }
}

#[tokio::test]
async fn listeners_come_and_go_and_those_that_stay_are_left_alone() {
    let ports = [free_port(), free_port(), free_port()];
    let mut router = Reloaded::start(&format!("{}{}", listener(ports[0]), listener(ports[1]))).await;
    let _connected = TcpStream::connect(("127.0.0.1", ports[0])).unwrap();
    let told = router.with(&format!("{}{}", listener(ports[0]), listener(ports[2]))).unwrap();
    assert_eq!(told.len(), 2, "{told:?}");
    router.0.until(|_| can_connect(ports[2]) && !can_connect(ports[1])).await;
    assert!(can_connect(ports[0]));
}

#[tokio::test]
async fn what_management_has_made_stays() {
    let mut router = Reloaded::start("").await;
    router
        .0
        .create("router.config.address", &[("name", "mine"), ("prefix", "m"), ("distribution", "closest")])
        .unwrap();
    router.with("address {\n prefix: a\n distribution: multicast\n}\n").unwrap();
    router.with("address {\n prefix: b\n distribution: multicast\n}\n").unwrap();
    assert_eq!(router.names("router.config.address", "prefix"), ["m", "b"]);
}

#[tokio::test]
async fn entities_without_a_name_are_told_apart() {
    let route = |prefix: &str| format!("linkRoute {{\n prefix: {prefix}\n direction: in\n}}\n");
    let mut router = Reloaded::start(&[route("a"), route("b"), route("c")].concat()).await;
    router.with(&[route("c"), route("a")].concat()).unwrap();
    assert_eq!(router.names("router.config.linkRoute", "prefix"), ["a", "c"]);
}

#[tokio::test]
async fn a_file_that_is_wrong_changes_nothing() {
    let port = free_port();
    let mut router = Reloaded::start(&listener(port)).await;
    let error = router.with("listener {\n nosuch: 1\n}\n").unwrap_err();
    assert!(error.contains("nosuch"), "{error}");
    assert!(can_connect(port));
    // The next time it is compared with what was said before.
    assert_eq!(router.with(&listener(port)).unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn what_only_a_restart_changes_is_told_every_time() {
    let mut router = Reloaded::start("").await;
    let other = "policy {\n maxConnections: 5\n}\n";
    for _ in 0..2 {
        let told = router.with(other).unwrap();
        assert!(told.len() == 1 && told[0].contains("only when the router is started again"), "{told:?}");
    }
}

#[tokio::test]
async fn log_settings_follow_the_file() {
    let mut router = Reloaded::start("log {\n module: HTTP\n enable: debug+\n}\n").await;
    router.with("log {\n module: AGENT\n enable: error+\n}\n").unwrap();
    let rows = router.0.plane.entities.list(type_of("log"));
    let level = |module: &str| {
        let row = rows.iter().find(|row| row.text("module") == Some(module)).unwrap();
        row.text("enable").map(str::to_owned)
    };
    assert_eq!((level("HTTP"), level("AGENT").as_deref()), (None, Some("error+")));
}

#[tokio::test]
async fn what_could_not_be_changed_is_tried_again_by_the_next_reload_and_not_once_it_is_done() {
    let mut router = Reloaded::start("").await;
    router.0.create("router.config.address", &[("name", "mine"), ("prefix", "a")]).unwrap();
    let file = "address {\n prefix: a\n distribution: multicast\n}\n";
    for _ in 0..2 {
        let told = router.with(file).unwrap();
        assert!(told.len() == 1 && told[0].contains("failed"), "{told:?}");
    }
    let rows = router.0.plane.entities.list(type_of("router.config.address"));
    let identity = rows[0].text("identity").unwrap().to_owned();
    router.0.delete("router.config.address", &identity).unwrap();
    let told = router.with(file).unwrap();
    assert!(told.len() == 1 && !told[0].contains("failed"), "{told:?}");
    assert_eq!(router.names("router.config.address", "prefix"), ["a"]);
    assert!(router.with(file).unwrap().is_empty());
}

#[tokio::test]
async fn a_store_that_could_not_be_opened_and_its_queues_are_tried_again() {
    let directory = super::queues::Directory::new();
    let file = directory.store() + "queue {\n address: a\n}\n";
    // Something is in the way.
    std::fs::write(&directory.0, "").unwrap();
    let mut router = Reloaded::start("").await;
    for _ in 0..2 {
        let told = router.with(&file).unwrap();
        assert!(told.len() == 2 && told.iter().all(|line| line.contains("failed")), "{told:?}");
    }
    std::fs::remove_file(&directory.0).unwrap();
    let told = router.with(&file).unwrap();
    assert!(told.len() == 2 && !told.iter().any(|line| line.contains("failed")), "{told:?}");
    assert!(router.0.queue("a").is_some() && router.with(&file).unwrap().is_empty());
}

#[tokio::test]
async fn a_queue_that_could_not_be_changed_or_deleted_is_tried_again() {
    let directory = super::queues::Directory::new();
    let with = |queues: &str| directory.store() + queues;
    let mut router = Reloaded::start(&with("queue {\n address: a\n name: a\n}\n")).await;
    let other = with("queue {\n address: a\n name: a\n durable: no\n}\n");
    for _ in 0..2 {
        let told = router.with(&other).unwrap();
        assert!(told.len() == 1 && told[0].contains("durable cannot change"), "{told:?}");
    }
    router.0.delete("queue", "queue/a").unwrap();
    let told = router.with(&other).unwrap();
    assert!(told.len() == 1 && !told[0].contains("failed"), "{told:?}");
    assert!(router.with(&other).unwrap().is_empty());
}
