//! Vhost policies, as far as they are the same for everybody.

use amqp::Value;
use amqp::performative::Open;
use management::Attributes;
use management::client::{Key, Request};

use crate::support::CAPACITY;
use crate::support::codec::{message, text_of};
use crate::support::router::{Router, Setup};
use crate::support::wire::Wire;

/// A policy in force that lets everybody do everything, but for what `more` says of the only group.
fn policy(more: &str) -> String {
    format!(
        "policy {{\nenableVhostPolicy: yes\ndefaultVhost: $default\n}}\nvhost {{\nhostname: $default\nallowUnknownUser: \
         yes\ngroups: {{\n$default: {{\nremoteHosts: *\nsources: *\ntargets: *\nallowDynamicSource: \
         yes\nallowAnonymousSender: yes\n{more}\n}}\n}}\n}}\n"
    )
}

// DISPATCH-1732
#[test]
fn a_tenant_that_names_no_host_is_judged_by_the_policy_of_the_default_vhost() {
    let router = Setup { listener: "multiTenant: yes", sections: &policy(""), ..Setup::default() }.start();
    let (mut sender, mut receiver) = (router.client(), router.client());
    receiver.receiver("a", 10);
    let to = sender.sender("a");
    sender.expect_credit(to, CAPACITY);

    sender.send_message(to, true, &message("let in"));

    assert_eq!(text_of(&receiver.receive().bytes), "let in");
}

// DISPATCH-2305
#[test]
fn what_a_policy_does_not_set_stays_as_the_listener_has_it() {
    let listener = "maxFrameSize: 2048\nmaxSessions: 10\n";
    let router = Setup { listener, sections: &policy(""), ..Setup::default() }.start();
    let mut client = Wire::connect(router.port);

    let open = client.open(Open { container_id: "client".to_owned(), ..Open::default() });

    assert_eq!((open.max_frame_size, open.channel_max), (2048, 9));
}

/// What comes of asking for the end of the first connection, the asking one being another.
fn end_first_connection(router: &Router) -> Result<Value, management::client::Refusal> {
    let connection = Key { entity_type: Some("org.apache.qpid.dispatch.connection"), identity: Some("1"), name: None };
    let deleted = Attributes(vec![("adminStatus".to_owned(), Value::from("deleted"))]);
    router.management().ask(Request::update(connection, &deleted))
}

// DISPATCH-1275
#[test]
fn a_policy_can_forbid_to_end_connections_through_management() {
    let router = Router::start(&policy("allowAdminStatusUpdate: no"));
    let mut client = router.client();

    let refused = end_first_connection(&router).expect_err("it is forbidden");

    assert_eq!(refused.class.name(), "ForbiddenStatus");
    client.sync();
}

// DISPATCH-1275
#[test]
fn connections_can_be_ended_through_management_unless_a_policy_forbids_it() {
    let router = Router::start(&policy(""));
    let mut client = router.client();

    end_first_connection(&router).expect("it is allowed");

    client.expect_end();
}
