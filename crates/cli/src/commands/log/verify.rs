//! `waystation log verify`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use logging::escaped;
use queue_log::{Missing, Problem, RealDisk, Verified};
use serde_json::json;
use server::StoreContents;

use super::{Failure, unanswered};

/// Check every checksum of a store or a backup, and whether any part of it is missing
///
/// The exit status is 0 if it is whole, 1 if it is not (each damage is told with its file and its place in it), and 2 if there
/// is no answer, as a router has the store open or the disk cannot be read. What a crash has torn off at the end is no damage:
/// it was never confirmed to anybody. Of a large message whose file is gone it is told in which queue it is, and where: this message cannot
/// be delivered, all others can. It takes as much memory as a router that opens the store.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation log verify /var/lib/waystation
  waystation log verify /backups/monday && echo whole")]
pub(super) struct VerifyArguments {
    /// The directory of the store, or of a backup
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &VerifyArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let verified = queue_log::verify(&RealDisk, &arguments.dir, &mut StoreContents::default()).map_err(unanswered)?;
    if arguments.json {
        print_json(&verified, out)?;
    } else {
        print(arguments, &verified, out)?;
    }
    match verified.problems.len() {
        0 if verified.missing.is_empty() => Ok(()),
        0 => Err(Failure::Told(
            "large messages are missing, everything else is right: restore the store from a backup, or purge them"
                .to_owned(),
        )),
        1 => Err(Failure::Told("the store is damaged in one place: restore it from a backup".to_owned())),
        many => Err(Failure::Told(format!("the store is damaged in {many} places: restore it from a backup"))),
    }
}

fn print(arguments: &VerifyArguments, verified: &Verified, out: &mut dyn Write) -> Result<(), Failure> {
    for Problem { file, offset, what } in &verified.problems {
        writeln!(out, "{}: byte {offset}: {what}", file.display())?;
    }
    for Missing { file, message } in &verified.missing {
        writeln!(out, "{}", super::not_there(&escaped(&format!("{}: {message}", file.display()))))?;
    }
    let named = |file: &PathBuf| verified.missing.iter().any(|missing| missing.file == *file);
    for file in verified.unfinished.iter().filter(|file| !named(file)) {
        writeln!(out, "{}: a large message that was not finished; it goes when the store is opened", file.display())?;
    }
    for notice in &verified.notices {
        writeln!(out, "{notice}")?;
    }
    let Verified { checkpoint, last, segments, entries, bytes, large, .. } = verified;
    writeln!(
        out,
        "{}: {entries} entries of {bytes} bytes in {segments} segments, the last is {last}; snapshot at {checkpoint}; {large} \
         large messages",
        arguments.dir.display()
    )?;
    if verified.problems.is_empty() && verified.missing.is_empty() {
        writeln!(out, "{}: nothing is wrong", arguments.dir.display())?;
    }
    Ok(())
}

fn print_json(verified: &Verified, out: &mut dyn Write) -> Result<(), Failure> {
    let problems = verified.problems.iter();
    let problems: Vec<_> = problems
        .map(|Problem { file, offset, what }| json!({ "file": file, "offset": offset, "what": what }))
        .collect();
    let missing = verified.missing.iter();
    let missing: Vec<_> =
        missing.map(|Missing { file, message }| json!({ "file": file, "message": message })).collect();
    let notices: Vec<String> = verified.notices.iter().map(ToString::to_string).collect();
    let answer = json!({
        "whole": problems.is_empty() && missing.is_empty(),
        "snapshot": verified.checkpoint,
        "last": verified.last,
        "segments": verified.segments,
        "entries": verified.entries,
        "bytes": verified.bytes,
        "largeMessages": verified.large,
        "missing": missing,
        "unfinished": verified.unfinished,
        "notices": notices,
        "problems": problems,
    });
    Ok(writeln!(out, "{answer:#}")?)
}
