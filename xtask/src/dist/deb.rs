//! The package for Debian and its kin.

use super::{OLD_RELEASE, Release, copy, filled_in, programs, tree, write};
use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Returns the package's path. The tree is left as it was.
pub(super) fn build(release: &Release, tree: &Path, folder: &Path) -> Result<PathBuf> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => bail!("what does Debian call {other}? Name it in xtask/src/dist/deb.rs"),
    };
    let control = tree.join("DEBIAN");
    // Before there is anything in the tree that is not installed.
    let size = tree::size(tree)?.to_string();
    let sums = tree::sums(tree)?;
    std::fs::create_dir(&control).with_context(|| format!("cannot make {}", control.display()))?;
    let package = folder.join(format!("waystation_{}_{architecture}.deb", release.version));
    let words = [
        ("VERSION", release.version.as_str()),
        ("ARCHITECTURE", architecture),
        ("SIZE", &size),
        ("GLIBC", &programs::c_library(&tree.join("usr/bin/waystation"))?),
        ("OLD", OLD_RELEASE),
    ];
    write(&control.join("control"), &filled_in("deb/control", &words)?)?;
    write(&control.join("md5sums"), &sums)?;
    write(&control.join("conffiles"), &tree::CONFIGURATION.map(|path| format!("{path}\n")).concat())?;
    for script in ["postinst", "prerm", "postrm"] {
        let to = control.join(script);
        copy(&shell::root().join("packaging/deb").join(script), &to)?;
        std::fs::set_permissions(&to, Permissions::from_mode(0o755))?;
    }
    for plain in ["control", "conffiles", "md5sums"] {
        std::fs::set_permissions(control.join(plain), Permissions::from_mode(0o644))?;
    }
    std::fs::set_permissions(&control, Permissions::from_mode(0o755))?;
    let mut dpkg = shell::command("dpkg-deb");
    dpkg.env("SOURCE_DATE_EPOCH", release.epoch.to_string());
    // One thread: how many there are decides where xz begins a new block.
    dpkg.args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"]).arg(tree).arg(&package);
    shell::run(&mut dpkg)?;
    std::fs::remove_dir_all(&control).with_context(|| format!("cannot remove {}", control.display()))?;
    Ok(package)
}
