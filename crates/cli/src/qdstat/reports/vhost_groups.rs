//! `--vhostgroups`: the user groups of virtual hosts.

use amqp::{Map, Value};
use management::schema::{DefaultValue, VHOST_USER_GROUP_SETTINGS};
use management::{Attributes, repr};

use super::table;
use crate::qdstat::cells::plain;
use crate::qdstat::table::Block;

const LIMITS: [&str; 15] = [
    "maxConnectionsPerUser",
    "maxConnectionsPerHost",
    "maxMessageSize",
    "maxFrameSize",
    "maxSessionWindow",
    "maxSessions",
    "maxSenders",
    "maxReceivers",
    "allowDynamicSource",
    "allowAnonymousSender",
    "allowUserIdProxy",
    "allowWaypointLinks",
    "allowDynamicLinkRoutes",
    "allowAdminStatusUpdate",
    "allowFallbackLinks",
];

const LISTS: [&str; 6] = ["users", "remoteHosts", "sources", "targets", "sourcePattern", "targetPattern"];

struct Group<'g> {
    vhost: String,
    name: String,
    settings: &'g Map,
}

pub(super) fn blocks(vhosts: &[Attributes]) -> Vec<Block> {
    if vhosts.is_empty() {
        return vec![Block::Line("No Vhosts".to_owned())];
    }
    let groups: Vec<Group<'_>> = vhosts.iter().flat_map(groups).collect();
    let headers = ["vhost", "group"].into_iter().chain(LIMITS).collect();
    let rows = groups.iter().map(Group::limits).collect();
    let mut blocks = table("Vhost Groups", headers, rows);
    for group in &groups {
        blocks.push(Block::blank());
        blocks.push(group.lists());
    }
    blocks
}

fn groups(vhost: &Attributes) -> Vec<Group<'_>> {
    let Some(groups) = vhost.get("groups").and_then(Value::as_map) else { return Vec::new() };
    let groups = groups.iter().filter_map(|(name, settings)| Some((name, settings.as_map()?)));
    groups
        .map(|(name, settings)| Group { vhost: plain(vhost, "hostname"), name: repr::plain(name), settings })
        .collect()
}

impl Group<'_> {
    fn limits(&self) -> Vec<String> {
        let setting = |name: &&str| match self.settings.get(name) {
            Some(value) => repr::plain(value),
            None => default(name),
        };
        [self.vhost.clone(), self.name.clone()].into_iter().chain(LIMITS.iter().map(setting)).collect()
    }

    fn lists(&self) -> Block {
        let setting =
            |name: &'static str| (name, self.settings.get(name).map_or_else(|| "(nil)".to_owned(), repr::plain));
        let names = [("vhost", self.vhost.clone()), ("group", self.name.clone())];
        let pairs = names.into_iter().chain(LISTS.map(setting)).collect();
        Block::pairs(format!("Vhost '{}' UserGroup '{}'", self.vhost, self.name), pairs)
    }
}

/// What applies when a group does not say.
fn default(name: &str) -> String {
    match VHOST_USER_GROUP_SETTINGS.attribute(name).and_then(|attribute| attribute.default) {
        Some(DefaultValue::Boolean(truth)) => repr::plain(&truth.into()),
        Some(DefaultValue::Integer(number)) => number.to_string(),
        Some(DefaultValue::Text(text)) => text.to_owned(),
        None => "(nil)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_shows_the_defaults_of_what_it_does_not_say() {
        let settings = Map::from_iter([("users", Value::from("adm, root")), ("maxSessions", 3_i64.into())]);
        let groups = Map::from_iter([("admin", settings)]);
        let vhost = Attributes::new().with("hostname", "h".into()).with("groups", groups.into());
        let blocks = blocks(&[vhost]);
        let [Block::Table(limits), _, Block::Table(lists)] = &blocks[..] else { panic!("two tables") };
        let wanted =
            "h admin (nil) (nil) (nil) (nil) (nil) 3 2147483647 2147483647 False False False True True True True";
        assert_eq!(limits.rows[0].join(" "), wanted);
        assert_eq!(lists.title, "Vhost 'h' UserGroup 'admin'");
        assert_eq!(lists.rows[2..4], [["users", "adm, root"], ["remoteHosts", "(nil)"]]);
    }
}
