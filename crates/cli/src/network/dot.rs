//! The picture for Graphviz.

use std::fmt::Write;

use super::picture::Picture;

/// Draws a network as a graph. Paths are tool tips of the routers that they begin at, and comments.
pub(super) fn draw(picture: &Picture) -> String {
    let mut out = "graph network {\n  node [shape=box, style=rounded];\n".to_owned();
    // Writing to a string cannot fail.
    for (id, router) in &picture.routers {
        let paths = router.paths.iter().map(|(to, path)| format!("{id} to {to}: {}", path.label()));
        let paths: Vec<String> = paths.collect();
        let label = quoted(&format!("{id}\n{}", router.description()));
        let shape = match (&router.silent, router.mode.as_str()) {
            (Some(_), _) => ", style=\"rounded,dashed\"",
            (None, "edge") => ", shape=ellipse",
            _ => "",
        };
        _ = writeln!(out, "  {} [label={label}, tooltip={}{shape}];", quoted(id), quoted(&paths.join("\n")));
        for path in paths {
            _ = writeln!(out, "  // {}", logging::escaped(&path));
        }
    }
    for ((a, b), link) in &picture.links {
        let style = if link.edge { ", style=dashed" } else { "" };
        _ = writeln!(out, "  {} -- {} [label={}{style}];", quoted(a), quoted(b), quoted(&link.label()));
    }
    out.push_str("}\n");
    out
}

/// A string of the language.
fn quoted(text: &str) -> String {
    let text = crate::text::escaped_lines(text);
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::picture::example;

    #[test]
    fn routers_are_nodes_and_what_connects_them_are_edges_with_their_costs() {
        let dot = draw(&example());
        for line in [
            "graph network {",
            "  \"A\" [label=\"A\\ninterior, 1.19.0, 1 client\", tooltip=\"A to B: 1\\nA to C: 4 via B\"];",
            "  // A to C: 4 via B",
            "  \"A\" -- \"B\" [label=\"1 (2 connections)\"];",
            "  \"A\" -- \"E<1>\" [label=\"edge\", style=dashed];",
            "}",
        ] {
            assert!(dot.lines().any(|there| there == line), "{line} is not in:\n{dot}");
        }
    }

    #[test]
    fn text_of_a_network_cannot_end_the_string_it_stands_in() {
        assert_eq!(quoted("a\"b\\"), "\"a\\\"b\\\\\"");
    }
}
