//! `waystation receive`.

use std::io::Write;
use std::time::{Duration, Instant};

use amqp::message::Message;
use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::state::Modified;
use amqp::{DeliveryState, ErrorCondition};
use clap::{Args, ValueEnum};

use super::connect::duration;
use super::show::{Format, Shown};
use super::{ConnectArguments, Failure};
use crate::client::{Client, Receiver, ReceiverOptions};

/// What to tell the sender of each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Outcome {
    /// It was taken
    Accepted,
    /// It will never be taken
    Rejected,
    /// It was not taken, somebody else may have it
    Released,
    /// As released, but the attempt counts as a failed delivery
    Modified,
}

/// Receive messages from an address
///
/// Every message is printed when it comes, and then settled. It goes on until it is interrupted, or until --count
/// messages have come, or until nothing has come for --wait seconds.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation receive greetings
  waystation receive orders --count 1 --format json
  waystation receive orders --wait 2 --format raw > orders.txt
  waystation receive --dynamic")]
pub(super) struct ReceiveArguments {
    /// The address to receive from
    #[arg(value_name = "ADDRESS", required_unless_present = "dynamic", conflicts_with = "dynamic")]
    address: Option<String>,

    /// Receive from a new address of the router's making; it is printed on the standard error output
    #[arg(long)]
    dynamic: bool,

    /// End after so many messages
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,

    /// End when nothing has come for so many seconds
    #[arg(short, long, value_name = "SECONDS", value_parser = duration)]
    wait: Option<Duration>,

    /// How many messages the router may send ahead
    #[arg(long, value_name = "N", default_value_t = 100)]
    credit: u32,

    /// What to tell the sender of each message
    #[arg(long, value_enum, default_value_t = Outcome::Accepted)]
    outcome: Outcome,

    /// Ask for messages to be sent settled: the sender is not told what becomes of them
    #[arg(long)]
    presettled: bool,

    /// How messages are printed
    #[arg(long, value_enum, default_value_t = Format::Body)]
    format: Format,

    #[command(flatten)]
    connect: ConnectArguments,
}

pub(super) fn run(arguments: &ReceiveArguments, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), Failure> {
    if arguments.credit == 0 {
        return Err(Failure::Told("--credit must be at least 1, or nothing will ever come".to_owned()));
    }
    let mut client = Client::connect(&arguments.connect.options()?)?;
    // Of a limited number no more is asked for than is wanted: what came beyond it would have to be given back.
    let credit = arguments.count.map_or(arguments.credit, |count| {
        u32::try_from(count).map_or(arguments.credit, |count| count.min(arguments.credit))
    });
    let receiver = client.receiver(&ReceiverOptions {
        address: arguments.address.clone(),
        snd_settle_mode: if arguments.presettled { SenderSettleMode::Settled } else { SenderSettleMode::Mixed },
        rcv_settle_mode: ReceiverSettleMode::First,
        credit,
    })?;
    if arguments.dynamic {
        writeln!(err, "{}", receiver.address)?;
    }
    receive(arguments, &mut client, &receiver, u64::from(credit), out)?;
    client.close();
    Ok(())
}

fn receive(
    arguments: &ReceiveArguments,
    client: &mut Client,
    receiver: &Receiver,
    mut asked: u64,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut received = 0;
    while arguments.count.is_none_or(|count| received < count) {
        let deadline = arguments.wait.map(|wait| Instant::now() + wait);
        let Some(incoming) = client.receive(receiver, deadline)? else {
            return match arguments.count {
                Some(count) => Err(Failure::Told(format!("only {received} of {count} messages came"))),
                None => Ok(()),
            };
        };
        received += 1;
        let state = match Message::decode(&incoming.bytes) {
            Ok(message) => {
                Shown { message: &message, format: arguments.format }.write(out)?;
                out.flush()?;
                state(arguments.outcome)
            }
            Err(error) => {
                let error = ErrorCondition::new(amqp::condition::names::DECODE_ERROR, error.to_string());
                DeliveryState::Rejected(Some(Box::new(error)))
            }
        };
        if !incoming.settled {
            client.settle(receiver, incoming.delivery_id, state);
        }
        if arguments.count.is_none_or(|count| asked < count) {
            client.grant(receiver, 1);
            asked += 1;
        }
    }
    Ok(())
}

fn state(outcome: Outcome) -> DeliveryState {
    match outcome {
        Outcome::Accepted => DeliveryState::Accepted,
        Outcome::Rejected => DeliveryState::Rejected(None),
        Outcome::Released => DeliveryState::Released,
        Outcome::Modified => {
            DeliveryState::Modified(Box::new(Modified { delivery_failed: true, ..Modified::default() }))
        }
    }
}
