//! Every test there is.

use crate::interop::{self, Suite};
use crate::steps::Steps;
use crate::{book, callgrind, console, fuzz, shell, tools};
use anyhow::{Context, Result};

/// How long each fuzz target runs here.
const FUZZ_SECONDS: u32 = 20;
/// Tells the tests that Cyrus SASL has to be there: without it they test nothing of it.
const CYRUS_REQUIRED: &str = "WAYSTATION_REQUIRE_CYRUS";
/// For how many seconds a router with queues is killed again and again.
const KILL_SECONDS: (&str, &str) = ("STORE_KILL_SECONDS", "60");

pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::default();
    steps.step("unit and property tests", || {
        tools::sasl()?;
        let mut cargo = shell::cargo();
        cargo.env(CYRUS_REQUIRED, "1").env(KILL_SECONDS.0, KILL_SECONDS.1);
        shell::run(cargo.args(["test", "--workspace", "--locked", "--no-fail-fast"]))
    });
    let mut programs = None;
    steps.step("release build", || {
        programs = Some(interop::build()?);
        Ok(())
    });
    let with = |suite: Suite| suite.run(programs.as_deref().context("there are no programs to drive")?, &[]);
    steps.step("interop: python-qpid-proton", || with(Suite::Python));
    steps.step("interop: RabbitMQ", || with(Suite::Rabbitmq));
    steps.step("interop: rhea", || with(Suite::Rhea));
    steps.step("interop: fe2o3-amqp", || with(Suite::Fe2o3));
    steps.step("web console", console::check);
    steps.step("web console in Chromium", || {
        console::browser(programs.as_deref().context("there are no programs to drive")?)
    });
    steps.step("the book", || book::run(None, Some(programs.clone().context("there are no programs to drive")?)));
    steps.step("fuzzing", || fuzz::run(None, FUZZ_SECONDS, false));
    steps.step("instructions per message", || callgrind::run(false));
    steps.finish()
}
