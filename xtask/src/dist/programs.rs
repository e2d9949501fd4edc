//! The programs, built so that they say nothing of the machine they were built on.

use super::read;
use crate::shell;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

pub(super) const NAMES: [&str; 4] = ["waystation", "qdrouterd", "qdstat", "qdmanage"];

/// Builds in a target folder of its own: other flags would throw away what the usual one holds.
pub(super) fn build() -> Result<PathBuf> {
    let target = shell::target_folder().join("dist-build");
    let places = places(&target);
    let rust: Vec<String> = places.iter().map(|(from, to)| format!("--remap-path-prefix={from}={to}")).collect();
    // .cargo/config.toml sets CFLAGS for the allocator; cargo hands them to this program, too.
    let mut c = std::env::var("CFLAGS").unwrap_or_default();
    for (from, to) in &places {
        c.push_str(&format!(" -ffile-prefix-map={from}={to}"));
    }
    let mut cargo = shell::cargo();
    cargo.args(["build", "--release", "--locked", "--package", "waystation", "--target-dir"]).arg(&target);
    shell::run(cargo.env("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}")).env("CFLAGS", c))?;
    let folder = target.join("release");
    nothing_told(&folder, &places)?;
    Ok(folder)
}

/// Folders of this machine and what is written in their place. Of several that fit, compilers take the last.
fn places(target: &Path) -> Vec<(String, &'static str)> {
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    vec![
        (cargo, "/usr/src/cargo"),
        (shell::root().display().to_string(), "/usr/src/waystation"),
        (target.display().to_string(), "/usr/src/build"),
    ]
}

/// Fails if a program, stripped as packages have it, names a folder of this machine.
fn nothing_told(folder: &Path, places: &[(String, &'static str)]) -> Result<()> {
    for name in NAMES {
        let stripped = folder.join(format!("{name}.stripped"));
        strip(&folder.join(name), &stripped)?;
        let program = read(&stripped)?;
        for (place, _) in places {
            if program.windows(place.len()).any(|bytes| bytes == place.as_bytes()) {
                bail!("{name} names {place}, a folder of this machine: packages of another machine would differ");
            }
        }
    }
    Ok(())
}

/// Takes out what only a debugger reads.
pub(super) fn strip(from: &Path, to: &Path) -> Result<()> {
    shell::output(
        shell::command("strip").args(["--strip-unneeded", "--remove-section=.comment", "-o"]).arg(to).arg(from),
    )
    .map(drop)
}

/// The newest release of the C library that a program needs a function of, such as `2.34`.
pub(super) fn c_library(program: &Path) -> Result<String> {
    let symbols = shell::output(shell::command("objdump").arg("-T").arg(program))?;
    match newest(&symbols) {
        Some(version) => Ok(version),
        None => bail!("{} needs no C library: its packages would name a wrong one", program.display()),
    }
}

fn newest(symbols: &str) -> Option<String> {
    let numbers = |version: &str| version.split('.').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>().ok();
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next());
    versions.filter_map(|version| Some((numbers(version)?, version))).max().map(|(_, version)| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_c_library_are_compared_as_numbers() {
        let symbols = "DF *UND* (GLIBC_2.4) read\nDF *UND* (GLIBC_2.34) stat\nDF *UND* (GLIBC_PRIVATE) x\n";
        assert_eq!(newest(symbols).as_deref(), Some("2.34"));
    }
}
