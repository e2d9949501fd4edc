//! The package for Fedora, Red Hat Enterprise Linux and their kin.

use super::{OLD_RELEASE, Release, filled_in, fresh, tree, write};
use crate::shell;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Returns the package's path.
pub(super) fn build(release: &Release, tree: &Path, folder: &Path) -> Result<PathBuf> {
    let work = folder.join("rpmbuild");
    fresh(&work)?;
    let files: Vec<String> = tree::installed(tree)?.iter().map(|path| listed(path)).collect();
    let words = [
        ("VERSION", release.version.as_str()),
        ("OLD", OLD_RELEASE),
        ("FILES", &format!("%defattr(-, root, root, 0755)\n%dir /etc/waystation\n{}", files.join("\n"))),
    ];
    let spec = work.join("waystation.spec");
    write(&spec, &filled_in("rpm/waystation.spec", &words)?)?;
    let mut rpmbuild = shell::command("rpmbuild");
    rpmbuild.env("SOURCE_DATE_EPOCH", release.epoch.to_string()).args(["-bb", "--quiet", "--nodeps"]);
    for (name, value) in [
        ("_topdir", work.display().to_string().as_str()),
        ("tree", &tree.display().to_string()),
        ("_buildhost", "waystation"),
        ("use_source_date_epoch_as_buildtime", "1"),
        ("clamp_mtime_to_source_date_epoch", "1"),
        ("_build_id_links", "none"),
        ("debug_package", "%{nil}"),
        // The tree is as it should be: stripped, compressed.
        ("__os_install_post", "%{nil}"),
        ("_binary_payload", "w6.xzdio"),
        ("_build_name_fmt", "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm"),
    ] {
        rpmbuild.arg("--define").arg(format!("{name} {value}"));
    }
    shell::run(rpmbuild.arg(&spec))?;
    let name = format!("waystation-{}-1.{}.rpm", release.version, std::env::consts::ARCH);
    let package = folder.join(&name);
    let made = work.join("RPMS").join(&name);
    std::fs::rename(&made, &package).with_context(|| format!("rpmbuild did not make {}", made.display()))?;
    std::fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))?;
    Ok(package)
}

/// A line of the specification's list of files.
fn listed(path: &str) -> String {
    if tree::CONFIGURATION.contains(&path) {
        format!("%config(noreplace) {path}")
    } else if path.contains("/man/") || path.contains("/doc/") {
        format!("%doc {path}")
    } else {
        path.replace("/zsh/vendor-completions/", "/zsh/site-functions/")
    }
}
