//! `waystation queue peek`.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use amqp::{Map, Value};
use clap::Args;
use logging::escaped;
use management::Attributes;
use management::client::Request;
use management::repr::plain;

use super::session::{arguments, key, print};
use super::show::age;
use super::{Common, Failure, Session, Which};

#[derive(Debug, Args)]
pub(super) struct PeekArguments {
    /// The queue
    queue: String,

    /// Begin at this place in the queue, such as 4-17: priority and number
    #[arg(long, value_name = "PLACE")]
    from: Option<String>,

    /// Show at most so many bytes of each body
    #[arg(long, value_name = "N", default_value_t = 1024)]
    body_bytes: i64,

    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    common: Common,
}

pub(super) fn peek(given: &PeekArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut more = Attributes::new().with("bodyBytes", Value::Long(given.body_bytes));
    if let Some(from) = &given.from {
        more.set("from", Value::from(from.as_str()));
    }
    let mut session = Session::open(&given.common)?;
    let request = Request { body: arguments(&given.which, more), ..Request::on("PEEK", key(&given.queue)) };
    let answer = session.ask(request, &given.queue)?;
    session.close();
    let messages = answer.as_map().and_then(|map| map.get("messages")).cloned().unwrap_or(Value::List(Vec::new()));
    if given.common.json {
        return print(&messages, out);
    }
    let messages = messages.as_list().unwrap_or_default();
    if messages.is_empty() {
        writeln!(out, "There are no such messages.")?;
    }
    for (index, message) in messages.iter().filter_map(Value::as_map).enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_message(message, out)?;
    }
    if let Some(next) = answer.as_map().and_then(|map| map.get("next")).and_then(Value::as_text) {
        writeln!(out, "\nThere may be more: --from {next}")?;
    }
    Ok(())
}

/// A value as people read it.
fn shown(value: &Value) -> String {
    match value {
        Value::Timestamp(at) => moment(*at),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        value => plain(value),
    }
}

/// A time in milliseconds since 1970, and how far away it is.
fn moment(at: i64) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = i64::try_from(since).unwrap_or(i64::MAX);
    match now.saturating_sub(at) {
        past @ 0.. => format!("{at} ({} ago)", age(past)),
        future => format!("{at} (in {})", age(future.saturating_neg())),
    }
}

/// A line, whatever its values are.
fn line(out: &mut dyn Write, text: &str) -> std::io::Result<()> {
    writeln!(out, "{}", escaped(text))
}

/// A line for each thing: maps one level deep, as `waystation receive --format text` has them.
fn write_message(message: &Map, out: &mut dyn Write) -> Result<(), Failure> {
    for (name, value) in message.iter() {
        match value {
            Value::Map(map) if name.as_text() != Some("body") => {
                for (key, value) in map.iter() {
                    line(out, &format!("{}.{}: {}", plain(name), plain(key), shown(value)))?;
                }
            }
            Value::Null if name.as_text() == Some("body") => {
                writeln!(out, "body: larger than is shown; --body-bytes N shows N bytes")?;
            }
            value => line(out, &format!("{}: {}", plain(name), shown(value)))?,
        }
    }
    Ok(())
}
