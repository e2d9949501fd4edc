//! `waystation queue list` and `show`.

use std::cmp::Reverse;
use std::io::Write;

use amqp::Value;
use clap::{Args, ValueEnum};
use management::Attributes;
use management::schema::QUEUE;

use super::rates::{RATES, RatesArguments, Reading};
use super::session::print;
use super::{Common, Failure, Session};
use crate::qdstat::cells::{commas, plain, size_of};
use crate::qdstat::table::{Block, Table};

/// By what queues are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// By address
    Address,
    /// Those with the most messages first
    Depth,
    /// Those with the most bytes first
    Bytes,
    /// Those with the oldest message first
    Oldest,
}

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// Only queues whose address contains this
    #[arg(value_name = "TEXT")]
    part: Option<String>,

    /// By what to sort them
    #[arg(long, value_enum, default_value_t = Order::Address)]
    sort: Order,

    /// At most so many; 0: all
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: usize,

    #[command(flatten)]
    rates: RatesArguments,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    /// The queue, by its address
    queue: String,

    #[command(flatten)]
    rates: RatesArguments,

    #[command(flatten)]
    common: Common,
}

pub(super) fn list(arguments: &ListArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut session = Session::open(&arguments.common)?;
    let before = Reading::first(&arguments.rates, || session.queues())?;
    let mut queues = session.queues()?;
    session.close();
    if let Some(before) = before {
        before.rate(&mut queues);
    }
    if let Some(part) = &arguments.part {
        queues.retain(|queue| queue.text("address").is_some_and(|address| address.contains(part.as_str())));
    }
    queues.sort_by(|a, b| a.text("address").cmp(&b.text("address")));
    let most = match arguments.sort {
        Order::Address => None,
        Order::Depth => Some("depth"),
        Order::Bytes => Some("bytes"),
        Order::Oldest => Some("oldestAge"),
    };
    if let Some(attribute) = most {
        queues.sort_by_key(|queue| Reverse(queue.integer(attribute).unwrap_or(-1)));
    }
    if arguments.limit > 0 {
        queues.truncate(arguments.limit);
    }
    if arguments.common.json {
        let queues = queues.iter().map(|queue| Value::Map(queue.to_map_without_nulls()));
        return print(&Value::List(queues.collect()), out);
    }
    if queues.is_empty() {
        writeln!(out, "There are no such queues.")?;
        return Ok(());
    }
    Ok(table(&queues, arguments.rates.rates.is_some()).write(out, false)?)
}

fn table(queues: &[Attributes], rated: bool) -> Block {
    let mut headers = vec![
        "address",
        "messages",
        "bytes",
        "unsettled",
        "delayed",
        "consumers",
        "producers",
        "oldest",
        "in",
        "out",
        "dead-lettered",
    ];
    if rated {
        headers.extend(["in/s", "out/s"]);
    }
    let row = |queue: &Attributes| {
        let mut row = vec![
            plain(queue, "address"),
            commas(queue, "depth"),
            size_of(queue, "bytes"),
            commas(queue, "acquired"),
            commas(queue, "delayed"),
            commas(queue, "consumers"),
            commas(queue, "producers"),
            queue.integer("oldestAge").map(age).unwrap_or_default(),
            commas(queue, "messagesIn"),
            commas(queue, "messagesOut"),
            commas(queue, "deadLettered"),
        ];
        if rated {
            row.extend(RATES.map(|(_, rate)| plain(queue, rate)));
        }
        row
    };
    Block::Table(Table { title: "Queues".to_owned(), headers, rows: queues.iter().map(row).collect() })
}

pub(super) fn show(arguments: &ShowArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut session = Session::open(&arguments.common)?;
    let before = Reading::first(&arguments.rates, || Ok(vec![session.queue(&arguments.queue)?]))?;
    let mut queue = [session.queue(&arguments.queue)?];
    session.close();
    if let Some(before) = before {
        before.rate(&mut queue);
    }
    let [queue] = queue;
    if arguments.common.json {
        return print(&Value::Map(queue.to_map_without_nulls()), out);
    }
    // In the order of the schema; settings that can be left out and are, are no limits and no addresses.
    let known = QUEUE.all_attributes().filter(|attribute| !matches!(attribute.name, "name" | "identity" | "type"));
    let pairs = known.filter(|attribute| queue.get(attribute.name).is_some());
    let pairs = pairs.map(|attribute| (attribute.name, cell(&queue, attribute.name)));
    let rates = RATES.into_iter().filter(|(_, rate)| queue.get(rate).is_some());
    let pairs = pairs.chain(rates.map(|(_, rate)| (rate, plain(&queue, rate)))).collect();
    Ok(Block::pairs(format!("Queue {}", arguments.queue), pairs).write(out, false)?)
}

fn cell(queue: &Attributes, name: &str) -> String {
    match (name, queue.get(name)) {
        ("oldestAge", Some(value)) => value.as_i64().map(age).unwrap_or_default(),
        ("bytes" | "maxBytes", _) => size_of(queue, name),
        (_, Some(Value::Bool(yes))) => if *yes { "yes" } else { "no" }.to_owned(),
        _ => commas(queue, name),
    }
}

/// Milliseconds, in the two largest units that say something.
pub(super) fn age(milliseconds: i64) -> String {
    let seconds = milliseconds.max(0) / 1000;
    let two = |large: i64, unit: &str, small: i64, below: &str| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit} {small}{below}"),
    };
    match seconds {
        0 => format!("{} ms", milliseconds.max(0)),
        1..60 => format!("{seconds}s"),
        60..3600 => two(seconds / 60, "m", seconds % 60, "s"),
        3600..86_400 => two(seconds / 3600, "h", seconds / 60 % 60, "m"),
        _ => two(seconds / 86_400, "d", seconds / 3600 % 24, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_two_units() {
        let ages = [0, 999, 1000, 61_000, 3_600_000, 5_430_000, 90_000_000].map(age);
        assert_eq!(ages, ["0 ms", "999 ms", "1s", "1m 1s", "1h", "1h 30m", "1d 1h"]);
    }

    #[test]
    fn a_queue_is_a_row() {
        let queue = Attributes::new()
            .with("address", "orders".into())
            .with("depth", 1234_i64.into())
            .with("bytes", 2048_u64.into())
            .with("oldestAge", 61_000_i64.into());
        let mut out = Vec::new();
        table(&[queue], false).write(&mut out, false).expect("memory takes everything");
        let text = String::from_utf8(out).expect("text");
        let row: Vec<&str> = text.lines().last().unwrap_or_default().split_whitespace().collect();
        assert_eq!(row, ["orders", "1,234", "2.00", "KiB", "1m", "1s"]);
    }
}
