//! The web console: that what is committed is what its sources make, the tests of its model, and the whole in a browser.

use crate::{interop, shell, tools};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All built files together, so that the program stays small.
const LIMIT: usize = 400 * 1024;

/// Installs what the console is built with, then checks the committed bundle and tests the model.
pub(crate) fn check() -> Result<()> {
    let folder = folder();
    tools::node_modules(&folder)?;
    same_as_built(&folder)?;
    shell::run(npm(&folder).args(["test", "--silent"]))
}

/// The bundle, the model, and the console in Chromium over routers that the tests start.
pub(crate) fn run(programs: Option<PathBuf>) -> Result<()> {
    check()?;
    browser(&match programs {
        Some(folder) => folder.canonicalize().with_context(|| format!("no such folder: {}", folder.display()))?,
        None => interop::build()?,
    })
}

/// The console in Chromium; `check` has installed what it needs.
pub(crate) fn browser(programs: &Path) -> Result<()> {
    tools::chromium()?;
    let mut tests = npm(&folder());
    shell::run(tests.env(interop::PROGRAMS, programs).args(["run", "e2e", "--silent"]))
}

fn folder() -> PathBuf {
    shell::root().join("console")
}

fn npm(folder: &Path) -> std::process::Command {
    let mut npm = shell::command("npm");
    npm.current_dir(folder);
    npm
}

fn same_as_built(folder: &Path) -> Result<()> {
    let fresh = shell::target_folder().join("console");
    let mut build = npm(folder);
    build.args(["run", "build", "--silent", "--", "--emptyOutDir", "--logLevel", "warn", "--outDir"]).arg(&fresh);
    shell::run(&mut build)?;
    let (committed, built) = (files(&folder.join("dist"))?, files(&fresh)?);
    let size: usize = built.values().map(Vec::len).sum();
    ensure!(size <= LIMIT, "the built console has {size} bytes, and {LIMIT} is the limit");
    let differs = |name: &&String| committed.get(*name) != built.get(*name);
    let stale: Vec<&str> = committed.keys().chain(built.keys()).filter(differs).map(String::as_str).collect();
    if !stale.is_empty() {
        bail!("console/dist is not what its sources make ({}): run `npm run build` there", stale.join(", "));
    }
    Ok(())
}

/// The files below a folder, by their paths in it.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
            found.insert(name, std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
        }
    }
    Ok(found)
}
