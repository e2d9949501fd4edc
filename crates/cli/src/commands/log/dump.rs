//! `waystation log dump`.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use queue_log::{Entry, Item, RealDisk};

use super::{Failure, unanswered};

/// Bytes in a line of contents.
const LINE: usize = 16;

/// Show what is in a store or a backup: snapshots, segments, entries and their parts, large messages
///
/// A line for each: the offset in its file, what it is, its size. What is damaged is shown with its place, and what comes after
/// it. The exit status is 0 if everything was shown, and 2 if a router has the store open or the disk cannot be read.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation log dump /var/lib/waystation
  waystation log dump /var/lib/waystation --from 5000 --count 10 --contents 64")]
pub(super) struct DumpArguments {
    /// The directory of the store, or of a backup
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Begin with this entry
    #[arg(long, value_name = "ENTRY", default_value_t = 0)]
    from: u64,

    /// Show at most so many entries
    #[arg(short, long, value_name = "N")]
    count: Option<u64>,

    /// Show so many bytes of each part
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    contents: usize,
}

pub(super) fn run(arguments: &DumpArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut shown = 0;
    let mut result = Ok(());
    let _ = queue_log::dump(&RealDisk, &arguments.dir, &mut |item| {
        if let Item::Entry { entry, .. } = item {
            if entry.index() < arguments.from {
                return ControlFlow::Continue(());
            }
            if arguments.count.is_some_and(|count| shown >= count) {
                return ControlFlow::Break(());
            }
            shown += 1;
        }
        result = print(arguments, item, out);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .map_err(unanswered)?;
    Ok(result?)
}

fn print(arguments: &DumpArguments, item: &Item<'_>, out: &mut dyn Write) -> io::Result<()> {
    let name = |file: &Path| file.strip_prefix(&arguments.dir).unwrap_or(file).display().to_string();
    match item {
        Item::Store { id, run } => {
            let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(out, "store {id}, opened {run} times")
        }
        Item::Snapshot { file, index, bytes } => {
            writeln!(out, "{}: the state after entry {index}, {bytes} bytes", name(file))
        }
        Item::Segment { file, number, size } => writeln!(out, "{}: segment {number}, {size} bytes", name(file)),
        Item::Entry { offset, entry, size, write, run } => {
            let (index, held) = (entry.index(), entry.held());
            let (parts, state) = (entry.len(), "checksums right");
            writeln!(
                out,
                "{offset:>10}  entry {index}: {size} bytes, {parts} parts, {held} bytes held, written at {write} in run {run}, \
                 {state}"
            )?;
            contents(arguments, entry, out)
        }
        Item::Seal { offset, next } => writeln!(out, "{offset:>10}  full; goes on with entry {next}"),
        Item::Mark { offset, next } => writeln!(out, "{offset:>10}  end, synced; goes on with entry {next}"),
        Item::End { offset, torn: false } => writeln!(out, "{offset:>10}  end"),
        Item::End { offset, torn: true } => {
            writeln!(out, "{offset:>10}  end; a crash tore off what was being written, which was not confirmed")
        }
        Item::Damage { file, offset, what, resumes } => {
            let file = name(file);
            match resumes {
                Some(resumes) => writeln!(out, "{offset:>10}  DAMAGED, {file}: {what}; goes on at {resumes}"),
                None => writeln!(out, "{offset:>10}  DAMAGED, {file}: {what}"),
            }
        }
        Item::Large { file, id, bytes } => writeln!(out, "{}: large message {id}, {bytes} bytes", name(file)),
        Item::Unfinished { file, id } => writeln!(out, "{}: large message {id}, not finished", name(file)),
        Item::Free { file } => writeln!(out, "{}: free", name(file)),
        other => writeln!(out, "{other:?}"),
    }
}

/// The first bytes of each part.
fn contents(arguments: &DumpArguments, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
    if arguments.contents == 0 {
        return Ok(());
    }
    for (number, part) in entry.parts().enumerate() {
        writeln!(out, "            part {number}, {} bytes", part.len())?;
        for line in part[..part.len().min(arguments.contents)].chunks(LINE) {
            let hex: String = line.iter().map(|byte| format!("{byte:02x} ")).collect();
            let text = |byte: &u8| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' };
            let text: String = line.iter().map(text).collect();
            writeln!(out, "              {hex:<48} {text}")?;
        }
    }
    Ok(())
}
