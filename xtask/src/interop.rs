//! Tests that drive a running router with other people's clients.

use crate::{shell, tools};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Tells every suite where the programs under test are.
pub(crate) const PROGRAMS: &str = "WAYSTATION_PROGRAMS";

/// One client library, one suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Suite {
    /// python-qpid-proton, and frames written by hand
    Python,
    /// RabbitMQ behind the router, with python-qpid-proton's clients
    Rabbitmq,
    /// rhea, on Node.js
    Rhea,
    /// fe2o3-amqp, in Rust
    Fe2o3,
}

impl Suite {
    pub(crate) const ALL: [Suite; 4] = [Suite::Python, Suite::Rabbitmq, Suite::Rhea, Suite::Fe2o3];

    pub(crate) fn run(self, programs: &Path, arguments: &[String]) -> Result<()> {
        match self {
            Suite::Python => python(programs, &["--ignore=rabbitmq", "--numprocesses=3", "--dist=loadfile"], arguments),
            Suite::Rabbitmq => rabbitmq(programs, arguments),
            Suite::Rhea => rhea(programs, arguments),
            Suite::Fe2o3 => fe2o3(programs, arguments),
        }
    }
}

pub(crate) fn run(suite: Option<Suite>, programs: Option<PathBuf>, arguments: &[String]) -> Result<()> {
    let programs = match programs {
        Some(folder) => folder.canonicalize().with_context(|| format!("no such folder: {}", folder.display()))?,
        None => build()?,
    };
    match suite {
        Some(suite) => suite.run(&programs, arguments),
        None if arguments.is_empty() => Suite::ALL.into_iter().try_for_each(|suite| suite.run(&programs, &[])),
        None => bail!("name the suite that the arguments after `--` are for"),
    }
}

/// Builds the programs as users get them, and says where they are.
pub(crate) fn build() -> Result<PathBuf> {
    shell::run(shell::cargo().args(["build", "--release", "--locked", "--package", "waystation"]))?;
    Ok(shell::target_folder().join("release"))
}

/// `options`: which of the tests, and how many at once, for pytest. Most of the time they wait for routers to agree.
fn python(programs: &Path, options: &[&str], arguments: &[String]) -> Result<()> {
    let folder = shell::root().join("interop/python");
    // Before the client, which is built with it.
    tools::sasl()?;
    let python = tools::python(&folder.join("requirements.txt"))?;
    let mut pytest = shell::command(python);
    pytest.current_dir(&folder).env(PROGRAMS, programs).env("PYTHONDONTWRITEBYTECODE", "1");
    shell::run(pytest.args(["-m", "pytest"]).args(options).args(arguments))
}

fn rabbitmq(programs: &Path, arguments: &[String]) -> Result<()> {
    tools::rabbitmq()?;
    python(programs, &["rabbitmq"], arguments)
}

fn rhea(programs: &Path, arguments: &[String]) -> Result<()> {
    let folder = shell::root().join("interop/rhea");
    tools::node_modules(&folder)?;
    let mut tests = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.mjs") {
            tests.push(path);
        }
    }
    tests.sort();
    let mut node = shell::command("node");
    shell::run(node.current_dir(&folder).env(PROGRAMS, programs).arg("--test").args(arguments).args(tests))
}

fn fe2o3(programs: &Path, arguments: &[String]) -> Result<()> {
    let mut cargo = shell::cargo();
    cargo.current_dir(shell::root().join("interop/fe2o3")).env(PROGRAMS, programs);
    cargo.args(["test", "--locked", "--target-dir"]).arg(shell::target_folder());
    shell::run(cargo.arg("--").args(arguments))
}
