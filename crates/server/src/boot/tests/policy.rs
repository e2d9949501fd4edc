//! A vhost policy that is the same for everybody.

use super::*;

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
    let context = RequestContext { connection_id: connection(entities, requester) };
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
async fn it_is_not_for_those_whom_this_router_connects_to() {
    let mut router = router_with_policy("allowAdminStatusUpdate: no").await;
    assert!(delete_connection(&mut router, "out").is_ok());
}

#[tokio::test]
async fn it_lets_clients_close_connections_unless_told_otherwise() {
    let mut router = router_with_policy("").await;
    assert!(delete_connection(&mut router, "in").is_ok());
}

#[tokio::test]
async fn its_vhost_cannot_be_changed_while_it_is_in_force() {
    let mut router = router_with_policy("").await;
    let refused = router.create("vhost", &[("hostname", "other"), ("name", "other"), ("identity", "vhost/other")]);
    assert_eq!(refused.unwrap_err().status, 400);
}
