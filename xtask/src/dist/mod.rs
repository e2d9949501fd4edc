//! What users install: packages, a folder to make a container image of, and a list of what is inside.

mod deb;
mod programs;
mod rpm;
mod sbom;
mod tree;

use crate::{shell, tools};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The release of the old router that we stand in for, as other packages ask for it.
const OLD_RELEASE: &str = "1.19.0";

/// Facts that all packages share.
pub(crate) struct Release {
    version: String,
    /// The time of everything in the packages, in seconds since 1970.
    epoch: u64,
}

impl Release {
    /// The time in a form of date(1).
    fn written(&self, form: &str) -> Result<String> {
        let mut date = shell::command("date");
        date.env("LC_ALL", "C").args(["--utc", form]).arg(format!("--date=@{}", self.epoch));
        Ok(shell::output(&mut date)?.trim().to_owned())
    }

    fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.epoch)
    }
}

/// `programs`: the folder of programs to pack; without it they are built, with no trace of where.
pub(crate) fn run(programs: Option<PathBuf>) -> Result<()> {
    tools::packagers()?;
    let programs = match programs {
        Some(folder) => folder.canonicalize().with_context(|| format!("no such folder: {}", folder.display()))?,
        None => programs::build()?,
    };
    let release = Release { version: sbom::version()?, epoch: epoch()? };
    let folder = shell::target_folder().join("dist");
    fresh(&folder)?;
    let packages = pack(&release, &programs, &folder, &shell::target_folder().join("dist-tree"))?;
    same_again(&release, &programs, &packages)?;
    copy(&shell::root().join("packaging/container/Containerfile"), &folder.join("Containerfile"))?;
    copy(&shell::root().join("packaging/container/qdrouterd.conf"), &folder.join("container.conf"))?;
    println!("in {}:", folder.display());
    for path in files(&folder)? {
        println!("  {}", path.file_name().unwrap_or_default().to_string_lossy());
    }
    Ok(())
}

/// Lays `tree` out and makes the packages and the list of parts in `folder`. Returns what was made.
fn pack(release: &Release, programs: &Path, folder: &Path, tree: &Path) -> Result<Vec<PathBuf>> {
    let sbom = folder.join("waystation.cdx.json");
    write(&sbom, &sbom::text(release)?)?;
    fresh(tree)?;
    tree::lay_out(release, programs, &sbom, tree)?;
    let packages = vec![sbom, deb::build(release, tree, folder)?, rpm::build(release, tree, folder)?];
    std::fs::remove_dir_all(tree).with_context(|| format!("cannot remove {}", tree.display()))?;
    Ok(packages)
}

/// Makes everything a second time, elsewhere, and fails unless it is the same byte for byte.
fn same_again(release: &Release, programs: &Path, packages: &[PathBuf]) -> Result<()> {
    let again = shell::target_folder().join("dist-again");
    fresh(&again)?;
    let second = pack(release, programs, &again, &again.join("another/place"))?;
    for (one, other) in packages.iter().zip(&second) {
        if read(one)? != read(other)? {
            bail!("{} and {} differ: something of the place or the time got in", one.display(), other.display());
        }
    }
    println!("made twice, and the same byte for byte");
    std::fs::remove_dir_all(&again).with_context(|| format!("cannot remove {}", again.display()))
}

/// `SOURCE_DATE_EPOCH`, or the time of the last commit.
fn epoch() -> Result<u64> {
    let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(epoch) => epoch,
        Err(_) => shell::output(shell::command("git").args(["log", "-1", "--format=%ct"]))
            .context("set SOURCE_DATE_EPOCH where there is no repository")?,
    };
    epoch.trim().parse().with_context(|| format!("SOURCE_DATE_EPOCH is not a number of seconds: {epoch}"))
}

/// An empty folder.
fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// The paths in a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = || -> std::io::Result<Vec<PathBuf>> {
        let mut paths =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    listed().with_context(|| format!("cannot read {}", folder.display()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to).map(drop).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// A file of `packaging/` with the words between `@` filled in.
fn filled_in(template: &str, words: &[(&str, &str)]) -> Result<String> {
    let path = shell::root().join("packaging").join(template);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(words.iter().fold(text, |text, (name, value)| text.replace(&format!("@{name}@"), value)))
}
