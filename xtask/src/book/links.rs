//! Whether what pages point to is there: files, and headings in them; and whether every page is in the table of contents.

use std::collections::{BTreeMap, BTreeSet};

/// The table of contents.
const CONTENTS: &str = "SUMMARY.md";

/// What a page has, for others to point to, and what it points to.
struct Page {
    headings: BTreeSet<String>,
    /// With the line where each stands, from 1 on.
    links: Vec<(usize, String)>,
}

/// What is wrong with these pages, given by name: one line each. `exists` says whether there is a file of another kind.
pub(super) fn broken(texts: &BTreeMap<String, String>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let pages: BTreeMap<_, _> = texts.iter().map(|(name, text)| (name.as_str(), read(text))).collect();
    let mut wrong = Vec::new();
    for (name, page) in &pages {
        for (line, link) in &page.links {
            let (file, heading) = link.split_once('#').map_or((link.as_str(), None), |(file, part)| (file, Some(part)));
            let target = if file.is_empty() { name } else { file };
            let fault = match (pages.get(target), heading) {
                (Some(target), Some(heading)) if !target.headings.contains(heading) => "there is no such heading",
                (None, _) if !exists(target) => "there is no such file",
                _ => continue,
            };
            wrong.push(format!("docs/{name}:{line}: {link}: {fault}"));
        }
    }
    let listed = |name: &str| pages.get(CONTENTS).is_some_and(|page| page.links.iter().any(|(_, link)| link == name));
    let unlisted = pages.keys().filter(|name| **name != CONTENTS && !listed(name));
    wrong.extend(unlisted.map(|name| format!("docs/{name}: it is not in {CONTENTS}")));
    wrong
}

fn read(text: &str) -> Page {
    let mut page = Page { headings: BTreeSet::new(), links: Vec::new() };
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            let line = without_code(line);
            if let Some(heading) = line.strip_prefix('#') {
                add(&mut page.headings, &anchor(heading.trim_start_matches('#')));
            }
            page.links.extend(targets(&line).map(|link| (index + 1, link.to_owned())));
        }
    }
    page
}

/// A second heading of the same words has a number behind it.
fn add(headings: &mut BTreeSet<String>, anchor: &str) {
    let numbered = (1..).map(|number| format!("{anchor}-{number}"));
    if let Some(free) = std::iter::once(anchor.to_owned()).chain(numbered).find(|name| !headings.contains(name)) {
        headings.insert(free);
    }
}

/// The line without the marks of code; what brackets mean in code is nobody's link.
fn without_code(line: &str) -> String {
    let pieces = line.split('`').enumerate();
    pieces.map(|(index, piece)| if index % 2 == 0 { piece.to_owned() } else { piece.replace(['[', ']'], "") }).collect()
}

/// Where links of a line lead, other than to other sites.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inside = line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    inside.filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
}

/// What mdBook calls a heading: letters and digits in lower case, with hyphens for blanks.
fn anchor(heading: &str) -> String {
    let mut words = String::new();
    let mut rest = heading.trim();
    // Of a link only its words count.
    while let Some((before, link)) = rest.split_once("](") {
        words.extend([before.replace('[', "").as_str()]);
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    words.push_str(rest);
    let kept =
        words.chars().filter(|letter| letter.is_alphanumeric() || letter.is_whitespace() || "-_".contains(*letter));
    kept.map(|letter| if letter.is_whitespace() { '-' } else { letter.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(pages: &[(&str, &str)]) -> Vec<String> {
        let texts = pages.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        broken(&texts, |file| file == "picture.svg")
    }

    #[test]
    fn links_that_lead_somewhere_are_right() {
        let pages = [
            (CONTENTS, "- [A](a.md)\n- [B](b.md)"),
            (
                "a.md",
                "# A `b(c)` [d](b.md)\n[up](#a-bc-d), [b](b.md#twice-1), [p](picture.svg), [s](https://example.com/x)",
            ),
            ("b.md", "## Twice\n## Twice\n```sh\n# [no](link)\n```\n`[no](link)`"),
        ];
        assert_eq!(wrong(&pages), Vec::<String>::new());
    }

    #[test]
    fn links_that_lead_nowhere_are_told_with_their_place() {
        let pages = [(CONTENTS, "[A](a.md)"), ("a.md", "# A\n[x](b.md) [y](#c)"), ("d.md", "")];
        let expected = [
            "docs/a.md:2: b.md: there is no such file",
            "docs/a.md:2: #c: there is no such heading",
            "docs/d.md: it is not in SUMMARY.md",
        ];
        assert_eq!(wrong(&pages), expected);
    }
}
