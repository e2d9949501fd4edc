//! The picture for browsers.

use std::f64::consts::TAU;
use std::fmt::Write;

use super::picture::Picture;

/// Width of a router's box.
const BOX_WIDTH: f64 = 200.0;
/// Height of a router's box.
const BOX_HEIGHT: f64 = 44.0;
/// Room around everything.
const MARGIN: f64 = 20.0;
/// Height of a line of text.
const LINE: f64 = 20.0;

/// Draws a network: routers on a circle, what connects them with its cost, and the paths below.
pub(super) fn draw(picture: &Picture) -> String {
    let count = picture.routers.len();
    // Neighbours on the circle do not touch.
    let radius = if count < 2 {
        0.0
    } else {
        (BOX_WIDTH * 1.3 / (TAU / count as f64).sin().abs().max(0.1)).max(BOX_WIDTH).min(BOX_WIDTH * count as f64 / 2.0)
    };
    let middle = MARGIN + BOX_WIDTH / 2.0 + radius;
    let places: Vec<(&String, f64, f64)> = (picture.routers.keys().enumerate())
        .map(|(index, id)| {
            let angle = TAU * index as f64 / count.max(1) as f64 - TAU / 4.0;
            (id, middle + radius * angle.cos(), middle + radius * angle.sin())
        })
        .collect();
    let paths: Vec<String> = (picture.routers.iter())
        .flat_map(|(from, router)| {
            router.paths.iter().map(move |(to, path)| format!("{from} to {to}: {}", path.label()))
        })
        .collect();
    let width = 2.0 * middle;
    let height = width + LINE * (paths.len() as f64 + 1.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    links(&mut out, picture, &places);
    routers(&mut out, picture, &places);
    for (index, path) in paths.iter().enumerate() {
        let y = width + LINE * index as f64;
        _ = writeln!(out, "<text x=\"{MARGIN:.0}\" y=\"{y:.0}\">{}</text>", escaped(path));
    }
    out.push_str("</svg>\n");
    out
}

fn links(out: &mut String, picture: &Picture, places: &[(&String, f64, f64)]) {
    let place = |id: &String| places.iter().find(|(other, ..)| *other == id);
    for ((a, b), link) in &picture.links {
        let (Some((_, x1, y1)), Some((_, x2, y2))) = (place(a), place(b)) else { continue };
        let dashes = if link.edge { " stroke-dasharray=\"6 4\"" } else { "" };
        let (x, y) = ((x1 + x2) / 2.0, (y1 + y2) / 2.0);
        // Writing to a string cannot fail.
        _ = writeln!(
            out,
            "<line x1=\"{x1:.0}\" y1=\"{y1:.0}\" x2=\"{x2:.0}\" y2=\"{y2:.0}\" stroke=\"#555\"{dashes}/>\n\
             <text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\" stroke=\"white\" stroke-width=\"5\" \
             paint-order=\"stroke\">{}</text>",
            escaped(&link.label())
        );
    }
}

fn routers(out: &mut String, picture: &Picture, places: &[(&String, f64, f64)]) {
    for (id, x, y) in places {
        let Some(router) = picture.routers.get(*id) else { continue };
        let fill = match (&router.silent, router.mode.as_str()) {
            (Some(_), _) => "#fdd",
            (None, "edge") => "#efe",
            _ => "#eef",
        };
        let (left, top) = (x - BOX_WIDTH / 2.0, y - BOX_HEIGHT / 2.0);
        let (upper, lower) = (y - 4.0, y + 14.0);
        _ = writeln!(
            out,
            "<rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{BOX_WIDTH:.0}\" height=\"{BOX_HEIGHT:.0}\" rx=\"8\" \
             fill=\"{fill}\" stroke=\"#555\"/>\n\
             <text x=\"{x:.0}\" y=\"{upper:.0}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\n\
             <text x=\"{x:.0}\" y=\"{lower:.0}\" text-anchor=\"middle\" font-size=\"11\">{}</text>",
            escaped(id),
            escaped(&router.description())
        );
    }
}

fn escaped(text: &str) -> String {
    // Control characters are no part of XML.
    logging::escaped(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::picture::example;

    #[test]
    fn every_router_link_cost_and_path_is_drawn() {
        let svg = draw(&example());
        for part in [">A</text>", ">1 (2 connections)</text>", ">A to C: 4 via B</text>", "stroke-dasharray"] {
            assert!(svg.contains(part), "{part} is not in:\n{svg}");
        }
        assert_eq!((svg.matches("<line ").count(), svg.matches("<rect ").count()), (3, 5));
    }

    #[test]
    fn text_of_a_network_is_no_markup() {
        let svg = draw(&example());
        assert!(svg.contains(">E&lt;1&gt;</text>") && !svg.contains("E<1>"), "{svg}");
    }
}
