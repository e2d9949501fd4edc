//! What checks and tests need beyond the toolchain, installed from the package registries into `target/tools`, once.

use crate::shell::{self, command, succeeds};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of cargo-deny that deny.toml is written for.
const CARGO_DENY: &str = "0.20.2";

fn folder() -> PathBuf {
    shell::target_folder().join("tools")
}

/// A Python with the packages of `requirements` in a virtual environment of its own, made anew when they change.
pub(crate) fn python(requirements: &Path) -> Result<PathBuf> {
    let wanted =
        std::fs::read_to_string(requirements).with_context(|| format!("cannot read {}", requirements.display()))?;
    let venv = folder().join("python");
    let python = venv.join("bin/python");
    let stamp = venv.join("requirements.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    if !succeeds(command("python3").args([
        "-c",
        "import ensurepip, venv, sysconfig, os; \
        raise SystemExit(not os.path.exists(sysconfig.get_path('include') + '/Python.h'))",
    ])) {
        debian(&["python3", "python3-dev", "python3-venv"])?;
    }
    shell::run(command("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    shell::run(command(&python).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(requirements))?;
    std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(python)
}

/// The packages of `package-lock.json` in this folder, as they are locked there.
pub(crate) fn node_modules(project: &Path) -> Result<()> {
    if !succeeds(command("npm").arg("--version")) {
        debian(&["nodejs", "npm"])?;
    }
    shell::run(command("npm").current_dir(project).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))
}

/// RabbitMQ with its AMQP 1.0 plug-in. The tests start brokers of their own; that of the machine is not needed.
pub(crate) fn rabbitmq() -> Result<()> {
    if !Path::new("/usr/lib/rabbitmq/bin/rabbitmq-server").exists() {
        debian(&["rabbitmq-server"])?;
        // The package starts a broker of the machine's where there is systemd, and it would listen to the whole network.
        succeeds(command("systemctl").args([
            "disable",
            "--now",
            "rabbitmq-server.service",
            "epmd.socket",
            "epmd.service",
        ]));
    }
    Ok(())
}

/// Cyrus SASL with its programs, and Kerberos with a KDC.
pub(crate) fn sasl() -> Result<()> {
    let there = "PATH=$PATH:/usr/sbin; command -v saslpasswd2 && command -v saslauthd && command -v krb5kdc && \
                 command -v kadmin.local && command -v kinit && test -e /usr/include/sasl/sasl.h && \
                 ls /usr/lib/*/sasl2/libgssapiv2.so /usr/lib/*/sasl2/libsasldb.so /usr/lib/*/sasl2/libscram.so";
    if !succeeds(command("sh").args(["-c", there])) {
        debian(&[
            "libsasl2-2",
            "libsasl2-dev",
            "libsasl2-modules",
            "libsasl2-modules-db",
            "libsasl2-modules-gssapi-mit",
            "sasl2-bin",
            "krb5-kdc",
            "krb5-admin-server",
            "krb5-user",
        ])?;
    }
    Ok(())
}

/// valgrind, for counting instructions.
pub(crate) fn valgrind() -> Result<()> {
    if !succeeds(command("valgrind").arg("--version")) {
        debian(&["valgrind"])?;
    }
    Ok(())
}

/// Chromium for the web console, and what makes users that sign in there.
pub(crate) fn chromium() -> Result<()> {
    if !succeeds(command("sh").args(["-c", "command -v chromium && command -v saslpasswd2"])) {
        debian(&["chromium", "sasl2-bin", "libsasl2-modules"])?;
    }
    Ok(())
}

/// What makes packages: dpkg-deb, rpmbuild, and binutils' strip and objdump.
pub(crate) fn packagers() -> Result<()> {
    let there =
        "command -v dpkg-deb && command -v rpmbuild && command -v strip && command -v objdump && command -v gzip";
    if !succeeds(command("sh").args(["-c", there])) {
        debian(&["dpkg", "rpm", "binutils", "gzip"])?;
    }
    Ok(())
}

/// The cargo-deny program: the one installed, or one of our own.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    let own = folder().join("bin/cargo-deny");
    for program in [PathBuf::from("cargo-deny"), own.clone()] {
        if succeeds(command(&program).arg("--version")) {
            return Ok(program);
        }
    }
    let mut install = shell::cargo();
    install.args(["install", "--quiet", "--locked", "--version", CARGO_DENY, "--root"]).arg(folder()).arg("cargo-deny");
    shell::run(&mut install)?;
    Ok(own)
}

/// Installs Debian's packages where we may, and says what to install where we may not.
fn debian(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if !succeeds(command("sh").args(["-c", "test $(id -u) = 0 && command -v apt-get"])) {
        bail!("please install: {names}");
    }
    let apt = |arguments: &[&str]| {
        let mut apt: Command = command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").args(arguments);
        shell::run(&mut apt)
    };
    apt(&["update", "--quiet"])?;
    apt(&[&["install", "--yes", "--quiet", "--no-install-recommends"], packages].concat())
}
