//! The picture for terminals.

use std::borrow::Cow;
use std::fmt::Write;

use logging::escaped;

use super::picture::Picture;

/// Blanks between columns, and before the first.
const GAP: usize = 2;

/// Draws a network as three tables: routers, what connects them, and paths, a row for each router that they begin at.
pub(super) fn draw(picture: &Picture) -> String {
    let ids: Vec<&String> = picture.routers.keys().collect();
    let count = ids.len();
    let mut out = format!(
        "Network of {count} router{}, seen from {}\n",
        if count == 1 { "" } else { "s" },
        escaped(&picture.asked)
    );
    let routers = picture.routers.iter().map(|(id, router)| vec![id.clone(), router.description()]);
    table(&mut out, "Routers", vec!["router", "what it is"], routers.collect());
    let links = picture.links.iter().map(|((a, b), link)| vec![format!("{a} --- {b}"), link.label()]);
    table(&mut out, "Connections between them", vec!["routers", "cost"], links.collect());
    // Only interior routers find paths.
    let goals: Vec<&String> =
        ids.into_iter().filter(|id| picture.routers.values().any(|it| it.paths.contains_key(*id))).collect();
    let paths = picture.routers.iter().filter(|(_, router)| !router.paths.is_empty()).map(|(from, router)| {
        let cell = |to: &&String| match router.paths.get(*to) {
            Some(path) => path.label(),
            None => "-".to_owned(),
        };
        std::iter::once(from.clone()).chain(goals.iter().map(cell)).collect()
    });
    let headers = std::iter::once("from \\ to").chain(goals.iter().map(|id| id.as_str()));
    table(&mut out, "Paths: what they cost, and the next router on the way", headers.collect(), paths.collect());
    out
}

/// A table, unless it is empty; in the form of the other reports.
fn table(out: &mut String, title: &str, headers: Vec<&str>, rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let headers: Vec<Cow<'_, str>> = headers.into_iter().map(escaped).collect();
    let rows: Vec<Vec<Cow<'_, str>>> = rows.iter().map(|row| row.iter().map(|cell| escaped(cell)).collect()).collect();
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column)).map(Cow::as_ref);
    let length = |text: &str| text.chars().count();
    let width = |column: usize| cells(column).chain([headers[column].as_ref()]).map(length).max().unwrap_or(0) + GAP;
    let widths: Vec<usize> = (0..headers.len()).map(width).collect();
    let line = |row: &[Cow<'_, str>]| {
        let padded = row.iter().zip(&widths).map(|(text, width)| format!("{text:width$}"));
        format!("{:GAP$}{}\n", "", padded.collect::<String>().trim_end())
    };
    _ = write!(out, "\n{title}\n{}{:GAP$}{}\n", line(&headers), "", "=".repeat(widths.iter().sum()));
    for row in &rows {
        out.push_str(&line(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::picture::{Picture, example};

    #[test]
    fn every_router_link_cost_and_path_is_in_the_picture() {
        let text = draw(&example());
        let expected = "\
Network of 4 routers, seen from A

Routers
  router  what it is
  =====================================
  A       interior, 1.19.0, 1 client
  B       interior, 1.19.0, 2 clients
  C       does not answer: timed out
  E<1>    edge, 1.19.0, 0 clients

Connections between them
  routers     cost
  ===============================
  A --- B     1 (2 connections)
  A --- E<1>  edge
  B --- C     3

Paths: what they cost, and the next router on the way
  from \\ to  A  B  C
  ==========================
  A          -  1  4 via B
  B          1  -  3
";
        assert_eq!(text.lines().map(str::trim_end).collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>(), "{text}");
    }

    #[test]
    fn a_router_without_a_network_is_alone_in_the_picture() {
        let picture = Picture {
            asked: "A".to_owned(),
            routers: [("A".to_owned(), Default::default())].into(),
            links: Default::default(),
        };
        assert!(draw(&picture).starts_with("Network of 1 router, seen from A\n"));
    }
}
