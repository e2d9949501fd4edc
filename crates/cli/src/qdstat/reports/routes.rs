//! `--autolinks` and `--linkroutes`.

use management::Attributes;

use super::table;
use crate::qdstat::cells::plain;
use crate::qdstat::table::Block;

/// An attribute that has a former name, which older routers use.
fn renamed(entity: &Attributes, name: &str, formerly: &str) -> String {
    plain(entity, if entity.contains(name) { name } else { formerly })
}

pub(super) fn auto_link_blocks(auto_links: &[Attributes]) -> Vec<Block> {
    if auto_links.is_empty() {
        return vec![Block::Line("AutoLinks".to_owned()), Block::Line("No AutoLinks found".to_owned())];
    }
    let row = |auto_link: &Attributes| {
        vec![
            renamed(auto_link, "address", "addr"),
            renamed(auto_link, "direction", "dir"),
            plain(auto_link, "phase"),
            renamed(auto_link, "externalAddress", "externalAddr"),
            plain(auto_link, "linkRef"),
            plain(auto_link, "operStatus"),
            plain(auto_link, "lastError"),
        ]
    };
    let headers = vec!["addr", "dir", "phs", "extAddr", "link", "status", "lastErr"];
    table("AutoLinks", headers, auto_links.iter().map(row).collect())
}

pub(super) fn link_route_blocks(link_routes: &[Attributes]) -> Vec<Block> {
    if link_routes.is_empty() {
        return vec![Block::Line("Link Routes".to_owned()), Block::Line("No Link Routes found".to_owned())];
    }
    let external =
        link_routes.iter().any(|route| route.contains("addExternalPrefix") || route.contains("delExternalPrefix"));
    let mut headers = vec!["address", "dir", "distrib", "status"];
    if external {
        headers.extend(["add-ext-prefix", "del-ext-prefix"]);
    }
    let row = |route: &Attributes| {
        let mut row = vec![
            renamed(route, "prefix", "pattern"),
            renamed(route, "direction", "dir"),
            plain(route, "distribution"),
            plain(route, "operStatus"),
        ];
        if external {
            row.extend([plain(route, "addExternalPrefix"), plain(route, "delExternalPrefix")]);
        }
        row
    };
    let mut rows: Vec<_> = link_routes.iter().map(row).collect();
    rows.sort_by(|one: &Vec<String>, other| one[0].cmp(&other[0]));
    table("Link Routes", headers, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_for_external_prefixes_appear_when_a_route_has_one() {
        let route = Attributes::new().with("prefix", "lr".into()).with("dir", "in".into());
        let Block::Table(without) = &link_route_blocks(std::slice::from_ref(&route))[0] else { panic!("a table") };
        assert_eq!(without.headers.len(), 4);
        let other = Attributes::new().with("pattern", "lp.*".into()).with("addExternalPrefix", "abc.".into());
        let Block::Table(with) = &link_route_blocks(&[other, route])[0] else { panic!("a table") };
        assert_eq!(with.headers[4..], ["add-ext-prefix", "del-ext-prefix"]);
        assert_eq!(with.rows, [["lp.*", "", "", "", "abc.", ""], ["lr", "in", "", "", "", ""]]);
    }

    #[test]
    fn none_at_all_is_a_line_below_the_title() {
        let texts = [auto_link_blocks(&[]), link_route_blocks(&[])].concat();
        let lines = ["AutoLinks", "No AutoLinks found", "Link Routes", "No Link Routes found"];
        assert_eq!(texts, lines.map(|line| Block::Line(line.to_owned())));
    }
}
