//! `waystation queue`.

mod act;
mod peek;
mod rates;
mod session;
mod show;

use std::io::Write;

use clap::{Args, Subcommand};

use super::router::RouterArguments;
use super::{ConnectArguments, Failure};
use session::Session;

/// Show the queues of a router, look into them, and put them in order
///
/// A queue keeps messages until a consumer takes them. It is called by its address. Exit status: 0 if everything was done,
/// 1 if not (the reason is on the standard error output), 2 if the command line is wrong.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation queue list
  waystation queue list --rates
  waystation queue create orders deadLetterAddress=orders.dead maxBytes=100000000
  waystation queue show orders
  waystation queue peek orders --count 5 --selector \"amqp.priority > 4\"
  waystation queue retry orders.dead
  waystation queue move orders.old orders --count 100
  waystation queue purge orders --all
  waystation queue delete orders")]
pub(super) struct QueueArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List queues: messages and bytes in them, consumers, age of the oldest message, messages in and out
    List(show::ListArguments),
    /// Show one queue: its settings and all that is counted
    Show(show::ShowArguments),
    /// Make a queue
    Create(act::CreateArguments),
    /// Show messages and leave them where they are
    Peek(peek::PeekArguments),
    /// Move messages to another queue, the oldest first
    Move(act::MoveArguments),
    /// Drop messages, the oldest first
    Purge(act::PurgeArguments),
    /// Move dead-lettered and expired messages back to the queues they came from
    Retry(act::RetryArguments),
    /// Delete a queue
    Delete(act::DeleteArguments),
}

/// What all of them need.
#[derive(Debug, Args)]
struct Common {
    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    router: RouterArguments,

    #[command(flatten)]
    connect: ConnectArguments,
}

/// Which messages of a queue.
#[derive(Debug, Args)]
struct Which {
    /// Only messages that match this selector, such as "colour = 'red' AND JMSPriority > 4"
    #[arg(short, long, value_name = "SELECTOR", value_parser = selector)]
    selector: Option<String>,

    /// At most so many
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    count: Option<i64>,
}

/// One that is empty is taken for a mistake, such as a variable that is not set: it would choose all.
fn selector(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("it is empty, and would choose every message: leave --selector away if that is meant"),
        _ => Ok(text.to_owned()),
    }
}

pub(super) fn run(arguments: &QueueArguments, out: &mut dyn Write) -> Result<(), Failure> {
    match &arguments.action {
        Action::List(list) => show::list(list, out),
        Action::Show(show) => show::show(show, out),
        Action::Create(create) => act::create(create, out),
        Action::Peek(peek) => peek::peek(peek, out),
        Action::Move(to) => act::move_to(to, out),
        Action::Purge(purge) => act::purge(purge, out),
        Action::Retry(retry) => act::retry(retry, out),
        Action::Delete(delete) => act::delete(delete, out),
    }
}
