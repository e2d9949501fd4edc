//! `-l`: links.

use management::Attributes;

use super::table;
use crate::qdstat::address_key::AddressKey;
use crate::qdstat::cells::{hours, plain, sum};
use crate::qdstat::table::Block;

pub(super) fn blocks(links: &[Attributes], verbose: bool) -> Vec<Block> {
    let mut headers = vec![
        "type", "dir", "conn id", "id", "peer", "class", "addr", "phs", "cap", "pri", "undel", "unsett", "deliv",
        "presett", "psdrop", "acc", "rej", "rel", "mod", "delay", "rate", "stuck", "cred", "blkd",
    ];
    if verbose {
        headers.extend(["admin", "oper", "name"]);
    }
    table("Router Links", headers, links.iter().map(|link| row(link, verbose)).collect())
}

fn row(link: &Attributes, verbose: bool) -> Vec<String> {
    let address = link.text("owningAddr").map(AddressKey::of).unwrap_or_default();
    let mut row: Vec<String> =
        ["linkType", "linkDir", "connectionId", "identity", "peer"].map(|name| plain(link, name)).into();
    row.extend([address.class, address.text, address.phase]);
    let counters = [
        "capacity",
        "priority",
        "undeliveredCount",
        "unsettledCount",
        "deliveryCount",
        "presettledCount",
        "droppedPresettledCount",
        "acceptedCount",
        "rejectedCount",
        "releasedCount",
        "modifiedCount",
    ];
    row.extend(counters.map(|name| plain(link, name)));
    row.push(sum(link, &["deliveriesDelayed1Sec", "deliveriesDelayed10Sec"]));
    row.extend(["settleRate", "deliveriesStuck", "creditAvailable"].map(|name| plain(link, name)));
    row.push(blocked(link));
    if verbose {
        row.extend(["adminStatus", "operStatus", "linkName"].map(|name| plain(link, name)));
    }
    row
}

/// For how long the link has had no credit.
fn blocked(link: &Attributes) -> String {
    match link.integer("zeroCreditSeconds") {
        Some(seconds) if seconds > 0 => hours(seconds),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_an_old_router_has_empty_cells_for_what_it_lacks() {
        let link = Attributes::new().with("linkType", "endpoint".into()).with("owningAddr", "M0a".into());
        let Block::Table(table) = &blocks(&[link], true)[0] else { panic!("a table") };
        assert_eq!(table.headers.len(), table.rows[0].len());
        assert_eq!(table.rows[0][5..9], ["mobile", "a", "0", ""]);
        assert_eq!(table.rows[0][23], "-");
    }

    #[test]
    fn delays_of_both_kinds_are_added_up() {
        let link = Attributes::new()
            .with("deliveriesDelayed1Sec", 3_u64.into())
            .with("deliveriesDelayed10Sec", 4_u64.into())
            .with("zeroCreditSeconds", 3661_u64.into());
        let Block::Table(table) = &blocks(&[link], false)[0] else { panic!("a table") };
        assert_eq!((table.rows[0][19].as_str(), table.rows[0][23].as_str()), ("7", "01:01:01"));
    }
}
