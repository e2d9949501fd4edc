//! Who is let in, by the rules of a small vhost.

use super::*;
use amqp::{Map, Value};
use config::{PolicyConfig, VhostConfig};
use management::Attributes;

/// A policy of one vhost, `h`, with these limits and these groups.
fn policy(limits: &[(&str, i64)], groups: &[(&str, &[(&str, &str)])]) -> Policy {
    let map = |members: &[(&str, &str)]| {
        Value::Map(Map(members.iter().map(|(key, value)| (Value::from(*key), Value::from(*value))).collect()))
    };
    let groups = groups.iter().map(|(name, members)| (Value::from(*name), map(members))).collect();
    let mut attributes = Attributes::new().with("hostname", "h".into()).with("groups", Value::Map(Map(groups)));
    for (name, number) in limits {
        attributes = attributes.with(*name, Value::Long(*number));
    }
    let vhost = VhostConfig::from_attributes(&attributes).unwrap();
    let config = PolicyConfig::from_attributes(&Attributes::new()).unwrap();
    Policy::new(&config, vec![Arc::new(Vhost::new(&vhost, &|_| Vec::new()))])
}

fn request(id: u64, user: &'static str) -> OpenRequest<'static> {
    OpenRequest { id, name: "10.0.0.1:5000", user: Some(user), host: "10.0.0.1".parse().unwrap(), vhost: "h" }
}

fn reasons(admissions: &mut Admissions, policy: &Policy, request: &OpenRequest<'_>) -> Vec<Reason> {
    match admissions.admit(policy, request) {
        Ok(settings) => {
            admissions.enter(request, Arc::new(settings), true);
            Vec::new()
        }
        Err(denial) => denial.reasons,
    }
}

const EVERYONE: &[(&str, &[(&str, &str)])] = &[("all", &[("users", "*"), ("remoteHosts", "*")])];

#[test]
fn a_host_name_without_vhost_is_refused_and_counted_nowhere() {
    let mut admissions = Admissions::default();
    let elsewhere = OpenRequest { vhost: "elsewhere", ..request(1, "bob") };
    assert_eq!(reasons(&mut admissions, &policy(&[], EVERYONE), &elsewhere), [Reason::NoVhost]);
    assert_eq!(admissions.vhost("elsewhere"), VhostUse::default());
}

#[test]
fn a_user_in_no_group_is_refused() {
    let policy = policy(&[], &[("g", &[("users", "bob"), ("remoteHosts", "*")])]);
    let mut admissions = Admissions::default();
    assert_eq!(reasons(&mut admissions, &policy, &request(1, "bob")), []);
    assert_eq!(reasons(&mut admissions, &policy, &request(2, "alice")), [Reason::UnknownUser]);
    assert_eq!((admissions.vhost("h").approved, admissions.vhost("h").denied), (1, 1));
}

#[test]
fn a_group_that_names_a_user_comes_before_the_one_for_everybody() {
    let groups: &[(&str, &[(&str, &str)])] =
        &[("all", &[("users", "*"), ("remoteHosts", "*")]), ("bobs", &[("users", "bob"), ("remoteHosts", "*")])];
    let settings = Admissions::default().admit(&policy(&[], groups), &request(1, "bob")).unwrap();
    assert_eq!(&*settings.group, "bobs");
}

#[test]
fn a_host_that_is_not_listed_is_refused() {
    let policy = policy(&[], &[("all", &[("users", "*"), ("remoteHosts", "10.0.1.0/24")])]);
    assert_eq!(reasons(&mut Admissions::default(), &policy, &request(1, "bob")), [Reason::Host]);
}

#[test]
fn connections_are_limited_in_all_by_user_and_by_host() {
    let limits = [("maxConnections", 1), ("maxConnectionsPerUser", 1), ("maxConnectionsPerHost", 1)];
    let policy = policy(&limits, EVERYONE);
    let mut admissions = Admissions::default();
    assert_eq!(reasons(&mut admissions, &policy, &request(1, "bob")), []);
    let all = [Reason::VhostLimit, Reason::UserLimit, Reason::HostLimit];
    assert_eq!(reasons(&mut admissions, &policy, &request(2, "bob")), all);
    assert_eq!(reasons(&mut admissions, &policy, &request(3, "alice")), [Reason::VhostLimit, Reason::HostLimit]);
}

#[test]
fn the_limits_of_a_group_override_those_of_its_vhost() {
    let groups: &[(&str, &[(&str, &str)])] =
        &[("all", &[("users", "*"), ("remoteHosts", "*"), ("maxConnectionsPerUser", "2")])];
    let policy = policy(&[("maxConnectionsPerUser", 1)], groups);
    let mut admissions = Admissions::default();
    assert_eq!(reasons(&mut admissions, &policy, &request(1, "bob")), []);
    assert_eq!(reasons(&mut admissions, &policy, &request(2, "bob")), []);
    assert_eq!(reasons(&mut admissions, &policy, &request(3, "bob")), [Reason::UserLimit]);
}

#[test]
fn whoever_leaves_makes_room_for_another() {
    let policy = policy(&[("maxConnections", 1)], EVERYONE);
    let mut admissions = Admissions::default();
    assert_eq!(reasons(&mut admissions, &policy, &request(1, "bob")), []);
    admissions.leave(1);
    assert_eq!(reasons(&mut admissions, &policy, &request(2, "bob")), []);
    let used = admissions.vhost("h");
    assert_eq!((used.approved, used.current, used.by_user.len()), (2, 1, 1));
}

#[test]
fn a_connection_that_was_refused_leaves_nothing_behind() {
    let policy = policy(&[("maxConnections", 0)], EVERYONE);
    let mut admissions = Admissions::default();
    assert_eq!(reasons(&mut admissions, &policy, &request(1, "bob")), [Reason::VhostLimit]);
    admissions.leave(1);
    assert_eq!((admissions.vhost("h").current, admissions.settings(1).is_some()), (0, false));
}

#[test]
fn denials_count_for_the_vhost_and_in_all() {
    let policy = policy(&[], EVERYONE);
    let mut admissions = Admissions::default();
    reasons(&mut admissions, &policy, &request(1, "bob"));
    admissions.count(1, Denied::Sender);
    admissions.count(1, Denied::Receiver);
    let used = admissions.vhost("h");
    assert_eq!((used.senders_denied, used.receivers_denied, admissions.links_denied), (1, 1, 2));
}

#[test]
fn the_size_of_messages_is_the_groups_or_the_vhosts_or_the_policys() {
    let size = |vhost: &[(&str, i64)], group: &[(&str, &str)]| {
        let policy = policy(vhost, &[("all", &[&[("users", "*"), ("remoteHosts", "*")], group].concat())]);
        Admissions::default().admit(&policy, &request(1, "bob")).unwrap().max_message_size
    };
    assert_eq!(size(&[], &[]), None);
    assert_eq!(size(&[("maxMessageSize", 7)], &[]), Some(7));
    assert_eq!(size(&[("maxMessageSize", 7)], &[("maxMessageSize", "9")]), Some(9));
    assert_eq!(size(&[("maxMessageSize", 7)], &[("maxMessageSize", "0")]), None);
}
