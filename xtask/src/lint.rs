//! Formatting, lints, layers, and the licences and sources of dependencies.

use crate::steps::Steps;
use crate::{arch, reference, shell, tools};
use anyhow::Result;
use std::path::Path;

/// Workspaces of their own: their dependencies, or the flags they are built with, are no part of the product's.
const BESIDE: &[&str] = &["fuzz", "interop/fe2o3"];

pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::default();
    steps.step("formatting", formatting);
    steps.step("clippy", clippy);
    steps.step("layers", arch::run);
    steps.step("reference pages", reference::check);
    steps.step("licences and sources of dependencies", dependencies);
    steps.finish()
}

fn formatting() -> Result<()> {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))?;
    for folder in BESIDE {
        shell::run(shell::cargo().current_dir(shell::root().join(folder)).args(["fmt", "--check"]))?;
    }
    Ok(())
}

fn clippy() -> Result<()> {
    let check = |folder: &Path, scope: &[&str]| {
        let mut cargo = shell::cargo();
        cargo.current_dir(folder).args(["clippy", "--locked", "--all-targets", "--target-dir"]);
        shell::run(cargo.arg(shell::target_folder()).args(scope).args(["--", "-D", "warnings"]))
    };
    check(shell::root(), &["--workspace"])?;
    BESIDE.iter().try_for_each(|folder| check(&shell::root().join(folder), &[]))
}

fn dependencies() -> Result<()> {
    // Advisories come from a repository that a build machine need not reach; licences, bans and sources need only the lock file.
    let deny = tools::cargo_deny()?;
    shell::run(shell::command(deny).args([
        "--locked",
        "check",
        "--hide-inclusion-graph",
        "licenses",
        "bans",
        "sources",
    ]))
}
