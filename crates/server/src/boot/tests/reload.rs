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
        entities.read_again().map(|report| report.make(entities.store.as_ref()))
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
