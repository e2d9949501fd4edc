//! What lies where once a package is installed.

use super::{Release, copy, files, filled_in, programs, read, write};
use crate::shell;
use anyhow::{Context, Result};
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::SystemTime;

/// Files that belong to whoever runs the router: packages leave alone what was changed there.
pub(super) const CONFIGURATION: [&str; 2] = ["/etc/logrotate.d/waystation", "/etc/qpid-dispatch/qdrouterd.conf"];

const DOCUMENTS: &str = "usr/share/doc/waystation";

/// `tree`: an empty folder.
pub(super) fn lay_out(release: &Release, programs: &Path, sbom: &Path, tree: &Path) -> Result<()> {
    for name in programs::NAMES {
        // Where the old packages had it.
        let folder = if name == "qdrouterd" { "usr/sbin" } else { "usr/bin" };
        programs::strip(&programs.join(name), &place(tree, folder, name)?)?;
    }
    let packaging = shell::root().join("packaging");
    for (from, folder, name) in [
        ("systemd/waystation.service", "usr/lib/systemd/system", "waystation.service"),
        ("systemd/waystation.sysusers", "usr/lib/sysusers.d", "waystation.conf"),
        ("logrotate/waystation", "etc/logrotate.d", "waystation"),
        ("etc/qdrouterd.conf", "etc/qpid-dispatch", "qdrouterd.conf"),
        ("deb/copyright", DOCUMENTS, "copyright"),
    ] {
        copy(&packaging.join(from), &place(tree, folder, name)?)?;
    }
    copy(sbom, &place(tree, DOCUMENTS, "sbom.cdx.json")?)?;
    copy(&shell::root().join("CHANGELOG.md"), &place(tree, DOCUMENTS, "CHANGELOG.md")?)?;
    compress(&tree.join(DOCUMENTS).join("CHANGELOG.md"))?;
    // Where Debian's tools look for one, in their form.
    let changelog = place(tree, DOCUMENTS, "changelog")?;
    let date = release.written("+%a, %d %b %Y %H:%M:%S +0000")?;
    write(&changelog, &filled_in("deb/changelog", &[("VERSION", &release.version), ("DATE", &date)])?)?;
    compress(&changelog)?;
    generated(programs, tree)?;
    // Users, certificates, keys and policies go there, as the book has it.
    std::fs::create_dir_all(tree.join("etc/waystation"))?;
    settle(tree, release.time()).with_context(|| format!("cannot set modes and times in {}", tree.display()))
}

/// Man pages and completions, written by the program.
fn generated(programs: &Path, tree: &Path) -> Result<()> {
    let folder = tree.join("generated");
    std::fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    shell::output(shell::command(programs.join("waystation")).args(["generate", "--output"]).arg(&folder))?;
    for path in files(&folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (into, named) = match name.rsplit_once('.') {
            Some((_, "bash")) => ("usr/share/bash-completion/completions", "waystation"),
            Some((_, "fish")) => ("usr/share/fish/vendor_completions.d", name.as_str()),
            Some((_, "8")) => ("usr/share/man/man8", name.as_str()),
            Some((_, "1")) => ("usr/share/man/man1", name.as_str()),
            _ => ("usr/share/zsh/vendor-completions", name.as_str()),
        };
        let to = place(tree, into, named)?;
        copy(&path, &to)?;
        if into.contains("/man/") {
            compress(&to)?;
        }
    }
    std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))
}

fn place(tree: &Path, folder: &str, name: &str) -> Result<std::path::PathBuf> {
    let folder = tree.join(folder);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder.join(name))
}

/// Without the name and the time that gzip would put in.
fn compress(path: &Path) -> Result<()> {
    shell::output(shell::command("gzip").args(["-9", "--no-name", "--force"]).arg(path)).map(drop)
}

/// The same modes and times whatever the umask and the clock of who builds.
fn settle(folder: &Path, time: SystemTime) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_folder = path.is_dir();
        if is_folder {
            settle(&path, time)?;
        }
        let is_program = path.parent().is_some_and(|parent| parent.ends_with("bin") || parent.ends_with("sbin"));
        let mode = if is_folder || is_program { 0o755 } else { 0o644 };
        std::fs::set_permissions(&path, Permissions::from_mode(mode))?;
        File::open(&path)?.set_modified(time)?;
    }
    std::fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    Ok(())
}

/// The paths of all files in the tree as they are once installed, sorted.
pub(super) fn installed(tree: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in files(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else {
                let inside = path.strip_prefix(tree).unwrap_or(&path);
                paths.push(format!("/{}", inside.display()));
            }
        }
    }
    paths.sort();
    Ok(paths)
}

/// `md5sums` of a Debian package: what `dpkg --verify` compares with.
pub(super) fn sums(tree: &Path) -> Result<String> {
    let paths = installed(tree)?;
    let inside = paths.iter().filter(|path| !CONFIGURATION.contains(&path.as_str())).map(|path| &path[1..]);
    shell::output(shell::command("md5sum").current_dir(tree).args(inside))
}

/// What the files take on disk, in KiB.
pub(super) fn size(tree: &Path) -> Result<u64> {
    let mut bytes = 0;
    for path in installed(tree)? {
        bytes += read(&tree.join(&path[1..]))?.len() as u64;
    }
    Ok(bytes.div_ceil(1024))
}
