//! Fuzzing with libFuzzer on the stable toolchain: coverage instrumentation is a code-generation option, and only the
//! sanitizers would need more. (The product forbids unsafe code, so the sanitizers have little to find; memory is
//! measured by the targets themselves.)

use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// LLVM's coverage instrumentation as libFuzzer reads it.
const INSTRUMENTED: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

/// Seconds; an input that takes longer is taken for an endless loop.
const HANG: u32 = 10;
/// MiB for the whole process: far above what any input may need, far below what a machine has.
const MEMORY: u32 = 1024;
/// Bytes; longer inputs find little more and slow the search down.
const LENGTH: u32 = 8192;
/// Bytes of an input that fails that are shown.
const SHOWN: usize = 4096;

pub(crate) fn run(target: Option<&str>, seconds: u32, merge: bool) -> Result<()> {
    let all = targets()?;
    let chosen: Vec<&str> =
        all.iter().map(String::as_str).filter(|name| target.is_none_or(|only| only == *name)).collect();
    if chosen.is_empty() {
        bail!("no such target; there are {}", all.join(", "));
    }
    let programs = build()?;
    // As many at once as there are processors: each fuzzer keeps one busy.
    let next = Mutex::new(chosen.into_iter());
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    let work = || {
        let mut failed = Vec::new();
        loop {
            let name = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(name) = name else { return failed };
            if let Err(error) = fuzz(name, &programs, seconds, merge) {
                failed.push(format!("{name}: {error:#}"));
            }
        }
    };
    let failed = std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let ended = running.into_iter().map(|it| it.join().unwrap_or_else(|_| vec!["a worker panicked".to_owned()]));
        ended.flatten().collect::<Vec<_>>()
    });
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
}

/// Runs one target; prints what it did when it is done.
fn fuzz(name: &str, programs: &Path, seconds: u32, merge: bool) -> Result<()> {
    let committed = shell::root().join("fuzz/corpus").join(name);
    let found = shell::target_folder().join("fuzz/corpus").join(name);
    let artifacts = shell::root().join("fuzz/artifacts").join(name);
    for folder in [&committed, &found, &artifacts] {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let log = shell::target_folder().join("fuzz").join(format!("{name}.log"));
    let mut fuzzer = shell::command(programs.join(name));
    fuzzer.args([
        format!("-max_total_time={seconds}"),
        format!("-timeout={HANG}"),
        format!("-rss_limit_mb={MEMORY}"),
        format!("-max_len={LENGTH}"),
        "-print_final_stats=1".to_owned(),
        format!("-artifact_prefix={}/", artifacts.display()),
    ]);
    fuzzer
        .arg(&found)
        .arg(&committed)
        .stderr(File::create(&log).with_context(|| format!("cannot write {}", log.display()))?);
    let outcome = shell::run(&mut fuzzer);
    let told = std::fs::read_to_string(&log).unwrap_or_default();
    let mut lines = if outcome.is_err() { last(&told, 60) } else { Vec::new() };
    lines.extend(told.lines().filter(|line| line.starts_with("stat::")));
    println!("{name}:\n{}", lines.join("\n"));
    outcome.with_context(|| failure(&told))?;
    if merge {
        shell::run(shell::command(programs.join(name)).arg("-merge=1").arg(&committed).arg(&found))?;
    }
    Ok(())
}

/// What went wrong, and with which input: the machine that found it may be gone when somebody reads of it.
fn failure(told: &str) -> String {
    let mut said =
        told.lines().skip_while(|line| !line.contains(" panicked at ")).take(2).collect::<Vec<_>>().join("\n");
    let Some((_, path)) = told.lines().find_map(|line| line.split_once("Test unit written to ")) else { return said };
    said += &format!("\nthe input that fails is in {path}");
    if let Ok(input) = std::fs::read(path) {
        let shown = &input[..input.len().min(SHOWN)];
        said += &format!(", {} bytes: {}", input.len(), shown.escape_ascii());
    }
    said
}

/// The last lines of a text.
fn last(text: &str, count: usize) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].to_vec()
}

/// The names of the targets: one file each.
fn targets() -> Result<Vec<String>> {
    let folder = shell::root().join("fuzz/src/bin");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if let (Some(name), Some("rs")) = (path.file_stem(), path.extension().and_then(|it| it.to_str())) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Builds all targets, instrumented; says where they are.
fn build() -> Result<PathBuf> {
    let version = shell::output(shell::command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not say its host")?;
    let built = shell::target_folder().join("fuzz");
    let mut cargo = shell::cargo();
    cargo.current_dir(shell::root().join("fuzz")).env("RUSTFLAGS", INSTRUMENTED.join(" "));
    // Naming the target keeps the instrumentation out of build scripts and procedural macros.
    cargo.args(["build", "--release", "--locked", "--bins", "--target", host, "--target-dir"]).arg(&built);
    shell::run(&mut cargo)?;
    Ok(built.join(host).join("release"))
}
