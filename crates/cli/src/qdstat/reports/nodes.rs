//! `-n`: the routers of the network.

use management::Attributes;

use super::table;
use crate::qdstat::cells::{or, plain};
use crate::qdstat::table::Block;

pub(super) fn blocks(nodes: &[Attributes], verbose: bool) -> Vec<Block> {
    if nodes.is_empty() {
        return vec![Block::Line("Router is Standalone - No Router List".to_owned())];
    }
    let mut nodes: Vec<&Attributes> = nodes.iter().collect();
    nodes.sort_by_key(|node| plain(node, "id"));
    let mut headers = vec!["router-id", "next-hop", "link"];
    if verbose {
        headers.extend(["ver", "cost", "neighbors", "valid-origins"]);
    }
    let rows = nodes.iter().map(|node| row(node, verbose)).collect();
    table(&title(&nodes), headers, rows)
}

/// The title's second line tells when a router came or went last, if any did.
fn title(nodes: &[&Attributes]) -> String {
    let last = nodes.iter().filter_map(|node| node.integer("lastTopoChange")).max().unwrap_or(0);
    match u64::try_from(last) {
        Ok(seconds) if seconds > 0 => {
            let time = logging::time_text("%A %b %d %H:%M:%S %Y", seconds, true);
            format!("Routers in the Network\nLast Topology Change: {time} GMT")
        }
        _ => "Routers in the Network".to_owned(),
    }
}

fn row(node: &Attributes, verbose: bool) -> Vec<String> {
    // A neighbour has a link of its own; others, and the router itself, are reached through what stands in next-hop.
    let link = if node.contains("nextHop") { "-".to_owned() } else { plain(node, "routerLink") };
    let mut row = vec![plain(node, "id"), or(node, "nextHop", "-"), link];
    if verbose {
        row.extend(["protocolVersion", "cost", "linkState", "validOrigins"].map(|name| plain(node, name)));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::Value;

    fn node(id: &str, next_hop: Option<&str>) -> Attributes {
        Attributes::new()
            .with("id", id.into())
            .with("nextHop", next_hop.into())
            .with("routerLink", 0_i64.into())
            .with("linkState", Value::List(vec!["QDR.A".into()]))
            .with("lastTopoChange", 1_796_029_615_i64.into())
    }

    #[test]
    fn routers_are_sorted_and_reached_by_hop_or_link() {
        let Block::Table(table) = &blocks(&[node("B", None), node("A", Some("(self)"))], false)[0] else {
            panic!("a table")
        };
        assert_eq!(table.rows, [["A", "(self)", "-"], ["B", "-", "0"]]);
        assert_eq!(table.title, "Routers in the Network\nLast Topology Change: Monday Nov 30 09:06:55 2026 GMT");
    }

    #[test]
    fn neighbours_are_shown_as_a_list() {
        let Block::Table(table) = &blocks(&[node("B", None)], true)[0] else { panic!("a table") };
        assert_eq!(table.rows[0][5], "['QDR.A']");
    }

    #[test]
    fn a_router_without_a_network_says_so() {
        assert_eq!(blocks(&[], false), [Block::Line("Router is Standalone - No Router List".to_owned())]);
    }
}
