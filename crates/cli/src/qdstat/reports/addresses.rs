//! `-a`: addresses.

use management::Attributes;

use super::table;
use crate::qdstat::address_key::AddressKey;
use crate::qdstat::cells::{commas, plain};
use crate::qdstat::table::Block;

pub(super) fn blocks(addresses: &[Attributes], verbose: bool) -> Vec<Block> {
    let mut headers = vec!["class", "addr", "phs", "distrib", "pri"];
    if verbose {
        headers.push("in-proc");
    }
    headers.extend(["local", "remote", "in", "out", "thru", "fallback"]);
    if verbose {
        headers.extend(["to-proc", "from-proc"]);
    }
    let mut keyed: Vec<(AddressKey, &Attributes)> = addresses.iter().map(|address| (key(address), address)).collect();
    keyed.sort_by(|(one, _), (other, _)| one.text.cmp(&other.text));
    table("Router Addresses", headers, keyed.into_iter().map(|(key, address)| row(key, address, verbose)).collect())
}

fn key(address: &Attributes) -> AddressKey {
    AddressKey::of(address.text("key").or_else(|| address.text("identity")).unwrap_or_default())
}

fn row(key: AddressKey, address: &Attributes, verbose: bool) -> Vec<String> {
    let local = if key.is_link_route() { "containerCount" } else { "subscriberCount" };
    let mut row = vec![key.class, key.text, key.phase, plain(address, "distribution"), priority(address)];
    if verbose {
        row.push(commas(address, "inProcess"));
    }
    let counters = [
        local,
        "remoteCount",
        "deliveriesIngress",
        "deliveriesEgress",
        "deliveriesTransit",
        "deliveriesRedirectedToFallback",
    ];
    row.extend(counters.map(|name| commas(address, name)));
    if verbose {
        row.extend(["deliveriesToContainer", "deliveriesFromContainer"].map(|name| commas(address, name)));
    }
    row
}

fn priority(address: &Attributes) -> String {
    match address.integer("priority") {
        Some(priority) if priority >= 0 => priority.to_string(),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(key: &str) -> Attributes {
        Attributes::new()
            .with("key", key.into())
            .with("subscriberCount", 1_i64.into())
            .with("containerCount", 2_i64.into())
            .with("deliveriesIngress", 1_234_567_i64.into())
            .with("priority", (-1_i64).into())
    }

    #[test]
    fn addresses_are_sorted_by_text_whatever_their_class() {
        let Block::Table(table) = &blocks(&[address("Tb"), address("M0a"), address("Lb")], false)[0] else {
            panic!("a table")
        };
        let shown: Vec<_> = table.rows.iter().map(|row| row[..2].join(" ")).collect();
        assert_eq!(shown, ["mobile a", "topo b", "local b"]);
    }

    #[test]
    fn counters_have_commas_and_an_unset_priority_a_dash() {
        let Block::Table(table) = &blocks(&[address("M0a")], true)[0] else { panic!("a table") };
        assert_eq!(table.rows[0][4..9], ["-", "", "1", "", "1,234,567"]);
        assert_eq!(table.headers.len(), table.rows[0].len());
    }

    #[test]
    fn a_link_route_counts_its_containers() {
        let Block::Table(table) = &blocks(&[address("Clr")], false)[0] else { panic!("a table") };
        assert_eq!(table.rows[0][5], "2");
    }
}
