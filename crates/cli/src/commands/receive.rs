//! `waystation receive`.

use std::io::Write;
use std::time::{Duration, Instant};

use amqp::message::Message;
use amqp::performative::{ReceiverSettleMode, SenderSettleMode};
use amqp::state::Modified;
use amqp::terminus::{ExpiryPolicy, Source};
use amqp::{DeliveryState, Described, ErrorCondition, Map, Value};
use clap::{Args, ValueEnum};

use super::connect::duration;
use super::show::{Format, Shown};
use super::{ConnectArguments, Failure};
use crate::client::{Client, ConnectOptions, Receiver, ReceiverOptions};

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
  waystation receive queue.orders --browse --wait 1
  waystation receive queue.orders --selector \"colour = 'red'\"
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

    #[command(flatten)]
    queue: QueueOptions,

    /// How messages are printed
    #[arg(long, value_enum, default_value_t = Format::Body)]
    format: Format,

    #[command(flatten)]
    connect: ConnectArguments,
}

/// What only queues and topics do.
#[derive(Debug, Args)]
#[command(next_help_heading = "Queues and topics")]
struct QueueOptions {
    /// Look at messages and leave them in the queue
    #[arg(long)]
    browse: bool,

    /// Only messages that match this selector, such as "colour = 'red' AND JMSPriority > 4"
    #[arg(long, value_name = "SELECTOR")]
    selector: Option<String>,

    /// Receive from the durable subscription of this name to a topic, which goes on when nobody receives
    #[arg(long, value_name = "NAME", requires = "container", conflicts_with = "dynamic")]
    subscription: Option<String>,

    /// Whose subscription it is: the name by which this program calls itself
    #[arg(long, value_name = "ID")]
    container: Option<String>,
}

impl QueueOptions {
    /// What is asked for beside the address.
    fn source(&self) -> Source {
        let mut source = Source::default();
        if self.browse {
            source.distribution_mode = Some("copy".into());
        }
        if let Some(selector) = &self.selector {
            let descriptor = Value::Symbol("apache.org:selector-filter:string".into());
            let filter = Described { descriptor, value: Value::from(selector.as_str()) };
            let name = Value::Symbol("selector".into());
            source.filter = Some(Map(vec![(name, Value::Described(Box::new(filter)))]));
        }
        if self.subscription.is_some() {
            source.durable = 2;
            source.expiry_policy = ExpiryPolicy::Never;
            source.capabilities = vec!["topic".into()];
        }
        source
    }
}

pub(super) fn run(arguments: &ReceiveArguments, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), Failure> {
    if arguments.credit == 0 {
        return Err(Failure::Told("--credit must be at least 1, or nothing will ever come".to_owned()));
    }
    let container = arguments.queue.container.clone();
    let mut client = Client::connect(&ConnectOptions { container, ..arguments.connect.options()? })?;
    // Of a limited number no more is asked for than is wanted: what came beyond it would have to be given back.
    let credit = arguments.count.map_or(arguments.credit, |count| {
        u32::try_from(count).map_or(arguments.credit, |count| count.min(arguments.credit))
    });
    let receiver = client.receiver(&ReceiverOptions {
        address: arguments.address.clone(),
        snd_settle_mode: if arguments.presettled { SenderSettleMode::Settled } else { SenderSettleMode::Mixed },
        rcv_settle_mode: ReceiverSettleMode::First,
        credit,
        name: arguments.queue.subscription.clone(),
        source: arguments.queue.source(),
    })?;
    if arguments.queue.selector.is_some() && !receiver.is_filtered {
        let text = "waystation: the selector is not applied: this is no queue, or one that does not know selectors";
        writeln!(err, "{text}")?;
    }
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
