//! `waystation queue create`, `move`, `purge`, `retry` and `delete`.

use std::io::Write;

use amqp::{Map, Value};
use clap::Args;
use management::Attributes;
use management::client::Request;
use management::schema::QUEUE;

use super::session::{Acted, key, print};
use super::{Common, Failure, Session, Which};

#[derive(Debug, Args)]
pub(super) struct CreateArguments {
    /// Its address
    queue: String,

    /// Settings: NAME=VALUE, such as maxMessages=10000 (the reference of the configuration has all of them)
    #[arg(value_name = "NAME=VALUE")]
    settings: Vec<String>,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct MoveArguments {
    /// The queue that messages are taken from
    from: String,

    /// The queue that they go to
    to: String,

    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct PurgeArguments {
    /// The queue
    queue: String,

    /// Drop every message in it
    #[arg(long, required_unless_present_any = ["selector", "count"])]
    all: bool,

    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct RetryArguments {
    /// The queue that dead-lettered or expired messages went to
    queue: String,

    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct DeleteArguments {
    /// The queue
    queue: String,

    /// Even if it has messages, which are lost, or consumers, which are detached
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

pub(super) fn create(arguments: &CreateArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut attributes = Attributes::new().with("address", Value::from(arguments.queue.as_str()));
    for setting in &arguments.settings {
        let Some((name, value)) = setting.split_once('=') else {
            let text = format!("'{setting}' is no setting: write NAME=VALUE, such as maxMessages=10000");
            return Err(Failure::Told(text));
        };
        attributes.set(name, Value::from(value));
    }
    let mut session = Session::open(&arguments.common)?;
    let request = Request::create(QUEUE.full, Some(&arguments.queue), &attributes);
    let created = session.ask(request, &arguments.queue)?;
    session.close();
    if arguments.common.json {
        return print(&created, out);
    }
    Ok(writeln!(out, "Queue {} was made.", arguments.queue)?)
}

pub(super) fn move_to(arguments: &MoveArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let MoveArguments { from, to, which, common } = arguments;
    let to_argument = Attributes::new().with("to", Value::from(to.as_str()));
    let moved = act(common, "MOVE", from, which, to_argument)?;
    tell(common, moved, &format!("moved from {from} to {to}"), out)
}

pub(super) fn purge(arguments: &PurgeArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let PurgeArguments { queue, which, common, .. } = arguments;
    let dropped = act(common, "PURGE", queue, which, Attributes::new())?;
    tell(common, dropped, &format!("dropped from {queue}"), out)
}

pub(super) fn retry(arguments: &RetryArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let RetryArguments { queue, which, common } = arguments;
    let moved = act(common, "RETRY", queue, which, Attributes::new())?;
    tell(common, moved, &format!("moved from {queue} back to where they came from"), out)?;
    if moved.done == 0 && moved.held == 0 && !common.json {
        let why = "Only messages go back that came from another queue, as dead letters or expired, and whose queue is still there.";
        writeln!(out, "{why}")?;
    }
    Ok(())
}

pub(super) fn delete(arguments: &DeleteArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut session = Session::open(&arguments.common)?;
    let request = Request::delete(key(&arguments.queue)).with("force", arguments.force);
    session.ask(request, &arguments.queue).map_err(|failure| match failure {
        Failure::Told(text) if !arguments.force && text.contains("is in use") => {
            Failure::Told(format!("{text}\n  --force deletes it all the same: its messages are lost"))
        }
        failure => failure,
    })?;
    session.close();
    if arguments.common.json {
        return print(&Value::Map(Map::new()), out);
    }
    Ok(writeln!(out, "Queue {} was deleted.", arguments.queue)?)
}

fn act(common: &Common, operation: &str, queue: &str, which: &Which, more: Attributes) -> Result<Acted, Failure> {
    let mut session = Session::open(common)?;
    let acted = session.act(operation, queue, which, more)?;
    session.close();
    Ok(acted)
}

fn tell(common: &Common, acted: Acted, what: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let Acted { done, held } = acted;
    if common.json {
        return print(&Value::Map([("messages", done), ("held", held)].into_iter().collect()), out);
    }
    let messages = |count| if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
    writeln!(out, "{} {what}.", messages(done))?;
    if held > 0 {
        let stay = if held == 1 { "stays: a consumer has it" } else { "stay: consumers have them" };
        writeln!(out, "{} {stay}, unsettled.", messages(held))?;
    }
    Ok(())
}
