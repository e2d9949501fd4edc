//! Vhost policies at work in a whole router, and changed while it runs.

use super::*;
use crate::shard::tests::client::{Client, Happened};
use amqp::{ErrorCondition, Value};
use amqp_endpoint::ConnectionConfig;
use std::net::SocketAddr;

/// A router with one listener and a policy with these vhosts.
struct Policed {
    router: Router,
    address: SocketAddr,
}

impl Policed {
    async fn start(sections: &str) -> Self {
        Self::listening("", sections).await
    }

    /// With further attributes of the listener.
    async fn listening(listener: &str, sections: &str) -> Self {
        let port = free_port();
        let mut router = Router::start(&format!(
            "policy {{\n enableVhostPolicy: yes\n enableVhostNamePatterns: yes\n}}\n{sections}\n\
             listener {{\n host: 127.0.0.1\n port: {port}\n{listener}\n}}\n"
        ));
        router.until_listening().await;
        Policed { router, address: SocketAddr::from(([127, 0, 0, 1], port)) }
    }

    /// A client that asks for this host.
    fn client(&self, hostname: &str) -> Client {
        let config = ConnectionConfig {
            container_id: "test".to_owned(),
            hostname: Some(hostname.to_owned()),
            ..ConnectionConfig::default()
        };
        Client::connect_with(self.address, config)
    }

    /// The vhost whose rules held for a client that asked for this host; `None`: it was refused.
    fn vhost_of(&mut self, hostname: &str) -> Option<String> {
        let before = self.approved();
        let mut client = self.client(hostname);
        let link = client.sender(Some("nothing"));
        match client.expect("an end", |happened| matches!(happened, Happened::Closed(_) | Happened::Detached { .. })) {
            Happened::Closed(error) => {
                assert_eq!(error, Some(disallowed()));
                return None;
            }
            Happened::Detached { link: of, .. } => assert_eq!(of, link),
            other => unreachable!("expected an end, not {other:?}"),
        }
        let after = self.approved();
        after.into_iter().find(|entry| !before.contains(entry)).map(|(name, _)| name)
    }

    /// How many connections each vhost has let in.
    fn approved(&mut self) -> Vec<(String, u64)> {
        let rows = self.rows("vhostStats");
        rows.iter().map(|row| (row.text("hostname").unwrap().to_owned(), count(row, "connectionsApproved"))).collect()
    }

    fn rows(&mut self, entity_type: &str) -> Vec<Attributes> {
        self.router.plane.entities.list(type_of(entity_type))
    }
}

fn disallowed() -> ErrorCondition {
    ErrorCondition::new("amqp:resource-limit-exceeded", "connection disallowed by local policy")
}

fn count(row: &Attributes, name: &str) -> u64 {
    match row.get(name) {
        Some(Value::Ulong(count)) => *count,
        other => panic!("{name} is {other:?}"),
    }
}

/// A vhost for everybody from everywhere, whose users may do nothing.
fn vhost(hostname: &str, more: &str) -> String {
    format!(
        "vhost {{\n hostname: {hostname}\n{more}\n allowUnknownUser: yes\n groups: {{\n $default: {{\n remoteHosts: \
         *\n }}\n }}\n}}\n"
    )
}

fn refused(client: &mut Client) -> bool {
    let error = client.expect("a close", |happened| matches!(happened, Happened::Closed(_)));
    matches!(error, Happened::Closed(Some(error)) if error == disallowed())
}

#[tokio::test]
async fn a_vhost_is_found_by_name_by_alias_by_pattern_and_by_default() {
    let vhosts = [vhost("a.example", " aliases: b.example"), vhost("*.com", ""), vhost("$default", "")].concat();
    let mut policed = Policed::start(&vhosts).await;
    assert_eq!(policed.vhost_of("a.example").as_deref(), Some("a.example"));
    assert_eq!(policed.vhost_of("b.example").as_deref(), Some("a.example"));
    assert_eq!(policed.vhost_of("c.com").as_deref(), Some("*.com"));
    assert_eq!(policed.vhost_of("elsewhere").as_deref(), Some("$default"));
}

#[tokio::test]
async fn a_listeners_policy_vhost_comes_before_the_host_asked_for() {
    let vhosts = [vhost("a", ""), vhost("b", "")].concat();
    let mut policed = Policed::listening(" policyVhost: b", &vhosts).await;
    assert_eq!(policed.vhost_of("a").as_deref(), Some("b"));
}

#[tokio::test]
async fn connections_of_one_user_are_limited_until_one_ends() {
    let mut policed = Policed::start(&vhost("h", " maxConnectionsPerUser: 1")).await;
    let first = policed.client("h");
    assert!(refused(&mut policed.client("h")));
    drop(first);
    policed.router.until(|entities| count(&entities.list(type_of("vhostStats"))[0], "connectionsCurrent") == 0).await;
    policed.client("h").sender(Some("a"));
    let row = &policed.rows("vhostStats")[0];
    assert_eq!((count(row, "connectionsApproved"), count(row, "connectionsDenied")), (2, 1));
}

#[tokio::test]
async fn who_is_connected_is_shown_by_user_and_by_host() {
    let mut policed = Policed::start(&vhost("h", "")).await;
    let _client = policed.client("h");
    let row = policed.rows("vhostStats").remove(0);
    let keys = |name: &str| match row.get(name) {
        Some(Value::Map(map)) => {
            map.0.iter().filter_map(|(key, _)| key.as_text().map(str::to_owned)).collect::<Vec<_>>()
        }
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(
        (keys("perUserState"), keys("perHostState")),
        (vec!["anonymous".to_owned()], vec!["127.0.0.1".to_owned()])
    );
}

#[tokio::test]
async fn a_host_that_is_not_listed_is_refused() {
    let vhost = "vhost {\n hostname: h\n groups: {\n g: {\n users: *\n remoteHosts: 10.0.0.0/8\n }\n }\n}";
    assert!(refused(&mut Policed::start(vhost).await.client("h")));
}

#[tokio::test]
async fn a_host_may_be_listed_by_its_name() {
    let vhost = "vhost {\n hostname: h\n groups: {\n g: {\n users: *\n remoteHosts: localhost\n }\n }\n}";
    assert_eq!(Policed::start(vhost).await.vhost_of("h").as_deref(), Some("h"));
}

/// Attributes of a vhost with this name and number of connections, whose only group is for everybody.
fn new_vhost(hostname: &str, connections: i64) -> Attributes {
    let group = [("users", "*"), ("remoteHosts", "*"), ("targets", "*")];
    let group = amqp::Map(group.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect());
    let groups = amqp::Map(vec![("g".into(), Value::Map(group))]);
    Attributes::new()
        .with("hostname", hostname.into())
        .with("name", hostname.into())
        .with("identity", Value::String(format!("vhost/{hostname}")))
        .with("maxConnections", Value::Long(connections))
        .with("groups", Value::Map(groups))
}

fn create(policed: &mut Policed, vhost: Attributes) -> Result<Attributes, Failure> {
    policed.router.plane.entities.create(type_of("vhost"), vhost, &RequestContext::default())
}

#[tokio::test]
async fn a_vhost_that_is_created_holds_at_once() {
    let mut policed = Policed::start("").await;
    assert!(refused(&mut policed.client("h")));
    create(&mut policed, new_vhost("h", 10)).unwrap();
    policed.client("h").sender(Some("a"));
}

#[tokio::test]
async fn an_update_holds_for_connections_that_come_later() {
    let mut policed = Policed::start("").await;
    create(&mut policed, new_vhost("h", 10)).unwrap();
    let mut before = policed.client("h");
    policed.router.update("vhost", "vhost/h", &[("maxConnections", "0")]).unwrap();
    assert!(refused(&mut policed.client("h")));
    let link = before.sender(Some("a"));
    before.expect_attached(link);
}

#[tokio::test]
async fn whoever_is_in_a_vhost_stays_when_it_is_deleted() {
    let mut policed = Policed::start("").await;
    create(&mut policed, new_vhost("h", 10)).unwrap();
    let mut before = policed.client("h");
    policed.router.delete("vhost", "vhost/h").unwrap();
    assert!(refused(&mut policed.client("h")));
    let link = before.sender(Some("a"));
    before.expect_attached(link);
    assert!(policed.rows("vhost").is_empty() && policed.rows("vhostStats").is_empty());
}

#[tokio::test]
async fn a_name_that_is_taken_is_refused_in_the_old_routers_words() {
    let mut policed = Policed::start(&vhost("#.example", " aliases: other")).await;
    let failure = create(&mut policed, new_vhost("other", 1)).unwrap_err();
    let text = "Policy is creating vhost 'other' but that name is already an alias for vhost '#.example'";
    assert_eq!((failure.status, failure.description), (500, format!("PolicyError: {text}")));
    let failure = create(&mut policed, new_vhost("#.#.example", 1)).unwrap_err();
    assert!(failure.description.ends_with("optimized pattern conflicts with existing pattern"), "{failure:?}");
}

#[tokio::test]
async fn what_is_denied_shows_in_the_policys_counters() {
    let mut policed = Policed::start(&vhost("h", "")).await;
    policed.vhost_of("h");
    let row = policed.rows("policy").remove(0);
    assert_eq!(
        (count(&row, "linksDenied"), count(&row, "totalDenials"), count(&row, "connectionsProcessed")),
        (1, 1, 1)
    );
}

/// A router connected to itself, with a policy of one group with these settings beside those that let everything pass.
async fn router_with_policy(group: &str) -> Router {
    let port = free_port();
    let open = "remoteHosts: *\n sources: *\n targets: *\n allowDynamicSource: yes\n allowAnonymousSender: yes\n";
    let mut router = Router::start(&format!(
        "policy {{\n enableVhostPolicy: yes\n}}\n\
         vhost {{\n hostname: $default\n allowUnknownUser: yes\n groups: {{\n $default: {{\n {open}{group}\n }}\n }}\n}}\n\
         {}connector {{\n port: {port}\n}}\n",
        listener(port)
    ));
    router.until(|entities| connection(entities, "in").is_some() && connection(entities, "out").is_some()).await;
    router
}

/// The number of the connection in this direction.
fn connection(entities: &mut Entities, direction: &str) -> Option<u64> {
    let rows = entities.list(type_of("connection"));
    let row = rows.iter().find(|row| row.text("dir") == Some(direction))?;
    row.text("identity")?.parse().ok()
}

/// The connection in direction `requester` asks for the end of the outgoing one.
fn delete_connection(router: &mut Router, requester: &str) -> Result<Attributes, Failure> {
    let entities = &mut router.plane.entities;
    let context = RequestContext { connection_id: connection(entities, requester), ..RequestContext::default() };
    let identity = connection(entities, "out").unwrap().to_string();
    entities.update(type_of("connection"), &identity, attributes(&[("adminStatus", "deleted")]), &context)
}

#[tokio::test]
async fn it_can_keep_clients_from_closing_connections() {
    let mut router = router_with_policy("allowAdminStatusUpdate: no").await;
    let denied = delete_connection(&mut router, "in").unwrap_err();
    assert_eq!((denied.status, denied.description.as_str()), (403, "You are not allowed to perform this operation."));
}

#[tokio::test]
async fn it_is_not_for_those_whom_this_router_connects_to_unless_the_connector_says_so() {
    let mut router = router_with_policy("allowAdminStatusUpdate: no").await;
    assert!(delete_connection(&mut router, "out").is_ok());
}

#[tokio::test]
async fn it_lets_clients_close_connections_unless_told_otherwise() {
    let mut router = router_with_policy("").await;
    assert!(delete_connection(&mut router, "in").is_ok());
}

/// A client asks for a link route of its own.
fn create_link_route(router: &mut Router) -> Result<Attributes, Failure> {
    let entities = &mut router.plane.entities;
    let context = RequestContext { connection_id: connection(entities, "in"), ..RequestContext::default() };
    let route = attributes(&[("pattern", "a.*"), ("direction", "in"), ("name", "r")]);
    entities.create(type_of("router.connection.linkRoute"), route, &context)
}

#[tokio::test]
async fn it_can_keep_clients_from_making_link_routes() {
    let mut router = router_with_policy("allowDynamicLinkRoutes: no").await;
    assert_eq!(create_link_route(&mut router).unwrap_err().status, 403);
    assert!(create_link_route(&mut router_with_policy("").await).is_ok());
}

/// A router with a connector to itself that has this vhost, and a group of that vhost for connectors.
async fn router_with_connector(vhost: &str) -> Router {
    let port = free_port();
    let group = "vhost {\n hostname: h\n groups: {\n $connector: {\n targets: a\n }\n }\n}\n";
    let everybody = vhost_for_everybody("$default");
    let mut router = Router::start(&format!(
        "policy {{\n enableVhostPolicy: yes\n}}\n{group}{everybody}{}connector {{\n port: {port}\n policyVhost: {vhost}\n}}\n",
        listener(port)
    ));
    router.until_listening().await;
    router
}

fn vhost_for_everybody(hostname: &str) -> String {
    vhost(hostname, "")
}

#[tokio::test]
async fn a_connectors_policy_vhost_holds_for_whom_it_leads_to() {
    let mut router = router_with_connector("h").await;
    router.until(|entities| connection(entities, "out").is_some()).await;
    let out = connection(&mut router.plane.entities, "out");
    let settings = router.plane.shards.with_policy(|state| state.admissions.settings(out.unwrap()).cloned()).unwrap();
    assert_eq!((&*settings.vhost, &*settings.group), ("h", "$connector"));
    assert!(settings.targets.allow("a") && !settings.targets.allow("b"));
}

#[tokio::test]
async fn a_connector_whose_policy_vhost_has_no_group_for_it_is_closed() {
    let mut router = router_with_connector("$default").await;
    let tried = |entities: &mut Entities| entities.connectors.iter().any(|connector| !connector.message().is_empty());
    router.until(tried).await;
    assert_eq!(connection(&mut router.plane.entities, "out"), None);
}
