//! Instructions per message on the forwarding path, counted by callgrind. Wall-clock time is noise on a small or busy
//! machine; instruction counts are the same every time, so a change of a few per cent is a change of the code.

use crate::{shell, tools};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The committed figures: one scenario and its instructions per message a line.
const FIGURES: &str = "crates/perf/figures.txt";
/// A scenario is run with both numbers of messages; the difference leaves out what starting and stopping costs.
const FEW: u64 = 2_000;
const MANY: u64 = 12_000;
/// What is counted: a turn of the router, without the clients that keep it busy.
const COUNTED: [&str; 2] = ["perf::router::Router::counted*", "server::shard::turn::Shard::turn*"];
/// Per cent that a figure may grow before the check fails.
const TOLERANCE: f64 = 3.0;

pub(crate) fn run(bless: bool) -> Result<()> {
    tools::valgrind()?;
    shell::run(shell::cargo().args(["build", "--release", "--locked", "--package", "perf"]))?;
    let program = shell::target_folder().join("release/perf");
    let scenarios = shell::output(shell::command(&program).arg("list"))?;
    let mut counted = BTreeMap::new();
    for scenario in scenarios.lines() {
        let per_message =
            (count(&program, scenario, MANY)? - count(&program, scenario, FEW)?) as f64 / (MANY - FEW) as f64;
        counted.insert(scenario.to_owned(), per_message);
    }
    let file = shell::root().join(FIGURES);
    if bless {
        std::fs::write(&file, written(&counted)).with_context(|| format!("cannot write {FIGURES}"))?;
        println!("{}", written(&counted));
        return Ok(());
    }
    let committed = std::fs::read_to_string(&file).with_context(|| format!("cannot read {FIGURES}"))?;
    judge(&read(&committed)?, &counted)
}

/// Instructions that one run of a scenario takes.
fn count(program: &Path, scenario: &str, messages: u64) -> Result<u64> {
    let folder: PathBuf = shell::target_folder().join("callgrind");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut valgrind = shell::command("valgrind");
    valgrind
        .arg("--tool=callgrind")
        .args(COUNTED.map(|counted| format!("--toggle-collect={counted}")))
        .arg(format!("--callgrind-out-file={}/{scenario}.{messages}.out", folder.display()));
    valgrind.arg(program).arg(scenario).arg(messages.to_string());
    let output = valgrind.stdout(Stdio::null()).output().context("cannot start valgrind")?;
    let told = String::from_utf8_lossy(&output.stderr);
    let total =
        told.lines().find_map(|line| line.split_once("Collected : ")).and_then(|(_, count)| count.trim().parse().ok());
    match total {
        Some(total) if output.status.success() => Ok(total),
        _ => bail!("callgrind of scenario {scenario} failed ({}):\n{told}", output.status),
    }
}

/// Fails if a scenario costs more than the committed figure allows, or has none.
fn judge(committed: &BTreeMap<String, f64>, counted: &BTreeMap<String, f64>) -> Result<()> {
    let mut failed = Vec::new();
    for (scenario, now) in counted {
        let Some(before) = committed.get(scenario) else {
            failed.push(format!("{scenario} has no committed figure"));
            continue;
        };
        let change = (now / before - 1.0) * 100.0;
        println!("{scenario:<32} {before:>10.1} -> {now:>10.1} instructions per message ({change:+.1} %)");
        if change > TOLERANCE {
            failed.push(format!("{scenario} costs {change:.1} % more"));
        } else if change < -TOLERANCE {
            println!("  cheaper than committed: keep the gain with `cargo xtask callgrind --bless`");
        }
    }
    if !failed.is_empty() {
        bail!("{} (if that is meant, commit new figures: `cargo xtask callgrind --bless`)", failed.join("; "));
    }
    Ok(())
}

fn read(text: &str) -> Result<BTreeMap<String, f64>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let figure = |line: &str| {
        let (scenario, figure) = line.split_once(' ')?;
        Some((scenario.to_owned(), figure.trim().parse().ok()?))
    };
    lines
        .map(|line| figure(line).with_context(|| format!("{FIGURES}: not a scenario and its figure: {line}")))
        .collect()
}

fn written(figures: &BTreeMap<String, f64>) -> String {
    let mut text = "# Instructions per message, counted by `cargo xtask callgrind --bless`.\n".to_owned();
    for (scenario, figure) in figures {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{scenario:<32} {figure:>10.1}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(figure: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([("forward".to_owned(), figure)])
    }

    #[test]
    fn figures_are_read_as_they_were_written() {
        assert_eq!(read(&written(&figures(1234.5))).unwrap(), figures(1234.5));
    }

    #[test]
    fn a_message_that_costs_clearly_more_fails() {
        let error = judge(&figures(1000.0), &figures(1040.0)).unwrap_err();
        assert!(error.to_string().starts_with("forward costs 4.0 % more"), "{error}");
    }

    #[test]
    fn a_message_that_costs_less_passes() {
        assert!(judge(&figures(1000.0), &figures(800.0)).is_ok());
    }

    #[test]
    fn a_scenario_without_a_figure_fails() {
        assert!(judge(&BTreeMap::new(), &figures(1.0)).is_err());
    }
}
