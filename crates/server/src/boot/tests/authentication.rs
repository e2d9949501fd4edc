//! Routers that authenticate their peers, and routers that authenticate themselves.

use super::*;

/// A file of users that is removed afterwards; `joe` has the password `secret`.
struct UsersFile(PathBuf);

impl UsersFile {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("waystation-users-{:x}", identity::random()));
        security::change_users(&path, |users| users.set("joe", "secret")).unwrap();
        UsersFile(path)
    }

    fn router(&self, sections: &str) -> Router {
        Router::from_text(&self.text(sections))
    }

    fn text(&self, sections: &str) -> String {
        let quiet = SILENT.replacen("id: QDR", &format!("id: QDR\n usersFile: {}", self.0.display()), 1);
        format!("{quiet}{sections}")
    }
}

impl Drop for UsersFile {
    fn drop(&mut self) {
        for suffix in ["", ".lock"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", self.0.display()));
        }
    }
}

fn guarded(port: u16, more: &str) -> String {
    format!("listener {{\n host: 127.0.0.1\n port: {port}\n authenticatePeer: yes\n {more}\n}}\n")
}

fn connector(port: u16, more: &str) -> String {
    format!("connector {{\n host: 127.0.0.1\n port: {port}\n {more}\n}}\n")
}

const JOE: &str = "saslUsername: joe\n saslPassword: pass:secret";

/// A router with a connector to this port, once it has succeeded; the mechanism and the user that its connection shows.
async fn connected(server: &mut Router, port: u16, more: &str) -> (Option<String>, Option<String>) {
    let mut client = Router::start(&connector(port, more));
    until_both(server, &mut client, |client| {
        client.only("connector", "connectionStatus").as_deref() == Some("SUCCESS")
    })
    .await;
    (client.only("connection", "sasl"), server.only("connection", "user"))
}

/// What a connector to this port says of its failure.
async fn refused(server: &mut Router, port: u16, more: &str) -> String {
    let mut client = Router::start(&connector(port, more));
    let failed = |client: &mut Router| client.only("connector", "connectionMsg").is_some_and(|text| !text.is_empty());
    until_both(server, &mut client, failed).await;
    client.only("connector", "connectionMsg").unwrap()
}

async fn until_both(server: &mut Router, client: &mut Router, mut so: impl FnMut(&mut Router) -> bool) {
    while !so(client) {
        tokio::select! {
            stepped = server.plane.step() => stepped.unwrap(),
            stepped = client.plane.step() => stepped.unwrap(),
            () = tokio::time::sleep(Duration::from_millis(5)) => {}
        }
    }
}

async fn listening(users: &UsersFile, more: &str) -> (Router, u16) {
    let port = free_port();
    let mut router = users.router(&guarded(port, more));
    router.until_listening().await;
    (router, port)
}

#[tokio::test]
async fn a_connector_with_a_good_password_gets_in_by_the_strongest_mechanism() {
    let users = UsersFile::new();
    let (mut server, port) = listening(&users, "").await;
    let found = connected(&mut server, port, JOE).await;
    assert_eq!(found, (Some("SCRAM-SHA-512".to_owned()), Some("joe".to_owned())));
}

#[tokio::test]
async fn each_mechanism_of_the_file_of_users_lets_joe_in() {
    let users = UsersFile::new();
    let (mut server, port) = listening(&users, "").await;
    for mechanism in ["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256"] {
        let (used, _) = connected(&mut server, port, &format!("{JOE}\n saslMechanisms: {mechanism}")).await;
        assert_eq!(used.as_deref(), Some(mechanism));
        server.until(|entities| entities.list(type_of("connection")).is_empty()).await;
    }
}

#[tokio::test]
async fn a_connector_with_a_wrong_password_is_told_that_it_failed_and_not_why() {
    let users = UsersFile::new();
    let (mut server, port) = listening(&users, "").await;
    for (user, password) in [("joe", "guess"), ("ann", "secret")] {
        let credentials = format!("saslUsername: {user}\n saslPassword: pass:{password}");
        let text = refused(&mut server, port, &credentials).await;
        assert!(text.ends_with("amqp:unauthorized-access Authentication failed [mech=SCRAM-SHA-512]"), "{text}");
    }
}

#[tokio::test]
async fn a_listener_that_authenticates_lets_nobody_in_without_a_name() {
    let users = UsersFile::new();
    let (mut server, port) = listening(&users, "").await;
    let text = refused(&mut server, port, "").await;
    assert!(text.contains("none of which can be used"), "{text}");
}

#[tokio::test]
async fn without_encryption_a_listener_that_requires_it_offers_no_mechanism_that_lacks_it() {
    let users = UsersFile::new();
    let (mut server, port) = listening(&users, "requireEncryption: yes").await;
    let text = refused(&mut server, port, JOE).await;
    assert!(text.contains("the peer offers \"\""), "{text}");
}

#[tokio::test]
async fn a_user_made_by_management_gets_in_until_it_is_removed() {
    let users = UsersFile::new();
    let (mut server, port) = listening(&users, "").await;
    let created = server.create("user", &[("name", "ann"), ("password", "pencil")]).unwrap();
    assert_eq!((created.text("identity"), created.text("password")), (Some("user/ann"), None));
    let ann = "saslUsername: ann\n saslPassword: pass:pencil";
    assert_eq!(connected(&mut server, port, ann).await.1.as_deref(), Some("ann"));
    server.update("user", "user/ann", &[("password", "eraser")]).unwrap();
    assert!(refused(&mut server, port, ann).await.contains("Authentication failed"));
    server.delete("user", "user/ann").unwrap();
    let names = server.plane.entities.list(type_of("user"));
    assert_eq!(names.iter().map(|row| row.text("name").unwrap()).collect::<Vec<_>>(), ["joe"]);
}

#[tokio::test]
async fn a_user_that_is_there_is_not_made_again_and_one_that_is_not_is_not_changed() {
    let users = UsersFile::new();
    let mut router = users.router("");
    let again = router.create("user", &[("name", "joe"), ("password", "other")]);
    assert_eq!(again.unwrap_err().description, "there is a user 'joe' already");
    assert_eq!(router.update("user", "user/ann", &[("password", "x")]).unwrap_err().status, 404);
    assert_eq!(router.delete("user", "user/ann").unwrap_err().status, 404);
}

#[tokio::test]
async fn a_router_without_a_file_of_users_says_what_to_set() {
    let failure = Router::start("").create("user", &[("name", "joe"), ("password", "x")]).unwrap_err();
    assert!(failure.description.contains("set usersFile"), "{}", failure.description);
}

#[tokio::test]
async fn a_router_is_an_authentication_service_for_another() {
    let users = UsersFile::new();
    let (mut service, service_port) = listening(&users, "").await;
    let port = free_port();
    let plugin = format!("authServicePlugin {{\n name: auth\n host: 127.0.0.1\n port: {service_port}\n}}\n");
    let mut router =
        Router::start(&format!("{plugin}{}", guarded(port, "saslPlugin: auth\n saslMechanisms: SCRAM-SHA-256 PLAIN")));
    router.until_listening().await;
    let mut client = Router::start(&connector(port, JOE));
    let succeeded = |client: &mut Router| client.only("connector", "connectionStatus").as_deref() == Some("SUCCESS");
    while !succeeded(&mut client) {
        tokio::select! {
            stepped = service.plane.step() => stepped.unwrap(),
            stepped = router.plane.step() => stepped.unwrap(),
            stepped = client.plane.step() => stepped.unwrap(),
            () = tokio::time::sleep(Duration::from_millis(5)) => {}
        }
    }
    assert_eq!(client.only("connection", "sasl").as_deref(), Some("SCRAM-SHA-256"));
}

#[tokio::test]
async fn a_mechanism_that_users_of_a_file_cannot_use_keeps_the_router_from_starting() {
    let users = UsersFile::new();
    let config = ConfigFile::new(&users.text(&guarded(free_port(), "saslMechanisms: GSSAPI")));
    let failure = start(&config.options()).err().unwrap().to_string();
    assert!(failure.contains("others need Cyrus SASL"), "{failure}");
}

#[tokio::test]
async fn two_places_for_users_keep_the_router_from_starting() {
    let users = UsersFile::new();
    let text = users.text("").replacen("id: QDR", "id: QDR\n saslConfigDir: /tmp", 1);
    let failure = start(&ConfigFile::new(&text).options()).err().unwrap().to_string();
    assert!(failure.contains("say one of them"), "{failure}");
}
