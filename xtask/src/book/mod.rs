//! The book's commands, run as a reader would run them, page by page.
//!
//! What a block of a page is for stands behind its language (which mdBook does not show), or, for what a reader need not see, in
//! a comment of HTML:
//!
//! | | |
//! |---|---|
//! | `sh run` | commands that succeed; with `fails`, of which the last does not |
//! | `sh background` | commands each of which goes on in a terminal of its own; with `port=N`, until somebody listens there |
//! | `stop` | what was started last is ended, as by Ctrl-C |
//! | `sh by-hand` | commands for a machine that a test does not have; the reason stands beside |
//! | `text shown` | lines that the commands before show, sooner or later, in this order |
//! | `conf` | a part of a configuration, which `waystation check` takes; with `file=NAME` also written to that file |
//! | `conf part` | the same, that cannot be checked because it names what a test does not have |
//! | `text file=NAME` | a file |
//!
//! Before that, whatever pages point to has to be there.
//!
//! Each page has an empty folder, and a network of its own, so that it can use the ports that it names.

mod links;
mod page;
mod play;

use crate::{interop, shell};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Set for the process inside: it has a network of its own already.
const INSIDE: &str = "WAYSTATION_BOOK_INSIDE";

/// Runs the pages whose names contain `only`, or all.
pub(crate) fn run(only: Option<&str>, programs: Option<PathBuf>) -> Result<()> {
    let programs = match programs {
        Some(folder) => folder.canonicalize().with_context(|| format!("no such folder: {}", folder.display()))?,
        None => interop::build()?,
    };
    if std::env::var_os(INSIDE).is_none() {
        return enter(only, &programs);
    }
    shell::run(shell::command("ip").args(["link", "set", "lo", "up"]))?;
    check_links()?;
    let mut failures = Vec::new();
    let (mut ran, mut by_hand) = (0, 0);
    for path in pages()? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let page = page::read(&name, &text)?;
        by_hand += page.by_hand;
        match play::play(&page, &programs) {
            Ok(count) => ran += count,
            Err(error) => {
                println!("{error:#}");
                failures.push(name);
            }
        }
    }
    println!("the book: {ran} blocks were run or checked, {by_hand} blocks of commands are for people only");
    if failures.is_empty() { Ok(()) } else { bail!("pages that are wrong: {}", failures.join(", ")) }
}

/// Runs this program again, where the ports that pages name are free.
fn enter(only: Option<&str>, programs: &Path) -> Result<()> {
    let own = std::env::current_exe().context("this program does not know where it is")?;
    let mut inside = shell::command("unshare");
    inside.args(["--user", "--map-root-user", "--net"]).arg(own).arg("book").args(only);
    inside.arg("--programs").arg(programs).env(INSIDE, "1");
    shell::run(&mut inside).context("pages run in a network of their own: `unshare --user --net` has to be allowed")
}

fn check_links() -> Result<()> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = |path: &Path| std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    let texts = pages()?.iter().map(|path| Ok((name(path), text(path)?))).collect::<Result<_>>()?;
    let wrong = links::broken(&texts, |file| shell::root().join("docs").join(file).exists());
    if wrong.is_empty() { Ok(()) } else { bail!("the book points to what is not there:\n{}", wrong.join("\n")) }
}

/// The pages, sorted.
fn pages() -> Result<Vec<PathBuf>> {
    let folder = shell::root().join("docs");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let mut pages: Vec<_> = paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    Ok(pages)
}
