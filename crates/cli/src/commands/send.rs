//! `waystation send`.

use std::io::{BufRead, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use amqp::DeliveryState;
use amqp::message::Message;
use amqp::performative::SenderSettleMode;
use clap::Args;

use super::connect::duration;
use super::message_options::MessageOptions;
use super::show::{Format, Shown};
use super::{ConnectArguments, Failure};
use crate::client::{Client, ClientError, Receiver, ReceiverOptions, Sender};

/// Send messages to an address
///
/// Each BODY is a message of its own. Without one, the standard input is read: as one message, or with --lines as one
/// message a line. It waits for credit, which a router gives as soon as somebody receives from the address, and then
/// until every message has been settled. The exit status is 1 if any of them was not accepted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation send greetings hello
  date | waystation send log --subject clock
  waystation send orders --lines --type json --property source=shell < orders.jsonl
  waystation send prices --request '{\"symbol\": \"X\"}' --type json")]
pub(super) struct SendArguments {
    /// The address to send to
    #[arg(value_name = "ADDRESS")]
    address: String,

    /// Bodies of messages
    #[arg(value_name = "BODY")]
    bodies: Vec<String>,

    /// Read bodies from a file instead of the standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "bodies")]
    file: Option<PathBuf>,

    /// Each line that is read is a message
    #[arg(short, long, conflicts_with = "bodies")]
    lines: bool,

    /// Send each message so many times
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1)]
    count: u64,

    /// Send messages settled: do not ask what becomes of them
    #[arg(long)]
    presettled: bool,

    /// Name the address in each message instead of when the link is attached
    #[arg(long)]
    anonymous: bool,

    /// Wait for a reply to each message, and print it
    #[arg(long, conflicts_with = "reply_to")]
    request: bool,

    /// How replies are printed
    #[arg(long, value_enum, default_value_t = Format::Body)]
    format: Format,

    /// Do not say what became of the messages
    #[arg(short, long)]
    quiet: bool,

    /// How many seconds to wait at the end for messages to be settled; 0: for ever
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = duration)]
    settle_timeout: Duration,

    #[command(flatten)]
    message: MessageOptions,

    #[command(flatten)]
    connect: ConnectArguments,
}

/// How many messages may be without outcome before sending waits for outcomes.
const IN_FLIGHT: usize = 1000;

pub(super) fn run(arguments: &SendArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut client = Client::connect(&arguments.connect.options()?)?;
    let mode = if arguments.presettled { SenderSettleMode::Settled } else { SenderSettleMode::Unsettled };
    let target = (!arguments.anonymous).then_some(arguments.address.as_str());
    let sender = client.sender(target, mode)?;
    let replies = if arguments.request {
        Some(client.receiver(&ReceiverOptions { credit: 10, ..ReceiverOptions::default() })?)
    } else {
        None
    };
    let mut post = Post { arguments, client, sender, replies, tally: Tally::default() };
    for_each_body(arguments, &mut |body| post.send(body, out))?;
    post.finish(out)
}

/// Calls `act` with each body.
fn for_each_body(
    arguments: &SendArguments,
    act: &mut dyn FnMut(Vec<u8>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !arguments.bodies.is_empty() {
        return arguments.bodies.iter().try_for_each(|body| act(body.clone().into_bytes()));
    }
    let mut input: Box<dyn BufRead> = match &arguments.file {
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            let file = std::fs::File::open(&path).map_err(|error| ClientError::File { path, error })?;
            Box::new(std::io::BufReader::new(file))
        }
        None => Box::new(std::io::stdin().lock()),
    };
    let unreadable = |error| ClientError::File { path: "standard input".to_owned(), error };
    if !arguments.lines {
        let mut body = Vec::new();
        input.read_to_end(&mut body).map_err(unreadable)?;
        return act(body);
    }
    loop {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Ok(());
        }
        let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
        line.truncate(end);
        act(line)?;
    }
}

/// What became of the messages.
#[derive(Debug, Default)]
struct Tally {
    sent: u64,
    accepted: u64,
    others: Vec<String>,
}

/// Refusals told in full; the rest is only counted.
const TOLD: usize = 5;

struct Post<'a> {
    arguments: &'a SendArguments,
    client: Client,
    sender: Sender,
    replies: Option<Receiver>,
    tally: Tally,
}

impl Post<'_> {
    fn send(&mut self, body: Vec<u8>, out: &mut dyn Write) -> Result<(), Failure> {
        let mut message = self.arguments.message.message(body).map_err(Failure::Told)?;
        if self.arguments.anonymous {
            message.properties.to = Some(self.arguments.address.clone());
        }
        if let Some(replies) = &self.replies {
            message.properties.reply_to = Some(replies.address.clone());
        }
        let bytes = message.to_bytes();
        for _ in 0..self.arguments.count {
            self.client.send(&self.sender, &bytes, self.arguments.presettled)?;
            self.tally.sent += 1;
            self.collect();
            while self.client.unsettled() >= IN_FLIGHT {
                self.client.pump(Duration::from_secs(1))?;
                self.collect();
            }
            self.print_reply(out)?;
        }
        Ok(())
    }

    fn collect(&mut self) {
        for outcome in self.client.take_outcomes() {
            match outcome.state {
                DeliveryState::Accepted => self.tally.accepted += 1,
                other => self.tally.others.push(told(&other)),
            }
        }
    }

    fn print_reply(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let Some(replies) = &self.replies else { return Ok(()) };
        let timeout = self.arguments.connect.timeout;
        let deadline = (!timeout.is_zero()).then(|| Instant::now() + timeout);
        let Some(reply) = self.client.receive(replies, deadline)? else {
            return Err(Failure::Told(format!("no reply came within {timeout:?}; --timeout allows more time")));
        };
        if !reply.settled {
            self.client.settle(replies, reply.delivery_id, DeliveryState::Accepted);
        }
        self.client.grant(replies, 1);
        let message = Message::decode(&reply.bytes);
        let message = message.map_err(|error| Failure::Told(format!("the reply is not a valid message: {error}")))?;
        Shown { message: &message, format: self.arguments.format }.write(out)?;
        Ok(out.flush()?)
    }

    fn finish(mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let limit = self.arguments.settle_timeout;
        let deadline = (!limit.is_zero()).then(|| Instant::now() + limit);
        while self.client.unsettled() > 0 && deadline.is_none_or(|deadline| Instant::now() < deadline) {
            self.client.pump(Duration::from_millis(200))?;
            self.collect();
        }
        let open = self.client.unsettled();
        self.client.close();
        let Tally { sent, accepted, others } = self.tally;
        if self.arguments.presettled {
            if !self.arguments.quiet {
                writeln!(out, "{sent} sent")?;
            }
            return Ok(());
        }
        if !self.arguments.quiet {
            writeln!(out, "{sent} sent, {accepted} accepted")?;
        }
        if others.is_empty() && open == 0 {
            return Ok(());
        }
        let mut told: Vec<String> = others.iter().take(TOLD).cloned().collect();
        if others.len() > TOLD {
            told.push(format!("and {} more that were not accepted", others.len() - TOLD));
        }
        if open > 0 {
            told.push(format!("{open} without outcome after {limit:?}"));
        }
        Err(Failure::Told(format!("not all messages were accepted:\n  {}", told.join("\n  "))))
    }
}

/// An outcome in words.
fn told(state: &DeliveryState) -> String {
    match state {
        DeliveryState::Rejected(Some(error)) => format!("rejected: {error}"),
        DeliveryState::Rejected(None) => "rejected without a reason".to_owned(),
        DeliveryState::Released => "released: nobody took it (is there a receiver for the address?)".to_owned(),
        DeliveryState::Modified(modified) => format!(
            "modified{}{}",
            if modified.delivery_failed { ", delivery failed" } else { "" },
            if modified.undeliverable_here { ", undeliverable here" } else { "" }
        ),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: SendArguments,
    }

    fn bodies(line: &str) -> Vec<String> {
        let words = ["send"].into_iter().chain(line.split_whitespace());
        let arguments = Line::try_parse_from(words).expect("valid").arguments;
        let mut bodies = Vec::new();
        let collected = for_each_body(&arguments, &mut |body| {
            bodies.push(String::from_utf8(body).expect("text"));
            Ok(())
        });
        collected.expect("readable");
        bodies
    }

    #[test]
    fn each_word_is_a_message() {
        assert_eq!(bodies("address one two"), ["one", "two"]);
    }

    #[test]
    fn a_file_is_one_message_or_one_a_line() {
        let path = std::env::temp_dir().join(format!("waystation-send-{}", std::process::id()));
        std::fs::write(&path, "one\r\n\ntwo").expect("the temporary folder takes files");
        let whole = bodies(&format!("address --file {}", path.display()));
        let lines = bodies(&format!("address --lines --file {}", path.display()));
        let _ = std::fs::remove_file(&path);
        assert_eq!(whole, ["one\r\n\ntwo"]);
        assert_eq!(lines, ["one", "", "two"]);
    }

    #[test]
    fn outcomes_say_what_to_look_for() {
        assert!(told(&DeliveryState::Released).contains("receiver"));
        let error = amqp::ErrorCondition::new("amqp:x", "because");
        assert_eq!(told(&DeliveryState::Rejected(Some(Box::new(error)))), "rejected: amqp:x because");
    }
}
