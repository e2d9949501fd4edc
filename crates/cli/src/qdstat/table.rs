//! What a report is made of, and how it is laid out.

use std::borrow::Cow;
use std::io::{self, Write};

use logging::escaped;

use crate::text::escaped_lines;

/// A table with a title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Stands above it.
    pub title: String,
    /// Names of the columns.
    pub headers: Vec<&'static str>,
    /// A cell for each column in each row.
    pub rows: Vec<Vec<String>>,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A table.
    Table(Table),
    /// A line of text.
    Line(String),
}

impl Block {
    /// A table of two columns, `attr` and `value`.
    pub fn pairs(title: impl Into<String>, pairs: Vec<(&str, String)>) -> Self {
        let rows = pairs.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
        Self::Table(Table { title: title.into(), headers: vec!["attr", "value"], rows })
    }

    /// An empty line.
    pub fn blank() -> Self {
        Self::Line(String::new())
    }

    /// Writes it; tables as comma-separated values if `csv`. Names that others have chosen make no line of their own, and command
    /// no terminal.
    ///
    /// # Errors
    /// If the output does not take it.
    pub fn write(&self, out: &mut dyn Write, csv: bool) -> io::Result<()> {
        match self {
            Self::Line(text) => writeln!(out, "{}", escaped_lines(text)),
            Self::Table(table) if table.rows.is_empty() => writeln!(out, "{}", escaped_lines(&table.title)),
            Self::Table(table) if csv => table.write_csv(out),
            Self::Table(table) => table.write_text(out),
        }
    }
}

/// The blanks between two columns, and before the first.
const GAP: &str = "  ";

impl Table {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<Vec<Cow<'_, str>>> =
            self.rows.iter().map(|row| row.iter().map(|cell| escaped(cell)).collect()).collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(Cow::as_ref);
            cells.chain([self.headers[column]]).map(|text| text.chars().count()).max().unwrap_or(0) + GAP.len()
        };
        let widths: Vec<usize> = (0..self.headers.len()).map(width).collect();
        writeln!(out, "{}", escaped_lines(&self.title))?;
        write_line(out, &widths, self.headers.iter().copied())?;
        writeln!(out, "{GAP}{}", "=".repeat(widths.iter().sum()))?;
        rows.iter().try_for_each(|row| write_line(out, &widths, row.iter().map(Cow::as_ref)))
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let quoted = |text: &str| format!("\"{}\"", escaped(text).replace('"', "\"\""));
        let cell = |text: &str| if text.is_empty() { String::new() } else { quoted(text) };
        let line = |cells: Vec<String>| cells.join(",");
        writeln!(out, "{}", escaped_lines(&self.title))?;
        writeln!(out, "{}", line(self.headers.iter().map(|text| cell(text)).collect()))?;
        self.rows.iter().try_for_each(|row| writeln!(out, "{}", line(row.iter().map(|text| cell(text)).collect())))
    }
}

/// Every cell but the last is filled up to its column's width.
fn write_line<'t>(
    out: &mut dyn Write,
    widths: &[usize],
    cells: impl ExactSizeIterator<Item = &'t str>,
) -> io::Result<()> {
    let last = cells.len().saturating_sub(1);
    write!(out, "{GAP}")?;
    for (index, (cell, width)) in cells.zip(widths).enumerate() {
        if index == last {
            writeln!(out, "{cell}")?;
        } else {
            write!(out, "{cell:width$}", width = *width)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(block: &Block, csv: bool) -> String {
        let mut out = Vec::new();
        block.write(&mut out, csv).expect("memory takes everything");
        String::from_utf8(out).expect("text")
    }

    fn links() -> Block {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        Block::Table(Table {
            title: "Link Routes".to_owned(),
            headers: vec!["address", "dir", "status"],
            rows: vec![row(&["lp.*", "out", ""]), row(&["a\"b", "", "active"])],
        })
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_two_blanks() {
        let text = "Link Routes\n  address  dir  status\n  ======================\n  lp.*     out  \n  a\"b           active\n";
        assert_eq!(written(&links(), false), text);
    }

    #[test]
    fn csv_quotes_what_is_there_and_leaves_the_rest_empty() {
        let text = "Link Routes\n\"address\",\"dir\",\"status\"\n\"lp.*\",\"out\",\n\"a\"\"b\",,\"active\"\n";
        assert_eq!(written(&links(), true), text);
    }

    #[test]
    fn names_command_no_terminal_make_no_row_and_are_otherwise_as_they_are() {
        let rows =
            vec![vec!["a\u{1b}[2J\nb".to_owned(), "x".to_owned()], vec!["zweiköpfig 漢字".to_owned(), "y".to_owned()]];
        let block = Block::Table(Table { title: "\u{9b}T".to_owned(), headers: vec!["address", "n"], rows });
        assert_eq!(
            written(&block, true),
            "\\u{9b}T\n\"address\",\"n\"\n\"a\\u{1b}[2J\\nb\",\"x\"\n\"zweiköpfig 漢字\",\"y\"\n"
        );
        assert_eq!(
            written(&block, false),
            "\\u{9b}T\n  address        n\n  ==================\n  a\\u{1b}[2J\\nb  x\n  zweiköpfig 漢字  y\n"
        );
    }

    #[test]
    fn a_title_may_have_two_lines() {
        let title = "Routers in the Network\nLast Topology Change: now".to_owned();
        let full = Block::Table(Table { title: title.clone(), headers: vec!["id"], rows: vec![vec!["A".to_owned()]] });
        let empty = Block::Table(Table { title: title.clone(), ..Table::default() });
        for (block, csv) in [(&full, false), (&full, true), (&empty, false)] {
            assert!(written(block, csv).starts_with(&format!("{title}\n")));
        }
    }

    #[test]
    fn an_empty_table_is_its_title() {
        let block = Block::Table(Table { title: "Vhost User Stats".to_owned(), ..Table::default() });
        assert_eq!(written(&block, false), "Vhost User Stats\n");
        assert_eq!(written(&block, true), "Vhost User Stats\n");
    }
}
