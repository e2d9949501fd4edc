//! `waystation backup` and `waystation restore`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use amqp::Value;
use clap::Args;
use logging::escaped;
use management::Attributes;
use management::client::{Key, Request};
use management::schema::STORE;
use queue_log::{Copied, RealDisk};

use super::router::RouterArguments;
use super::{ConnectArguments, Failure};
use crate::client::{Client, ClientError, Node};

/// Copy the store of a router: all queues and their messages, as they are now
///
/// A running router makes the backup itself, while it goes on serving; it is complete when this command ends, and has everything
/// that was confirmed when it began. Every checksum is checked on the way. The store of a router that does not run is copied with
/// --store. Large messages whose files are gone are named, and everything else is copied. Exit status: 0 if the backup is complete, 1 if
/// not.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation backup /backups/monday
  waystation backup /backups/monday --url amqps://admin:secret@router
  waystation backup /backups/monday --store /var/lib/waystation")]
pub(super) struct BackupArguments {
    /// The directory for the backup, on the router's own machine; it must be empty, or not exist
    #[arg(value_name = "TO")]
    to: PathBuf,

    /// Copy this directory; no router may have it open
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,

    /// How many seconds a running router may take
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    patience: u32,

    #[command(flatten)]
    router: RouterArguments,

    #[command(flatten)]
    connect: ConnectArguments,
}

/// Make a store of a backup
///
/// The backup is checked first; nothing is written if it is damaged or was not finished. What was written is checked, too. Large messages
/// whose files are not in the backup are named, and everything else is there. Then set the `path` of the router's store to the
/// new directory, or put it where the old one was. Exit status: 0 if the store is complete, 1 if not.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation restore /backups/monday /var/lib/waystation")]
pub(super) struct RestoreArguments {
    /// The directory of the backup
    #[arg(value_name = "FROM")]
    from: PathBuf,

    /// The directory for the store; it must be empty, or not exist
    #[arg(value_name = "TO")]
    to: PathBuf,
}

pub(super) fn backup(arguments: &BackupArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let to = &arguments.to;
    if let Some(store) = &arguments.store {
        let copied = copy(store, to)?;
        return tell(&copied, &lines(&copied), &format!("{} is a backup of {}", to.display(), store.display()), out);
    }
    let to = std::path::absolute(to).map_err(|error| Failure::Told(format!("{}: {error}", to.display())))?;
    let answer = ask(arguments, &to.to_string_lossy())?;
    let number = |name: &str| answer.get(name).and_then(Value::as_u64).unwrap_or(0);
    let copied = Copied {
        checkpoint: number("checkpoint"),
        last: number("last"),
        files: usize::try_from(number("files")).unwrap_or(usize::MAX),
        bytes: number("bytes"),
        missing: Vec::new(),
    };
    let missing = answer.get("missing").and_then(Value::as_list).unwrap_or_default();
    let missing: Vec<&str> = missing.iter().filter_map(Value::as_str).collect();
    tell(&copied, &missing, &format!("{} is a backup of the router's store", to.display()), out)
}

pub(super) fn restore(arguments: &RestoreArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let RestoreArguments { from, to } = arguments;
    let copied = copy(from, to)?;
    tell(&copied, &lines(&copied), &format!("{} is a store as it was in {}", to.display(), from.display()), out)
}

/// Copies a store that no router has open.
fn copy(from: &Path, to: &Path) -> Result<Copied, Failure> {
    let copied = queue_log::restore(&RealDisk, from, to, server::StoreContents::default);
    copied.map_err(|error| Failure::Told(error.to_string()))
}

/// What is not in a copy, a line for each message.
fn lines(copied: &Copied) -> Vec<String> {
    copied.missing.iter().map(|of| format!("{}: {}", of.file.display(), of.message)).collect()
}

/// Has the running router make it.
fn ask(arguments: &BackupArguments, to: &str) -> Result<Attributes, Failure> {
    let options = arguments.connect.options()?;
    let address = arguments.router.address(&options.url);
    let mut client = Client::connect(&options)?;
    let mut node = Node::attach(&mut client, &address)?;
    let found = node.query(&mut client, Some(STORE.full), &[], 0)?.into_entities();
    let identity = found.first().and_then(|store| store.get("identity")).and_then(Value::as_str);
    let Some(identity) = identity else {
        return Err(Failure::Told("this router has no store: it keeps no queues on disk".to_owned()));
    };
    let key = Key { entity_type: Some(STORE.full), name: None, identity: Some(identity) };
    client.set_timeout(Duration::from_secs(arguments.patience.into()));
    let body = Value::Map(Attributes::new().with("to", Value::from(to)).to_map());
    let answer =
        node.call(&mut client, Request { body, ..Request::on("BACKUP", key) }).map_err(|error| match error {
            ClientError::Refused(refusal) => Failure::Told(refusal.description),
            other => other.into(),
        })?;
    client.close();
    Ok(answer.as_map().map(Attributes::from_map).unwrap_or_default())
}

fn tell(copied: &Copied, missing: &[impl AsRef<str>], what: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let Copied { checkpoint, last, files, bytes, .. } = copied;
    for line in missing {
        writeln!(out, "{}", super::log::not_there(&escaped(line.as_ref())))?;
    }
    writeln!(
        out,
        "{what}: {files} files, {bytes} bytes, up to entry {last}, snapshot at entry {checkpoint}; all checksums are right"
    )?;
    match missing.len() {
        0 => Ok(()),
        1 => Err(Failure::Told("a large message is not in it, as its file is gone; everything else is".to_owned())),
        many => Err(Failure::Told(format!(
            "{many} large messages are not in it, as their files are gone; everything else is"
        ))),
    }
}
