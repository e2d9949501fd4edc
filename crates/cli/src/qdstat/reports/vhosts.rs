//! `--vhosts` and `--vhoststats`: policies of virtual hosts.

use amqp::Value;
use management::client::Table;
use management::{Attributes, repr};

use super::table;
use crate::qdstat::cells::{or, plain};
use crate::qdstat::table::Block;

pub(super) fn blocks(found: Table) -> Vec<Block> {
    if found.rows.is_empty() {
        return vec![Block::Line("No Vhosts".to_owned())];
    }
    // Routers before 1.13 do not have it.
    let message_size = found.columns.iter().any(|column| column == "maxMessageSize");
    let mut columns = vec!["hostname", "maxConnections"];
    columns.extend(message_size.then_some("maxMessageSize"));
    columns.extend(["maxConnectionsPerUser", "maxConnectionsPerHost", "allowUnknownUser"]);
    let row = |vhost: &Attributes| {
        let mut row: Vec<String> = columns.iter().map(|column| or(vhost, column, "None")).collect();
        row.push(vhost.get("groups").and_then(Value::as_map).map_or(0, amqp::Map::len).to_string());
        row
    };
    let rows = found.into_entities().iter().map(row).collect();
    let headers = columns.iter().copied().chain(["groups"]).collect();
    table("Vhosts", headers, rows)
}

pub(super) fn stats_blocks(stats: &[Attributes]) -> Vec<Block> {
    if stats.is_empty() {
        return vec![Block::Line("No Vhost Stats".to_owned())];
    }
    let headers = vec![
        "hostname",
        "connectionsApproved",
        "connectionsDenied",
        "connectionsCurrent",
        "sessionDenied",
        "senderDenied",
        "receiverDenied",
        "maxMessageSizeDenied",
    ];
    let row = |vhost: &Attributes| headers.iter().map(|column| plain(vhost, column)).collect();
    let rows = stats.iter().map(row).collect();
    let mut blocks = table("Vhost Stats", headers.clone(), rows);
    blocks.push(Block::blank());
    let users = stats.iter().flat_map(users).collect();
    blocks.extend(table("Vhost User Stats", vec!["vhost", "user", "remote hosts"], users));
    blocks
}

/// A row for each user of a virtual host, with the list of the hosts it is connected from.
fn users(vhost: &Attributes) -> Vec<Vec<String>> {
    let Some(users) = vhost.get("perUserState").and_then(Value::as_map) else { return Vec::new() };
    users.iter().map(|(user, hosts)| vec![plain(vhost, "hostname"), repr::plain(user), repr::plain(hosts)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::Map;

    #[test]
    fn the_column_for_the_message_size_is_shown_only_if_the_router_knows_it() {
        let rows = vec![vec!["h".into(), Value::Null]];
        let with = Table { columns: vec!["hostname".to_owned(), "maxMessageSize".to_owned()], rows: rows.clone() };
        let without = Table { columns: vec!["hostname".to_owned(), "x".to_owned()], rows };
        let [Block::Table(with)] = &blocks(with)[..] else { panic!("a table") };
        let [Block::Table(without)] = &blocks(without)[..] else { panic!("a table") };
        assert_eq!(with.rows, [["h", "None", "None", "None", "None", "None", "0"]]);
        assert_eq!(without.rows, [["h", "None", "None", "None", "None", "0"]]);
    }

    #[test]
    fn users_are_listed_with_their_hosts() {
        let hosts = Value::List(vec!["127.0.0.1:5".into()]);
        let state = Map::from_iter([("joe", hosts)]);
        let stats = Attributes::new().with("hostname", "h".into()).with("perUserState", state.into());
        let blocks = stats_blocks(&[stats]);
        let [_, _, Block::Table(users)] = &blocks[..] else { panic!("two tables") };
        assert_eq!(users.rows, [["h", "joe", "['127.0.0.1:5']"]]);
    }
}
